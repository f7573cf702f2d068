//! Cluster bootstrap: how far a mean over tasks may lie from the truth, by drawing the tasks again many times.
//!
//! The tasks are resampled, not the trials: trials of one task are alike, so resampling trials would make intervals
//! too narrow (Cameron, Gelbach and Miller, "Bootstrap-based improvements for inference with clustered errors", 2008;
//! Miller, "Adding error bars to evals", 2024, section 2.2). Each resample takes as many tasks as there are, with
//! replacement, and is the same for all subjects, so that what they have in common (an easy resample) cancels when
//! they are compared. Dimensions and composites of the same tasks are separate tables; under the same plan, they too
//! share their resamples.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::num::NonZeroU64;

use super::mean::{alike_ends, student_t};
use super::random::Random;
use super::special::{normal_cumulative, normal_quantile};
use super::table::TaskTable;
use super::{Interval, IntervalMethod, StatisticsError, outside};
use karat_core::number::BILLION;

/// The settings of a bootstrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Number of bootstrap resamples. 1000 are usual; ends of intervals move by some hundredths of their width from
    /// seed to seed.
    pub draws: u32,
    /// The seed of the generator.
    pub seed: u64,
}

/// The method by which the ends of an interval are read from the resamples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// The quantiles of the resamples. Simple, and the same for a difference as for its mirror image.
    Percentile,
    /// The same, but where many resamples are equal an end within them moves towards the next ones by as much as the middle
    /// of the equal ones lies beyond it: the mid-distribution of Parzen (Ma, Genton and Parzen, "Asymptotic properties of
    /// sample quantiles of discrete distributions", Annals of the Institute of Statistical Mathematics 63, 2011). For
    /// differences of successes and failures, whose means are multiples of 1 / tasks.
    SplitTies,
    /// The quantiles moved for bias and skew: Efron, "Better bootstrap confidence intervals", JASA 82 (1987). Better where
    /// few tasks carry the mean.
    BiasCorrectedAccelerated,
}

/// The means of all subjects in every resample.
#[derive(Debug, Clone)]
pub struct Draws<'a> {
    table: &'a TaskTable,
    plan: Plan,
    /// By subject, then by resample, in billionths; [`NOTHING`] where a resample has none of the tasks of a subject.
    means: Vec<i64>,
}

const NOTHING: i64 = i64::MIN;

/// Resamples of a number of tasks, one after the other.
pub(super) struct Resamples {
    random: Random,
    tasks: NonZeroU64,
    times: Vec<f64>,
}

impl Resamples {
    pub(super) fn new(tasks: NonZeroU64, seed: u64) -> Self {
        Self { random: Random::new(seed), tasks, times: alloc::vec![0.0; tasks.get() as usize] }
    }

    /// Draws as many tasks as there are; returns how often each was drawn.
    pub(super) fn next(&mut self) -> &[f64] {
        self.times.fill(0.0);
        for _ in 0..self.tasks.get() {
            if let Some(times) = self.times.get_mut(self.random.below(self.tasks) as usize) {
                *times += 1.0;
            }
        }
        &self.times
    }
}

/// A mean over tasks with its interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The mean over the tasks of the subject: 0 to 1, or -1 to 1 for differences.
    pub mean: f64,
    /// The interval of the mean over all tasks of this kind; none of fewer than two tasks, which do not show how far
    /// tasks lie apart.
    pub interval: Option<Interval>,
    /// True if all tasks gave the same value, so that no resample can differ. The ends are then those within which the mean
    /// must lie if the share of tasks with that value is at least the lower end of its exact interval (Clopper-Pearson),
    /// and the other tasks may have any value.
    pub all_alike: bool,
    /// Deviation of the means of the resamples; none of fewer than two, or of one task.
    pub standard_error: Option<f64>,
    /// Number of tasks that the subject has.
    pub tasks: usize,
    /// Number of resamples that were made.
    pub draws: u32,
    /// Resamples that have none of the tasks of the subject; they are left out.
    pub draws_without_tasks: u32,
    /// The seed.
    pub seed: u64,
}

impl Estimate {
    /// Returns the mean of a subject of a table that holds all there is, so that there is no interval; none without tasks.
    pub fn of_census(table: &TaskTable, subject: usize) -> Option<Self> {
        let values = table.values(subject);
        Some(Self {
            mean: table.mean(subject)? as f64 / BILLION as f64,
            interval: None,
            all_alike: all_alike(values),
            standard_error: None,
            tasks: values.len(),
            draws: 0,
            draws_without_tasks: 0,
            seed: 0,
        })
    }
}

