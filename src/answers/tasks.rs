//! The tasks themselves, `karat/tasks/1`: how hard each is, what it decides, whether its key may be wrong, whether its outcome changes by
//! itself, and which of them would do.

use serde::{Deserialize, Serialize};

use super::answer;
use super::basis::{Basis, Measure};
pub use karat_stats::flaky::{FlakyProposal, FlakyVerdict};

/// The answer of `karat tasks`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Tasks {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: TasksSchema,
    /// The items, and how the answer was computed.
    #[serde(flatten)]
    pub basis: Basis,
    /// The share of the scale from which on an item is a pass; null if its outcome says so, or a perfect score.
    pub pass: Option<f64>,
    /// The share of chance among the suspect tasks that is allowed.
    pub rate: f64,
    /// The tasks, the most doubtful first: suspect ones, flaky ones, those that decide nothing, then by name.
    pub tasks: Vec<TaskReport>,
    /// True if outcomes change by themselves at more than a quarter of the tasks, and at four or more: the subjects are random then and not the tasks, and nothing is proposed.
    pub subjects_vary: bool,
    /// The fewest subjects with which one wrong task could be found; null if no test could show anything.
    pub subjects_for_one: Option<u64>,
    /// Groups of tasks with the same results of all subjects; null with too few subjects.
    pub identical: Option<Vec<Vec<String>>>,
    /// Pairs of other tasks that nearly go together; null with too few subjects, or too many tasks.
    pub near: Option<Vec<NearTasks>>,
    /// A small set of tasks that orders the subjects as all do; null if there is no such set, or it cannot be checked.
    pub subset: Option<TaskSubset>,
    /// The questions that could not be answered, and why: a sentence each.
    pub unanswered: Vec<String>,
}

answer!(Tasks, TasksSchema = "karat/tasks/1", "an answer about tasks");

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TaskReport {
    /// The task.
    pub task: String,
    /// The number of subjects that have it.
    pub subjects: u64,
    /// The mean over subjects as a share of the scale, with its interval over subjects.
    pub difficulty: Measure,
    /// The correlation of its results with the mean of all other tasks, over subjects; null with fewer than three, or if one of the two is
    /// the same for all.
    pub discrimination: Option<f64>,
    /// True if all subjects have the same result.
    pub decides_nothing: bool,
    /// The chance that strong subjects fail it and weak ones pass it as much if it were like the others in nothing; null without a test.
    pub p: Option<f64>,
    /// True if that is not chance: its key may be wrong. Null without a test.
    pub is_suspect: Option<bool>,
    /// Its outcomes in repeated attempts.
    pub repeats: Repeats,
}

/// The outcomes of repeated attempts of the same subjects at a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Repeats {
    /// The finding on its outcome, which should not change while nothing does: `flaky`, `stable`, or `unknown` with too few attempts.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub verdict: FlakyVerdict,
    /// The advice: `quarantine`, `keep` or `repeat`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub proposal: FlakyProposal,
    /// The number of attempts.
    pub attempts: u64,
    /// The number of those that pass.
    pub passes: u64,
    /// The subjects with both outcomes.
    pub flaky_subjects: Vec<String>,
    /// The chance that two attempts differ, with its interval, of the subject for which it is largest; null without a change.
    pub change: Option<Measure>,
    /// The most that this chance can be where no outcome changed; null where one did, or nothing was repeated.
    pub change_at_most: Option<f64>,
    /// The further attempts without a change that would show it to be stable; null where an outcome changed.
    pub attempts_left: Option<u64>,
    /// The chance of so few changes back and forth; low where something changed once and stayed. Null without a change.
    pub few_changes_p: Option<f64>,
}

/// Two tasks that nearly go together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NearTasks {
    /// The one.
    pub first: String,
    /// The other.
    pub second: String,
    /// The correlation of their results over subjects.
    pub correlation: f64,
}

karat_core::words! {
    /// The parts of the results that a subset was found on and checked on.
    pub enum SubsetCheck {
        /// Half of the attempts of each subject, and the other half: what a new run of the same subjects would lose.
        Attempts = "attempts",
        /// Half of the subjects, and the others: what new subjects would lose.
        Subjects = "subjects",
    }
}

/// A small set of tasks, found on one part of the results and checked on the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TaskSubset {
    /// The tasks, in the order in which they were chosen.
    pub tasks: Vec<String>,
    /// The number of tasks that all subjects have.
    pub of_tasks: u64,
    /// The parts.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub checked_on: SubsetCheck,
    /// Kendall's tau of the order by the subset and that by all tasks, where it was found: too good.
    pub tau_found: f64,
    /// The same where it was checked; null if all subjects have the same mean there.
    pub tau_checked: Option<f64>,
    /// The mean of the same of 200 random sets of that size.
    pub tau_random: Option<f64>,
    /// The mean width of an interval over all tasks.
    pub width_of_all: f64,
    /// The mean width over the subset.
    pub width_of_subset: f64,
}
