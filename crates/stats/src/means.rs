//! Leaderboards of very many subjects: the same means, with intervals of the rows that are shown. A million values take some
//! tens of milliseconds.

use alloc::vec::Vec;
use core::cmp::Reverse;

use super::cases::Cases;
use super::estimate::{Estimate, interval};
use super::fractions::Fractions;
use super::ranks::{RankRange, ranks};
use super::table::TaskTable;
use super::{StatisticsError, outside};
use karat_core::number::{BILLION, round_ratio};

/// The values that count, by subject: subjects and tasks are numbers.
#[derive(Debug, Clone)]
pub struct TaskValues {
    /// The start of the values of each subject, and the end of all.
    starts: Vec<u32>,
    values: Vec<Packed>,
}

/// A value that counts: its task in the upper half, its billionths in the lower one. So those of a task are neighbours when
/// they are sorted.
type Packed = u64;

/// Subjects by the mean of their tasks, each task by the mean of its values.
#[derive(Debug, Clone)]
pub struct Means {
    /// Subjects with a mean, best first; equal means by the order of the numbers.
    means: Vec<Mean>,
    /// The number of subjects that have a value.
    subjects: usize,
    /// The values of all, those of a task side by side.
    values: TaskValues,
    level: Option<f64>,
    cases: Cases,
}

#[derive(Debug, Clone, Copy)]
struct Mean {
    subject: u32,
    /// The mean in billionths.
    mean: i64,
    tasks: u32,
}

/// A subject that has a rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeansRow {
    /// The subject, by its number.
    pub subject: u32,
    /// The mean over its tasks, with its interval.
    pub estimate: Estimate,
    /// The number of its values.
    pub items: u32,
    /// Its ranks by the mean: those of all subjects with the same mean.
    pub rank: RankRange,
}

impl TaskValues {
    /// Collects values, each with its subject, its task and its billionths. `subjects` is above every number of a subject;
    /// a value without a task is its own task. The values are read once, and nothing is sorted.
    pub fn new(values: impl IntoIterator<Item = (u32, Option<u32>, i64)>, subjects: usize) -> Self {
        let at = |place: u32| usize::try_from(place).unwrap_or(usize::MAX);
        // Values without a task get task numbers from the other end.
        let packed = |((subject, task, billionths), own): ((u32, Option<u32>, i64), u32)| {
            let task = task.unwrap_or(u32::MAX - own);
            (subject, u64::from(task) << 32 | u64::try_from(billionths).unwrap_or_default())
        };
        let found: Vec<(u32, Packed)> = values.into_iter().zip(0u32..).map(packed).collect();
        let mut starts = alloc::vec![0u32; subjects + 1];
        for (subject, _) in &found {
            if let Some(count) = starts.get_mut(at(*subject) + 1) {
                *count += 1;
            }
        }
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        let mut next = starts.clone();
        let mut values = alloc::vec![0; at(total)];
        for (subject, value) in found {
            if let Some(place) = next.get_mut(at(subject)) {
                if let Some(free) = values.get_mut(at(*place)) {
                    *free = value;
                }
                *place += 1;
            }
        }
        Self { starts, values }
    }

    /// Returns the values of a subject.
    fn of(&self, subject: u32) -> &[Packed] {
        let start = usize::try_from(subject).unwrap_or(usize::MAX);
        let end = |at: usize| self.starts.get(at).and_then(|&end| usize::try_from(end).ok());
        end(start)
            .zip(end(start.saturating_add(1)))
            .and_then(|(from, to)| self.values.get(from..to))
            .unwrap_or_default()
    }
}

