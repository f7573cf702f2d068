//! Scored items of many subjects, from records or from evidence: what leaderboards, comparisons and standings are made of.
//!
//! `load` collects them, `filter` says which are wanted, `gaps` what they lack. A record counts only if it follows from its own facts; an item that
//! stands there twice counts once, and one id with two contents is refused.

pub mod filter;
pub mod gaps;
mod load;
pub mod problems;

use std::collections::BTreeMap;
use std::sync::Arc;

use karat_core::facts::{Digest, Outcome};
use karat_core::number::Score;
use karat_core::scorecard::{Scale, Scorecard};
use karat_core::timestamp::Timestamp;

pub use load::{Loader, Selection};

use crate::card::CompiledCard;

/// One scored item.
#[derive(Debug, Clone)]
pub struct Row {
    /// Where it stands: file and line.
    pub place: String,
    /// Who: the place in [`Rows::subjects`].
    pub subject: usize,
    /// The item's own id.
    pub id: String,
    /// What was attempted, if it says so.
    pub task: Option<String>,
    /// When it took place, if it says so.
    pub time: Option<Timestamp>,
    /// How it ended, if it says so.
    pub outcome: Option<Outcome>,
    /// The digest of the evidence.
    pub digest: Digest,
    /// The rule: the place in [`Rows::scorers`].
    pub scorer: usize,
    /// The score; none where there is none.
    pub score: Option<Score>,
    /// Share of the applicable weight that was measured, in billionths.
    pub coverage: i64,
    /// What was measured, in billionths, by [`Rows::dimensions`]. A default in place of a reading is not measured.
    pub readings: Vec<Option<i64>>,
    /// The dimensions that do not apply to it.
    pub not_applicable: Vec<String>,
    /// The gates that held.
    pub gates: Vec<String>,
    /// The values of the fields that were asked for, in that order.
    pub labels: Vec<Option<String>>,
}

impl Row {
    /// What must be the same where one id is given twice.
    fn content(&self) -> (Digest, Option<Score>, Option<&str>, Option<Timestamp>, Option<Outcome>) {
        (self.digest, self.score, self.task.as_deref(), self.time, self.outcome)
    }

    /// What stands for the task: its name, that of the challenge, or the item itself.
    pub fn task_name<'r>(&'r self, scorers: &'r [Arc<CompiledCard>]) -> &'r str {
        let challenge = scorers.get(self.scorer).map(|card| card.card()).filter(|card| card.base.is_some());
        self.task.as_deref().or(challenge.map(|card| card.id.as_str())).unwrap_or(&self.id)
    }
}

/// What is attempted in many items.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    /// The names, in order.
    pub names: Vec<String>,
    /// The task of each row: its place in `names`.
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

/// Scored items under one rule, or under challenges of one family.
#[derive(Debug, Clone)]
pub struct Rows {
    /// The rules, by name.
    pub scorers: Vec<Arc<CompiledCard>>,
    /// The scale of all of them.
    pub scale: Scale,
    /// The dimensions of all of them: key and label.
    pub dimensions: Vec<(String, String)>,
    /// Who is scored, in the order of their names.
    pub subjects: Vec<String>,
    /// The items by subject, time and id.
    pub rows: Vec<Row>,
    /// What they attempt.
    pub tasks: Tasks,
    /// How many items were given again, with the same content.
    pub repeated: u64,
    /// How many items the filters left out.
    pub filtered: u64,
    /// SHA-256 over the rules, digests and ids of all items: equal for equal input, in whatever order.
    pub digest: Digest,
}

impl Rows {
    /// The one rule, if it is one.
    pub fn only_card(&self) -> Option<&Scorecard> {
        match self.scorers.as_slice() {
            [only] => Some(only.card()),
            _ => None,
        }
    }

    /// The names of the rules.
    pub fn card_names(&self) -> Vec<String> {
        self.scorers.iter().map(|scorer| scorer.card().name()).collect()
    }

    /// The place of a dimension.
    pub fn dimension(&self, key: &str) -> Option<usize> {
        self.dimensions.iter().position(|(known, _)| known == key)
    }

    /// How many items succeeded or failed, and have no score.
    pub fn without_score(&self) -> usize {
        let is_bare = |row: &&Row| {
            row.score.is_none() && matches!(row.outcome, Some(Outcome::Succeeded | Outcome::Failed))
        };
        self.rows.iter().filter(is_bare).count()
    }

    /// The items by the first of their labels, each value with the places of its items, in order of the values; without
    /// labels all items together.
    pub fn groups(&self) -> Vec<(Option<&str>, Vec<usize>)> {
        let mut groups: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
        for (at, row) in self.rows.iter().enumerate() {
            let value = row.labels.first().map(|label| label.as_deref().unwrap_or("(none)"));
            groups.entry(value).or_default().push(at);
        }
        groups.into_iter().collect()
    }

    /// Returns the name of the subject at a place; empty where there is none.
    pub fn subject_name(&self, at: usize) -> &str {
        self.subjects.get(at).map_or("", String::as_str)
    }

    /// The place of a subject.
    pub fn subject(&self, name: &str) -> Option<usize> {
        self.subjects.binary_search_by(|known| known.as_str().cmp(name)).ok()
    }
}
