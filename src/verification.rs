//! Verification of records, check by check; and where one fails, which of scorecard, evidence and engine has changed.

use std::sync::Arc;

use karat_core::record::ENGINE_VERSION;
use karat_evidence::canonical_json;
use serde_json::Value;

use crate::answers::{self, ChangedPart, CheckOutcome, VerificationStatus};
use crate::card::CompiledCard;
use crate::error::{Code, Error};
use crate::recompute;
use crate::record::Record;
use crate::text::clean;

/// One check, with what it says has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The check.
    pub shown: answers::verification::Check,
    /// The part that has changed, if that is known.
    pub changed: Option<ChangedPart>,
}

impl Check {
    /// Returns a check that ended so.
    pub fn new(name: &'static str, outcome: CheckOutcome, says: impl Into<String>) -> Self {
        let (name, says) = (name.into(), says.into());
        let shown = answers::verification::Check { name, outcome, says, details: Vec::new() };
        Self { shown, changed: None }
    }

    /// Returns a check that fails, or cannot be made, because of `error`.
    pub fn failed(name: &'static str, outcome: CheckOutcome, error: &Error) -> Self {
        Self::of_lines(name, outcome, &error.to_string())
    }

    /// Returns a check with the first line of `text` as its sentence and the others as details.
    pub fn of_lines(name: &'static str, outcome: CheckOutcome, text: &str) -> Self {
        let mut lines = text.lines().map(|line| line.trim().to_owned());
        let says = lines.next().unwrap_or_default();
        Self::new(name, outcome, says).details(lines.collect())
    }

    /// Returns the same check with details.
    #[must_use]
    pub fn details(mut self, details: Vec<String>) -> Self {
        self.shown.details = details;
        self
    }

    /// Returns the same check with what has changed.
    #[must_use]
    pub fn because(self, changed: ChangedPart) -> Self {
        Self { changed: Some(changed), ..self }
    }
}

/// Returns what `checks` say together.
pub fn status(checks: &[Check]) -> VerificationStatus {
    let any = |outcome| checks.iter().any(|check| check.shown.outcome == outcome);
    if any(CheckOutcome::Failed) {
        VerificationStatus::Failed
    } else if any(CheckOutcome::Inconclusive) {
        VerificationStatus::Consistent
    } else {
        VerificationStatus::Verified
    }
}

/// Returns what has changed by `checks`, each once. Where the text itself was changed, nothing else follows from what differs.
pub fn causes(checks: &[Check]) -> Vec<ChangedPart> {
    let mut causes: Vec<ChangedPart> = checks.iter().filter_map(|check| check.changed).collect();
    causes.sort_unstable();
    causes.dedup();
    if causes.first() == Some(&ChangedPart::Text) {
        causes.truncate(1);
    }
    causes
}

/// The checks of a record that need no evidence.
#[derive(Debug)]
pub struct Recomputed {
    /// `scorecard`: it is the one that the record names; `score`: its facts give the record again.
    pub checks: Vec<Check>,
    /// The scorecard of the record, with its override; none if it is not at hand.
    pub card: Option<Arc<CompiledCard>>,
}

/// Verifies a record without its evidence: returns the status of [`recomputed`] and its checks.
pub fn verify(record: &Record) -> (VerificationStatus, Vec<Check>) {
    let checks = recomputed(record, None).checks;
    (status(&checks), checks)
}

/// Checks a record against its scorecard, the one `given` or the released one that it names, and against its own facts.
///
/// A record of another version of the engine is sound if this one gives the same, but for the name of the version.
pub fn recomputed(record: &Record, given: Option<&Arc<CompiledCard>>) -> Recomputed {
    let base = match recompute::base(record, given) {
        Ok(base) => base,
        Err(error) => {
            let scorecard = match error.code() {
                Code::OtherScorecard => {
                    Check::failed("scorecard", CheckOutcome::Failed, &error).because(ChangedPart::Scorecard)
                }
                Code::RecordUnsound => Check::failed("scorecard", CheckOutcome::Failed, &error),
                _ => Check::failed("scorecard", CheckOutcome::Inconclusive, &error),
            };
            let score = Check::new(
                "score",
                CheckOutcome::Inconclusive,
                "without its scorecard it cannot be computed again",
            );
            return Recomputed { checks: vec![scorecard, score], card: None };
        }
    };
    let says = format!("{}, the one that the record names", base.name());
    let scorecard = Check::new("scorecard", CheckOutcome::Verified, says);
    match recompute::overridden(record, base) {
        Ok(card) => {
            let score = score(record, &card);
            Recomputed { checks: vec![scorecard, score], card: Some(card) }
        }
        Err(error) => {
            let score = Check::failed("score", CheckOutcome::Failed, &error);
            Recomputed { checks: vec![scorecard, score], card: None }
        }
    }
}

