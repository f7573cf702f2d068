//! Facts: evidence, reduced to what a scorecard can read.

use alloc::string::String;

pub use crate::digest::{Digest, Digester};
use crate::timestamp::Timestamp;

/// The value of a flag that evidence does not give, where it is not missing then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usual {
    /// This one.
    Flag(bool),
    /// True where this fact has a value.
    WhereGiven(&'static str),
}

/// One measurement of one evidence item. A missing fact is a separate value, never a number.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Fact<'a> {
    /// The evidence does not say.
    #[default]
    Missing,
    /// A finite number, in the unit that the scorecard declares.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A text; only a weight profile is chosen by it.
    Text(&'a str),
}

/// One evidence item, ready to be scored.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    /// The subject: an agent, a workflow, a trace. Never parsed.
    pub subject: &'a str,
    /// The item's own id, unique among the evidence of its kind.
    pub id: &'a str,
    /// The time, task, outcome and number of cases.
    pub context: ItemContext<'a>,
    /// SHA-256 over the canonical JSON (RFC 8785) of the item.
    pub digest: Digest,
    /// The facts in the order in which the scorecard declares them.
    pub facts: &'a [Fact<'a>],
    /// The findings of graders beside the facts: a JSON object in canonical form (RFC 8785), which goes into the record
    /// unchanged. None where the facts were given and nothing was found.
    pub grading: Option<&'a str>,
    /// Suspicions: statements of the evidence that are possible and hardly true, each as JSON path and sentence. The record
    /// has a warning for each; they do not change the score.
    pub suspicions: &'a [String],
}

/// The time, task, outcome and number of cases of an item, as far as it says so. No score of the item itself depends on it: a
/// standing orders, groups and counts items by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ItemContext<'a> {
    /// The time at which it took place.
    pub time: Option<Timestamp>,
    /// The task attempted. Runs at one task are not independent of each other; an item without one is its own task.
    pub task: Option<&'a str>,
    /// The outcome.
    pub outcome: Option<Outcome>,
    /// The number of cases that its values are means over, `n`: of a result that is itself an aggregate.
    pub cases: Option<u64>,
    /// The name of the shard of a run whose cases these are. Only a mean over cases has one.
    pub part: Option<&'a str>,
    /// The name of the repeat over the same cases. Only a mean over cases has one.
    pub run: Option<&'a str>,
}

crate::words! {
    /// The outcome of a run.
    pub enum Outcome {
        /// The task was solved.
        Succeeded = "succeeded",
        /// The task was not solved.
        Failed = "failed",
        /// There is no verdict because the instrument failed: environment, grader, harness.
        NoVerdict = "no-verdict",
        /// The run was cancelled, or stopped at a limit of time, steps or cost.
        Stopped = "stopped",
        /// The task does not apply to the subject.
        NotApplicable = "not-applicable",
        /// The subject refused the task.
        Refused = "refused",
    }
}
