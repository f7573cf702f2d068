//! Why a record says what it says, as data: the screen and the JSON of `karat explain` show the same.

use karat_core::explain::Change;
use karat_core::number::Score;
use karat_core::record::{DimensionRecord, ReadingStatus, Record, StepKind};
use karat_core::scorecard::MissingPolicy;
use serde_json::{Value, json};

/// One part of the score, and the running total around it.
#[derive(Debug)]
pub struct Row<'r> {
    /// The dimension, or the name of the mean, rule or gate.
    pub name: &'r str,
    /// What it is.
    pub part: Part<'r>,
    /// The running total before.
    pub before: Score,
    /// The running total after.
    pub after: Score,
}

/// What a part of the score is.
#[derive(Debug)]
pub enum Part<'r> {
    /// A weighted reading.
    Dimension(&'r DimensionRecord<'r>),
    /// The step from the weighted arithmetic mean to the mean of the card.
    Mean,
    /// A rule that fired: its condition, and what it sets.
    Rule {
        /// The condition, as in the card.
        when: &'r str,
        /// The new score, as in the card.
        set: &'r str,
    },
    /// A cap that bit.
    Gate {
        /// The condition, as in the card.
        when: &'r str,
    },
}

impl Part<'_> {
    /// As written in the JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Dimension(_) => "dimension",
            Self::Mean => "mean",
            Self::Rule { .. } => "rule",
            Self::Gate { .. } => "gate",
        }
    }
}

/// The parts of `record` in the order in which they add up to its score.
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

/// The dimensions that have no reading of their own but could.
pub fn open<'r>(record: &'r Record<'_>) -> impl Iterator<Item = &'r DimensionRecord<'r>> {
    record.dimensions.iter().filter(|dimension| is_open(dimension))
}

/// True when the bounds treat the reading of `dimension` as unknown.
fn is_open(dimension: &DimensionRecord<'_>) -> bool {
    matches!(dimension.status, ReadingStatus::Missing | ReadingStatus::Failed)
}

/// What the card does where the dimension `key` has no reading.
pub fn policy(record: &Record<'_>, key: &str) -> Option<MissingPolicy> {
    record.card.dimensions.iter().find(|dimension| dimension.key == key).map(|dimension| dimension.missing)
}

/// The name of a dimension for people.
fn label<'r>(record: &'r Record<'_>, key: &'r str) -> &'r str {
    record
        .card
        .dimensions
        .iter()
        .find(|dimension| dimension.key == key)
        .map_or(key, |dimension| &dimension.label)
}

/// The explanation of a record as canonical JSON: the record itself, the rows that add up to its score, what is missing,
/// the smallest `change` that reaches the next band or tier. `verified` says whether the record was computed again from its
/// own facts, `from_evidence` whether they were read out of its evidence again; none where nobody tried.
#[must_use]
pub fn json(
    record: &Record<'_>,
    change: Option<&Change<'_>>,
    verified: Option<bool>,
    from_evidence: Option<bool>,
) -> String {
    let mut bytes = Vec::new();
    record.write(&mut bytes);
    let open: Vec<Value> = open(record)
        .map(|dimension| {
            json!({
                "key": dimension.key,
                "status": dimension.status.name(),
                "reason": dimension.reason.to_string(),
            })
        })
        .collect();
    let rows: Vec<Value> = rows(record).iter().map(row_json).collect();
    // The record goes in as its own canonical bytes: whoever takes it out again has what the digest is over.
    format!(
        "{{\"change\":{},\"digest\":{},\"from_evidence\":{},\"missing\":{},\"record\":{},\"rows\":{},\"verified\":{}}}",
        json!(change.map(change_json)),
        json!(record.digest().to_string()),
        json!(from_evidence),
        json!(open),
        String::from_utf8_lossy(&bytes),
        json!(rows),
        json!(verified),
    )
}

fn change_json(change: &Change<'_>) -> Value {
    json!({
        "key": change.dimension,
        "name": change.label,
        "from": change.from.map(|from| from as f64 / 1e9),
        "to": change.to as f64 / 1e9,
        "kind": change.kind.name(),
        "reaches": change.reaches,
        "published": change.published.to_f64(),
    })
}

fn row_json(row: &Row<'_>) -> Value {
    let mut value = json!({
        "name": row.name,
        "kind": row.part.name(),
        "before": row.before.to_f64(),
        "after": row.after.to_f64(),
        "change": row.after.minus(row.before).to_f64(),
    });
    let more = match &row.part {
        Part::Dimension(dimension) => json!({
            "key": dimension.key,
            "status": dimension.status.name(),
            "reading": dimension.reading.map(|reading| reading as f64 / 1e9),
            "share": dimension.effective_weight as f64 / 1e9,
        }),
        Part::Mean => json!({}),
        Part::Rule { when, set } => json!({ "when": when, "set": set }),
        Part::Gate { when } => json!({ "when": when }),
    };
    if let (Some(value), Value::Object(more)) = (value.as_object_mut(), more) {
        value.extend(more);
    }
    value
}