/// Checks whether the facts of a record give it again.
fn score(record: &Record, card: &CompiledCard) -> Check {
    let computed = recompute::rescore(record, card, |scoring| {
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
        Err(error) => return Check::failed("score", CheckOutcome::Failed, &error),
    };
    let maker = record.document().engine.as_str();
    let is_other = maker != ENGINE_VERSION;
    match record.differences(&if is_other { with_engine(bytes, maker) } else { bytes }) {
        None => {
            let says = format!("the facts in the record give the same again: {score}");
            let check = Check::new("score", CheckOutcome::Verified, says);
            let details = is_other
                .then(|| format!("made by karat {}, computed again by {ENGINE_VERSION}", clean(maker)));
            check.details(details.into_iter().collect())
        }
        Some(details) => {
            let who = if is_other {
                format!("karat {ENGINE_VERSION} makes another record of them than {} did", clean(maker))
            } else {
                String::from("the record is not what its own facts give")
            };
            Check::new("score", CheckOutcome::Failed, who).details(details).because(ChangedPart::Engine)
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
        let evidence = include_bytes!("../examples/workflow/worked-example.json");
        Engine::open("workflow").unwrap().score(evidence).unwrap().as_str().to_owned()
    }

    fn checked(text: &str) -> Recomputed {
        recomputed(&Record::parse(text.as_bytes()).unwrap().unwrap(), None)
    }

    #[test]
    fn a_sound_record_holds_also_if_another_version_made_it() {
        let record = record();
        let sound = checked(&record);
        assert_eq!(status(&sound.checks), VerificationStatus::Verified);
        assert!(sound.card.is_some() && sound.checks.iter().all(|check| check.shown.details.is_empty()));
        let own = format!("\"engine\":\"{ENGINE_VERSION}\"");
        assert!(record.contains(&own));
        let older = checked(&record.replace(&own, "\"engine\":\"0.0.1\""));
        assert_eq!(status(&older.checks), VerificationStatus::Verified);
        assert!(older.checks[1].shown.details[0].contains("made by karat 0.0.1"));
    }

    #[test]
    fn what_changed_is_named() {
        let record = record();
        let engine = checked(&record.replace("\"composite\":0.", "\"composite\":0.1"));
        assert_eq!(status(&engine.checks), VerificationStatus::Failed);
        assert_eq!(causes(&engine.checks), [ChangedPart::Engine]);
        let digest = record.find("\"scorecard\":{\"digest\":\"sha256:").unwrap() + 30;
        let mut other = record.clone();
        let flipped = if &record[digest..=digest] == "0" { "1" } else { "0" };
        other.replace_range(digest..=digest, flipped);
        let rule = checked(&other);
        assert_eq!(
            (status(&rule.checks), causes(&rule.checks)),
            (VerificationStatus::Failed, vec![ChangedPart::Scorecard])
        );
        let unknown = checked(&record.replace("\"id\":\"workflow\"", "\"id\":\"mine\""));
        assert_eq!(status(&unknown.checks), VerificationStatus::Consistent);
        assert_eq!(causes(&unknown.checks), []);
    }

    #[test]
    fn a_changed_text_explains_everything_else() {
        let check = |cause| Check::new("x", CheckOutcome::Failed, "").because(cause);
        assert_eq!(causes(&[check(ChangedPart::Engine), check(ChangedPart::Text)]), [ChangedPart::Text]);
        assert_eq!(
            causes(&[check(ChangedPart::Engine), check(ChangedPart::Scorecard)]),
            [ChangedPart::Scorecard, ChangedPart::Engine]
        );
    }
}
