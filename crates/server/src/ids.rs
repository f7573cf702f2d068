//! The ids of items in the store.

/// Encodes a subject or id as one part of a longer id: `%` and `/` become `%25` and `%2F`, so that no two pairs of
/// names give the same id.
#[must_use]
pub fn part(name: &str) -> String {
    joined([name])
}

/// Returns the id of an item of evidence: `SUBJECT/ID`. Ids of evidence are unique only within a subject.
///
/// ```
/// assert_eq!(karat_server::ids::evidence("team/bot", "run-1"), "team%2Fbot/run-1");
/// ```
#[must_use]
pub fn evidence(subject: &str, id: &str) -> String {
    joined([subject, id])
}

/// Returns the id of the record of the evidence `evidence` under a scorecard: `SUBJECT/ID/CARD@VERSION`. Names of
/// scorecards need no encoding.
///
/// ```
/// use karat_server::ids;
/// let evidence = ids::evidence("bot", "100%");
/// assert_eq!(ids::record(&evidence, "workflow@1.0.0"), "bot/100%25/workflow@1.0.0");
/// ```
#[must_use]
pub fn record(evidence: &str, card: &str) -> String {
    [evidence, "/", card].concat()
}

/// Joins names into one id, each encoded.
fn joined<const N: usize>(names: [&str; N]) -> String {
    let mut id = String::with_capacity(names.map(|name| name.len() + 1).iter().sum());
    for (place, name) in names.into_iter().enumerate() {
        if place > 0 {
            id.push('/');
        }
        let mut rest = name;
        while let Some(at) = rest.find(['%', '/']) {
            let (plain, special) = rest.split_at(at);
            id.push_str(plain);
            id.push_str(if special.starts_with('%') { "%25" } else { "%2F" });
            rest = special.get(1..).unwrap_or_default();
        }
        id.push_str(rest);
    }
    id
}
