//! The ids under which items stand in the store.

/// A subject or id as one part of a longer id: `%` and `/` are written `%25` and `%2F`, so that no two pairs of names
/// make the same id.
#[must_use]
pub fn part(name: &str) -> String {
    joined([name])
}

/// The id of an item of evidence: `SUBJECT/ID`. Ids of evidence are unique for each subject only.
///
/// ```
/// assert_eq!(karat_server::ids::evidence("team/bot", "run-1"), "team%2Fbot/run-1");
/// ```
#[must_use]
pub fn evidence(subject: &str, id: &str) -> String {
    joined([subject, id])
}

/// The id of the record that a scorecard gives the item of evidence with the id `evidence`: `SUBJECT/ID/CARD@VERSION`. The
/// name of a scorecard has nothing that would be written otherwise.
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

/// The names as parts of one id.
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
