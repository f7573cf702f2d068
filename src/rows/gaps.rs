//! Values that items lack, and the effect: most often a column or a cell is not named as expected.

use super::{Row, Rows};
use crate::text::{count, named};
use crate::words::DecayMoment;

/// Notes dimensions that no item measures, items that do not name their subject, and outcomes that only some state.
pub fn gaps(rows: &Rows) -> Vec<String> {
    let applies = |row: &Row, key: &str| !row.not_applicable().iter().any(|it| it == key);
    let measured = |at: usize| rows.rows.iter().any(|row| row.reading(at).is_some());
    let lacking = rows
        .dimensions
        .iter()
        .enumerate()
        .filter(|(at, (key, _))| !measured(*at) && rows.rows.iter().any(|row| applies(row, key)));
    let lacking: Vec<&str> = lacking.map(|(_, (key, _))| key.as_str()).collect();
    let readings = named(&lacking).map(|keys| format!("no item has a value of {keys}"));
    let is_alone = |row: &Row| rows.subject_name(row.subject) == rows.id(row);
    let is_nameless = rows.rows.len() > 1 && rows.rows.iter().all(is_alone);
    let subjects = is_nameless.then(|| {
        String::from("every item is its own subject; --subject-field says which field names the subject")
    });
    let unstated = rows.rows.iter().filter(|row| row.outcome.is_none()).count();
    let outcomes = (unstated > 0 && unstated < rows.rows.len()).then(|| {
        format!(
            "{} of {} without a known outcome: counted by score",
            unstated,
            count(rows.rows.len(), "item")
        )
    });
    readings.into_iter().chain(subjects).chain(outcomes).collect()
}

/// Notes that old items count as much as on their first day, where the scorecard has decay and there is not one moment for all.
pub fn undecayed(decay: Option<DecayMoment>) -> Option<String> {
    let text = "the runs are not decayed to one moment: each counts as on its first day, however old it is";
    (decay == Some(DecayMoment::Own)).then(|| text.to_owned())
}

/// Notes items with an outcome and no score, and what becomes of them ([`karat_stats::outcome::Run::outcome`]).
pub fn all_or_nothing(rows: &Rows) -> Option<String> {
    let bare = rows.without_score();
    (bare > 0).then(|| {
        format!(
            "{} succeeded or failed without a score: a failure counts 0, a success has no verdict and is missing",
            count(bare, "item")
        )
    })
}
