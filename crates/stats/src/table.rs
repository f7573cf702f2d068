//! Results by subject and task: what intervals, comparisons and leaderboards are computed from.

use alloc::vec::Vec;

use super::StatisticsError;
use super::flips::{PARTS, TaskDifference};
use super::fractions::Fractions;
use super::random::scattered;
use karat_core::number::{BILLION, round, round_ratio};

/// One result of one subject at one task. Several trials of a task are several observations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    /// The subject, by its index in the caller's list of subjects.
    pub subject: usize,
    /// The task, as any number, the same for all subjects.
    pub task: usize,
    /// The score in whole billionths, 0 to 1,000,000,000 (which is 1, or a success).
    pub value: i64,
}

impl Observation {
    /// Returns a result that is a success or a failure.
    pub fn of_success(subject: usize, task: usize, succeeded: bool) -> Self {
        Self { subject, task, value: if succeeded { BILLION } else { 0 } }
    }

    /// Returns a result that is a share from 0 to 1, such as pass^k of a task, rounded to a billionth; none if it is not.
    pub fn of_share(subject: usize, task: usize, share: f64) -> Option<Self> {
        let value = round(share * BILLION as f64) as i64;
        (0.0..=1.0).contains(&share).then_some(Self { subject, task, value })
    }
}

/// The sum of some results of one subject at one task. Several of one task are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskSum {
    /// The subject, by its index in the caller's list of subjects.
    pub subject: usize,
    /// The task, as any number, the same for all subjects.
    pub task: usize,
    /// The sum of the scores in whole billionths, 0 to 1,000,000,000 for each.
    pub sum: i64,
    /// The number of results; 0 adds nothing.
    pub trials: u32,
}

impl From<Observation> for TaskSum {
    fn from(it: Observation) -> Self {
        Self { subject: it.subject, task: it.task, sum: it.value, trials: 1 }
    }
}

/// The mean result of each subject at each of its tasks, in whole billionths.
///
/// The task is the unit: trials of one task are averaged first, because they are alike, and a task that was tried more
/// often weighs no more. The mean over tasks is one exact fraction; intervals work on means of tasks that are rounded
/// (once, ties to even). Not every subject need have every task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskTable {
    columns: Vec<Column>,
    tasks: Vec<usize>,
    /// The least possible value, in billionths: 0, or -1,000,000,000 where the values are differences.
    lowest: f64,
    /// A number of each task, from its name; empty where only its number is known.
    keys: Vec<u64>,
}

/// The tasks of one subject by their places in rising order, and its results there: whole numbers, so that sums are exact.
#[derive(Debug, Clone, PartialEq, Default)]
struct Column {
    places: Vec<u32>,
    values: Vec<f64>,
    /// The sum and the number of the trials of each task; empty where each has one.
    trials: Vec<(i64, u32)>,
    /// The mean as an exact fraction, rounded once, where `trials` says more than `values`.
    exact: Option<i64>,
}

impl TaskTable {
    /// The most tasks, which can be added up in doubles without a rounding: `2e9 * 4e6` is below `2^53`.
    pub const MOST_TASKS: usize = 4_000_000;

    /// Sorts observations, given in any order, of `subjects` subjects.
    ///
    /// # Errors
    /// If a subject is not below `subjects`, a value not from 0 to 1,000,000,000, or there are too many tasks.
    pub fn new(subjects: usize, observations: &[Observation]) -> Result<Self, StatisticsError> {
        Self::of(subjects, observations.iter().copied())
    }

    /// Does what [`Self::new`] does with observations that are computed on the way: they are looked at several times, and
    /// never held all at once.
    ///
    /// # Errors
    /// If [`Self::new`] fails.
    pub fn of(
        subjects: usize,
        observations: impl Iterator<Item = Observation> + Clone,
    ) -> Result<Self, StatisticsError> {
        Self::of_sums(subjects, observations.map(TaskSum::from))
    }

