//! The explanation of a record as data: the document and the JSON of `karat explain` and the page of a record show the
//! same. [`crate::answers::explanation`] is the JSON, `words` has the sentences.

pub mod document;
pub(crate) mod words;

use karat_core::number::Score;
use karat_core::record::{DimensionRecord, GroupRecord, Record, StepKind, ValueStatus};
use karat_core::scorecard::MissingPolicy;

use crate::words::ExplanationKind;

/// One part of the score, and the running total around it.
#[derive(Debug)]
pub struct Row<'r> {
    /// The dimension, or the name of the mean, rule or gate.
    pub name: &'r str,
    /// The kind of part.
    pub part: Part<'r>,
    /// The running total before.
    pub before: Score,
    /// The running total after.
    pub after: Score,
}

/// The kind of a part of the score.
#[derive(Debug)]
pub enum Part<'r> {
    /// A weighted value.
    Dimension(&'r DimensionRecord<'r>),
    /// The step from the weighted arithmetic mean to the mean of the card.
    Mean,
    /// The loss of the composite with the age of its newest evidence.
    Decay,
    /// A rule that fired: its condition, and what it sets.
    Rule {
        /// The condition, as in the card.
        when: &'r str,
        /// The new score, as in the card.
        set: &'r str,
    },
    /// A cap that lowered the score.
    Gate {
        /// The condition, as in the card.
        when: &'r str,
    },
}

/// Returns the kind of a part.
pub const fn kind_of(part: &Part<'_>) -> ExplanationKind {
    match part {
        Part::Dimension(_) => ExplanationKind::Dimension,
        Part::Mean => ExplanationKind::Mean,
        Part::Decay => ExplanationKind::Decay,
        Part::Rule { .. } => ExplanationKind::Rule,
        Part::Gate { .. } => ExplanationKind::Gate,
    }
}

/// Returns the parts of `record` in the order in which they add up to its score.
pub fn rows<'r>(record: &'r Record<'_>) -> Vec<Row<'r>> {
    let mut total = Score::ZERO;
    let mut rows = Vec::with_capacity(record.dimensions.len() + record.steps.len());
    for dimension in &record.dimensions {
        let after = Score::from_units(total.units() + dimension.contribution.units());
        rows.push(Row {
            name: label(record, dimension.key),
            part: Part::Dimension(dimension),
            before: total,
            after,
        });
        total = after;
    }
    for step in &record.steps {
        let card = record.card;
        let part = match step.kind {
            StepKind::Mean => Part::Mean,
            StepKind::Decay => Part::Decay,
            StepKind::Rule => match card.rules.iter().find(|rule| rule.name == step.name) {
                Some(rule) => Part::Rule { when: &rule.when.text, set: &rule.set.text },
                None => Part::Rule { when: "", set: "" },
            },
            StepKind::Gate => {
                let gate = card.gates.iter().find(|gate| gate.name == step.name);
                Part::Gate { when: gate.map_or("", |gate| gate.when.text.as_str()) }
            }
        };
        rows.push(Row { name: step.name, part, before: step.before, after: step.after });
    }
    rows
}

/// A group of dimensions in an account.
#[derive(Debug)]
pub struct GroupRow<'r> {
    /// Its label.
    pub name: &'r str,
    /// The number of groups that it is in.
    pub depth: usize,
    /// Its part of the record.
    pub group: &'r GroupRecord<'r>,
}

/// Returns the groups of `record`, each followed by the groups in it.
pub fn groups<'r>(record: &'r Record<'_>) -> Vec<GroupRow<'r>> {
    let mut rows = Vec::with_capacity(record.groups.len());
    add_groups(record, None, 0, &mut rows);
    rows
}

fn add_groups<'r>(record: &'r Record<'_>, parent: Option<&str>, depth: usize, rows: &mut Vec<GroupRow<'r>>) {
    for (group, of_card) in record.groups.iter().zip(&record.card.groups) {
        if group.group == parent {
            rows.push(GroupRow { name: &of_card.label, depth, group });
            add_groups(record, Some(group.key), depth + 1, rows);
        }
    }
}

/// Returns the dimensions that lack a value but could have one.
pub fn open<'r>(record: &'r Record<'_>) -> impl Iterator<Item = &'r DimensionRecord<'r>> {
    record.dimensions.iter().filter(|dimension| is_open(dimension))
}

/// Returns true if the bounds treat the value of `dimension` as unknown.
fn is_open(dimension: &DimensionRecord<'_>) -> bool {
    matches!(dimension.status, ValueStatus::Missing | ValueStatus::Failed)
}

/// Returns the policy of the card if the dimension `key` has no value.
pub fn policy(record: &Record<'_>, key: &str) -> Option<MissingPolicy> {
    record.card.dimensions.iter().find(|dimension| dimension.key == key).map(|dimension| dimension.missing)
}

/// Returns the name of a dimension for people.
fn label<'r>(record: &'r Record<'_>, key: &'r str) -> &'r str {
    record
        .card
        .dimensions
        .iter()
        .find(|dimension| dimension.key == key)
        .map_or(key, |dimension| &dimension.label)
}
