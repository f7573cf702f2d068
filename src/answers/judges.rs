//! Judges against labels, `karat/judges/1`: how far their verdicts can be trusted, and what the subjects reach once their errors are
//! taken out.

use karat_stats::agreement;
use serde::{Deserialize, Serialize};

use super::answer;
use super::basis::{Basis, Estimate, Measure};

/// The answer of `karat judges`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Judges {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: JudgesSchema,
    /// The items, and how the answer was computed.
    #[serde(flatten)]
    pub basis: Basis,
    /// The field with the labels.
    pub label: String,
    /// The number of items with a label.
    pub labelled: u64,
    /// The share of the scale from which on a label or a verdict is a pass; null if all of them are a pass or not.
    pub pass: Option<f64>,
    /// The judges, in the order in which they were named.
    pub judges: Vec<Judge>,
}

answer!(Judges, JudgesSchema = "karat/judges/1", "an answer about judges");

/// A judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Judge {
    /// The field with its verdicts; `score` for the score of the item.
    pub verdict: String,
    /// The number of items with a verdict.
    pub items: u64,
    /// The number of those with a label.
    pub labelled: u64,
    /// The number of tasks of those.
    pub tasks: u64,
    /// Its agreement with the labels.
    pub agreement: Agreement,
    /// The shares in which its verdict is the label; null if labels or verdicts are neither a pass nor a failure.
    pub accuracy: Option<Accuracy>,
    /// Its biases: for each family of subjects against all others, and by the number that was named.
    pub biases: Vec<Bias>,
    /// The subjects, the best corrected mean first; those without one last.
    pub subjects: Vec<CorrectedSubject>,
    /// Neighbours of that order that both have a corrected mean.
    pub neighbours: Vec<Neighbours>,
}

/// The agreement of a judge with the labels: of passes and failures where both are that, else of the numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Agreement {
    /// The share of items on which both agree; null for numbers.
    pub share: Option<Measure>,
    /// Cohen's kappa, -1 to 1; null for numbers, or if chance alone would give full agreement.
    pub kappa: Option<Measure>,
    /// Gwet's AC1, -1 to 1, which does not fall where nearly all items pass; null as kappa.
    pub ac1: Option<Measure>,
}

/// The shares in which a judge is right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Accuracy {
    /// The share of all items whose verdict is the label.
    pub accuracy: Measure,
    /// The share of items labelled a pass that are judged one; null without such.
    pub sensitivity: Option<Measure>,
    /// The share of items labelled a failure that are judged one; null without such.
    pub specificity: Option<Measure>,
    /// The mean of both.
    pub balanced: Option<Measure>,
    /// The share of items labelled a pass.
    pub base_rate: Measure,
    /// The share of items judged a pass.
    pub verdict_rate: Measure,
}

impl Accuracy {
    pub(crate) fn of(found: &agreement::Accuracy) -> Self {
        Self {
            accuracy: Measure::of(found.accuracy),
            sensitivity: found.sensitivity.map(Measure::of),
            specificity: found.specificity.map(Measure::of),
            balanced: found.balanced.map(Measure::of),
            base_rate: Measure::of(found.base_rate),
            verdict_rate: Measure::of(found.verdict_rate),
        }
    }
}

/// A bias of a judge: by how much the verdict exceeds the label more for some items than for others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Bias {
    /// The field.
    pub field: String,
    /// The family, against all others; null for a field with numbers.
    pub family: Option<String>,
    /// The difference of the family, or for a number that of one standard deviation; as a share of the scale.
    pub effect: Measure,
    /// The same at equal labels: what is not because the items are better; null if labels do not vary.
    pub at_equal_labels: Option<Measure>,
}

/// A subject as judged, as labelled and as corrected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CorrectedSubject {
    /// The subject.
    pub subject: String,
    /// The number of its items with a verdict.
    pub items: u64,
    /// The number of its labels.
    pub labels: u64,
    /// The mean over tasks of the verdicts.
    pub judged: f64,
    /// The mean over tasks that the labels would have: labels and verdicts together (prediction-powered inference, PPI++).
    /// Null with too few labels.
    pub corrected: Option<Estimate>,
    /// The same by labels alone.
    pub labels_only: Option<Estimate>,
    /// The share of the verdicts that is used, 0 to 1.
    pub lambda: Option<f64>,
    /// The number of labels that would be worth as much without a judge.
    pub effective_labels: Option<f64>,
    /// The number of standard errors by which the mean verdict of labelled items lies above that of all; far from 0 they are not a random sample.
    pub imbalance: Option<f64>,
    /// The reason why there is no corrected mean.
    pub reason: Option<String>,
}

/// Two subjects next to each other in the corrected order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Neighbours {
    /// The one ahead.
    pub first: String,
    /// The other one.
    pub second: String,
    /// The corrected difference over the tasks that both have.
    pub difference: Measure,
    /// True if the interval of the difference has no 0.
    pub is_settled: bool,
    /// The labels of each that would settle a difference of this size in four of five cases; null if more than there are items.
    pub labels_needed: Option<u64>,
    /// The same without a judge.
    pub labels_needed_without_judge: Option<u64>,
}
