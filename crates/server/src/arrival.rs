//! Moments in requests against the clock of the server: none of the future is accepted, and no verdict from before its
//! evidence.

use karat_core::facts::Item;
use karat_core::scorecard::Scorecard;
use karat_reader::Kind;

use crate::basics::*;
use crate::problem::{Code, Problem, refuse};

/// The minutes by which the clock of a sender may be ahead of that of the server.
const SKEW_MINUTES: i64 = 5;
/// The members of runs, matches and traces that say when a part of them took place.
const MOMENTS: [&str; 8] =
    ["time", "start", "end", "started_at", "submitted_at", "completed_at", "created_at", "ts"];

/// Returns true if `moment` lies further ahead of the clock of the server than clocks may differ.
pub(crate) fn is_ahead(now: Timestamp, moment: Timestamp) -> bool {
    moment.milliseconds.saturating_sub(now.milliseconds) > SKEW_MINUTES * 60_000
}

/// Returns the second half of a sentence about a moment that is ahead.
pub fn ahead(now: Timestamp, moment: Timestamp) -> String {
    format!(
        "{moment}, which lies ahead of the clock of the server, {now}: expected at most {SKEW_MINUTES} minutes after it"
    )
}

/// Refuses a moment in the body of a request that is ahead.
pub(crate) fn refuse_ahead(now: Timestamp, moment: Timestamp) -> Result<(), Problem> {
    match is_ahead(now, moment) {
        true => Err(Problem::new(Code::BadRequest, format!("found {}", ahead(now, moment)))),
        false => Ok(()),
    }
}

/// Checks the time of an item and the moment of its verdict, if they are given, against the clock of the server and the
/// newest moment in the item.
pub fn check(
    now: Timestamp,
    time: Option<Timestamp>,
    as_of: Option<WrittenTimestamp<'_>>,
    newest: impl FnOnce() -> Option<Timestamp>,
) -> Result<(), Problem> {
    if let Some(time) = time.filter(|time| is_ahead(now, *time)) {
        refuse!(EvidenceRefused at "time", "the item took place at {}", ahead(now, time));
    }
    let Some(as_of) = as_of.map(|as_of| as_of.at) else { return Ok(()) };
    if is_ahead(now, as_of) {
        refuse!(BadRequest at "as_of", "found {}", ahead(now, as_of));
    }
    // A verdict of this moment sees all that a clock a little ahead has dated.
    let newest = if as_of < now { newest() } else { None };
    if let Some(newest) = newest.filter(|newest| as_of < *newest) {
        refuse!(BadRequest at "as_of",
            "found {as_of}, expected the newest moment in the item, {newest}, or later: no verdict is from before its evidence");
    }
    Ok(())
}

/// Returns the newest moment that an item itself has: its time, and in raw evidence that of each part.
pub(crate) fn newest_moment(card: &Scorecard, item: &Item<'_>, evidence: &[u8]) -> Option<Timestamp> {
    let has_parts = [Kind::WorkflowRun, Kind::Match, Kind::ReasoningTrace];
    if !has_parts.iter().any(|kind| kind.name() == card.evidence) {
        return item.context.time;
    }
    let read: Option<Value> = serde_json::from_slice(evidence).ok();
    read.as_ref().and_then(newest_in).max(item.context.time)
}

fn newest_in(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Object(members) => {
            let moment = |(name, value): (&String, &Value)| match value {
                Value::String(text) if MOMENTS.contains(&name.as_str()) => Timestamp::parse(text).ok(),
                other => newest_in(other),
            };
            members.iter().filter_map(moment).max()
        }
        Value::Array(all) => all.iter().filter_map(newest_in).max(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn five_minutes_ahead_are_the_most() {
        let now = at("2026-01-01T00:00:00Z");
        for (moment, expected) in [
            ("2025-01-01T00:00:00Z", false),
            ("2026-01-01T00:05:00Z", false),
            ("2026-01-01T00:05:00.001Z", true),
            ("9999-01-01T00:00:00Z", true),
        ] {
            assert_eq!(is_ahead(now, at(moment)), expected, "{moment}");
            assert_eq!(check(now, Some(at(moment)), None, || None).is_err(), expected, "{moment}");
            let as_of = Some(WrittenTimestamp { text: moment, at: at(moment) });
            assert_eq!(check(now, None, as_of, || None).is_err(), expected, "{moment}");
        }
    }

    #[test]
    fn a_verdict_is_not_from_before_the_newest_part_of_its_evidence() {
        let now = at("2026-01-01T00:00:00Z");
        let run = r#"{"time":"2025-01-01T00:00:00Z","result":{"attempts":[{"start":"2025-03-01T00:00:00Z",
            "end":"2025-03-02T00:00:00.5Z"},{"end":null}]},"expires_at":"2030-01-01T00:00:00Z","note":"2031-01-01T00:00:00Z"}"#;
        let newest = newest_in(&serde_json::from_str(run).unwrap());
        assert_eq!(newest, Some(at("2025-03-02T00:00:00.500Z")));
        let check = |as_of: &str| {
            let as_of = Some(WrittenTimestamp { text: as_of, at: at(as_of) });
            check(now, None, as_of, || newest)
        };
        assert!(check("2025-03-02T00:00:00.5Z").is_ok() && check("2026-01-01T00:03:00Z").is_ok());
        let refused = check("2025-03-02T00:00:00Z").unwrap_err();
        assert!(refused.detail.contains("2025-03-02T00:00:00Z") && refused.detail.contains("00:00:00.500Z"));
    }
}
