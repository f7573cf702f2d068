//! The ids of items in the store.

use karat_evidence::ids::joined;

/// Encodes a subject or id as one part of a longer id: `%` and `/` become `%25` and `%2F`, so that no two pairs of
/// names give the same id.
pub fn part(name: &str) -> String {
    joined([name])
}

/// Returns the id of an item of evidence: `SUBJECT/ID`. Ids of evidence are unique only within a subject.
///
/// ```
/// assert_eq!(karat_server::ids::evidence("team/bot", "run-1"), "team%2Fbot/run-1");
/// ```
pub fn evidence(subject: &str, id: &str) -> String {
    joined([subject, id])
}

/// Returns the id that an item of `subject` has by itself, of its id in the store; none if that is of another subject.
///
/// ```
/// use karat_server::ids;
/// assert_eq!(ids::own("team/bot", &ids::evidence("team/bot", "run/1%")), Some(String::from("run/1%")));
/// assert_eq!(ids::own("team", "bot/run-1"), None);
/// ```
pub fn own(subject: &str, evidence: &str) -> Option<String> {
    let id = evidence.strip_prefix(&part(subject))?.strip_prefix('/')?;
    Some(id.replace("%2F", "/").replace("%25", "%"))
}

/// Returns the id of the record of the evidence `evidence` under a scorecard: `SUBJECT/ID/CARD@VERSION`. Names of
/// scorecards need no encoding.
///
/// ```
/// use karat_server::ids;
/// let evidence = ids::evidence("bot", "100%");
/// assert_eq!(ids::record(&evidence, "workflow@1.0.0"), "bot/100%25/workflow@1.0.0");
/// ```
pub fn record(evidence: &str, card: &str) -> String {
    [evidence, "/", card].concat()
}
