//! Scored items of many subjects, from records or from evidence: the input of leaderboards, comparisons and standings.
//!
//! `load` collects them, `filter` selects them, `gaps` notes what they lack. A record counts only if its own facts give
//! it; an item that is given twice counts once, and one id with two contents is an error.

pub mod filter;
pub mod gaps;
mod load;
pub mod problems;

use std::collections::BTreeMap;
use std::sync::Arc;

use karat_core::facts::{Digest, ItemContext, Outcome};
use karat_core::number::Score;
use karat_core::scorecard::{Scale, Scorecard};
use karat_core::timestamp::Timestamp;

pub use load::{Loader, Selection};

use crate::card::CompiledCard;

/// The task of an item that is a mean over cases and names no task: the items of all subjects are about the same cases.
pub const ALL_CASES: &str = "(all cases)";

/// The evidence behind a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredValue {
    /// The value before decay, in billionths.
    pub before: i64,
    /// The age that the evidence had at the time of the item.
    pub age_seconds: i64,
}

impl MeasuredValue {
    /// Returns the evidence of a record: its age there is that at the moment of the score, which is `elapsed_seconds` after
    /// the item where both are known.
    fn of_record(before: i64, age_seconds: f64, elapsed_seconds: Option<i64>) -> Self {
        Self { before, age_seconds: age_seconds as i64 - elapsed_seconds.unwrap_or_default() }
    }
}

/// One scored item.
#[derive(Debug, Clone)]
pub struct Row {
    /// The file and line of the item.
    pub place: String,
    /// The subject, as an index into [`Rows::subjects`].
    pub subject: usize,
    /// The item's own id.
    pub id: String,
    /// The task that was attempted, if stated.
    pub task: Option<String>,
    /// The time of the item, if stated.
    pub time: Option<Timestamp>,
    /// The outcome, if stated.
    pub outcome: Option<Outcome>,
    /// The number of cases that its values are means over, if stated.
    pub cases: Option<u64>,
    /// The digest of the evidence.
    pub digest: Digest,
    /// The scorecard, as an index into [`Rows::scorers`].
    pub scorer: usize,
    /// The score, if there is one.
    pub score: Option<Score>,
    /// The lowest and the highest possible score as shares of the scale, where a part of it is missing.
    pub bounds: Option<(f64, f64)>,
    /// The share of the applicable weight that was measured, in billionths.
    pub coverage: i64,
    /// The measured values in billionths, by [`Rows::dimensions`]. A default is not a measured value.
    pub readings: Vec<Option<i64>>,
    /// Of a scorecard with decay, the evidence behind each value; else empty.
    pub measured: Vec<Option<MeasuredValue>>,
    /// The dimensions that do not apply to it.
    pub not_applicable: Vec<String>,
    /// The gates that held.
    pub gates: Vec<String>,
    /// The values of the requested fields, in that order.
    pub labels: Vec<Option<String>>,
}

impl Row {
    /// Returns the parts that must be equal if one id is given twice.
    fn content(&self) -> (Digest, Option<Score>, ItemContext<'_>) {
        let Self { time, outcome, cases, .. } = *self;
        (self.digest, self.score, ItemContext { time, task: self.task.as_deref(), outcome, cases })
    }

    /// Returns the name of the task: as stated, else that of the challenge, else for a mean over cases that of all its
    /// cases, else the id of the item.
    pub(crate) fn task_name<'r>(&'r self, scorers: &'r [Arc<CompiledCard>]) -> &'r str {
        let challenge = scorers.get(self.scorer).map(|card| card.card()).filter(|card| card.base.is_some());
        let challenge = challenge.map(|card| card.id.as_str());
        let all_cases = self.cases.map(|_| ALL_CASES);
        self.task.as_deref().or(challenge).or(all_cases).unwrap_or(&self.id)
    }
}

/// The tasks of all items.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    /// The names, in order.
    pub names: Vec<String>,
    /// The task of each row, as an index into `names`.
    pub of_rows: Vec<usize>,
}

impl Tasks {
    fn new(rows: &[Row], scorers: &[Arc<CompiledCard>]) -> Self {
        let of_rows: Vec<&str> = rows.iter().map(|row| row.task_name(scorers)).collect();
        let mut names = of_rows.clone();
        names.sort_unstable();
        names.dedup();
        let places = of_rows.iter().map(|name| names.binary_search(name).unwrap_or_default()).collect();
        Self { of_rows: places, names: names.into_iter().map(str::to_owned).collect() }
    }
}

/// Scored items under one scorecard, or under challenges of one family.
#[derive(Debug, Clone)]
pub struct Rows {
    /// The scorecards, by name.
    pub scorers: Vec<Arc<CompiledCard>>,
    /// The scale of all scorecards.
    pub scale: Scale,
    /// Key and label of all dimensions.
    pub dimensions: Vec<(String, String)>,
    /// The subjects, in order of their names.
    pub subjects: Vec<String>,
    /// The items by subject, time and id.
    pub rows: Vec<Row>,
    /// The tasks of the items.
    pub tasks: Tasks,
    /// The number of items that were given again with the same content.
    pub repeated: u64,
    /// The number of items that the filters left out.
    pub filtered: u64,
    /// SHA-256 over scorecards, digests and ids of all items: equal for equal input in any order.
    pub digest: Digest,
}

impl Rows {
    /// Returns the scorecard, if there is only one.
    pub fn only_card(&self) -> Option<&Scorecard> {
        match self.scorers.as_slice() {
            [only] => Some(only.card()),
            _ => None,
        }
    }

    /// Returns the names of the scorecards.
    pub fn card_names(&self) -> Vec<String> {
        self.scorers.iter().map(|scorer| scorer.card().name()).collect()
    }

    /// Returns the index of a dimension.
    pub fn dimension(&self, key: &str) -> Option<usize> {
        self.dimensions.iter().position(|(known, _)| known == key)
    }

    /// Returns the number of items that succeeded or failed but have no score.
    pub(crate) fn without_score(&self) -> usize {
        let is_bare = |row: &&Row| {
            row.score.is_none() && matches!(row.outcome, Some(Outcome::Succeeded | Outcome::Failed))
        };
        self.rows.iter().filter(is_bare).count()
    }

    /// Groups items by their first label: each value with the indices of its items, in order of the values. Without
    /// labels, all items are one group.
    pub fn groups(&self) -> Vec<(Option<&str>, Vec<usize>)> {
        let mut groups: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
        for (at, row) in self.rows.iter().enumerate() {
            let value = row.labels.first().map(|label| label.as_deref().unwrap_or("(none)"));
            groups.entry(value).or_default().push(at);
        }
        groups.into_iter().collect()
    }

    /// Returns the name of the subject with this index; empty if there is no such subject.
    pub(crate) fn subject_name(&self, at: usize) -> &str {
        self.subjects.get(at).map_or("", String::as_str)
    }

    /// Returns the index of a subject.
    pub fn subject(&self, name: &str) -> Option<usize> {
        self.subjects.binary_search_by(|known| known.as_str().cmp(name)).ok()
    }
}
