//! Results that are themselves shares of a number of cases: a benchmark result of 225 questions is one row, and says how
//! sure it is all the same.
//!
//! A subject has cases if every result of it that counts has a number of them. Its tasks are then fixed, the cases of each
//! are a sample, and the mean over tasks has the interval that its parts give together: Zou and Donner, "Construction of
//! confidence limits about effect measures", Statistics in Medicine 27 (2008), from the limits of Wilson. Of one result that
//! is Wilson's interval, and of the difference of two that of Newcombe, "Interval estimation for the difference between
//! independent proportions", Statistics in Medicine 17 (1998), method 10.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::compare::NOTHING_SHARED;
use super::proportion::wilson_at;
use super::special::{halve, normal_cumulative, normal_quantile};
use super::{Interval, IntervalMethod, StatisticsError, outside};
use karat_core::number::BILLION;

/// A result of one subject at one task, over a number of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaseResult {
    /// The subject, by its index in the caller's list of subjects.
    pub subject: usize,
    /// The task, as any number, the same for all subjects.
    pub task: usize,
    /// The mean over the cases in billionths, 0 to 1,000,000,000.
    pub value: i64,
    /// The number of cases; none if the result does not say.
    pub cases: Option<u64>,
}

/// The results at one task, runs over the same cases: they count alike, and all of them are one sample.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Runs {
    /// The sum of the values in billionths, and of how many. No order changes it.
    sum: i64,
    count: u32,
    /// The most cases of one run.
    cases: u64,
}

impl Runs {
    /// Returns the mean as a share, the cases, and the weight of one of `tasks` tasks.
    fn weighed(self, tasks: usize, sign: f64) -> Part {
        let share = self.sum as f64 / (f64::from(self.count) * BILLION as f64);
        (share, self.cases, sign / tasks as f64)
    }
}

/// The results of one subject by task.
type Tasks = BTreeMap<usize, Runs>;

/// The share of a result, its cases, and its weight.
type Part = (f64, u64, f64);

/// The results of the subjects that have cases.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cases {
    of_subjects: BTreeMap<usize, Tasks>,
}

impl Cases {
    /// Collects the results of subjects, all those that count. A subject with a result without a number of cases is left
    /// out: its tasks are resampled like those of any other.
    pub fn new(results: impl IntoIterator<Item = CaseResult>) -> Self {
        let mut of_subjects: BTreeMap<usize, Option<Tasks>> = BTreeMap::new();
        for it in results {
            let tasks = of_subjects.entry(it.subject).or_insert_with(|| Some(Tasks::new()));
            match (it.cases, tasks) {
                (Some(cases), Some(tasks)) => {
                    let runs = tasks.entry(it.task).or_default();
                    runs.sum += it.value;
                    runs.count += 1;
                    runs.cases = runs.cases.max(cases);
                }
                (None, tasks) => *tasks = None,
                (Some(_), None) => {}
            }
        }
        let of_subjects =
            of_subjects.into_iter().filter_map(|(subject, tasks)| Some((subject, tasks?))).collect();
        Self { of_subjects }
    }

    /// Returns the number of cases of all tasks of a subject; none if it has no cases.
    pub fn of(&self, subject: usize) -> Option<u64> {
        let tasks = self.of_subjects.get(&subject)?.values();
        Some(tasks.fold(0, |sum: u64, runs| sum.saturating_add(runs.cases)))
    }

    /// Returns the interval of the mean of a subject over its tasks; none if it has no cases.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, or a result has no cases at all.
    pub fn interval(&self, subject: usize, level: f64) -> Result<Option<Interval>, StatisticsError> {
        let Some(tasks) = self.of_subjects.get(&subject) else { return Ok(None) };
        combined(tasks.values().map(|runs| runs.weighed(tasks.len(), 1.0)), level).map(Some)
    }