    /// Does what [`Self::of`] does where results were added up before, exactly: whole numbers have one sum in any order.
    ///
    /// # Errors
    /// If [`Self::new`] fails.
    pub fn of_sums(
        subjects: usize,
        sums: impl Iterator<Item = TaskSum> + Clone,
    ) -> Result<Self, StatisticsError> {
        let sums = sums.filter(|it| it.trials > 0);
        let row_error = |row, part, found, expected| StatisticsError::Row { row, part, found, expected };
        let mut count = 0;
        for (row, it) in sums.clone().enumerate() {
            if it.subject >= subjects {
                let found = i64::try_from(it.subject).unwrap_or(i64::MAX);
                return Err(row_error(row, "subject", found, "a place in the list of subjects"));
            }
            if !(0..=BILLION * i64::from(it.trials)).contains(&it.sum) {
                return Err(row_error(row, "value", it.sum, "billionths from 0 to 1000000000"));
            }
            count = row + 1;
        }
        let tasks = distinct(sums.clone().map(|it| it.task), count);
        if tasks.len() > Self::MOST_TASKS {
            let (found, most) = (tasks.len() as u64, Self::MOST_TASKS as u64);
            return Err(StatisticsError::TooMany { what: "tasks", found, most });
        }
        let mut columns = alloc::vec![Column::default(); subjects];
        for (subject, place, sum, trials) in cells(subjects, &tasks, sums, count) {
            if let Some(column) = columns.get_mut(subject) {
                column.places.push(place);
                column.values.push(round_ratio(sum, trials.into()) as f64);
                column.trials.push((i64::try_from(sum).unwrap_or(i64::MAX), trials));
            }
        }
        for column in &mut columns {
            column.settle();
        }
        Ok(Self { columns, tasks, lowest: 0.0, keys: Vec::new() })
    }

    /// Returns how many subjects there are, those without results included.
    pub fn subjects(&self) -> usize {
        self.columns.len()
    }

    /// Returns how many tasks anyone has a result at.
    pub fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// Returns how many tasks a subject has a result at.
    pub fn tasks_of(&self, subject: usize) -> usize {
        self.values(subject).len()
    }

    /// Returns the mean over the tasks of a subject in billionths, rounded once, ties to even; none without tasks.
    pub fn mean(&self, subject: usize) -> Option<i64> {
        let column = self.columns.get(subject)?;
        column.exact.or_else(|| quotient(column.values.iter().sum(), column.values.len() as f64))
    }

    /// Returns the number of results of a subject at all its tasks.
    pub(super) fn trials_of(&self, subject: usize) -> u64 {
        let Some(column) = self.columns.get(subject) else { return 0 };
        let trials: u64 = column.trials.iter().map(|(_, trials)| u64::from(*trials)).sum();
        if column.trials.is_empty() { column.values.len() as u64 } else { trials }
    }

    /// Returns the tasks of a subject, as the caller names them, in rising order, with its results in billionths.
    pub fn results(&self, subject: usize) -> impl Iterator<Item = (usize, i64)> {
        let column = self.columns.get(subject);
        let pairs = column.into_iter().flat_map(|column| column.places.iter().zip(&column.values));
        pairs.filter_map(|(&place, &value)| Some((*self.tasks.get(place as usize)?, value as i64)))
    }

    /// Returns what the first subject has more than the second, at the tasks that both have: a table of one column over
    /// these tasks alone, so that it does not depend on what other tasks there are.
    pub fn between(&self, first: usize, second: usize) -> Self {
        let nothing = Column::default();
        let own = self.columns.get(first).unwrap_or(&nothing);
        let mut column = own.minus(self.columns.get(second).unwrap_or(&nothing));
        let name = |place: &u32| self.tasks.get(*place as usize).copied();
        let tasks: Vec<usize> = column.places.iter().filter_map(name).collect();
        column.places = (0u32..).take(tasks.len()).collect();
        let lowest = -(BILLION as f64);
        Self { columns: alloc::vec![column], tasks, lowest, keys: Vec::new() }
    }

    /// Returns the same exactly, in parts of a billionth, with a number that belongs to each task.
    pub(super) fn differences(&self, first: usize, second: usize) -> Vec<TaskDifference> {
        let (Some(own), Some(other)) = (self.columns.get(first), self.columns.get(second)) else {
            return Vec::new();
        };
        let part = |(sum, trials): (i128, u32)| round_ratio(sum * i128::from(PARTS), trials.into());
        let key = |place: u32| match self.keys.get(place as usize) {
            Some(key) => *key,
            None => scattered(self.tasks.get(place as usize).copied().unwrap_or_default() as u64),
        };
        let pair = |(place, at, their): (u32, usize, usize)| {
            (key(place), part(own.trials_at(at)) - part(other.trials_at(their)))
        };
        own.shared(other).map(pair).collect()
    }

    /// Gives each task the number by which it is turned in a comparison, from its name: see [`key`].
    #[must_use]
    pub fn named(mut self, key: impl Fn(usize) -> u64) -> Self {
        self.keys = self.tasks.iter().map(|task| key(*task)).collect();
        self
    }

    /// Returns the tasks of a subject by their places in rising order.
    pub(super) fn places(&self, subject: usize) -> &[u32] {
        self.columns.get(subject).map_or(&[], |column| &column.places)
    }

    /// Returns the values of a subject, in whole billionths.
    pub(super) fn values(&self, subject: usize) -> &[f64] {
        self.columns.get(subject).map_or(&[], |column| &column.values)
    }

