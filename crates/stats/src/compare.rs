//! Two subjects on the same tasks: which is ahead, or that they are tied.

use alloc::vec::Vec;

use super::cases::Cases;
use super::estimate::{Estimate, interval};
use super::flips::Flips;
use super::power::{tasks_needed, tasks_not_worse, tasks_to_differ};
use super::special::fair_tail;
use super::table::TaskTable;
use super::{Interval, IntervalMethod, StatisticsError, outside};
use karat_core::number::BILLION;

karat_core::words! {
    /// The result of comparing two subjects.
    pub enum ComparisonVerdict {
        /// The first subject is ahead.
        FirstAhead = "first-ahead",
        /// The second subject is ahead.
        SecondAhead = "second-ahead",
        /// The difference may be chance. That they are equal is not shown.
        NotDistinguishable = "not-distinguishable",
        /// They share so few tasks that no results there could show a difference: five at 95 % are the fewest that could.
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
    /// [`compare`].
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
    /// The mean of first minus second, -1 to 1, with the interval of the differences that the test does not reject.
    pub estimate: Estimate,
    /// The chance of a difference at least as far from 0 if the true one is 0; 1 for a difference of 0.
    pub p: f64,
    /// The confidence of the verdict and the interval: higher where it is one of several that are judged together.
    pub level: f64,
    /// Tasks at which the first is ahead.
    pub first_ahead_tasks: usize,
    /// Tasks at which the second is ahead.
    pub second_ahead_tasks: usize,
    /// Tasks only the first has a result at; they do not count.
    pub only_first_tasks: usize,
    /// Tasks only the second has a result at; they do not count.
    pub only_second_tasks: usize,
    /// The deviation of the differences of the tasks; none of fewer than two tasks.
    pub spread: Option<f64>,
    /// The answer: a subject is ahead exactly if 0 lies outside of the interval.
    pub verdict: ComparisonVerdict,
}

karat_core::words! {
    /// The finding of a gate on a second subject against a first.
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
        let fewest = (1..64).find(|tasks| least(*tasks) <= outside).unwrap_or(64) as u64;
        let differing =
            (self.first_ahead_tasks + self.second_ahead_tasks) as f64 / self.estimate.tasks.max(1) as f64;
        // Enough of them differ more often than that: what they show then is a question for itself.
        let to_differ = tasks_to_differ(differing, fewest, (1.0 + power) / 2.0)?;
        let by_spread = tasks_needed(spread, difference, level, power)?;
        Ok(by_spread.zip(to_differ).map(|(one, other)| one.max(other)))
    }

    /// Returns how many tasks such as these are needed to show with the chance `power` that two that are alike do not differ by
    /// `margin`, a share; none without a margin, and where cases are judged.
    ///
    /// # Errors
    /// If `level` or `power` is not between 0 and 1.
    pub fn tasks_not_worse(
        &self,
        margin: f64,
        level: f64,
        power: f64,
    ) -> Result<Option<u64>, StatisticsError> {
        let needed = self.spread.map(|spread| tasks_not_worse(spread, margin, level, power));
        Ok(needed.transpose()?.flatten())
    }
}

/// Returns the deviation of differences in billionths, as a share.
pub(super) fn spread(values: &[f64]) -> Option<f64> {
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
    evidence: Evidence,
    only_first: usize,
    only_second: usize,
}

/// The evidence that a difference is judged by.
#[derive(Debug, Clone)]
enum Evidence {
    /// The differences at the tasks.
    Tasks(Flips),
    /// The numbers of cases of both.
    Cases(Cases, (usize, usize)),
}

impl Differences {
    /// Returns the differences of two subjects, first minus second; none if they share no task. Results that are means over
    /// cases are judged by their cases.
    pub fn new(table: &TaskTable, cases: &Cases, first: usize, second: usize) -> Option<Self> {
        let differences = table.between(first, second);
        let shared = differences.tasks();
        let only = |subject: usize| table.tasks_of(subject) - shared;
        let (only_first, only_second) = (only(first), only(second));
        let evidence = match cases.of(first).zip(cases.of(second)) {
            Some(_) => Evidence::Cases(cases.pair(first, second), (first, second)),
            None => Evidence::Tasks(Flips::new(&table.differences(first, second))),
        };
        (shared > 0).then_some(Self { table: differences, evidence, only_first, only_second })
    }

