//! Whether something is what it claims to be, check by check; and where a record is not, which of rule, evidence and engine
//! has changed.

use std::sync::Arc;

use karat_core::record::ENGINE_VERSION;
use karat_evidence::canonical_json;
use serde_json::{Value, json};

use crate::card::CompiledCard;
use crate::error::{Code, Error};
use crate::recompute;
use crate::record::Record;
use crate::text::clean;

/// How one check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// It could not be made, and without it nothing is verified.
    Lacking,
    /// It was not asked for.
    Left,
}

impl Outcome {
    /// As written in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Lacking => "lacking",
            Self::Left => "left",
        }
    }
}

/// What has changed since a record was made, where it does not come out the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The text: it is not the one that was kept.
    Text,
    /// The rule: this is another scorecard than the record was made with.
    Rule,
    /// The evidence: this is another item, or its facts are others.
    Evidence,
    /// The engine: it makes something else of the same rule and the same facts.
    Engine,
}

impl Cause {
    /// As written in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Rule => "rule",
            Self::Evidence => "evidence",
            Self::Engine => "engine",
        }
    }
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What was looked at, one word.
    pub name: &'static str,
    /// How it ended.
    pub outcome: Outcome,
    /// The same in words.
    pub says: String,
    /// What differs, or how to mend it; a line each.
    pub details: Vec<String>,
    /// What has changed, if that is known.
    pub cause: Option<Cause>,
}

impl Check {
    /// A check that ended so.
    #[must_use]
    pub fn new(name: &'static str, outcome: Outcome, says: impl Into<String>) -> Self {
        Self { name, outcome, says: says.into(), details: Vec::new(), cause: None }
    }

    /// Returns a check that fails, or cannot be made, because of `error`.
    #[must_use]
    pub fn failed(name: &'static str, outcome: Outcome, error: &Error) -> Self {
        Self::of_lines(name, outcome, &error.to_string())
    }

    /// Returns a check with the first line of `text` as its sentence and the others as details.
    #[must_use]
    pub fn of_lines(name: &'static str, outcome: Outcome, text: &str) -> Self {
        let mut lines = text.lines().map(|line| line.trim().to_owned());
        let says = lines.next().unwrap_or_default();
        Self { details: lines.collect(), ..Self::new(name, outcome, says) }
    }

    /// The same, with what has changed.
    #[must_use]
    pub fn because(self, cause: Cause) -> Self {
        Self { cause: Some(cause), ..self }
    }

    /// The check as JSON: `{details, name, outcome, says}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "details": self.details,
            "name": self.name,
            "outcome": self.outcome.name(),
            "says": self.says,
        })
    }
}

/// What all checks say together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Everything that must hold does.
    Verified,
    /// Nothing contradicts, and something that must hold could not be checked.
    Consistent,
    /// Something does not hold.
    Failed,
}

impl Status {
    /// What `checks` say together.
    #[must_use]
    pub fn of(checks: &[Check]) -> Self {
        let any = |outcome| checks.iter().any(|check| check.outcome == outcome);
        if any(Outcome::Fails) {
            Self::Failed
        } else if any(Outcome::Lacking) {
            Self::Consistent
        } else {
            Self::Verified
        }
    }

    /// As written in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Consistent => "consistent",
            Self::Failed => "failed",
        }
    }
}

/// What has changed by `checks`, each once. Where the text itself was changed, nothing else follows from what differs.
#[must_use]
pub fn causes(checks: &[Check]) -> Vec<Cause> {
    let mut causes: Vec<Cause> = checks.iter().filter_map(|check| check.cause).collect();
    causes.sort_unstable();
    causes.dedup();
    if causes.first() == Some(&Cause::Text) {
        causes.truncate(1);
    }
    causes
}

/// What is found out about a record without its evidence.
#[derive(Debug)]
pub struct Recomputed {
    /// `scorecard`: it is the one that the record names; `score`: its facts give the record again.
    pub checks: Vec<Check>,
    /// The scorecard of the record, with its override; none if it is not at hand.
    pub card: Option<Arc<CompiledCard>>,
}

/// Checks a record against its scorecard, the one `given` or the released one that it names, and against its own facts.
///
/// A record of another version of the engine is sound if this one gives the same, but for the name of the version.
#[must_use]
pub fn recomputed(record: &Record, given: Option<&Arc<CompiledCard>>, is_portable: bool) -> Recomputed {
    let base = match recompute::base(record, given) {
        Ok(base) => base,
        Err(error) => {
            let scorecard = match error.code() {
                Code::OtherScorecard => {
                    Check::failed("scorecard", Outcome::Fails, &error).because(Cause::Rule)
                }
                Code::RecordUnsound => Check::failed("scorecard", Outcome::Fails, &error),
                _ => Check::failed("scorecard", Outcome::Lacking, &error),
            };
            let score =
                Check::new("score", Outcome::Lacking, "without its scorecard it cannot be computed again");
            return Recomputed { checks: vec![scorecard, score], card: None };
        }
    };
    let says = format!("{}, the one that the record names", base.name());
    let scorecard = Check::new("scorecard", Outcome::Holds, says);
    match recompute::overridden(record, base) {
        Ok(card) => {
            let score = score(record, &card, is_portable);
            Recomputed { checks: vec![scorecard, score], card: Some(card) }
        }
        Err(error) => {
            let score = Check::failed("score", Outcome::Fails, &error);
            Recomputed { checks: vec![scorecard, score], card: None }
        }
    }
}

