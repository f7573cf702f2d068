//! The tasks that changed between two subjects, what their tasks can show, and the finding of a gate: parts of a comparison.

use karat_stats::compare;
use karat_stats::power::{POWER, smallest_difference};
use serde::{Deserialize, Serialize};

use super::{GateChange, Outcome, TaskChangeKind, points, share};
use crate::leaderboard::changes as found;
use crate::leaderboard::gate::GateFinding;
use crate::rows::Rows;

/// The tasks that both subjects have, by what became of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Changes {
    /// All tasks at which the second does worse: lost passes first, then those outside noise, then by how much.
    pub regressed: Vec<TaskChange>,
    /// All tasks at which it does better, in the same order.
    pub fixed: Vec<TaskChange>,
    /// The number of tasks at which both do alike.
    pub same: u64,
    /// The number of tasks whose attempts could show more than noise.
    pub tested: u64,
    /// The tasks at which the first has a result that counts and the second has none, by name; left out without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The tasks that both have, at which the second has fewer results that count than the first, by name; left out without
    /// any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fewer: Vec<String>,
}

/// A task at which two subjects differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TaskChange {
    /// The task.
    pub task: String,
    /// The change.
    pub change: TaskChangeKind,
    /// The attempts of the first that count.
    pub first: TaskAttempts,
    /// The attempts of the second that count.
    pub second: TaskAttempts,
    /// The chance of such a difference if the attempts of both are alike, by a permutation test; null for one attempt each.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub p: Option<f64>,
    /// True if it is more than chance, where all tasks are looked at; null where there are too few attempts to tell.
    pub outside_noise: Option<bool>,
}

/// The attempts of a subject at a task that count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TaskAttempts {
    /// Their mean, in points.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub mean: f64,
    /// The number of them that pass.
    pub passed: u64,
    /// The most cases of one of them, where they are means over cases, which do not pass; else left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cases: Option<u64>,
    /// The items.
    pub items: Vec<ItemAt>,
}

/// An item, and where it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ItemAt {
    /// Its id.
    pub id: String,
    /// The file, or where else it comes from.
    pub file: String,
    /// The line in the file, from 1; null where the place has none.
    pub line: Option<u64>,
    /// The score that counts, in points.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub score: f64,
    /// Its outcome; null if it does not state one.
    pub outcome: Option<Outcome>,
}

/// The power of the tasks of a comparison, from the spread of their differences.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Power {
    /// The chance to see a difference that is there.
    #[cfg_attr(feature = "schema", schema(exclusive_minimum = 0, exclusive_maximum = 1, example = 0.8))]
    pub power: f64,
    /// The deviation of the differences of tasks, in points.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub spread: f64,
    /// The smallest difference, in points, that this many tasks show with that chance; null if they are too few for any.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub smallest_difference: Option<f64>,
    /// The number of tasks that would show a difference as large as this one; null for a difference of 0.
    pub tasks_needed: Option<u64>,
}

/// The finding of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Gate {
    /// The margin by which the second may be worse, in points.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub margin: f64,
    /// True if it must be shown that it is not worse by the margin.
    pub strict: bool,
    /// The confidence of this comparison; higher where several are made, so that all together are wrong no more often (Holm).
    #[cfg_attr(feature = "schema", schema(exclusive_minimum = 0, exclusive_maximum = 1))]
    pub level: f64,
    /// The mean difference in points, second minus first: below 0 the second is worse.
    pub difference: f64,
    /// The lower end of its interval at this confidence; of a strict gate that does not find it worse the bound of a difference of
    /// which nothing is assumed. Null for a single task.
    pub low: Option<f64>,
    /// The upper end of the same; null for a single task.
    pub high: Option<f64>,
    /// The finding without the results that are missing; open if it would be another with the worst that they can be.
    pub finding: GateChange,
    /// The number of results that the second lacks at tasks at which the first has them.
    pub missing_results: u64,
    /// The number of these that would settle it if they were as good as those of the first; null where it is settled.
    pub results_needed: Option<u64>,
    /// True if the second passes.
    pub passed: bool,
    /// About the number of tasks that would show that a second subject that is as good is not worse by the margin; null without a
    /// margin.
    pub tasks_needed: Option<u64>,
}