    /// Returns the chance of a difference at least as high as the one that was found if the true one is `margin`, a share.
    ///
    /// # Errors
    /// If a result over cases has none.
    pub fn chance(&self, margin: f64) -> Result<f64, StatisticsError> {
        self.chance_down_to(margin, 0.0)
    }

    /// Returns the same, but does not look how far one below `least` lies below it.
    pub(super) fn chance_down_to(&self, margin: f64, least: f64) -> Result<f64, StatisticsError> {
        match &self.evidence {
            Evidence::Tasks(flips) => Ok(flips.chance(libm::rint(margin * BILLION as f64) as i64, least)),
            Evidence::Cases(cases, (first, second)) => cases.chance(*first, *second, margin),
        }
    }

    /// Returns the chance of a difference at least as far from 0 if the true one is 0.
    ///
    /// # Errors
    /// If [`Self::chance`] fails.
    pub fn p(&self) -> Result<f64, StatisticsError> {
        self.chance(0.0).map(two_sided)
    }

    /// Returns the interval of the differences that the test does not reject.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1.
    pub fn interval(&self, level: f64) -> Result<Option<Interval>, StatisticsError> {
        let tail = outside(level)? / 2.0;
        match &self.evidence {
            Evidence::Tasks(_) if self.table.tasks() < 2 => Ok(None),
            Evidence::Tasks(flips) => {
                let (low, high) = flips.ends(tail);
                let share = |end: i64| end as f64 / BILLION as f64;
                Ok(Some(Interval {
                    low: share(low),
                    high: share(high),
                    level,
                    method: IntervalMethod::SignFlip,
                }))
            }
            Evidence::Cases(cases, (first, second)) => cases.difference(*first, *second, level),
        }
    }

    /// Returns the interval of the mean difference of which nothing is assumed but that a task loses or gains everything at
    /// most: what a test of non-inferiority needs, for no task that was not seen is taken to be like those that were.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1.
    pub fn bound(&self, level: f64) -> Result<Option<Interval>, StatisticsError> {
        match &self.evidence {
            Evidence::Tasks(_) if self.table.tasks() < 2 => Ok(None),
            Evidence::Tasks(_) => {
                interval(self.table.values(0).iter().map(|value| (*value, 1.0)), self.table.lowest(), level)
            }
            Evidence::Cases(..) => self.interval(level),
        }
    }

    /// Returns whether the second subject is worse than the first by more than `margin`, a share from 0 on, at the confidence
    /// `worse`, or shown not to be by as much at the confidence `not_worse`: a test of non-inferiority (Piaggio et al.,
    /// "Reporting of noninferiority and equivalence randomized trials", JAMA 308, 2012), by [`Self::bound`]. Where all of several
    /// must be shown not to be worse each is at the full level (Berger, "Multiparameter hypothesis testing and acceptance
    /// sampling", Technometrics 24, 1982).
    ///
    /// # Errors
    /// If a level is not between 0 and 1.
    pub fn change(&self, margin: f64, worse: f64, not_worse: f64) -> Result<GateChange, StatisticsError> {
        Ok(if self.chance(margin)? <= outside(worse)? / 2.0 {
            GateChange::Worse
        } else if self.bound(not_worse)?.is_some_and(|ends| ends.high < margin) {
            GateChange::NotWorse
        } else {
            GateChange::Open
        })
    }