    /// Returns the interval of the difference of two subjects over the tasks that both have, first minus second; none if one
    /// of them has no cases, or they share no task.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, or a result has no cases at all.
    pub fn difference(
        &self,
        first: usize,
        second: usize,
        level: f64,
    ) -> Result<Option<Interval>, StatisticsError> {
        let parts = self.shared(first, second);
        parts.map(|parts| combined(parts.into_iter(), level)).transpose()
    }

    /// Returns the chance of a difference at least as high as the one that was found if the true one is `margin`: of how far
    /// the interval reaches that ends there.
    ///
    /// # Errors
    /// If there is no difference, or a result has no cases at all.
    pub(super) fn chance(&self, first: usize, second: usize, margin: f64) -> Result<f64, StatisticsError> {
        let parts = self.shared(first, second).ok_or(NOTHING_SHARED)?;
        let mean = parts.iter().map(|(share, _, weight)| weight * share).sum::<f64>();
        // Any reach has an end: the first errs at all of them or at none.
        ends(parts.iter().copied(), 1.0)?;
        let is_above = mean > margin;
        let leaves_in = |z: f64| {
            let ends = ends(parts.iter().copied(), z);
            ends.is_ok_and(|(_, low, high)| if is_above { low <= margin } else { high >= margin })
        };
        let tail = normal_cumulative(-halve(0.0, 40.0, leaves_in));
        Ok(if is_above { tail } else { 1.0 - tail })
    }

    /// Returns the results at the tasks that two subjects share, with their weights in the difference.
    fn shared(&self, first: usize, second: usize) -> Option<Vec<Part>> {
        let (own, theirs) = self.of_subjects.get(&first).zip(self.of_subjects.get(&second))?;
        let shared = || own.iter().filter_map(|(task, runs)| Some((runs, theirs.get(task)?)));
        let count = shared().count();
        let parts = shared().flat_map(|(own, theirs)| [own.weighed(count, 1.0), theirs.weighed(count, -1.0)]);
        (count > 0).then(|| parts.collect())
    }

    /// Returns the results of two subjects alone.
    pub(super) fn pair(&self, first: usize, second: usize) -> Self {
        let of = |subject: usize| Some((subject, self.of_subjects.get(&subject)?.clone()));
        Self { of_subjects: [first, second].into_iter().filter_map(of).collect() }
    }
}

/// Returns the interval of a weighted sum of shares that their own intervals give (Zou and Donner, equation 4).
fn combined(parts: impl Iterator<Item = Part>, level: f64) -> Result<Interval, StatisticsError> {
    let reach = -normal_quantile(outside(level)? / 2.0);
    let (_, low, high) = ends(parts, reach)?;
    Ok(Interval { low, high, level, method: IntervalMethod::Wilson })
}