/// Checks whether the facts of a record give it again.
fn score(record: &Record, card: &CompiledCard, is_portable: bool) -> Check {
    let computed = recompute::rescore(record, card, is_portable, |scoring| {
        let mut bytes = Vec::new();
        scoring.write(&mut bytes);
        let score = scoring.published.map_or_else(
            || format!("no score, {}", scoring.status.name()),
            |published| published.to_f64().to_string(),
        );
        (bytes, score)
    });
    let (bytes, score) = match computed {
        Ok(computed) => computed,
        Err(error) => return Check::failed("score", Outcome::Fails, &error),
    };
    let maker = record.document().engine.as_str();
    let is_other = maker != ENGINE_VERSION;
    match record.differences(&if is_other { with_engine(bytes, maker) } else { bytes }) {
        None => {
            let says = format!("the facts in the record give the same again: {score}");
            let check = Check::new("score", Outcome::Holds, says);
            let details = is_other
                .then(|| format!("made by karat {}, computed again by {ENGINE_VERSION}", clean(maker)));
            Check { details: details.into_iter().collect(), ..check }
        }
        Some(details) => {
            let who = if is_other {
                format!("karat {ENGINE_VERSION} makes another record of them than {} did", clean(maker))
            } else {
                String::from("the record is not what its own facts give")
            };
            Check { details, ..Check::new("score", Outcome::Fails, who) }.because(Cause::Engine)
        }
    }
}

/// A record of this engine as it would be if the engine were called `version`.
fn with_engine(bytes: Vec<u8>, version: &str) -> Vec<u8> {
    match serde_json::from_slice::<Value>(&bytes) {
        Ok(mut record) => {
            if let Some(engine) = record.get_mut("engine") {
                *engine = Value::from(version);
            }
            canonical_json(&record).into_bytes()
        }
        Err(_) => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;

    /// The record of an example.
    fn record() -> String {
        let evidence = include_bytes!("../../../examples/workflow/worked-example.json");
        Engine::open("workflow").unwrap().score(evidence).unwrap().as_str().to_owned()
    }

    fn checked(text: &str) -> Recomputed {
        recomputed(&Record::parse(text.as_bytes()).unwrap().unwrap(), None, false)
    }

    #[test]
    fn a_sound_record_holds_also_if_another_version_made_it() {
        let record = record();
        let sound = checked(&record);
        assert_eq!(Status::of(&sound.checks), Status::Verified);
        assert!(sound.card.is_some() && sound.checks.iter().all(|check| check.details.is_empty()));
        let own = format!("\"engine\":\"{ENGINE_VERSION}\"");
        assert!(record.contains(&own));
        let older = checked(&record.replace(&own, "\"engine\":\"0.0.1\""));
        assert_eq!(Status::of(&older.checks), Status::Verified);
        assert!(older.checks[1].details[0].contains("made by karat 0.0.1"));
    }

    #[test]
    fn what_changed_is_named() {
        let record = record();
        let engine = checked(&record.replace("\"composite\":0.", "\"composite\":0.1"));
        assert_eq!(Status::of(&engine.checks), Status::Failed);
        assert_eq!(causes(&engine.checks), [Cause::Engine]);
        let digest = record.find("\"scorecard\":{\"digest\":\"sha256:").unwrap() + 30;
        let mut other = record.clone();
        let flipped = if &record[digest..=digest] == "0" { "1" } else { "0" };
        other.replace_range(digest..=digest, flipped);
        let rule = checked(&other);
        assert_eq!((Status::of(&rule.checks), causes(&rule.checks)), (Status::Failed, vec![Cause::Rule]));
        let unknown = checked(&record.replace("\"id\":\"workflow\"", "\"id\":\"mine\""));
        assert_eq!(Status::of(&unknown.checks), Status::Consistent);
        assert_eq!(causes(&unknown.checks), []);
    }

    #[test]
    fn a_changed_text_explains_everything_else() {
        let check = |cause| Check::new("x", Outcome::Fails, "").because(cause);
        assert_eq!(causes(&[check(Cause::Engine), check(Cause::Text)]), [Cause::Text]);
        assert_eq!(causes(&[check(Cause::Engine), check(Cause::Rule)]), [Cause::Rule, Cause::Engine]);
    }
}
