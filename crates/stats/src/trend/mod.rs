//! The nights of one subject: whether its scores have changed, since when, how steeply, and which tasks carry it.
//!
//! The night is the unit. Its score is the mean over the tasks of the baseline, and is one observation, so that nothing is
//! assumed of how tasks of one night depend on each other. The alarm is [`RankEvidence`], which needs no more than one run as
//! its baseline; [`ConfidenceSequence`] gives the interval to show, and tests against a mean that is known.
//!
//! A life is the nights from one baseline on. The alarm does not depend on what is looked at when: more nights never take an
//! alarm back. A new baseline, such as after a repair, starts a new life with its own chance of a false alarm.

mod change;
mod sequence;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

pub use change::{Change, Slope};
use karat_core::number::BILLION;
pub use sequence::{ConfidenceSequence, Direction, RankEvidence};

use super::permutation::{Permutation, discoveries};
use super::random::scattered;
use super::table::{Observation, TaskTable};
use super::{Interval, StatisticsError, outside};

/// The most nights of a life: the time grows with their square.
pub const MOST_NIGHTS: usize = 2_000;

/// The results of one run.
#[derive(Debug, Clone, Copy)]
pub struct Night<'a> {
    /// Each task, as any number, with a result there from 0 to 1; several at one task are averaged.
    pub results: &'a [(usize, f64)],
}

/// The choices of a trend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrendSettings {
    /// The number of nights, from the first on, that are known to be alike: 1 or more.
    pub baseline: usize,
    /// The change to look for.
    pub direction: Direction,
    /// The level of the alarm and of all intervals, such as 0.95; the false discovery rate of tasks is 1 - `level`.
    pub level: f64,
    /// The seed of the permutations of results that are not all looked at ([`Permutation::of`]).
    pub seed: u64,
}

/// The state after one night.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NightState {
    /// The mean over the tasks of the baseline, 0 to 1; none, and the night is left out, if it lacks more than a tenth of them.
    pub score: Option<f64>,
    /// The number of tasks of the baseline that the night lacks. Their mean in the baseline is taken instead, which hides a
    /// little of a change; the bound on false alarms is exact only where no task is missing.
    pub missing: usize,
    /// The natural logarithm of the evidence after this night ([`RankEvidence::push`]).
    pub log_evidence: f64,
    /// The chance, at most, that evidence as high as up to this night is ever reached without a change.
    pub chance: f64,
    /// The interval of the mean score, if it has been the same in all nights up to this one, at all nights at once; none from
    /// where no mean would do.
    pub interval: Option<Interval>,
}

/// The results of one task before and after a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskChange {
    /// The task.
    pub task: usize,
    /// Its mean result before the change, 0 to 1; none without one.
    pub before: Option<f64>,
    /// Its mean result from the change on, 0 to 1; none without one.
    pub after: Option<f64>,
    /// The test of whether both differ by more than chance. The split was chosen by all tasks together, which favors each
    /// of them a little.
    pub test: Option<Permutation>,
    /// True if it is one of the tasks that carry the change, of which at most 1 - `level` are expected to be there by chance.
    pub is_found: bool,
}

/// The findings of a life of nights.
#[derive(Debug, Clone, PartialEq)]
pub struct Trend {
    /// The state after each night, in the order given.
    pub nights: Vec<NightState>,
    /// The first night with an alarm.
    pub alarm: Option<usize>,
    /// The most likely change in the direction, to be shown where there is an alarm; none if no split has one.
    pub change: Option<Change>,
    /// The slope over all nights.
    pub slope: Option<Slope>,
    /// Every task of the baseline with its results before and after the change, by task; empty without a change.
    pub tasks: Vec<TaskChange>,
}

impl Trend {
    /// Looks at nights in their order. The tasks are those that all nights of the baseline have.
    ///
    /// # Errors
    /// If the level is not between 0 and 1, a result not from 0 to 1, there is no night after the baseline, no night or no
    /// shared task in it, or there are more than [`MOST_NIGHTS`] nights.
    pub fn new(nights: &[Night], settings: &TrendSettings) -> Result<Self, StatisticsError> {
        let TrendSettings { baseline, direction, level, seed } = *settings;
        let alarm_at = -libm::log(outside(level)?);
        let too_few = |what, found, needed| Err(StatisticsError::TooFew { what, found, needed });
        if baseline == 0 {
            return too_few("runs in the baseline", 0, 1);
        }
        if nights.len() <= baseline {
            return too_few("runs", nights.len(), baseline.saturating_add(1));
        }
        if nights.len() > MOST_NIGHTS {
            let (found, most) = (nights.len() as u64, MOST_NIGHTS as u64);
            return Err(StatisticsError::TooMany { what: "runs", found, most });
        }
        let life = Life::new(nights, baseline)?;
        if life.centers.is_empty() {
            return too_few("tasks that all runs of the baseline have", 0, 1);
        }
        let mut evidence = RankEvidence::new(baseline, direction);
        let mut mean = ConfidenceSequence::new(0.0, level)?;
        let (mut now, mut highest, mut alarm) = (0.0, 0.0f64, None);
        let (mut states, mut scores) = (Vec::new(), Vec::new());
        for night in 0..nights.len() {
            let (sum, tie, missing) = life.score(night);
            let count = life.centers.len();
            let score = (missing * 10 <= count).then_some(sum as f64 / (count as f64 * BILLION as f64));
            if let Some(score) = score {
                now = evidence.push(sum, tie);
                highest = highest.max(now);
                mean.push(score)?;
                scores.push((night, score));
                if now >= alarm_at && alarm.is_none() {
                    alarm = Some(night);
                }
            }
            // Below the smallest double the chance is not 0.
            let chance = libm::exp(-highest).max(f64::MIN_POSITIVE);
            states.push(NightState { score, missing, log_evidence: now, chance, interval: mean.interval() });
        }
        let change = Change::find(&scores, baseline, direction, level)?;
        let tasks = change.as_ref().map_or(Vec::new(), |it| life.tasks(it.first, level, seed));
        Ok(Self { nights: states, alarm, change, slope: Slope::fit(&scores, level)?, tasks })
    }
}

