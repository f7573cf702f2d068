//! Leaderboards of more subjects than resamples could be drawn for: the same means, with intervals from the spread of the
//! tasks and Student's t. A million values take some tens of milliseconds.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::cases::Cases;
use super::fractions::Fractions;
use super::mean::{share_interval, student_t};
use super::ranks::RankRange;
use super::{Interval, StatisticsError};
use karat_core::number::{BILLION, Score, round_ratio};

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
pub struct StudentRanking {
    /// Subjects with a mean, best first; equal means by the order of the numbers.
    means: Vec<Mean>,
    /// The number of subjects that have a value.
    subjects: usize,
    level: f64,
    /// The reach of an interval in standard errors, by number of tasks.
    reach: Vec<Option<f64>>,
    /// The intervals that are known otherwise.
    of_cases: BTreeMap<u32, Interval>,
}

#[derive(Debug, Clone, Copy)]
struct Mean {
    subject: u32,
    /// The mean in billionths.
    mean: i64,
    tasks: u32,
    items: u32,
    squares: f64,
}

/// A subject that has a rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudentRow {
    /// The subject, by its number.
    pub subject: u32,
    /// The mean over its tasks, 0 to 1.
    pub mean: f64,
    /// The number of its tasks.
    pub tasks: u32,
    /// The number of its values.
    pub items: u32,
    /// Its ranks by the mean: those of all subjects with the same mean.
    pub rank: RankRange,
    /// The ranks that are left when each subject whose interval lies wholly above or below is ranked there; none for a
    /// subject without an interval.
    pub rank_range: Option<RankRange>,
    /// The interval of the mean; none of a single task that is not a mean over cases.
    pub interval: Option<Interval>,
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
}

