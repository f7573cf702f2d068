//! Two subjects on the same tasks: which is ahead, or that they are tied.

use super::bootstrap::{Draws, Ends, Estimate, Plan, ends_if_alike};
use super::power::{tasks_needed, tasks_to_differ};
use super::special::fair_tail;
use super::table::TaskTable;
use super::{Interval, StatisticsError, outside};
use karat_core::number::BILLION;

karat_core::words! {
    /// The result of comparing two subjects.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum ComparisonVerdict {
        /// The first subject is ahead.
        FirstAhead = "first-ahead",
        /// The second subject is ahead.
        SecondAhead = "second-ahead",
        /// The difference may be chance. That they are equal is not shown.
        NotDistinguishable = "not-distinguishable",
        /// They share so few tasks that no results there could show a difference: six at 95 % are the fewest that could.
        TooFewSharedTasks = "too-few-shared-tasks",
    }
}

impl ComparisonVerdict {
    /// Returns the verdict on the two in the other order.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        match self {
            Self::FirstAhead => Self::SecondAhead,
            Self::SecondAhead => Self::FirstAhead,
            Self::NotDistinguishable | Self::TooFewSharedTasks => self,
        }
    }
}

/// Counts of two subjects at the same tasks, where each result is a success or a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pairs {
    /// Tasks at which both succeeded.
    pub both: u64,
    /// Tasks at which only the first succeeded.
    pub only_first: u64,
    /// Tasks at which only the second succeeded.
    pub only_second: u64,
    /// Tasks at which both failed.
    pub neither: u64,
}

impl Pairs {
    /// Counts pairs of results, the first subject's first.
    pub fn of(results: impl IntoIterator<Item = (bool, bool)>) -> Self {
        results.into_iter().fold(Self::default(), |mut pairs, result| {
            let count = match result {
                (true, true) => &mut pairs.both,
                (true, false) => &mut pairs.only_first,
                (false, true) => &mut pairs.only_second,
                (false, false) => &mut pairs.neither,
            };
            *count += 1;
            pairs
        })
    }

    /// Returns McNemar's test in the mid-p form, two-sided: how likely a split of the differing tasks as uneven as this
    /// one is, if each were the toss of a coin, with half of the weight of the split itself. Fagerland, Lydersen and
    /// Laake, "The McNemar test for binary matched-pairs data", BMC Medical Research Methodology 13:91 (2013).
    ///
    /// Between 0 and 1; 1 if no task differs. One result per subject and task; for several trials use
    /// [`paired_bootstrap`].
    pub fn mid_p(self) -> f64 {
        let (exactly, tail) = self.tail();
        match self.differing() {
            0 => 1.0,
            // An even split is counted from both sides.
            _ if self.only_first == self.only_second => 1.0 - exactly / 2.0,
            _ => (2.0 * tail - exactly).min(1.0),
        }
    }

    /// Returns McNemar's exact conditional test, two-sided: never wrong more often than its level, and slower to see a
    /// difference than [`Self::mid_p`].
    pub fn exact_p(self) -> f64 {
        (2.0 * self.tail().1).min(1.0)
    }

    /// Returns which is ahead, by [`Self::mid_p`] at the confidence `level`.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1.
    pub fn verdict(self, level: f64) -> Result<ComparisonVerdict, StatisticsError> {
        let may_be_chance = self.mid_p() > outside(level)?;
        Ok(match self.only_first.cmp(&self.only_second) {
            _ if may_be_chance => ComparisonVerdict::NotDistinguishable,
            core::cmp::Ordering::Greater => ComparisonVerdict::FirstAhead,
            core::cmp::Ordering::Less => ComparisonVerdict::SecondAhead,
            core::cmp::Ordering::Equal => ComparisonVerdict::NotDistinguishable,
        })
    }

    fn differing(self) -> u64 {
        self.only_first.saturating_add(self.only_second)
    }

    fn tail(self) -> (f64, f64) {
        fair_tail(self.differing(), self.only_first.min(self.only_second))
    }
}

