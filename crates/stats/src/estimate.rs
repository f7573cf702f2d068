//! A mean over tasks with its interval.
//!
//! The task is the unit: trials of one task are alike (Cameron, Gelbach and Miller, "Bootstrap-based improvements for inference
//! with clustered errors", 2008; Miller, "Adding error bars to evals", 2024, section 2.2), so each task gives one value, and
//! the interval is Gaffke's bound on the mean of such values, of which nothing is assumed but where they can lie.

use super::cases::Cases;
use super::gaffke;
use super::table::TaskTable;
use super::{Interval, IntervalMethod, StatisticsError, outside};
use karat_core::number::BILLION;

/// A mean over tasks with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean over the tasks of the subject: 0 to 1, or -1 to 1 for differences.
    pub mean: f64,
    /// The interval of the mean over all tasks of this kind; none of fewer than two tasks, which do not show how far
    /// tasks lie apart, and where there is nothing to estimate.
    pub interval: Option<Interval>,
    /// Number of tasks that the subject has.
    pub tasks: usize,
}

impl Estimate {
    /// Returns the mean of a subject, with its interval.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, or the subject has no tasks.
    ///
    /// ```
    /// use karat_stats::{estimate::Estimate, table::{Observation, TaskTable}};
    /// let tasks: Vec<_> = (0..10).map(|task| Observation::of_success(0, task, true)).collect();
    /// let found = Estimate::new(&TaskTable::new(1, &tasks)?, 0, 0.95)?;
    /// assert_eq!((found.mean, found.interval.map(|it| it.low)), (1.0, Some(0.691_502_892)));
    /// # Ok::<(), karat_stats::StatisticsError>(())
    /// ```
    pub fn new(table: &TaskTable, subject: usize, level: f64) -> Result<Self, StatisticsError> {
        outside(level)?;
        let mean = Self::of_census(table, subject).ok_or(NO_TASKS)?;
        let values = table.values(subject).iter().map(|value| (*value, 1.0));
        let interval = interval(values, table.lowest(), level)?;
        Ok(Self { interval: interval.filter(|_| mean.tasks > 1), ..mean })
    }

    /// Returns the mean of a subject, with the interval of its cases if it has them.
    ///
    /// # Errors
    /// If [`Self::new`] fails, or a result has no cases at all.
    pub fn with_cases(
        table: &TaskTable,
        cases: &Cases,
        subject: usize,
        level: f64,
    ) -> Result<Self, StatisticsError> {
        match cases.interval(subject, level)? {
            None => Self::new(table, subject, level),
            interval => Ok(Self { interval, ..Self::of_census(table, subject).ok_or(NO_TASKS)? }),
        }
    }

    /// Returns the mean of a subject of a table that holds all there is, so that there is no interval; none without tasks.
    pub fn of_census(table: &TaskTable, subject: usize) -> Option<Self> {
        let (mean, tasks) = (table.mean(subject)? as f64 / BILLION as f64, table.tasks_of(subject));
        Some(Self { mean, interval: None, tasks })
    }
}

/// Returns the refusal of a subject without tasks.
pub(super) const NO_TASKS: StatisticsError =
    StatisticsError::TooFew { what: "tasks of the subject", found: 0, needed: 1 };

/// Returns the interval of the mean of values in billionths, each with its weight, from `lowest` up to 1,000,000,000; none
/// without a value. Ends are rounded to billionths.
///
/// # Errors
/// If `level` is not between 0 and 1.
pub fn interval(
    values: impl Iterator<Item = (f64, f64)>,
    lowest: f64,
    level: f64,
) -> Result<Option<Interval>, StatisticsError> {
    let tail = outside(level)? / 2.0;
    let billion = BILLION as f64;
    let mut values = values.map(|(value, weight)| ((value - lowest) / (billion - lowest), weight)).peekable();
    if values.peek().is_none() {
        return Ok(None);
    }
    let (low, high) = gaffke::ends(values, tail);
    let end = |share: f64| libm::rint(lowest + share * (billion - lowest)) / billion;
    Ok(Some(Interval { low: end(low), high: end(high), level, method: IntervalMethod::Gaffke }))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::table::Observation;
    use super::*;

    #[test]
    fn trials_of_a_task_are_no_more_evidence_than_the_task() {
        let once: Vec<Observation> =
            (0..30).map(|task| Observation::of_success(0, task, task % 3 == 0)).collect();
        let often: Vec<Observation> = once.iter().cycle().take(300).copied().collect();
        let estimate =
            |rows: &[Observation]| Estimate::new(&TaskTable::new(1, rows).unwrap(), 0, 0.9).unwrap();
        assert_eq!(estimate(&once), estimate(&often), "an interval over trials would be a third as wide");
    }

    #[test]
    fn one_task_has_no_interval_and_no_task_no_mean() {
        let table = TaskTable::new(2, &[Observation::of_success(0, 0, true)]).unwrap();
        assert_eq!(Estimate::new(&table, 0, 0.95).unwrap().interval, None);
        assert_eq!(Estimate::new(&table, 1, 0.95), Err(NO_TASKS));
        assert!(Estimate::new(&table, 0, 1.0).is_err());
        assert_eq!(interval(core::iter::empty(), 0.0, 0.95), Ok(None));
    }

    #[test]
    fn a_task_that_weighs_more_leaves_more_open() {
        let width = |times: f64| {
            let values = (0..20).map(|task| {
                let value = if task % 2 == 0 { BILLION as f64 } else { 0.0 };
                (value, if task == 0 { times } else { 1.0 })
            });
            let found = interval(values, 0.0, 0.95).unwrap().unwrap();
            found.high - found.low
        };
        let widths = [1.0, 3.0, 10.0].map(width);
        assert!(widths.is_sorted_by(|less, more| less < more), "{widths:?}");
    }
}
