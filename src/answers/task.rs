//! The standing of a task, `karat/task/1`: how often it was completed and won, its difficulty and its lifecycle.

use karat_core::record::ENGINE_VERSION;
use karat_standing::lifecycle::{Ahead, PeriodOutcome};
use karat_standing::stand::{Calibrated, Lived, Period, Rate as CoreRate, TaskStanding};
use serde::{Deserialize, Serialize};

use super::standing::items_digest;
use super::{Difficulty, IntervalMethod, TaskStatus, TaskTrend, answer, share};
use crate::record::ScorecardReference;
use crate::standing::tasks::Answer;
use crate::standing::written;

/// The standing of one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Task {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: TaskSchema,
    /// The version of the engine.
    pub engine: String,
    /// The scorecard.
    pub scorecard: ScorecardReference,
    /// The time of the standing.
    pub as_of: String,
    /// The task.
    pub task: String,
    /// The number of subjects that tried it.
    pub subjects: u64,
    /// Its items.
    pub items: TaskItems,
    /// Attempts that came to an end.
    pub completed: u64,
    /// Completed attempts that were won.
    pub won: u64,
    /// Completed attempts that ended in a draw.
    pub drawn: u64,
    /// Completed attempts that were lost.
    pub lost: u64,
    /// The share of completed attempts that were won.
    pub win_rate: Option<Rate>,
    /// The share of all attempts that were completed.
    pub completion_rate: Option<Rate>,
    /// The difficulty, for a scorecard with `calibration`.
    pub calibration: Option<Calibration>,
    /// The lifecycle, for a scorecard with `lifecycle`.
    pub lifecycle: Option<Lifecycle>,
}

answer!(Task, TaskSchema = "karat/task/1", "a standing of a task");

/// The items of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TaskItems {
    /// The number of items considered.
    pub given: u64,
    /// The number of items that count.
    pub attempts: u64,
    /// The number of items left out because of their outcome.
    pub excluded: u64,
    /// The number of items left out because they have neither an outcome nor a score in a band.
    pub undecided: u64,
    /// True if items are ordered by id, because no item has a time.
    pub by_id: bool,
    /// SHA-256 over digests and ids of all items, in order.
    pub digest: String,
}

/// A share of attempts with its interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Rate {
    /// The share.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// The confidence.
    pub level: f64,
    /// The method of the interval.
    pub method: IntervalMethod,
}

/// The difficulty of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Calibration {
    /// The difficulty; null with too few completed attempts.
    pub difficulty: Option<Difficulty>,
    /// The number of completed attempts that are needed for a difficulty.
    pub completed_min: u64,
    /// The number of completed attempts still missing.
    pub completed_missing: u64,
    /// Every change of the difficulty, oldest first.
    pub changes: Vec<DifficultyChange>,
}

/// A change of a difficulty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DifficultyChange {
    /// The time.
    pub time: String,
    /// The difficulty from then on.
    pub difficulty: Difficulty,
}

/// The lifecycle of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Lifecycle {
    /// The status after the last completed period.
    pub status: TaskStatus,
    /// The number of periods in a row in which nearly all subjects solved it.
    pub solved_periods: u32,
    /// The number of periods in a row in which no subject solved it.
    pub failed_periods: u32,
    /// The completed periods that have scores, oldest first.
    pub periods: Vec<TaskPeriod>,
    /// The current period, as far as it has scores.
    pub running: Option<TaskPeriod>,
    /// The next status, if results stay the same.
    pub ahead: Option<TaskAhead>,
}

/// A period of a task. Each subject counts once, with the mean of its scores in the period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TaskPeriod {
    /// Its start.
    pub start: String,
    /// The number of subjects with scores.
    pub subjects: u64,
    /// The number of subjects that solved the task.
    pub solved: u64,
    /// The number of subjects that failed it.
    pub failed: u64,
    /// The status before.
    pub before: TaskStatus,
    /// The status after.
    pub after: TaskStatus,
}

/// The next status of a task, if results stay the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TaskAhead {
    /// The status.
    pub status: TaskStatus,
    /// The number of periods until then.
    pub periods: u32,
    /// The trend that leads there.
    pub by: TaskTrend,
}

impl Task {
    /// Returns the standing of one task of `answer`.
    pub fn new(answer: &Answer<'_>, task: &TaskStanding) -> Self {
        let Answer { card, rules, rows, standings, as_of, .. } = answer;
        let results = task.results;
        let calibration = rules.calibration.as_ref().zip(task.calibrated.as_ref());
        Self {
            schema: TaskSchema::V1,
            engine: ENGINE_VERSION.to_owned(),
            scorecard: ScorecardReference::of(card),
            as_of: as_of.to_string(),
            task: task.task.clone(),
            subjects: task.subjects,
            items: TaskItems {
                given: task.items.len() as u64,
                attempts: results.attempts,
                excluded: results.excluded,
                undecided: results.undecided,
                by_id: standings.by_id,
                digest: items_digest(rows, &task.items).to_string(),
            },
            completed: results.completed,
            won: results.won,
            drawn: results.drawn,
            lost: results.lost(),
            win_rate: rate(&task.won),
            completion_rate: rate(&task.completed),
            calibration: calibration.map(|(rules, found)| Calibration::new(rules.completed_min, found)),
            lifecycle: task.life.as_ref().map(Lifecycle::from),
        }
    }
}

fn rate(rate: &CoreRate) -> Option<Rate> {
    let (value, interval) = rate.of.share().zip(rate.interval.as_ref())?;
    Some(Rate {
        value: share(value),
        low: share(interval.low),
        high: share(interval.high),
        level: interval.level,
        method: interval.method,
    })
}

impl Calibration {
    fn new(completed_min: u64, found: &Calibrated) -> Self {
        let changes = found
            .changes
            .iter()
            .map(|(at, difficulty)| DifficultyChange { time: written(*at), difficulty: *difficulty });
        Self {
            difficulty: found.difficulty,
            completed_min,
            completed_missing: found.completed_missing,
            changes: changes.collect(),
        }
    }
}

impl From<&Lived> for Lifecycle {
    fn from(found: &Lived) -> Self {
        Self {
            status: found.life.status,
            solved_periods: found.life.solved_periods,
            failed_periods: found.life.failed_periods,
            periods: found.periods.iter().map(TaskPeriod::from).collect(),
            running: found.running.as_ref().map(TaskPeriod::from),
            ahead: found.ahead.map(|Ahead { status, periods, is_solved }| TaskAhead {
                status,
                periods,
                by: if is_solved { TaskTrend::Solved } else { TaskTrend::Failed },
            }),
        }
    }
}

impl From<&Period> for TaskPeriod {
    fn from(period: &Period) -> Self {
        let PeriodOutcome { scores, solved, failed, before, after } = period.outcome;
        Self {
            start: written(period.start_seconds),
            subjects: scores as u64,
            solved: solved as u64,
            failed: failed as u64,
            before,
            after,
        }
    }
}