impl StudentRanking {
    /// Ranks the subjects with at least `tasks_min` tasks.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1.
    pub fn new(values: TaskValues, tasks_min: u32, level: f64) -> Result<Self, StatisticsError> {
        let TaskValues { starts, values: mut packed } = values;
        let (mut means, mut subjects) = (Vec::new(), 0);
        let mut reach: Vec<Option<f64>> = Vec::new();
        let mut rest = packed.as_mut_slice();
        let mut of_tasks: Vec<i64> = Vec::new();
        // A level that is wrong is refused also where no subject has a rank.
        student_t(1, level)?;
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
            of_tasks.clear();
            of_tasks.extend(own.chunk_by(|a, b| a >> 32 == b >> 32).map(mean_of));
            let tasks = u32::try_from(of_tasks.len()).unwrap_or(u32::MAX);
            if tasks < tasks_min {
                continue;
            }
            let mean = exact_mean(own, of_tasks.len());
            let squares = of_tasks.iter().map(|value| square(value - mean)).sum();
            let items = u32::try_from(own.len()).unwrap_or(u32::MAX);
            means.push(Mean { subject, mean, tasks, items, squares });
            while reach.len() <= of_tasks.len() {
                reach.push(None);
            }
            if let Some(free @ None) = reach.get_mut(of_tasks.len()) {
                *free = student_t(u64::from(tasks), level)?;
            }
        }
        means.sort_unstable_by_key(|it| (Reverse(it.mean), it.subject));
        Ok(Self { means, subjects, level, reach, of_cases: BTreeMap::new() })
    }

    /// Takes the intervals of the subjects that have cases from those.
    ///
    /// # Errors
    /// If the level is not between 0 and 1.
    pub fn with_cases(mut self, cases: &Cases) -> Result<Self, StatisticsError> {
        for it in &self.means {
            let found = usize::try_from(it.subject).ok();
            let found = found.map(|subject| cases.estimate(subject, self.level)).transpose()?.flatten();
            self.of_cases.extend(found.and_then(|found| Some((it.subject, found.interval?))));
        }
        Ok(self)
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
    pub fn rows(&self, skipped: usize, limit: usize) -> Vec<StudentRow> {
        let ends: Vec<(f64, f64)> = self.means.iter().map(|it| self.ends(it)).collect();
        let shown = self.means.iter().skip(skipped).take(limit);
        let row = |it: &Mean| {
            let (low, high) = self.ends(it);
            // An interval has its mean within: only means above can lie wholly above, only means below wholly below.
            let above = self.means.partition_point(|other| share(other.mean) > high);
            let above = ends.iter().take(above).filter(|(other, _)| *other > high).count();
            let below = self.means.partition_point(|other| share(other.mean) >= low);
            let below = ends.iter().skip(below).filter(|(_, other)| *other < low).count();
            StudentRow {
                subject: it.subject,
                mean: share(it.mean),
                tasks: it.tasks,
                items: it.items,
                rank: RankRange {
                    best: rank(self.means.partition_point(|other| other.mean > it.mean)).saturating_add(1),
                    worst: rank(self.means.partition_point(|other| other.mean >= it.mean)),
                },
                rank_range: self.interval(it).map(|_| RankRange {
                    best: rank(above).saturating_add(1),
                    worst: rank(self.means.len() - below),
                }),
                interval: self.interval(it),
            }
        };
        shown.map(row).collect()
    }

    fn interval(&self, it: &Mean) -> Option<Interval> {
        if let Some(known) = self.of_cases.get(&it.subject) {
            return Some(*known);
        }
        let reach = (*self.reach.get(usize::try_from(it.tasks).ok()?)?)?;
        let squares = it.squares / square(BILLION);
        Some(share_interval(share(it.mean), squares, u64::from(it.tasks), reach, self.level))
    }

    /// Returns the ends of an interval. A single task has none: the mean may be anything.
    fn ends(&self, it: &Mean) -> (f64, f64) {
        self.interval(it).map_or((0.0, 1.0), |interval| (interval.low, interval.high))
    }
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

/// Returns billionths as a share.
fn share(billionths: i64) -> f64 {
    Score::from_billionths(billionths).to_f64()
}

fn rank(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Returns a mean of billionths, which are at most one billion.
fn rounded(sum: i128, count: usize) -> i64 {
    let count = i128::try_from(count).unwrap_or(i128::MAX);
    i64::try_from(round_ratio(sum, count)).unwrap_or(BILLION)
}

fn square(value: i64) -> f64 {
    value as f64 * value as f64
}

#[cfg(test)]
mod tests {
    use super::super::cases::CaseResult;
    use super::super::table::{Observation, TaskTable};
    use super::*;

    #[test]
    fn means_are_those_of_a_leaderboard_with_resamples() {
        let values = [
            (0, Some(0), 900_000_000),
            (0, Some(0), 100_000_001),
            (0, Some(1), 1_000_000_000),
            (1, Some(0), 0),
            (1, None, 1_000_000_000),
            (1, None, 250_000_000),
        ];
        let ranking = StudentRanking::new(TaskValues::new(values, 3), 1, 0.95).unwrap();
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
        let full = |subject| table.mean(subject).unwrap() as f64 / 1e9;
        let found: Vec<(u32, f64)> = ranking.rows(0, 10).iter().map(|it| (it.subject, it.mean)).collect();
        assert_eq!(found, [(0, full(0)), (1, full(1))]);
        assert_eq!((ranking.ranked(), ranking.subjects()), (2, 2));
    }

    #[test]
    fn a_single_task_has_no_interval_unless_it_is_a_mean_over_cases() {
        let values = [(0, Some(0), 900_000_000), (1, Some(0), 500_000_000), (2, Some(0), 400_000_000)];
        let ranking = StudentRanking::new(TaskValues::new(values, 3), 1, 0.95).unwrap();
        assert!(ranking.rows(0, 3).iter().all(|row| row.interval.is_none() && row.rank_range.is_none()));
        let result = |(subject, value)| CaseResult { subject, task: 0, value, cases: Some(400) };
        let cases = Cases::new([(0, 900_000_000), (1, 500_000_000)].map(result));
        let rows = ranking.with_cases(&cases).unwrap().rows(0, 3);
        let ranges: Vec<_> = rows.iter().map(|row| row.rank_range.map(|it| (it.best, it.worst))).collect();
        assert_eq!(ranges, [Some((1, 2)), Some((2, 3)), None], "the third may be anywhere");
    }

    #[test]
    fn equal_means_share_their_ranks_and_pages_fit_together() {
        let values: Vec<_> = [5, 7, 5, 1]
            .into_iter()
            .zip(0..)
            .flat_map(|(score, subject)| [0, 1].map(|task| (subject, Some(task), score * 100_000_000)))
            .collect();
        let ranked = |tasks_min, level| {
            StudentRanking::new(TaskValues::new(values.iter().copied(), 4), tasks_min, level)
        };
        let ranking = ranked(1, 0.95).unwrap();
        let ranks =
            |rows: Vec<StudentRow>| rows.iter().map(|it| (it.rank.best, it.rank.worst)).collect::<Vec<_>>();
        assert_eq!(ranks(ranking.rows(0, 9)), [(1, 1), (2, 3), (2, 3), (4, 4)]);
        assert_eq!(ranks(ranking.rows(1, 2)), [(2, 3), (2, 3)]);
        // That the two tasks of each gave the same is not certainty.
        assert_eq!(ranking.rows(3, 1)[0].rank_range, Some(RankRange { best: 1, worst: 4 }));
        assert_eq!(ranking.rows(3, 1)[0].interval.unwrap().method, crate::IntervalMethod::ClopperPearson);
        let none = ranked(3, 0.95).unwrap();
        assert_eq!((none.ranked(), none.subjects()), (0, 4));
        assert!(ranked(1, 1.0).is_err() && ranked(9, 1.0).is_err());
    }
}