/// The difference of two subjects over the tasks that both have.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The mean of first minus second, -1 to 1, with its interval.
    pub estimate: Estimate,
    /// Tasks at which the first is ahead.
    pub first_ahead_tasks: usize,
    /// Tasks at which the second is ahead.
    pub second_ahead_tasks: usize,
    /// Tasks only the first has a result at; they do not count.
    pub only_first_tasks: usize,
    /// Tasks only the second has a result at; they do not count.
    pub only_second_tasks: usize,
    /// True if this many differing tasks could show anything at this level: if all of them pointed the same way, a test
    /// of their signs would see it. If not, the answer is never that one is ahead, since resamples from a handful of
    /// tasks that happen to agree all agree.
    pub enough_tasks: bool,
    /// The deviation of the differences of the tasks; none of fewer than two tasks.
    pub spread: Option<f64>,
    /// The answer: a subject is ahead if the interval leaves out 0 and the tasks are enough.
    pub verdict: ComparisonVerdict,
}

karat_core::words! {
    /// The finding of a gate on a second subject against a first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum GateChange {
        /// It is worse by more than the margin.
        Worse = "worse",
        /// It is not worse by the margin.
        NotWorse = "not-worse",
        /// Neither is shown.
        Open = "open",
    }
}

impl Difference {
    /// Returns how many tasks such as these are needed to show a difference of this size with the chance `power`: by their
    /// spread, and so that enough of them differ. None where the tasks do not spread, or for a difference of 0.
    ///
    /// # Errors
    /// If `level` or `power` is not between 0 and 1.
    pub fn tasks_needed(
        &self,
        difference: f64,
        level: f64,
        power: f64,
    ) -> Result<Option<u64>, StatisticsError> {
        let Some(spread) = self.spread else { return Ok(None) };
        let outside = outside(level)?;
        let fewest = (1..=64).find(|tasks| is_enough(*tasks, outside)).unwrap_or(64) as u64;
        let differing =
            (self.first_ahead_tasks + self.second_ahead_tasks) as f64 / self.estimate.tasks.max(1) as f64;
        // Enough of them differ more often than that: what they show then is a question for itself.
        let to_differ = tasks_to_differ(differing, fewest, (1.0 + power) / 2.0)?;
        let by_spread = tasks_needed(spread, difference, level, power)?;
        Ok(by_spread.zip(to_differ).map(|(one, other)| one.max(other)))
    }

    /// Returns whether the second subject is worse than the first by more than `margin`, a share from 0 on: if the whole
    /// interval says so, and the tasks are enough. That it is not is shown if the whole interval lies on the other side of the
    /// margin: a test of non-inferiority (Piaggio et al., "Reporting of noninferiority and equivalence randomized trials",
    /// JAMA 308, 2012), on the same tasks.
    pub fn change(&self, margin: f64) -> GateChange {
        match self.estimate.interval {
            _ if self.verdict == ComparisonVerdict::TooFewSharedTasks => GateChange::Open,
            Some(ends) if ends.low > margin && self.enough_tasks => GateChange::Worse,
            Some(ends) if ends.high < margin => GateChange::NotWorse,
            _ => GateChange::Open,
        }
    }
}

/// Returns the deviation of differences in billionths, as a share.
fn spread(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    // Whole numbers below 2^53: the sum is exact.
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (values.len() > 1).then(|| libm::sqrt(squares / (count - 1.0)) / BILLION as f64)
}

/// The differences of two subjects at the tasks that both have. Tasks of others play no part, so the answer for a pair is the
/// same on every leaderboard.
#[derive(Debug, Clone)]
pub struct Differences {
    table: TaskTable,
    only_first: usize,
    only_second: usize,
}

impl Differences {
    /// Returns the differences of two subjects, first minus second; none if they share no task.
    pub fn new(table: &TaskTable, first: usize, second: usize) -> Option<Self> {
        let differences = table.between(first, second);
        let shared = differences.tasks();
        let only = |subject: usize| table.tasks_of(subject) - shared;
        let (only_first, only_second) = (only(first), only(second));
        (shared > 0).then_some(Self { table: differences, only_first, only_second })
    }