    /// Compares the two at the confidence `level`.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1.
    pub fn compare(&self, level: f64) -> Result<Difference, StatisticsError> {
        let estimate = Estimate::of_census(&self.table, 0).ok_or(NOTHING_SHARED)?;
        let (tail, above) = (outside(level)? / 2.0, self.chance(0.0)?);
        let values = self.table.values(0);
        let count = |is_meant: fn(f64) -> bool| values.iter().filter(|value| is_meant(**value)).count();
        let is_of_tasks = matches!(self.evidence, Evidence::Tasks(_));
        Ok(Difference {
            estimate: Estimate { interval: self.interval(level)?, ..estimate },
            p: two_sided(above),
            level,
            first_ahead_tasks: count(|value| value > 0.0),
            second_ahead_tasks: count(|value| value < 0.0),
            only_first_tasks: self.only_first,
            only_second_tasks: self.only_second,
            spread: spread(values).filter(|_| is_of_tasks),
            verdict: if self.least() > outside(level)? {
                ComparisonVerdict::TooFewSharedTasks
            } else if above <= tail {
                ComparisonVerdict::FirstAhead
            } else if 1.0 - above <= tail {
                ComparisonVerdict::SecondAhead
            } else {
                ComparisonVerdict::NotDistinguishable
            },
        })
    }

    /// Returns the smallest chance that any results at these tasks could have: 0 where cases are judged.
    pub fn least(&self) -> f64 {
        match &self.evidence {
            Evidence::Tasks(_) => least(self.table.tasks()),
            Evidence::Cases(..) => 0.0,
        }
    }
}

/// Returns the chance of a difference at least as far from 0 from that of one at least as high.
pub(super) fn two_sided(above: f64) -> f64 {
    2.0 * above.min(1.0 - above)
}

/// Returns the refusal of two subjects that share no task.
pub const NOTHING_SHARED: StatisticsError =
    StatisticsError::TooFew { what: "tasks that both subjects have", found: 0, needed: 1 };

/// Compares two subjects over the tasks that both have.
///
/// # Errors
/// If `level` is not between 0 and 1, or the subjects share no task.
pub fn compare(
    table: &TaskTable,
    first: usize,
    second: usize,
    level: f64,
) -> Result<Difference, StatisticsError> {
    Differences::new(table, &Cases::default(), first, second).ok_or(NOTHING_SHARED)?.compare(level)
}

/// One of several tests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Test {
    /// The chance that it found.
    pub p: f64,
    /// The smallest chance that any results there could have.
    pub least: f64,
}

/// Returns the confidence at which each of several tests is judged, so that all together are wrong in no more cases than one
/// at `level`: Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979),
/// those after the first that shows nothing judged as that one. Tests that could not show anything beside as many others are
/// not counted: Tarone, "A modified Bonferroni method for discrete data", Biometrics 46 (1990).
///
/// ```
/// use karat_stats::compare::{Test, together};
/// let levels = |tests: &[(f64, f64)]| -> Vec<f64> {
///     let tests: Vec<Test> = tests.iter().map(|&(p, least)| Test { p, least }).collect();
///     together(&tests, 0.95).map(|level| (level * 1e4).round() / 1e4).collect()
/// };
/// let each = levels(&[(0.02, 0.0), (0.001, 0.0), (0.8, 0.0)]);
/// assert_eq!(each, [0.975, 0.9833, 0.95], "each is compared with 5 % over the number of those that are left");
/// assert_eq!(levels(&[(0.03, 0.0), (0.04, 0.03)]), [0.95, 0.975], "the second could show nothing at 2.5 %");
/// ```
pub fn together(tests: &[Test], level: f64) -> impl Iterator<Item = f64> + use<> {
    let mut leasts: Vec<f64> = tests.iter().map(|test| test.least).collect();
    leasts.sort_by(f64::total_cmp);
    let share_of = |number: usize| (1.0 - level) / number.max(1) as f64;
    let number = |able: &usize| leasts.partition_point(|least| *least <= share_of(*able)) <= *able;
    let able = share_of((1..tests.len()).find(number).unwrap_or(tests.len()));
    let mut order: Vec<(usize, &Test)> =
        tests.iter().enumerate().filter(|(_, test)| test.least <= able).collect();
    order.sort_by(|a, b| a.1.p.total_cmp(&b.1.p).then(a.0.cmp(&b.0)));
    let mut levels = alloc::vec![1.0 - able; tests.len()];
    let (mut left, mut is_open) = (order.len(), false);
    for (at, test) in order {
        let share = share_of(left);
        if let Some(slot) = levels.get_mut(at) {
            *slot = 1.0 - share;
        }
        is_open |= test.p > share;
        if !is_open {
            left = (left - 1).max(1);
        }
    }
    levels.into_iter()
}

