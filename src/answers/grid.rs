//! Subjects or runs side by side, `karat/grid/1`: the score of each, and what each has at every task, the largest differences first.

use serde::{Deserialize, Serialize};

use super::answer;
use super::basis::{Basis, Estimate};
use super::share;

/// The answer of `karat compare` about three and more, and of `karat grid`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Grid {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: GridSchema,
    /// The items, and how the answer was computed.
    #[serde(flatten)]
    pub basis: Basis,
    /// The field that names the run of an item, `file` or `day`; null if each column is a subject.
    pub runs_by: Option<String>,
    /// The columns: subjects as they were named, and the runs of each, oldest first.
    pub columns: Vec<GridColumn>,
    /// The tasks, the largest difference first, then those that a column lacks.
    pub tasks: Vec<GridTask>,
    /// The number of tasks that all columns have with the same result.
    pub same: u64,
}

answer!(Grid, GridSchema = "karat/grid/1", "a grid of subjects by tasks");

/// A column of a grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GridColumn {
    /// Its name: the subject, the run, or both.
    pub name: String,
    /// The subject.
    pub subject: String,
    /// The run; null if the column is all of a subject.
    pub run: Option<String>,
    /// The mean over its tasks in points, with its interval; null if no item counts.
    pub score: Option<Estimate>,
    /// Its letters: two columns share one exactly if a comparison does not separate them. Null if it has one task, or none.
    pub letters: Option<Vec<String>>,
    /// The number of its tasks that count.
    pub tasks: u64,
}

/// A task of a grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GridTask {
    /// The task.
    pub task: String,
    /// The mean over attempts in points, by column; null where none counts.
    pub values: Vec<Option<f64>>,
    /// The result of each attempt in points, by column, oldest first; null for one that does not count.
    #[serde(default)]
    pub attempts: Vec<Vec<Option<f64>>>,
    /// The difference of the largest and the smallest value, in points.
    pub spread: f64,
}

impl GridTask {
    /// Creates a task of its values, and of the attempts behind them.
    pub(crate) fn new(task: String, values: Vec<Option<f64>>, attempts: Vec<Vec<Option<f64>>>) -> Self {
        let ends = || values.iter().flatten().copied();
        let spread = ends().fold(f64::NEG_INFINITY, f64::max) - ends().fold(f64::INFINITY, f64::min);
        Self { task, spread: share(spread.max(0.0)), values, attempts }
    }
}
