//! Runs over time, `karat/trend/1`: each run of a subject, an alarm that may be looked at every night, and what changed.

pub use karat_stats::trend::Direction;
use serde::{Deserialize, Serialize};

use super::answer;
use super::basis::{Basis, Estimate, Measure};

/// The word for runs by their files.
pub const FILE: &str = "file";

/// The answer of `karat trend`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Trend {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: TrendSchema,
    /// The items, and how the answer was computed. The alarm has the same level.
    #[serde(flatten)]
    pub basis: Basis,
    /// The field that names the run of an item; `file` or `day` where that does.
    pub runs_by: String,
    /// The number of days (UTC) that the items are of; null if not all of them have a time.
    pub days: Option<u64>,
    /// The order of the runs.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub order: RunOrder,
    /// The number of runs, from the first on, that are known to be alike.
    pub baseline: u64,
    /// The change that raises an alarm: `decline`, `improvement` or `either`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub direction: Direction,
    /// The subjects with an alarm first, then by name.
    pub subjects: Vec<SubjectTrend>,
}

answer!(Trend, TrendSchema = "karat/trend/1", "an answer about runs over time");

karat_core::words! {
    /// The order of runs.
    pub enum RunOrder {
        /// By the time of the earliest item.
        Time = "time",
        /// By name, numbers in it by their size: times are not known of all items.
        Name = "name",
    }
}

/// The runs of a subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SubjectTrend {
    /// The subject.
    pub subject: String,
    /// The runs, oldest first.
    pub runs: Vec<TrendRun>,
    /// The first run with an alarm; null without an alarm.
    pub alarm: Option<String>,
    /// The change; null without an alarm.
    pub change: Option<TrendChange>,
    /// The points per run: the middle of the slopes of all pairs, with its interval at one look. Null with too few runs.
    pub slope: Option<Measure>,
    /// The reason why there is no alarm that could be raised; null if there is one.
    pub reason: Option<String>,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TrendRun {
    /// Its name.
    pub run: String,
    /// The time of its earliest item; null if no item has one.
    pub time: Option<String>,
    /// The number of its items that count.
    pub items: u64,
    /// The mean over its tasks in points, with its interval over tasks.
    pub score: Estimate,
    /// The difference to the first run in points, over the tasks that both have; null for that, and without such tasks.
    pub since_first: Option<Measure>,
    /// The difference to the run before in points.
    pub since_last: Option<Measure>,
    /// The number of tasks of the baseline that it lacks.
    pub missing: u64,
    /// True if the alarm does not look at it: it lacks more than a tenth of them.
    pub is_left_out: bool,
    /// The chance, at most, that evidence as high as up to this run is ever reached without a change: the alarm is at 1 minus the level.
    pub chance: f64,
    /// The interval of the mean over the tasks of the baseline in points, if it has not changed up to this run, for all runs at once.
    pub mean_so_far: Option<[f64; 2]>,
}

/// The most likely change of a subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TrendChange {
    /// The first run after it.
    pub first: String,
    /// All runs that may be the first after it.
    pub plausible: Vec<String>,
    /// The mean of the runs before it, in points.
    pub before: f64,
    /// The mean of the runs from it on, in points.
    pub after: f64,
    /// The tasks that carry it, the largest change first.
    pub tasks: Vec<ChangedTask>,
}

/// A task that carries a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ChangedTask {
    /// The task.
    pub task: String,
    /// Its mean before the change, in points.
    pub before: Option<f64>,
    /// Its mean from the change on, in points.
    pub after: Option<f64>,
    /// The chance of a difference as large between runs that are alike.
    pub p: Option<f64>,
}
