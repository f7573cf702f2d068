//! Verification of records, check by check; and where one fails, which of scorecard, evidence and engine has changed.

use karat_core::evaluate::{Scorer, Workspace};
use karat_core::record::ENGINE_VERSION;
use karat_evidence::canonical_json;
use serde_json::Value;

use crate::answers::{self, ChangedPart, CheckOutcome, VerificationStatus};
use crate::claim::Claim;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::recompute;
use crate::rows::problems::said;
use crate::text::clean;

/// One check, with what it says has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The check.
    pub shown: answers::verification::Check,
    /// What has changed, if that is known.
    pub changed: Option<ChangedPart>,
}

impl Check {
    /// Returns a check that ended so.
    #[must_use]
    pub fn new(name: &'static str, outcome: CheckOutcome, says: impl Into<String>) -> Self {
        let (name, says) = (name.into(), says.into());
        let shown = answers::verification::Check { name, outcome, says, details: Vec::new() };
        Self { shown, changed: None }
    }

    /// Returns a check that failed or could not be made because of `failure`.
    #[must_use]
    pub fn failed(name: &'static str, outcome: CheckOutcome, failure: &Failure) -> Self {
        let said = said(failure);
        let mut lines = said.lines().map(|line| line.trim().to_owned());
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
#[must_use]
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

/// Returns how a command ends that was asked to verify something.
#[must_use]
pub const fn exit(status: VerificationStatus) -> Exit {
    match status {
        VerificationStatus::Verified => Exit::Done,
        VerificationStatus::Consistent => Exit::Inconclusive,
        VerificationStatus::Failed => Exit::VerificationFailed,
    }
}

/// Returns what has changed by `checks`, each once. Where the text itself was changed, nothing else follows from what differs.
#[must_use]
pub fn causes(checks: &[Check]) -> Vec<ChangedPart> {
    let mut causes: Vec<ChangedPart> = checks.iter().filter_map(|check| check.changed).collect();
    causes.sort_unstable();
    causes.dedup();
    if causes.first() == Some(&ChangedPart::Text) {
        causes.truncate(1);
    }
    causes
}

/// What is found out about a record without its evidence.
#[derive(Debug)]
pub struct Recomputed {
    /// `scorecard`: it is the one that the record names; `score`: its facts give the record again.
    pub checks: Vec<Check>,
    /// The scorer of the record, with its weights from outside; none if it is not at hand.
    pub scorer: Option<Scorer>,
}

/// Checks the record `claim` against its card, the one `given` or the released one that it names, and against its own facts.
///
/// A record of another version of the engine holds if this one gives the same, but for the name of the version.
#[must_use]
pub fn recomputed(claim: &Claim, given: Option<&Scorer>, is_portable: bool) -> Recomputed {
    let base = match recompute::base(claim, given) {
        Ok(base) => base,
        Err(failure) => {
            let scorecard = match failure.exit() {
                // A record that names no card is none; one that names another card may be sound.
                Exit::VerificationFailed if claim.card().is_ok() => {
                    Check::failed("scorecard", CheckOutcome::Failed, &failure).because(ChangedPart::Scorecard)
                }
                Exit::VerificationFailed => Check::failed("scorecard", CheckOutcome::Failed, &failure),
                _ => Check::failed("scorecard", CheckOutcome::Inconclusive, &failure),
            };
            let score = Check::new(
                "score",
                CheckOutcome::Inconclusive,
                "without its scorecard it cannot be computed again",
            );
            return Recomputed { checks: vec![scorecard, score], scorer: None };
        }
    };
    let says = format!("{}, the one that the record names", base.card().name());
    let scorecard = Check::new("scorecard", CheckOutcome::Verified, says);
    match recompute::scorer(claim, base) {
        Ok(scorer) => {
            let scorer = scorer.into_owned();
            let score = score(claim, &scorer, is_portable);
            Recomputed { checks: vec![scorecard, score], scorer: Some(scorer) }
        }
        Err(failure) => {
            let score = Check::failed("score", CheckOutcome::Failed, &failure);
            Recomputed { checks: vec![scorecard, score], scorer: None }
        }
    }
}

/// Whether the facts of a record give it again.
fn score(claim: &Claim, scorer: &Scorer, is_portable: bool) -> Check {
    let mut workspace = if is_portable { Workspace::portable(scorer) } else { Workspace::new(scorer) };
    let computed = recompute::scored(claim, scorer, &mut workspace, |record| {
        let mut bytes = Vec::new();
        record.write(&mut bytes);
        let score = record.published.map_or_else(
            || format!("no score, {}", record.status.name()),
            |published| published.to_f64().to_string(),
        );
        (bytes, score)
    });
    let (bytes, score) = match computed {
        Ok(computed) => computed,
        Err(failure) => return Check::failed("score", CheckOutcome::Failed, &failure),
    };
    let maker = claim.text("/engine").unwrap_or_default();
    let is_other = maker != ENGINE_VERSION;
    match claim.differences(&if is_other { with_engine(bytes, maker) } else { bytes }) {
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
    use crate::cards::released_scorer;

    /// Facts of the workflow card, and the record of them.
    fn record() -> String {
        let scorer = released_scorer("workflow").unwrap();
        let mut session =
            crate::session::Session::new(&scorer, None, karat_evidence::Graders::default(), false).unwrap();
        let place = crate::session::Place { file: "test", line: None, is_row: false };
        let evidence = include_bytes!("../../../examples/workflow/worked-example.json");
        let scored = session.score(&place, Ok(evidence), None, |record, _| {
            let mut bytes = Vec::new();
            record.write(&mut bytes);
            bytes
        });
        String::from_utf8(scored.unwrap()).unwrap()
    }

    fn checked(text: &str) -> Recomputed {
        recomputed(&Claim::parse(text).unwrap().unwrap(), None, false)
    }

    #[test]
    fn a_sound_record_holds_also_if_another_version_made_it() {
        let record = record();
        let sound = checked(&record);
        assert_eq!(status(&sound.checks), VerificationStatus::Verified);
        assert!(sound.scorer.is_some() && sound.checks.iter().all(|check| check.shown.details.is_empty()));
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