/// Returns whether all values are the same number.
fn all_alike(values: &[f64]) -> bool {
    values.windows(2).all(|pair| matches!(pair, [a, b] if a.to_bits() == b.to_bits()))
}

impl<'a> Draws<'a> {
    /// The largest number of means that is kept: subjects times resamples.
    pub const MOST_MEANS: u64 = 20_000_000;
    /// The largest number of tasks drawn: tasks times resamples. More would take minutes.
    pub const MOST_DRAWN: u64 = 10_000_000_000;

    /// Draws the tasks of `table` again, as often as `plan` says.
    ///
    /// # Errors
    /// If there are no resamples, no tasks, or more of both than [`Self::MOST_MEANS`] or [`Self::MOST_DRAWN`].
    pub fn new(table: &'a TaskTable, plan: Plan) -> Result<Self, StatisticsError> {
        let mut draws = Self::empty(table, plan)?;
        Self::fill([&mut draws]);
        Ok(draws)
    }

    /// Does the same for each of several tables. The resamples of those with as many tasks are the same, and are made once.
    pub fn each(
        tables: impl IntoIterator<Item = &'a TaskTable>,
        plan: Plan,
    ) -> Vec<Result<Self, StatisticsError>> {
        let mut all: Vec<_> = tables.into_iter().map(|table| Self::empty(table, plan)).collect();
        let mut alike: BTreeMap<usize, Vec<&mut Self>> = BTreeMap::new();
        for draws in all.iter_mut().flatten() {
            alike.entry(draws.table.tasks()).or_default().push(draws);
        }
        alike.into_values().for_each(Self::fill);
        all
    }

    fn empty(table: &'a TaskTable, plan: Plan) -> Result<Self, StatisticsError> {
        if plan.draws == 0 {
            return Err(StatisticsError::Draws { found: 0, needed: 1 });
        }
        let (tasks, subjects) = (table.tasks() as u64, table.subjects());
        if tasks == 0 {
            return Err(StatisticsError::TooFew { what: "tasks", found: 0, needed: 1 });
        }
        let means = ("subjects times resamples", subjects as u64, Self::MOST_MEANS);
        affordable(plan.draws, [means, ("tasks times resamples", tasks, Self::MOST_DRAWN)])?;
        Ok(Self { table, plan, means: alloc::vec![NOTHING; subjects * plan.draws as usize] })
    }