/// The results of a life at the tasks of its baseline.
struct Life {
    /// Each task, and its mean in the baseline in billionths.
    centers: Vec<(usize, i64)>,
    /// Of each night its results, one for each task, in billionths.
    results: Vec<Vec<Option<i64>>>,
}

impl Life {
    fn new(nights: &[Night], baseline: usize) -> Result<Self, StatisticsError> {
        let mut rows = Vec::new();
        for (night, results) in nights.iter().enumerate() {
            for (row, &(task, share)) in results.results.iter().enumerate() {
                let found = (share * BILLION as f64) as i64;
                let refusal = StatisticsError::Row {
                    row,
                    part: "result",
                    found,
                    expected: "a share from 0 to 1, in billionths",
                };
                rows.push(Observation::of_share(night, task, share).ok_or(refusal)?);
            }
        }
        let table = TaskTable::new(nights.len(), &rows)?;
        let mut centers: Vec<(usize, i64)> = table.results(0).map(|(task, _)| (task, 0)).collect();
        for night in 0..baseline {
            let values: Vec<Option<i64>> = at(centers.iter().map(|it| it.0), table.results(night)).collect();
            let sums = centers.iter().zip(values);
            centers = sums.filter_map(|(&(task, sum), value)| Some((task, sum + value?))).collect();
        }
        let of_baseline = baseline as f64;
        centers.iter_mut().for_each(|(_, sum)| *sum = libm::rint(*sum as f64 / of_baseline) as i64);
        let of_night = |night| at(centers.iter().map(|it| it.0), table.results(night)).collect();
        let results = (0..nights.len()).map(of_night).collect();
        Ok(Self { centers, results })
    }

    /// Returns the sum of a night, a number that its results alone give, and how many tasks it lacks.
    fn score(&self, night: usize) -> (i64, u64, usize) {
        let own = self.results.get(night).into_iter().flatten();
        let (mut sum, mut tie, mut missing) = (0, 0, 0);
        for ((_, center), result) in self.centers.iter().zip(own) {
            missing += usize::from(result.is_none());
            let value = result.unwrap_or(*center);
            sum += value;
            tie = scattered(tie ^ value.unsigned_abs()).wrapping_add(1);
        }
        (sum, tie, missing)
    }

    /// Compares the results of each task before the night `first` with those from it on.
    fn tasks(&self, first: usize, level: f64, seed: u64) -> Vec<TaskChange> {
        let mut tasks: Vec<TaskChange> = Vec::new();
        for (place, &(task, _)) in self.centers.iter().enumerate() {
            let of = |nights: &[Vec<Option<i64>>]| -> Vec<i64> {
                nights.iter().filter_map(|night| night.get(place).copied().flatten()).collect()
            };
            let (before, after) = self.results.split_at_checked(first).unwrap_or((&self.results, &[]));
            let (before, after) = (of(before), of(after));
            let mean = |values: &[i64]| {
                let sum: i128 = values.iter().map(|value| i128::from(*value)).sum();
                (!values.is_empty()).then(|| sum as f64 / (values.len() as f64 * BILLION as f64))
            };
            let test = Permutation::of(&before, &after, seed);
            tasks.push(TaskChange {
                task,
                before: mean(&before),
                after: mean(&after),
                test,
                is_found: false,
            });
        }
        let tests: Vec<Option<Permutation>> = tasks.iter().map(|it| it.test).collect();
        let found = discoveries(&tests, 1.0 - level);
        tasks.iter_mut().zip(found).for_each(|(task, is_found)| task.is_found = is_found);
        tasks
    }
}

/// Returns the results at tasks, both in rising order of tasks.
fn at(
    tasks: impl Iterator<Item = usize>,
    results: impl Iterator<Item = (usize, i64)>,
) -> impl Iterator<Item = Option<i64>> {
    let mut results = results.peekable();
    tasks.map(move |task| {
        while results.next_if(|it| it.0 < task).is_some() {}
        results.next_if(|it| it.0 == task).map(|it| it.1)
    })
}