    /// Returns the table of one column that is drawn from.
    pub fn table(&self) -> &TaskTable {
        &self.table
    }

    /// Compares the two by draws from [`Self::table`] (see [`super::bootstrap`]): task by task, so that how hard the tasks are
    /// cancels.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, or the resamples are too few for this level.
    pub fn compare(&self, draws: &Draws, level: f64) -> Result<Difference, StatisticsError> {
        let estimate = widened(draws.estimate(0, level, Ends::SplitTies)?, &self.table, level)?;
        let sides = Sides::of(self.table.values(0).iter().copied());
        let outside = outside(level)?;
        let ends = estimate.interval;
        let verdict = sides.verdict(
            self.table.tasks(),
            ends.is_some_and(|ends| ends.low > 0.0),
            ends.is_some_and(|ends| ends.high < 0.0),
            outside,
        );
        Ok(Difference {
            estimate,
            first_ahead_tasks: sides.first,
            second_ahead_tasks: sides.second,
            only_first_tasks: self.only_first,
            only_second_tasks: self.only_second,
            enough_tasks: is_enough(sides.differing(), outside),
            spread: spread(self.table.values(0)),
            verdict,
        })
    }
}

/// Returns the refusal of two subjects that share no task.
pub const NOTHING_SHARED: StatisticsError =
    StatisticsError::TooFew { what: "tasks that both subjects have", found: 0, needed: 1 };

/// Compares two subjects by drawing the tasks that both have again.
///
/// # Errors
/// If `level` is not between 0 and 1, the subjects share no task, or the resamples are too few for this level.
pub fn paired_bootstrap(
    table: &TaskTable,
    first: usize,
    second: usize,
    plan: Plan,
    level: f64,
) -> Result<Difference, StatisticsError> {
    let differences = Differences::new(table, first, second).ok_or(NOTHING_SHARED)?;
    differences.compare(&Draws::new(&differences.table, plan)?, level)
}

/// Returns an estimate whose interval is at least that of tasks that all gave the mean, if too few differ: resamples of
/// many tasks of which one differs hardly know that others may.
fn widened(estimate: Estimate, differences: &TaskTable, level: f64) -> Result<Estimate, StatisticsError> {
    let outside = outside(level)?;
    let differing = differences.values(0).iter().filter(|it| **it != 0.0).count();
    let (Some(ends), Some(mean)) = (estimate.interval, differences.mean(0)) else { return Ok(estimate) };
    if is_enough(differing, outside) {
        return Ok(estimate);
    }
    let (low, high) = ends_if_alike(mean, estimate.tasks, outside / 2.0, differences.lowest());
    let billion = BILLION as f64;
    let (low, high) = (ends.low.min(low / billion), ends.high.max(high / billion));
    Ok(Estimate { interval: Some(Interval { low, high, ..ends }), ..estimate })
}

/// The number of tasks at which each of two subjects is ahead.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sides {
    first: usize,
    second: usize,
}

impl Sides {
    /// Counts the signs of differences, first minus second.
    pub(super) fn of(differences: impl Iterator<Item = f64>) -> Self {
        differences.fold(Self::default(), |sides, difference| Self {
            first: sides.first + usize::from(difference > 0.0),
            second: sides.second + usize::from(difference < 0.0),
        })
    }

    fn differing(self) -> usize {
        self.first + self.second
    }

    /// Returns which of two subjects with `shared` tasks in common is ahead, where the interval of their difference lies
    /// wholly above 0, or wholly below. The only place that decides it.
    pub(super) fn verdict(
        self,
        shared: usize,
        is_above: bool,
        is_below: bool,
        outside: f64,
    ) -> ComparisonVerdict {
        match (is_enough(shared, outside), is_enough(self.differing(), outside)) {
            (false, _) => ComparisonVerdict::TooFewSharedTasks,
            (true, true) if is_above => ComparisonVerdict::FirstAhead,
            (true, true) if is_below => ComparisonVerdict::SecondAhead,
            (true, _) => ComparisonVerdict::NotDistinguishable,
        }
    }
}