impl Means {
    /// Ranks the subjects with at least `tasks_min` tasks; rows have intervals at `level`, if there is one, and those of
    /// `cases` for the subjects that have them.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1.
    pub fn new(
        values: TaskValues,
        cases: Cases,
        tasks_min: u32,
        level: Option<f64>,
    ) -> Result<Self, StatisticsError> {
        level.map(outside).transpose()?;
        let TaskValues { starts, values: mut packed } = values;
        let (mut means, mut subjects) = (Vec::new(), 0);
        let mut rest = packed.as_mut_slice();
        for (subject, ends) in (0u32..).zip(starts.windows(2)) {
            let &[start, end] = ends else { continue };
            let count = usize::try_from(end - start).unwrap_or_default().min(rest.len());
            let (own, after) = core::mem::take(&mut rest).split_at_mut(count);
            rest = after;
            if own.is_empty() {
                continue;
            }
            subjects += 1;
            own.sort_unstable();
            let tasks = of_tasks(own).count();
            let mean = Mean {
                subject,
                mean: exact_mean(own, tasks),
                tasks: u32::try_from(tasks).unwrap_or(u32::MAX),
            };
            if mean.tasks >= tasks_min {
                means.push(mean);
            }
        }
        means.sort_unstable_by_key(|it| (Reverse(it.mean), it.subject));
        Ok(Self { means, subjects, values: TaskValues { starts, values: packed }, level, cases })
    }

    /// Returns the number of subjects that have a rank.
    pub fn ranked(&self) -> usize {
        self.means.len()
    }

    /// Returns the number of subjects that have a value.
    pub fn subjects(&self) -> usize {
        self.subjects
    }

    /// Returns at most `limit` rows after the first `skipped`.
    pub fn rows(&self, skipped: usize, limit: usize) -> Vec<MeansRow> {
        let shown = self.means.iter().skip(skipped).take(limit);
        let row = |it: &Mean| MeansRow {
            subject: it.subject,
            estimate: self.estimate(it),
            items: u32::try_from(self.values.of(it.subject).len()).unwrap_or(u32::MAX),
            rank: RankRange {
                best: rank(self.means.partition_point(|other| other.mean > it.mean)).saturating_add(1),
                worst: rank(self.means.partition_point(|other| other.mean >= it.mean)),
            },
        };
        shown.map(row).collect()
    }

    fn estimate(&self, it: &Mean) -> Estimate {
        let tasks = usize::try_from(it.tasks).unwrap_or(usize::MAX);
        let own = usize::try_from(it.subject).ok().zip(self.level);
        let of_cases = own.and_then(|(subject, level)| self.cases.interval(subject, level).ok().flatten());
        let interval = match (of_cases, self.level) {
            (Some(found), _) => Some(found),
            (None, Some(level)) if tasks > 1 => {
                let values = of_tasks(self.values.of(it.subject)).map(|value| (value as f64, 1.0));
                interval(values, 0.0, level).ok().flatten()
            }
            _ => None,
        };
        Estimate { mean: it.mean as f64 / BILLION as f64, interval, tasks }
    }
}

/// Returns the rows of all subjects of a table, whose tasks may have any number of results, as [`Means::rows`] does.
///
/// # Errors
/// If `level` is not between 0 and 1.
pub fn rows_of_table(
    table: &TaskTable,
    tasks_min: usize,
    level: Option<f64>,
) -> Result<Vec<MeansRow>, StatisticsError> {
    let mean = |subject| table.mean(subject).filter(|_| table.tasks_of(subject) >= tasks_min);
    let ranks = ranks(&(0..table.subjects()).map(mean).collect::<Vec<_>>());
    let mut rows = Vec::new();
    for (subject, rank) in ranks.into_iter().enumerate() {
        let estimate = match level {
            Some(level) if rank.is_some() => Some(Estimate::new(table, subject, level)?),
            _ => Estimate::of_census(table, subject),
        };
        let items = u32::try_from(table.trials_of(subject)).unwrap_or(u32::MAX);
        if let (Some(rank), Some(estimate), Ok(subject)) = (rank, estimate, u32::try_from(subject)) {
            rows.push(MeansRow { subject, estimate, items, rank });
        }
    }
    rows.sort_by_key(|row| row.rank);
    Ok(rows)
}

/// Returns the mean of each task of sorted values.
fn of_tasks(values: &[Packed]) -> impl Iterator<Item = i64> {
    values.chunk_by(|a, b| a >> 32 == b >> 32).map(mean_of)
}

/// Returns the mean over the tasks of sorted values.
fn exact_mean(values: &[Packed], tasks: usize) -> i64 {
    let sum = |values: &[Packed]| values.iter().map(|it| i128::from(billionths(it))).sum();
    if values.len() == tasks {
        return rounded(sum(values), tasks);
    }
    let mut fractions = Fractions::default();
    for trials in values.chunk_by(|a, b| a >> 32 == b >> 32) {
        fractions.add(sum(trials), u32::try_from(trials.len()).unwrap_or(u32::MAX));
    }
    fractions.mean().unwrap_or_default()
}