impl Changes {
    /// Returns the changes, with the names of tasks and items of `rows`.
    pub(super) fn new(rows: &Rows, changes: &found::Changes) -> Self {
        let list =
            |all: &[found::TaskChange]| all.iter().map(|change| TaskChange::new(rows, change)).collect();
        let named =
            |tasks: &[usize]| tasks.iter().filter_map(|&task| rows.tasks.names.get(task).cloned()).collect();
        Self {
            regressed: list(&changes.regressed),
            fixed: list(&changes.fixed),
            same: changes.same as u64,
            tested: changes.tested as u64,
            missing: named(&changes.missing),
            fewer: named(&changes.fewer),
        }
    }
}

impl TaskChange {
    fn new(rows: &Rows, change: &found::TaskChange) -> Self {
        let [first, second] = &change.sides;
        Self {
            task: rows.tasks.names.get(change.task).cloned().unwrap_or_default(),
            change: change.kind,
            first: TaskAttempts::new(rows, first),
            second: TaskAttempts::new(rows, second),
            p: change.p.map(share),
            outside_noise: change.is_outside_noise,
        }
    }
}

impl TaskAttempts {
    fn new(rows: &Rows, side: &found::Side) -> Self {
        let item = |&(at, value, _): &(usize, i64, bool)| {
            let row = rows.rows.get(at)?;
            let (file, line) = rows.file_and_line(row);
            Some(ItemAt {
                id: rows.id(row).to_owned(),
                file: file.to_owned(),
                line,
                score: points(value as f64 / 1e9, rows.scale.max),
                outcome: row.outcome,
            })
        };
        Self {
            mean: points(share(side.mean()), rows.scale.max),
            passed: side.passed() as u64,
            cases: side.attempts.iter().filter_map(|(at, ..)| rows.rows.get(*at)?.cases()).max(),
            items: side.attempts.iter().filter_map(item).collect(),
        }
    }
}

impl ItemAt {
    /// Returns the place as written: `runs.csv:17`.
    pub fn place(&self) -> String {
        self.line.map_or_else(|| self.file.clone(), |line| format!("{}:{line}", self.file))
    }
}

impl Power {
    /// Returns what the tasks of a difference can show; none without a spread.
    pub(super) fn new(score: &compare::Difference, level: f64, scale: u32) -> Option<Self> {
        let spread = score.spread.filter(|spread| *spread > 0.0)?;
        let tasks = score.estimate.tasks as u64;
        Some(Self {
            power: POWER,
            spread: points(share(spread), scale),
            smallest_difference: smallest_difference(spread, tasks, level, POWER)
                .ok()?
                .map(|it| points(share(it), scale)),
            tasks_needed: score.tasks_needed(score.estimate.mean, level, POWER).ok()?,
        })
    }
}

impl Gate {
    /// Returns the finding of a gate on a difference of scores.
    pub(super) fn new(found: &GateFinding, score: &compare::Difference, scale: u32) -> Self {
        let margin = found.gate.margin;
        let turned = |loss: f64| points(-share(loss), scale);
        Self {
            margin: points(share(margin), scale),
            strict: found.gate.is_strict,
            level: share(found.level),
            difference: turned(score.estimate.mean),
            low: found.interval.map(|(_, high)| turned(high)),
            high: found.interval.map(|(low, _)| turned(low)),
            finding: found.change,
            missing_results: found.lacking as u64,
            results_needed: found.lacking_needed.map(|needed| needed as u64),
            passed: found.is_passed,
            tasks_needed: score.tasks_not_worse(margin, found.level, POWER).ok().flatten(),
        }
    }
}