/// Returns whether the most uneven split of this many tosses is rarer than `outside`: `2 / 2^tasks`.
pub(super) fn is_enough(tasks: usize, outside: f64) -> bool {
    let halvings = i32::try_from(tasks).unwrap_or(i32::MAX);
    libm::ldexp(2.0, halvings.saturating_neg()) <= outside
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use proptest::prelude::*;

    use super::super::table::Observation;
    use super::*;

    const PLAN: Plan = Plan { draws: 999, seed: 3 };

    fn table(rows: &[(usize, usize, f64)]) -> TaskTable {
        let rows: Vec<Observation> =
            rows.iter().filter_map(|&(who, task, value)| Observation::of_share(who, task, value)).collect();
        TaskTable::new(2, &rows).unwrap()
    }

    #[test]
    fn the_published_tests() {
        // Fagerland, Lydersen and Laake (2013), tables 1 and 2.
        let p = |only_first, only_second| {
            let pairs = Pairs { only_first, only_second, ..Pairs::default() };
            let round = |p: f64| libm::rint(p * 1e4) / 1e4;
            (round(pairs.mid_p()), round(pairs.exact_p()))
        };
        assert_eq!(p(1, 7), (0.0391, 0.0703));
        assert_eq!(p(7, 1), (0.0391, 0.0703));
        assert_eq!(p(6, 16), (0.0347, 0.0525));
        // By hand: one toss; two that fall apart, 1 - 1/2 * 1/2; none.
        assert_eq!(p(1, 0), (0.5, 1.0));
        assert_eq!(p(1, 1), (0.75, 1.0));
        assert_eq!(p(0, 0), (1.0, 1.0));
        assert_eq!(p(u64::MAX, u64::MAX).1, 1.0);
    }

    #[test]
    fn pairs_are_counted_and_judged() {
        let results = [(true, true), (true, false), (false, true), (false, false), (true, false)];
        let pairs = Pairs::of(results);
        assert_eq!(pairs, Pairs { both: 1, only_first: 2, only_second: 1, neither: 1 });
        assert_eq!(pairs.verdict(0.95), Ok(ComparisonVerdict::NotDistinguishable));
        let clear = Pairs { only_first: 1, only_second: 9, ..pairs };
        assert_eq!(clear.verdict(0.95), Ok(ComparisonVerdict::SecondAhead));
        assert_eq!(clear.verdict(0.999), Ok(ComparisonVerdict::NotDistinguishable));
        assert!(clear.verdict(f64::NAN).is_err());
    }

    #[test]
    fn a_handful_of_tasks_shows_nothing() {
        // Resamples from five positive differences are all positive.
        let rows: Vec<_> =
            (0..5).flat_map(|task| [(0, task, 0.9 - task as f64 / 100.0), (1, task, 0.1)]).collect();
        let difference = paired_bootstrap(&table(&rows), 0, 1, PLAN, 0.95).unwrap();
        // So the interval is the same as for five that are alike.
        assert!(difference.estimate.interval.unwrap().low < 0.0 && !difference.enough_tasks);
        assert_eq!(difference.verdict, ComparisonVerdict::TooFewSharedTasks);
        assert!(
            is_enough(6, 0.05) && !is_enough(5, 0.05) && !is_enough(0, 0.99) && is_enough(usize::MAX, 1e-9)
        );
    }

    #[test]
    fn a_single_task_that_differs_does_not_make_the_others_certain() {
        let rows = |lost: usize| -> Vec<_> {
            (0..100)
                .flat_map(|task| [(0, task, 1.0), (1, task, if task < lost { 0.0 } else { 1.0 })])
                .collect()
        };
        let high = |lost| {
            let found = paired_bootstrap(&table(&rows(lost)), 0, 1, PLAN, 0.95).unwrap();
            (found.estimate.interval.unwrap().high, found.change(0.03), found.change(0.2), found.change(0.0))
        };
        // 100 tasks without a loss leave room for one in 0.025^(1/100), 3.6 %.
        let ends: Vec<f64> = (0..8).map(|lost| high(lost).0).collect();
        assert!(
            (ends[0] - 0.036_2).abs() < 1e-4 && ends.windows(2).all(|pair| pair[0] < pair[1]),
            "{ends:?}"
        );
        assert_eq!(
            (high(0).1, high(1).2, high(1).3),
            (GateChange::Open, GateChange::NotWorse, GateChange::Open)
        );
        assert_eq!(
            (high(8).1, high(8).2, high(8).3),
            (GateChange::Open, GateChange::NotWorse, GateChange::Worse)
        );
    }

    #[test]
    fn a_change_is_worse_not_worse_or_open() {
        let rows: Vec<_> =
            (0..40).flat_map(|task| [(0, task, 0.6 + (task % 5) as f64 / 50.0), (1, task, 0.5)]).collect();
        let found = paired_bootstrap(&table(&rows), 0, 1, PLAN, 0.95).unwrap();
        // 14 points worse, by 2 more or less.
        let names = [0.0, 0.1, 0.14, 0.2].map(|margin| found.change(margin).name());
        assert_eq!(names, ["worse", "worse", "open", "not-worse"]);
        assert!((found.spread.unwrap() - 0.028_644).abs() < 1e-6);
        let few = paired_bootstrap(&table(rows.get(..10).unwrap()), 0, 1, PLAN, 0.95).unwrap();
        assert_eq!([0.0, 0.9].map(|margin| few.change(margin)), [GateChange::Open; 2], "five tasks");
    }

    #[test]
    fn a_hard_set_of_tasks_does_not_hide_a_small_lead() {
        // The tasks differ by 0.9, the subjects by about 0.02 everywhere: intervals of the means overlap widely.
        let rows: Vec<_> = (0..30)
            .flat_map(|task| {
                let hard = task as f64 * 0.03;
                [(0, task, hard + 0.02 + (task % 3) as f64 * 0.01), (1, task, hard)]
            })
            .collect();
        let table = table(&rows);
        let draws = Draws::new(&table, PLAN).unwrap();
        let alone = |who| draws.estimate(who, 0.95, Ends::Percentile).unwrap().interval.unwrap();
        assert!(alone(0).low < alone(1).high);
        let difference = paired_bootstrap(&table, 0, 1, PLAN, 0.95).unwrap();
        assert_eq!(difference.verdict, ComparisonVerdict::FirstAhead);
        let mirrored = paired_bootstrap(&table, 1, 0, PLAN, 0.95).unwrap();
        assert_eq!(mirrored.verdict, ComparisonVerdict::SecondAhead);
        let ends = |it: &Difference| it.estimate.interval.map(|ends| (ends.low, ends.high)).unwrap();
        assert_eq!(ends(&mirrored).0, -ends(&difference).1);
    }

    #[test]
    fn only_shared_tasks_count() {
        let difference =
            paired_bootstrap(&table(&[(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0), (1, 3, 0.0)]), 0, 1, PLAN, 0.9);
        let difference = difference.unwrap();
        assert_eq!(
            (difference.only_first_tasks, difference.only_second_tasks, difference.estimate.tasks),
            (1, 1, 1)
        );
        assert_eq!(
            (difference.estimate.mean, difference.verdict),
            (0.0, ComparisonVerdict::TooFewSharedTasks)
        );
        assert_eq!(difference.estimate.interval, None, "one task");
        let apart = paired_bootstrap(&table(&[(0, 1, 1.0), (1, 2, 1.0)]), 0, 1, PLAN, 0.9).unwrap_err();
        assert!(alloc::format!("{apart}").starts_with("found 0 tasks that both subjects have"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn mid_p_is_less_than_exact_and_falls_with_the_lead(less in 0u64..60, lead in 1u64..60) {
            let pairs = |lead| Pairs { only_first: less, only_second: less + lead, ..Pairs::default() };
            prop_assert!(pairs(lead).mid_p() < pairs(lead).exact_p());
            prop_assert!(pairs(lead + 1).mid_p() < pairs(lead).mid_p());
            prop_assert!(pairs(lead).mid_p() > 0.0);
        }
    }
}