fn billionths(value: &Packed) -> i64 {
    i64::from(*value as u32)
}

fn mean_of(values: &[Packed]) -> i64 {
    match values {
        [only] => billionths(only),
        several => rounded(several.iter().map(|it| i128::from(billionths(it))).sum(), several.len()),
    }
}

fn rank(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Returns a mean of billionths, which are at most one billion.
fn rounded(sum: i128, count: usize) -> i64 {
    let count = i128::try_from(count).unwrap_or(i128::MAX);
    i64::try_from(round_ratio(sum, count)).unwrap_or(BILLION)
}

#[cfg(test)]
mod tests {
    use super::super::cases::CaseResult;
    use super::super::table::{Observation, TaskTable};
    use super::*;

    #[test]
    fn means_and_intervals_are_those_of_a_table() {
        let values = [
            (0, Some(0), 900_000_000),
            (0, Some(0), 100_000_001),
            (0, Some(1), 1_000_000_000),
            (1, Some(0), 0),
            (1, None, 1_000_000_000),
            (1, None, 250_000_000),
        ];
        let means = Means::new(TaskValues::new(values, 3), Cases::default(), 1, Some(0.95)).unwrap();
        let rows: Vec<Observation> = values
            .iter()
            .enumerate()
            .map(|(at, &(subject, task, value))| Observation {
                subject: subject as usize,
                task: task.map_or(100 + at, |task| task as usize),
                value,
            })
            .collect();
        let table = TaskTable::new(3, &rows).unwrap();
        let full = |subject| Estimate::new(&table, subject, 0.95).unwrap();
        let found: Vec<_> = means.rows(0, 10).iter().map(|it| (it.subject, it.estimate, it.items)).collect();
        assert_eq!(found, [(0, full(0), 3), (1, full(1), 3)]);
        assert_eq!((means.ranked(), means.subjects()), (2, 2));
        let census = Means::new(TaskValues::new(values, 3), Cases::default(), 1, None).unwrap();
        assert_eq!(census.rows(0, 1)[0].estimate, Estimate { interval: None, ..full(0) });
    }

    #[test]
    fn a_single_task_has_no_interval_unless_it_is_a_mean_over_cases() {
        let values = [(0, Some(0), 900_000_000), (1, Some(0), 500_000_000), (2, Some(0), 400_000_000)];
        let result = |(subject, value)| CaseResult { subject, task: 0, value, cases: Some(400) };
        let cases = Cases::new([(0, 900_000_000), (1, 500_000_000)].map(result));
        let means = Means::new(TaskValues::new(values, 3), cases, 1, Some(0.95)).unwrap();
        let has: Vec<bool> = means.rows(0, 3).iter().map(|row| row.estimate.interval.is_some()).collect();
        assert_eq!(has, [true, true, false]);
    }

    #[test]
    fn equal_means_share_their_ranks_and_pages_fit_together() {
        let values: Vec<_> = [5, 7, 5, 1]
            .into_iter()
            .zip(0..)
            .flat_map(|(score, subject)| [0, 1].map(|task| (subject, Some(task), score * 100_000_000)))
            .collect();
        let ranked = |tasks_min, level| {
            Means::new(TaskValues::new(values.iter().copied(), 4), Cases::default(), tasks_min, Some(level))
        };
        let means = ranked(1, 0.95).unwrap();
        let ranks =
            |rows: Vec<MeansRow>| rows.iter().map(|it| (it.rank.best, it.rank.worst)).collect::<Vec<_>>();
        assert_eq!(ranks(means.rows(0, 9)), [(1, 1), (2, 3), (2, 3), (4, 4)]);
        assert_eq!(ranks(means.rows(1, 2)), [(2, 3), (2, 3)]);
        let none = ranked(3, 0.95).unwrap();
        assert_eq!((none.ranked(), none.subjects()), (0, 4));
        assert!(ranked(1, 1.0).is_err() && ranked(9, 1.0).is_err());
    }
}
