//! The interval of the score of a subject: that of the mean over its tasks, each end of which goes the way of the score, through
//! rounding and the gate. None of these steps turns an order round, so the score that is shown lies between the ends that are shown.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::input::Counted;
use crate::gate::Gated;
use crate::ratio::Ratio;
use karat_core::number::{BILLION, round_ratio};
use karat_core::record::Published;
use karat_core::scorecard::Scale;
use karat_stats::cases::{CaseResult, Cases};
use karat_stats::estimate::interval;
use karat_stats::{IntervalMethod, StatisticsError};

/// The tasks that a mean is over.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    /// The mean of each task in billionths, and its weight.
    tasks: Vec<(i64, u32)>,
    /// The results, if each is itself a mean over cases; else none.
    cases: Vec<CaseResult>,
}

impl Sample {
    /// Returns the sample of tasks that count alike, from the sum of the scores of each and their number.
    pub(super) fn of_sums(sums: impl Iterator<Item = (i128, i128)>) -> Self {
        Self { tasks: sums.map(|(sum, items)| (billionths(sum, items), 1)).collect(), cases: Vec::new() }
    }

    /// Returns the sample of the items that count: with tasks that count alike, else with items that do, however many there are
    /// of a task.
    pub(super) fn new(counted: &[&Counted<'_>], is_of_tasks: bool) -> Self {
        let mut by_task: BTreeMap<&str, (i128, u32, usize)> = BTreeMap::new();
        let mut cases = Vec::new();
        let scored = counted.iter().filter_map(|it| Some((it.item, it.score?.units())));
        for (at, (item, units)) in scored.enumerate() {
            let next = by_task.len();
            let (sum, items, number) = by_task.entry(item.task).or_insert((0, 0, next));
            (*sum, *items) = (*sum + i128::from(units), *items + 1);
            let task = if is_of_tasks { *number } else { at };
            cases.extend(item.cases.map(|of| CaseResult {
                subject: 0,
                task,
                value: billionths(units.into(), 1),
                cases: Some(of),
            }));
        }
        // Where items count, repeats over the same cases would count as other ones.
        if cases.len() < counted.len() || (!is_of_tasks && by_task.len() < cases.len()) {
            cases = Vec::new();
        }
        let task = |(sum, items, _): (i128, u32, usize)| {
            (billionths(sum, items.into()), if is_of_tasks { 1 } else { items })
        };
        Self { tasks: by_task.into_values().map(task).collect(), cases }
    }
}

/// Returns the mean of scores, from their sum in units.
fn billionths(units: i128, scores: i128) -> i64 {
    round_ratio(units, 1_000_000 * scores.max(1)) as i64
}

/// A score that is a mean over tasks, and the tasks: what its interval follows from.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    pub(super) sample: Arc<Sample>,
    pub(super) score: Ratio,
    pub(super) scale: Scale,
    pub(super) gated: Gated,
    /// True if reviews decide what is official, so that the interval belongs to the score of the moment, in whole points: the
    /// official one follows from the order of events as well.
    pub is_candidate: bool,
}

/// The interval of a score, in points as the score is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreInterval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The method of the interval.
    pub method: IntervalMethod,
}

impl Spread {
    /// Returns the number of tasks.
    pub fn tasks(&self) -> usize {
        self.sample.tasks.len()
    }

    /// Returns the interval at a confidence; none of one task, which does not show how far tasks lie apart.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, or a result is a mean over no case.
    pub fn interval(&self, level: f64) -> Result<Option<ScoreInterval>, StatisticsError> {
        let Sample { tasks, cases } = &*self.sample;
        let found = match Cases::new(cases.iter().copied()).interval(0, level)? {
            Some(of_cases) => Some(of_cases),
            None => {
                let values = tasks.iter().map(|(value, weight)| (*value as f64, f64::from(*weight)));
                interval(values, 0.0, level)?.filter(|_| tasks.len() > 1)
            }
        };
        let score = self.score.billionths();
        let points = |end: f64, clamped: fn(i64, i64) -> i64| {
            let end = (end * BILLION as f64 + 0.5) as i64;
            // The exact score itself, or a rounding could lie on the other side of it.
            let end = if clamped(end, score) == score {
                Some(self.score)
            } else {
                Ratio::new(end.into(), BILLION.into())
            };
            end.map(|end| self.gated.shown(end.publish(self.scale), self.is_candidate))
        };
        Ok(found.and_then(|it| {
            let (low, high) = (points(it.low, i64::min)?, points(it.high, i64::max)?);
            Some(ScoreInterval { low, high, method: it.method })
        }))
    }
}

impl Gated {
    /// Returns true if the gate leaves less than this.
    pub fn lowers(&self, published: Published) -> bool {
        let cap = |cap: i64| i128::from(cap) * 10i128.pow(published.places);
        self.cap_points.is_some_and(|it| i128::from(published.value) > cap(it))
    }

    /// Returns what the gate leaves, in points: as it is published, or whole.
    pub(super) fn shown(&self, published: Published, is_whole: bool) -> f64 {
        match self.cap_points.filter(|_| self.lowers(published)) {
            Some(cap) => cap as f64,
            None if is_whole => published.value.div_euclid(10i64.saturating_pow(published.places)) as f64,
            None => published.to_f64(),
        }
    }
}