    /// Fills in the means of tables with the same number of tasks, of the same plan.
    fn fill<'d>(all: impl IntoIterator<Item = &'d mut Self>)
    where
        'a: 'd,
    {
        let mut all: Vec<&mut Self> = all.into_iter().collect();
        let Some((plan, tasks)) = all.first().map(|first| (first.plan, first.table.tasks() as u64)) else {
            return;
        };
        let Some(mut resamples) = NonZeroU64::new(tasks).map(|tasks| Resamples::new(tasks, plan.seed)) else {
            return;
        };
        let draws = plan.draws as usize;
        for draw in 0..draws {
            let times = resamples.next();
            for Self { table, means, .. } in &mut all {
                for (subject, means) in means.chunks_exact_mut(draws).enumerate() {
                    if let (Some(slot), Some(mean)) =
                        (means.get_mut(draw), table.mean_of_draw(subject, times))
                    {
                        *slot = mean;
                    }
                }
            }
        }
    }

    /// Returns the table that was drawn from.
    pub fn table(&self) -> &'a TaskTable {
        self.table
    }

    /// Returns how the resamples were made.
    pub fn plan(&self) -> Plan {
        self.plan
    }

    /// Returns the means of a subject by resample, in billionths; none where a resample has none of its tasks.
    pub fn means(&self, subject: usize) -> impl Iterator<Item = Option<i64>> {
        let draws = self.plan.draws as usize;
        let from = subject.saturating_mul(draws);
        let means = self.means.get(from..from.saturating_add(draws)).unwrap_or_default();
        means.iter().map(|&mean| (mean != NOTHING).then_some(mean))
    }

    /// Returns the mean of a subject with its interval.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, the subject has no tasks, or the resamples (those with tasks of the subject) are too
    /// few for this level.
    pub fn estimate(&self, subject: usize, level: f64, ends: Ends) -> Result<Estimate, StatisticsError> {
        let tail = outside(level)? / 2.0;
        let values = self.table.values(subject);
        let Some(mean) = self.table.mean(subject) else {
            return Err(StatisticsError::TooFew { what: "tasks of the subject", found: 0, needed: 1 });
        };
        let mut means: Vec<i64> = self.means(subject).flatten().collect();
        means.sort_unstable();
        let drawn = u32::try_from(means.len()).unwrap_or(u32::MAX);
        // At least one resample must lie at or beyond each end.
        let made = self.plan.draws;
        enough(made, tail)?;
        if values.len() > 1 && left_out(drawn, tail) == 0 {
            return Err(StatisticsError::UsableDraws { subject, found: drawn, made, needed: needed(tail) });
        }
        let all_alike = all_alike(values);
        let (low, high, method) = if all_alike {
            let (low, high) = ends_if_alike(mean, values.len(), tail, self.table.lowest());
            (low, high, IntervalMethod::ClopperPearson)
        } else {
            let tail = expanded(tail, values.len())?;
            let (below, above, method) = match ends {
                Ends::Percentile | Ends::SplitTies => (tail, tail, IntervalMethod::Percentile),
                Ends::BiasCorrectedAccelerated => {
                    let drawn_from = self.table.mean_of_values(subject).unwrap_or(mean);
                    let (below, above) =
                        corrected_tails(drawn_from, &means, (values, self.table.weights(subject)), tail);
                    (below, above, IntervalMethod::BiasCorrectedAccelerated)
                }
            };
            let low = left_out(drawn, below).max(1) - 1;
            let high = drawn - left_out(drawn, above).max(1);
            let at = |place: u32| means.get(place as usize).copied().unwrap_or(mean) as f64;
            if ends == Ends::SplitTies {
                let mirrored: Vec<i64> = means.iter().rev().map(|mean| -mean).collect();
                let (low, high) = (split_tie(&means, low), -split_tie(&mirrored, drawn - 1 - high));
                (low, high.max(low), method)
            } else {
                (at(low), at(high), method)
            }
        };
        let billion = BILLION as f64;
        let interval = Interval { low: low / billion, high: high / billion, level, method };
        Ok(Estimate {
            mean: mean as f64 / billion,
            interval: (values.len() > 1).then_some(interval),
            all_alike,
            standard_error: deviation(&means).filter(|_| values.len() > 1).map(|it| it / billion),
            tasks: values.len(),
            draws: self.plan.draws,
            draws_without_tasks: self.plan.draws - drawn,
            seed: self.plan.seed,
        })
    }
}