/// Returns the fewest tasks that can tell any two of `subjects` apart, all pairs together at `level`, from 0 to 1.
pub fn tasks_to_tell_apart(subjects: u64, level: f64) -> usize {
    let pairs = subjects as f64 * (subjects as f64 - 1.0) / 2.0;
    (1..64).find(|tasks| least(*tasks) * pairs <= 1.0 - level).unwrap_or(64)
}

/// Returns the chance of the most uneven split of this many tosses: `1 / 2^tasks`, half of what is exactly as extreme.
fn least(tasks: usize) -> f64 {
    libm::ldexp(1.0, i32::try_from(tasks).unwrap_or(i32::MAX).saturating_neg())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::table::Observation;
    use super::*;

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

    fn differences(rows: &[(usize, usize, f64)]) -> Differences {
        Differences::new(&table(rows), &Cases::default(), 0, 1).unwrap()
    }

    #[test]
    fn a_handful_of_tasks_shows_nothing() {
        let rows: Vec<_> =
            (0..4).flat_map(|task| [(0, task, 0.9 - task as f64 / 100.0), (1, task, 0.1)]).collect();
        let difference = compare(&table(&rows), 0, 1, 0.95).unwrap();
        assert_eq!((difference.verdict, difference.p), (ComparisonVerdict::TooFewSharedTasks, 0.0625));
        assert_eq!(difference.estimate.interval.map(|it| (it.low, it.high)), Some((-1.0, 1.0)));
    }

    /// `tasks` tasks of which the second loses each by `lost`, but the first by `other`.
    fn losses(tasks: usize, lost: f64, other: f64) -> Differences {
        let second = |task: usize| 0.9 - if task == 0 { other } else { lost };
        differences(
            &(0..tasks).flat_map(|task| [(0, task, 0.9), (1, task, second(task))]).collect::<Vec<_>>(),
        )
    }

    #[test]
    fn a_constant_loss_is_worse_and_one_that_is_better_at_a_task_is_no_worse_than_that() {
        for tasks in [6, 10, 20, 50, 200] {
            let all = losses(tasks, 0.1, 0.1);
            let change = |it: &Differences| it.change(0.0, 0.95, 0.95).unwrap();
            assert_eq!(change(&all), GateChange::Worse, "{tasks}");
            assert_eq!(all.interval(0.95).unwrap().map(|it| (it.low, it.high)), Some((0.1, 0.1)));
            let chances = [0.1, 0.099_999_999, 0.05, 0.0, -0.05]
                .map(|other| losses(tasks, 0.1, other).chance(0.0).unwrap());
            assert!(chances.is_sorted(), "{tasks}: {chances:?}");
        }
        assert_eq!(losses(50, 0.0, 0.0).change(0.0, 0.95, 0.95), Ok(GateChange::Open));
    }

    #[test]
    fn what_was_not_seen_is_not_excluded_by_not_worse() {
        let finding =
            |tasks, lost, margin| losses(tasks, lost, 0.0).change(margin, 0.95, 0.95).unwrap().name();
        // 100 tasks without a loss leave room for one in 0.025^(1/100), 3.6 %.
        assert_eq!([0.036, 0.037].map(|margin| finding(100, 0.0, margin)), ["open", "not-worse"]);
        // Six tasks of 20 worse by a point were called not worse by 5.
        assert_eq!(
            [0.05, 0.15, 0.18].map(|margin| finding(20, 0.003, margin)),
            ["open", "open", "not-worse"]
        );
        let bound = |tasks| losses(tasks, 0.0, 0.0).bound(0.95).unwrap().unwrap();
        assert!(
            (bound(20).high - 0.168_4).abs() < 1e-4 && bound(20).low == -bound(20).high,
            "{:?}",
            bound(20)
        );
        assert_eq!(differences(&[(0, 0, 1.0), (1, 0, 1.0)]).bound(0.95), Ok(None), "one task");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

        /// By the size of the sample, ties and a margin.
        #[test]
        fn a_better_result_never_makes_a_gate_fail_and_no_verdict_contradicts_its_interval(
            values in prop_oneof![
                4 => prop::collection::vec((0u8..=10, 0u8..=10, 1usize..4), 2..13),
                1 => prop::collection::vec((0u8..=10, 0u8..=10, 1usize..4), 13..40),
            ],
            at in any::<prop::sample::Index>(),
            margin in prop::sample::select(alloc::vec![0.0, 0.05, 0.3]),
            level in prop::sample::select(alloc::vec![0.8, 0.95, 0.99]),
        ) {
            let of = |better: Option<usize>| {
                let rows = values.iter().enumerate().flat_map(|(task, &(first, second, attempts))| {
                    let second = if better == Some(task) { 10 } else { second };
                    (0..attempts).flat_map(move |attempt| {
                        // Attempts that differ from each other.
                        let value = |of: u8| f64::from(of / (1 + (attempt as u8 % 2))) / 10.0;
                        [(0, task, value(first)), (1, task, if better == Some(task) { 1.0 } else { value(second) })]
                    })
                });
                differences(&rows.collect::<Vec<_>>())
            };
            let (before, after) = (of(None), of(Some(at.index(values.len()))));
            let rank = |it: &Differences| match it.change(margin, level, level).unwrap() {
                GateChange::Worse => 0,
                GateChange::Open => 1,
                GateChange::NotWorse => 2,
            };
            prop_assert!(rank(&after) >= rank(&before));
            for it in [&before, &after] {
                let found = it.compare(level).unwrap();
                let ends = found.estimate.interval.unwrap();
                let expected = match found.verdict {
                    ComparisonVerdict::FirstAhead => ends.low > 0.0,
                    ComparisonVerdict::SecondAhead => ends.high < 0.0,
                    _ => ends.low <= 0.0 && 0.0 <= ends.high,
                };
                prop_assert!(expected, "{found:?}");
                prop_assert!(ends.low <= found.estimate.mean + 1e-9 && found.estimate.mean - 1e-9 <= ends.high);
                prop_assert_eq!(rank(it) == 0, ends.low > margin);
            }
        }

        /// McNemar's test is the same of one success or failure at a task.
        #[test]
        fn of_successes_and_failures_it_is_mcnemars_test(results in prop::collection::vec(any::<(bool, bool)>(), 1..21)) {
            let rows = results.iter().enumerate().flat_map(|(task, (first, second))| {
                [(0, task, f64::from(u8::from(*first))), (1, task, f64::from(u8::from(*second)))]
            });
            let found = differences(&rows.collect::<Vec<_>>()).p().unwrap();
            let pairs = Pairs::of(results);
            // Of an even split half of the weight lies on each side.
            let expected = if pairs.only_first == pairs.only_second { 1.0 } else { pairs.mid_p() };
            prop_assert!((found - expected).abs() < 1e-12);
        }
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
        let alone = |who| Estimate::new(&table, who, 0.95).unwrap().interval.unwrap();
        assert!(alone(0).low < alone(1).high);
        let difference = compare(&table, 0, 1, 0.95).unwrap();
        assert_eq!(difference.verdict, ComparisonVerdict::FirstAhead);
        let mirrored = compare(&table, 1, 0, 0.95).unwrap();
        assert_eq!(mirrored.verdict, ComparisonVerdict::SecondAhead);
        let ends = |it: &Difference| it.estimate.interval.map(|ends| (ends.low, ends.high)).unwrap();
        assert_eq!(ends(&mirrored).0, -ends(&difference).1);
    }

    #[test]
    fn only_shared_tasks_count() {
        let difference = compare(&table(&[(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0), (1, 3, 0.0)]), 0, 1, 0.9);
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
        let apart = compare(&table(&[(0, 1, 1.0), (1, 2, 1.0)]), 0, 1, 0.9).unwrap_err();
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