/// Returns a weighted sum of shares and the ends of its interval, from those of the shares that reach `z` standard errors far.
fn ends(parts: impl Iterator<Item = Part>, z: f64) -> Result<(f64, f64, f64), StatisticsError> {
    let (mut mean, mut below, mut above) = (0.0, 0.0, 0.0);
    for (share, cases, weight) in parts {
        mean += weight * share;
        let (low, high) = wilson_at(share, cases, z)?;
        let (down, up) = (weight * (share - low), weight * (high - share));
        let (down, up) = if weight < 0.0 { (up, down) } else { (down, up) };
        below += down * down;
        above += up * up;
    }
    Ok((mean, mean - libm::sqrt(below), mean + libm::sqrt(above)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::proportion::Proportion;
    use super::super::table::{Observation, TaskTable};
    use super::*;

    fn result(subject: usize, task: usize, passed: u64, cases: u64) -> CaseResult {
        let value = (passed * 1_000_000_000 / cases) as i64;
        CaseResult { subject, task, value, cases: Some(cases) }
    }

    fn ends(found: Option<Interval>) -> (f64, f64) {
        let interval = found.unwrap();
        let round = |end: f64| libm::rint(end * 1e4) / 1e4;
        (round(interval.low), round(interval.high))
    }

    #[test]
    fn the_published_differences() {
        // Newcombe (1998), table II, method 10, examples (a) to (f).
        for (first, second, expected) in [
            ((56, 70), (48, 80), (0.0524, 0.3339)),
            ((9, 10), (3, 10), (0.1705, 0.8090)),
            ((10, 10), (0, 20), (0.6791, 1.0)),
            ((10, 10), (0, 10), (0.6075, 1.0)),
            ((5, 56), (0, 29), (-0.0381, 0.1926)),
            ((0, 10), (0, 10), (-0.2775, 0.2775)),
        ] {
            let cases = Cases::new([result(0, 0, first.0, first.1), result(1, 0, second.0, second.1)]);
            assert_eq!(ends(cases.difference(0, 1, 0.95).unwrap()), expected);
            let (low, high) = ends(cases.difference(1, 0, 0.95).unwrap());
            assert_eq!((-high, -low), expected);
        }
    }

    #[test]
    fn a_subject_with_a_result_without_cases_has_none() {
        let bare = CaseResult { cases: None, ..result(0, 1, 1, 2) };
        for rows in [[result(0, 0, 1, 2), bare], [bare, result(0, 0, 1, 2)]] {
            let cases = Cases::new(rows.into_iter().chain([result(1, 0, 3, 4)]));
            assert_eq!((cases.of(0), cases.of(1)), (None, Some(4)));
            assert_eq!(cases.interval(0, 0.95), Ok(None));
            assert_eq!(cases.difference(0, 1, 0.95), Ok(None));
        }
        let apart = Cases::new([result(0, 0, 1, 2), result(1, 1, 1, 2)]);
        assert_eq!(apart.difference(0, 1, 0.95), Ok(None), "they share no task");
        assert!(apart.interval(0, 1.0).is_err());
    }

    #[test]
    fn tasks_are_strata() {
        // Two tasks of the same share and cases: the mean spreads as one of them does, by the root of two.
        let one = Cases::new([result(0, 0, 50, 100)]).interval(0, 0.95).unwrap().unwrap();
        let two =
            Cases::new([result(0, 0, 50, 100), result(0, 1, 50, 100)]).interval(0, 0.95).unwrap().unwrap();
        let width = |it: Interval| it.high - it.low;
        assert!((width(two) * libm::sqrt(2.0) - width(one)).abs() < 1e-12);
        assert!([one, two].iter().all(|it| (it.low + it.high - 1.0).abs() < 1e-12), "around one half");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn one_result_has_the_interval_of_a_share_and_order_changes_nothing(
            rows in prop::collection::vec((0usize..3, 0usize..4, 0u64..50, 1u64..60), 1..12),
        ) {
            let rows: Vec<CaseResult> =
                rows.into_iter().map(|(who, task, passed, cases)| result(who, task, passed.min(cases), cases)).collect();
            let forward = Cases::new(rows.iter().copied());
            prop_assert_eq!(&forward, &Cases::new(rows.iter().rev().copied()));
            for subject in 0..3 {
                let Some(interval) = forward.interval(subject, 0.9).unwrap() else { continue };
                let own: Vec<&CaseResult> = rows.iter().filter(|it| it.subject == subject).collect();
                let table: Vec<Observation> =
                    own.iter().map(|it| Observation { subject: 0, task: it.task, value: it.value }).collect();
                let mean = TaskTable::new(1, &table).unwrap().mean(0).unwrap() as f64 / 1e9;
                prop_assert!(-1e-12 <= interval.low && interval.low <= mean + 1e-9);
                prop_assert!(mean - 1e-9 <= interval.high && interval.high <= 1.0 + 1e-12);
                if let [only] = own.as_slice() {
                    let cases = only.cases.unwrap();
                    let passed = libm::rint(only.value as f64 * cases as f64 / 1e9) as u64;
                    let exact = Proportion::new(passed, cases).unwrap().wilson(0.9).unwrap();
                    prop_assert!((interval.low - exact.low).abs() < 1e-7 && (interval.high - exact.high).abs() < 1e-7);
                }
            }
        }
    }
}