    /// Returns the lowest value that can be, in billionths; the highest is 1,000,000,000.
    pub(super) fn lowest(&self) -> f64 {
        self.lowest
    }
}

impl Column {
    /// Computes the exact mean, and forgets the trials where every task has one.
    fn settle(&mut self) {
        if self.trials.iter().all(|(_, trials)| *trials == 1) {
            self.trials = Vec::new();
            return;
        }
        let mut fractions = Fractions::default();
        self.trials.iter().for_each(|&(sum, trials)| fractions.add(sum.into(), trials));
        self.exact = fractions.mean();
    }

    /// Returns the sum and the number of trials of the task at `index` in the column.
    fn trials_at(&self, index: usize) -> (i128, u32) {
        match self.trials.get(index) {
            Some(&(sum, trials)) => (sum.into(), trials),
            None => (self.values.get(index).map_or(0, |value| *value as i128), 1),
        }
    }

    /// Returns the places that both have, with the index in each column.
    fn shared<'c>(&'c self, other: &'c Self) -> impl Iterator<Item = (u32, usize, usize)> + use<'c> {
        let mut theirs = other.places.iter().enumerate().peekable();
        self.places.iter().enumerate().filter_map(move |(index, place)| {
            while theirs.next_if(|(_, their)| *their < place).is_some() {}
            theirs.next_if(|(_, their)| *their == place).map(|(at, _)| (*place, index, at))
        })
    }

    fn minus(&self, other: &Self) -> Self {
        let (mut difference, mut fractions) = (Self::default(), Fractions::default());
        for (place, index, at) in self.shared(other) {
            let value = |column: &Self, at: usize| column.values.get(at).copied().unwrap_or_default();
            difference.places.push(place);
            difference.values.push(value(self, index) - value(other, at));
            fractions.add_difference(self.trials_at(index), other.trials_at(at));
        }
        if !(self.trials.is_empty() && other.trials.is_empty()) {
            difference.exact = fractions.mean();
        }
        difference
    }
}

/// Returns a number of a task from its name, which scatters like a random one: FNV-1a (Fowler, Noll and Vo), then the last
/// steps of splitmix64.
pub fn key(name: &str) -> u64 {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    scattered(hash)
}

/// Returns whether a table of that many entries is worth its memory for that many observations.
fn is_dense(entries: usize, observations: usize) -> bool {
    entries <= observations.saturating_mul(4).saturating_add(1024)
}

/// Returns each of `count` numbers once, in rising order.
fn distinct(numbers: impl Iterator<Item = usize> + Clone, count: usize) -> Vec<usize> {
    let most = numbers.clone().max().unwrap_or_default();
    if !is_dense(most, count) {
        let mut all: Vec<usize> = numbers.collect();
        all.sort_unstable();
        all.dedup();
        return all;
    }
    let mut occurs = alloc::vec![false; most + 1];
    for number in numbers {
        occurs.iter_mut().skip(number).take(1).for_each(|it| *it = true);
    }
    occurs.iter().enumerate().filter(|(_, occurs)| **occurs).map(|(number, _)| number).collect()
}

/// Returns the trials of each subject at each of its tasks, in rising order: the subject, the place of the task, the sum and
/// the number of the trials.
fn cells(
    subjects: usize,
    tasks: &[usize],
    results: impl Iterator<Item = TaskSum>,
    count: usize,
) -> Vec<(usize, u32, i128, u32)> {
    let place = |task: usize| tasks.binary_search(&task).ok().and_then(|place| u32::try_from(place).ok());
    if is_dense(subjects.saturating_mul(tasks.len()), count) {
        let most = tasks.last().copied().unwrap_or_default();
        let places: Vec<Option<u32>> =
            if is_dense(most, count) { (0..=most).map(place).collect() } else { Vec::new() };
        let mut sums = alloc::vec![(0i128, 0u32); subjects * tasks.len()];
        for it in results {
            let Some(at) = places.get(it.task).copied().unwrap_or_else(|| place(it.task)) else { continue };
            if let Some((sum, trials)) = sums.get_mut(it.subject * tasks.len() + at as usize) {
                *sum += i128::from(it.sum);
                *trials = trials.saturating_add(it.trials);
            }
        }
        let of_tasks = sums.chunks(tasks.len().max(1)).enumerate();
        let cells = of_tasks.flat_map(|(subject, sums)| {
            (0u32..).zip(sums).map(move |(place, &(sum, trials))| (subject, place, sum, trials))
        });
        return cells.filter(|&(.., trials)| trials > 0).collect();
    }
    let mut ordered: Vec<TaskSum> = results.collect();
    ordered.sort_unstable_by_key(|it| (it.subject, it.task));
    let chunks = ordered.chunk_by(|a, b| (a.subject, a.task) == (b.subject, b.task));
    let cell = |results: &[TaskSum]| {
        let first = results.first()?;
        let sum = results.iter().map(|it| i128::from(it.sum)).sum();
        let trials = results.iter().fold(0u32, |trials, it| trials.saturating_add(it.trials));
        Some((first.subject, place(first.task)?, sum, trials))
    };
    chunks.filter_map(cell).collect()
}