/// Refuses more resamples than are affordable: the cost of each, and the most that all may cost.
pub(super) fn affordable(
    draws: u32,
    limits: impl IntoIterator<Item = (&'static str, u64, u64)>,
) -> Result<(), StatisticsError> {
    for (what, each, most) in limits {
        let found = u64::from(draws).saturating_mul(each);
        if found > most {
            return Err(StatisticsError::TooMany { what, found, most });
        }
    }
    Ok(())
}

/// A product that is a whole number may come out a little below it.
const SLACK: f64 = 1e-9;

/// Returns the tail to leave out in resamples of `count` tasks in place of `tail`. Resamples of few tasks spread too little:
/// their variance divides by `count` and not by `count - 1`, and it is estimated itself, so Student's
/// quantile takes the place of the normal one (Hesterberg, "What teachers should know about the bootstrap", The American
/// Statistician 69, 2015, section 5.3).
pub(super) fn expanded(tail: f64, count: usize) -> Result<f64, StatisticsError> {
    let level = 1.0 - 2.0 * tail;
    let Some(reach) = student_t(count as u64, level)? else { return Ok(tail) };
    let count = count as f64;
    Ok(normal_cumulative(-reach * libm::sqrt(count / (count - 1.0))))
}

/// Returns the lower end at `place` of sorted means, moved up if the middle of those that equal it lies before that place. It
/// does not move across 0 where no mean is 0.
fn split_tie(means: &[i64], place: u32) -> f64 {
    let Some(&value) = means.get(place as usize) else { return 0.0 };
    let from = means.partition_point(|&mean| mean < value);
    let to = means.partition_point(|&mean| mean <= value);
    let (Some(&next), position) = (means.get(to), place as usize) else { return value as f64 };
    // Twice the middle places, so that they are whole.
    let (middle, twice) = (from + to - 1, 2 * position);
    if twice <= middle {
        return value as f64;
    }
    let after = means.partition_point(|&mean| mean <= next);
    let share = (twice - middle) as f64 / (to + after - 1 - middle) as f64;
    let moved = libm::rint(value as f64 + share * (next as f64 - value as f64));
    if value < 0 { moved.min(0.0) } else { moved.max(value as f64 + 1.0) }
}

/// Returns whether the lower end as [`Ends::SplitTies`] has it is above 0, from how many resamples are `below` 0 and `equal`
/// to it, where the end is the resample number `left_out`.
pub(super) fn is_end_above(below: u32, equal: u32, left_out: u32) -> bool {
    let (below, equal, left_out) = (u64::from(below), u64::from(equal), u64::from(left_out));
    if equal == 0 { below < left_out } else { 2 * below + equal + 1 < 2 * left_out }
}

/// Returns how many of `draws` lie at or beyond the end of an interval that leaves out `tail`: `floor((draws + 1)
/// tail)`. Efron and Tibshirani, "An introduction to the bootstrap" (1993), 12.5.
pub(super) fn left_out(draws: u32, tail: f64) -> u32 {
    (libm::floor((f64::from(draws) + 1.0) * tail + SLACK) as u32).min(draws)
}

/// Returns the tails to leave out on each side so that bias and skew are made up for: Efron (1987), equation 2.3, with the
/// acceleration of a mean by leaving out one task at a time (Efron and Tibshirani 1993, equation 14.15).
fn corrected_tails(mean: i64, means: &[i64], (values, weights): (&[f64], &[f64]), tail: f64) -> (f64, f64) {
    let count = means.len() as f64;
    let below = means.partition_point(|&drawn| drawn < mean);
    let equal = means.partition_point(|&drawn| drawn <= mean) - below;
    // Scores repeat, so a resample may equal the mean: it lies half below. Never 0 or 1, where the quantile is infinite.
    let share = ((below as f64 + equal as f64 / 2.0) / count).clamp(0.5 / count, 1.0 - 0.5 / count);
    let bias = normal_quantile(share);
    let (mut squares, mut cubes) = (0.0, 0.0);
    // A task moves a weighted mean by its weight times what it is apart.
    for (value, weight) in values.iter().zip(weights.iter().copied().chain(core::iter::repeat(1.0))) {
        let apart = weight * (value - mean as f64) / BILLION as f64;
        squares += apart * apart;
        cubes += apart * apart * apart;
    }
    let skew = if squares > 0.0 { cubes / (6.0 * squares * libm::sqrt(squares)) } else { 0.0 };
    let moved = |z: f64| {
        let z = bias + z;
        bias + z / (1.0 - skew * z).max(f64::EPSILON)
    };
    let z = normal_quantile(tail);
    (normal_cumulative(moved(z)), normal_cumulative(-moved(-z)))
}

/// Returns the ends of the mean, in billionths, where all of `count` tasks gave `value`: see [`Estimate::all_alike`].
pub(super) fn ends_if_alike(value: i64, count: usize, tail: f64, lowest: f64) -> (f64, f64) {
    let billion = BILLION as f64;
    let (low, high) = alike_ends(value as f64 / billion, count as u64, tail, lowest / billion);
    (low * billion, high * billion)
}

/// Refuses fewer resamples than the ends of an interval that leaves out `tail` on each side need.
pub(super) fn enough(made: u32, tail: f64) -> Result<(), StatisticsError> {
    match left_out(made, tail) {
        0 => Err(StatisticsError::Draws { found: made, needed: needed(tail) }),
        _ => Ok(()),
    }
}

/// Returns the fewest resamples of which one lies at or beyond each end of such an interval.
fn needed(tail: f64) -> u32 {
    libm::ceil(1.0 / tail - 1.0 - SLACK) as u32
}

/// Returns the deviation of whole numbers, from exact sums: it does not depend on their order.
fn deviation(means: &[i64]) -> Option<f64> {
    let count = means.len() as i128;
    if count < 2 {
        return None;
    }
    let sum: i128 = means.iter().map(|&mean| i128::from(mean)).sum();
    let squares: i128 = means.iter().map(|&mean| i128::from(mean) * i128::from(mean)).sum();
    let spread = count * squares - sum * sum;
    Some(libm::sqrt(spread as f64 / (count * (count - 1)) as f64))
}

#[cfg(test)]
mod tests {
    use super::super::table::Observation;
    use super::*;

    const PLAN: Plan = Plan { draws: 1000, seed: 11 };

    fn shares(values: &[f64]) -> TaskTable {
        let rows: Vec<Observation> = values
            .iter()
            .enumerate()
            .filter_map(|(task, &value)| Observation::of_share(0, task, value))
            .collect();
        TaskTable::new(1, &rows).unwrap()
    }

    #[test]
    fn tables_that_are_drawn_together_have_the_draws_of_each() {
        let table = |tasks: usize| {
            let observations: Vec<Observation> =
                (0..2 * tasks).map(|at| Observation::of_success(at % 2, at / 2, at % 3 == 0)).collect();
            TaskTable::new(2, &observations).unwrap()
        };
        let tables = [table(5), table(0), table(9), table(5)];
        let together = Draws::each(&tables, PLAN);
        for (table, together) in tables.iter().zip(together) {
            match (Draws::new(table, PLAN), together) {
                (Ok(alone), Ok(together)) => assert_eq!(alone.means, together.means),
                (alone, together) => assert_eq!(alone.unwrap_err(), together.unwrap_err()),
            }
        }
    }

    #[test]
    fn an_interval_has_about_the_width_that_theory_says() {
        let values: Vec<f64> = (0..400).map(|task| f64::from(u8::from(task % 5 != 0))).collect();
        let table = shares(&values);
        let draws = Draws::new(&table, Plan { draws: 4000, seed: 11 }).unwrap();
        for ends in [Ends::Percentile, Ends::BiasCorrectedAccelerated] {
            let estimate = draws.estimate(0, 0.95, ends).unwrap();
            // sqrt(0.8 * 0.2 / 400) = 0.02.
            assert!((estimate.standard_error.unwrap() - 0.02).abs() < 0.002, "{estimate:?}");
            let interval = estimate.interval.unwrap();
            assert!((interval.low - 0.7608).abs() < 0.0075, "{estimate:?}");
            assert!((interval.high - 0.8392).abs() < 0.0075, "{estimate:?}");
            assert_eq!((estimate.draws, estimate.seed, estimate.tasks), (4000, 11, 400));
        }
    }

    #[test]
    fn trials_of_a_task_are_no_more_evidence_than_the_task() {
        let once: Vec<Observation> =
            (0..30).map(|task| Observation::of_success(0, task, task % 3 == 0)).collect();
        let often: Vec<Observation> = once.iter().cycle().take(300).copied().collect();
        let estimate = |rows: &[Observation]| {
            let table = TaskTable::new(1, rows).unwrap();
            Draws::new(&table, PLAN).unwrap().estimate(0, 0.9, Ends::Percentile).unwrap()
        };
        assert_eq!(estimate(&once), estimate(&often), "an interval over trials would be a third as wide");
    }

    #[test]
    fn skew_moves_the_ends() {
        // One task in fifty carries the mean.
        let mut values = alloc::vec![0.0; 50];
        values[0] = 1.0;
        values[1] = 0.5;
        let table = shares(&values);
        let draws = Draws::new(&table, PLAN).unwrap();
        let plain = draws.estimate(0, 0.9, Ends::Percentile).unwrap().interval.unwrap();
        let moved = draws.estimate(0, 0.9, Ends::BiasCorrectedAccelerated).unwrap().interval.unwrap();
        assert!(moved.high > plain.high && moved.low >= plain.low, "{plain:?} {moved:?}");
    }

    #[test]
    fn all_alike_is_not_certainty() {
        let estimate = |value: f64, tasks: usize| {
            let table = shares(&alloc::vec![value; tasks]);
            Draws::new(&table, PLAN).unwrap().estimate(0, 0.95, Ends::Percentile).unwrap()
        };
        let near = |interval: Option<Interval>, low: f64, high: f64| {
            let interval = interval.unwrap();
            assert!((interval.low - low).abs() < 1e-9 && (interval.high - high).abs() < 1e-9, "{interval:?}");
        };
        let all = estimate(1.0, 20);
        assert!(all.all_alike && all.interval.unwrap().method == IntervalMethod::ClopperPearson);
        let exact = super::super::proportion::Proportion::new(20, 20).unwrap().clopper_pearson(0.95).unwrap();
        near(all.interval, exact.low, 1.0);
        near(estimate(0.0, 20).interval, 0.0, 1.0 - exact.low);
        // The share with this value is 0.025^(1/2) at least.
        near(estimate(0.5, 2).interval, 0.079_056_942, 0.920_943_058);
        assert_eq!(estimate(0.5, 1).interval, None, "one task does not show how far tasks lie apart");
    }

    #[test]
    fn too_few_draws_are_refused_with_the_number_that_is_needed() {
        let table = shares(&[0.0, 1.0, 0.5]);
        for (level, needed) in [(0.9, 19), (0.95, 39), (0.99, 199)] {
            let of = |draws| {
                Draws::new(&table, Plan { draws, seed: 1 }).unwrap().estimate(0, level, Ends::Percentile)
            };
            assert!(of(needed).is_ok());
            assert_eq!(of(needed - 1).unwrap_err(), StatisticsError::Draws { found: needed - 1, needed });
        }
        assert!(Draws::new(&table, Plan { draws: 0, seed: 1 }).is_err());
        assert!(Draws::new(&TaskTable::new(3, &[]).unwrap(), PLAN).is_err());
        let many = TaskTable::new(100_000, &[Observation::of_success(0, 0, true)]).unwrap();
        assert!(Draws::new(&many, PLAN).is_err());
        let tasks: Vec<Observation> = (0..1000).map(|task| Observation::of_success(0, task, true)).collect();
        let tasks = TaskTable::new(1, &tasks).unwrap();
        assert!(Draws::new(&tasks, Plan { draws: 20_000_000, seed: 1 }).is_err());
        let draws = Draws::new(&table, PLAN).unwrap();
        assert!(draws.estimate(1, 0.95, Ends::Percentile).is_err(), "no such subject");
        assert!(draws.estimate(0, 1.0, Ends::Percentile).is_err());
    }

    #[test]
    fn resamples_without_a_task_of_a_subject_are_told_apart_from_those_that_were_asked_for() {
        let mut rows: Vec<Observation> = (0..6).map(|task| Observation::of_success(0, task, true)).collect();
        rows.extend([0, 1].map(|task| Observation::of_success(1, task, task == 0)));
        let table = TaskTable::new(2, &rows).unwrap();
        let draws = Draws::new(&table, Plan { draws: 39, seed: 1 }).unwrap();
        assert!(draws.estimate(0, 0.95, Ends::Percentile).is_ok(), "39 are enough where all have a task");
        let Err(StatisticsError::UsableDraws { subject: 1, found, made: 39, needed: 39 }) =
            draws.estimate(1, 0.95, Ends::Percentile)
        else {
            panic!("a subject with two of six tasks is not in all of them");
        };
        assert!(found < 39, "{found}");
    }

    #[test]
    fn draws_without_tasks_of_a_subject_are_counted() {
        let mut rows: Vec<Observation> = (0..3).map(|task| Observation::of_success(0, task, true)).collect();
        rows.push(Observation::of_success(1, 0, true));
        let table = TaskTable::new(2, &rows).unwrap();
        let draws = Draws::new(&table, PLAN).unwrap();
        let estimate = draws.estimate(1, 0.95, Ends::Percentile).unwrap();
        // A task of three is in no resample with chance (2/3)^3 = 0.296.
        assert!((250..350).contains(&estimate.draws_without_tasks), "{estimate:?}");
        assert_eq!(draws.estimate(0, 0.95, Ends::Percentile).unwrap().draws_without_tasks, 0);
    }

    #[test]
    fn nineteen_of_twenty_intervals_cover() {
        // 200 experiments of 60 tasks each, true mean 0.3.
        let mut random = Random::new(5);
        let mut covered = 0;
        for seed in 0..200 {
            let values: Vec<f64> = (0..60).map(|_| f64::from(u8::from(random.open_unit() < 0.3))).collect();
            let table = shares(&values);
            let draws = Draws::new(&table, Plan { draws: 199, seed }).unwrap();
            let interval = draws.estimate(0, 0.95, Ends::BiasCorrectedAccelerated).unwrap().interval.unwrap();
            covered += usize::from(interval.low <= 0.3 && 0.3 <= interval.high);
        }
        assert!((180..=199).contains(&covered), "{covered}");
    }

    #[test]
    fn the_same_seed_gives_the_same_bits() {
        let table = shares(&[0.1, 0.9, 0.4, 0.4, 0.7]);
        let means = |seed| {
            Draws::new(&table, Plan { draws: 8, seed }).unwrap().means(0).flatten().collect::<Vec<_>>()
        };
        assert_eq!(means(1), means(1));
        assert_ne!(means(1), means(2));
        assert_eq!(
            means(0),
            [
                640_000_000, 500_000_000, 260_000_000, 440_000_000, 480_000_000, 440_000_000, 820_000_000,
                380_000_000
            ],
            "from another implementation of the generators"
        );
    }
}
