//! The ids under which items stand in the store.

/// A subject or id as one part of a longer id: `%` and `/` are written `%25` and `%2F`, so that no two pairs of names
/// make the same id.
#[must_use]
pub fn part(name: &str) -> String {
    name.replace('%', "%25").replace('/', "%2F")
}

/// The id of an item of evidence: `SUBJECT/ID`. Ids of evidence are unique for each subject only.
///
/// ```
/// assert_eq!(karat_server::ids::evidence("team/bot", "run-1"), "team%2Fbot/run-1");
/// ```
#[must_use]
pub fn evidence(subject: &str, id: &str) -> String {
    format!("{}/{}", part(subject), part(id))
}

/// The id of the record that a scorecard gives an item of evidence: `SUBJECT/ID/CARD@VERSION`.
///
/// ```
/// assert_eq!(karat_server::ids::record("bot", "run-1", "workflow@1.0.0"), "bot/run-1/workflow@1.0.0");
/// ```
#[must_use]
pub fn record(subject: &str, id: &str, card: &str) -> String {
    format!("{}/{card}", evidence(subject, id))
}