/// Returns `sum / count` to the nearest whole number, ties to even: exact by decision 0001, since `count` is at most
/// [`TaskTable::MOST_TASKS`].
fn quotient(sum: f64, count: f64) -> Option<i64> {
    // `round` is for numbers from 0 on; rounding to even is the same on both sides.
    let size = round((sum / count).abs()) as i64;
    (count > 0.0).then_some(if sum < 0.0 { -size } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(subjects: usize, rows: &[(usize, usize, i64)]) -> TaskTable {
        let rows: Vec<Observation> =
            rows.iter().map(|&(subject, task, value)| Observation { subject, task, value }).collect();
        TaskTable::new(subjects, &rows).unwrap()
    }

    #[test]
    fn trials_of_a_task_are_averaged_first_and_order_does_not_matter() {
        let rows = [(0, 5, BILLION), (0, 5, 0), (0, 5, 0), (0, 2, 10), (1, 2, 4)];
        let forward = table(3, &rows);
        let mut backward = rows;
        backward.reverse();
        assert_eq!(forward, table(3, &backward));
        assert_eq!(forward.results(0).collect::<Vec<_>>(), [(2, 10), (5, 333_333_333)]);
        assert_eq!(forward.mean(0), Some(166_666_672), "ties to even");
        assert_eq!((forward.mean(2), forward.mean(9)), (None, None));
        assert_eq!((forward.tasks(), forward.tasks_of(0)), (2, 2));
    }

    #[test]
    fn numbers_of_tasks_far_apart_give_the_same_table() {
        // Dense in tasks and subjects, in neither, and in tasks alone.
        for (subjects, far) in [(3, 1), (3, usize::MAX / 100), (3000, 1)] {
            let near: Vec<(usize, usize, i64)> = (0..500)
                .map(|at| (at * 7 % 3, at * at % 41, (at * 1_000_003 % 999_999_937) as i64))
                .collect();
            let moved: Vec<_> =
                near.iter().map(|&(subject, task, value)| (subject, task * far, value)).collect();
            let (own, other) = (table(3, &near), table(subjects, &moved));
            for subject in 0..3 {
                let results: Vec<_> = own.results(subject).map(|(task, value)| (task * far, value)).collect();
                assert_eq!(other.results(subject).collect::<Vec<_>>(), results);
                assert_eq!(other.mean(subject), own.mean(subject));
            }
            assert_eq!(other.tasks(), own.tasks());
        }
    }

    #[test]
    fn differences_are_over_shared_tasks() {
        let rows = [(0, 1, 5), (0, 2, 9), (0, 4, 1), (1, 2, 10), (1, 3, 0), (1, 4, 1)];
        let both = table(3, &rows).between(0, 1);
        assert_eq!(both.results(0).collect::<Vec<_>>(), [(2, -1), (4, 0)]);
        assert_eq!((both.mean(0), both.tasks()), (Some(0), 2), "-0.5 is even at 0; no other task is in it");
        for (first, second) in [(0, 2), (2, 0), (0, 7)] {
            let none = table(3, &rows).between(first, second);
            assert_eq!((none.mean(0), none.tasks()), (None, 0));
        }
        // What others have changes nothing.
        let mut more = rows.to_vec();
        more.extend([(2, 0, 3), (2, 9, 4)]);
        let wide = table(3, &more).between(0, 1);
        assert_eq!(wide.results(0).collect::<Vec<_>>(), both.results(0).collect::<Vec<_>>());
        assert_eq!(wide.tasks(), both.tasks());
    }

    #[test]
    fn rows_that_cannot_be_used_are_named() {
        let of = |subject, value| {
            alloc::format!("{}", TaskTable::new(2, &[Observation { subject, task: 0, value }]).unwrap_err())
        };
        assert_eq!(of(2, 0), "row 0: the subject is 2, expected a place in the list of subjects");
        assert_eq!(of(1, -1), "row 0: the value is -1, expected billionths from 0 to 1000000000");
        assert!(of(usize::MAX, 0).starts_with("row 0: the subject is"));
        assert_eq!(Observation::of_share(0, 0, f64::NAN), None);
        assert_eq!(Observation::of_share(0, 0, 1.0 / 3.0).unwrap().value, 333_333_333);
    }
}
