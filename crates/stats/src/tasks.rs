//! The tasks themselves: how hard each is, what it decides, whether it may be graded wrongly, and which could be left out.
//!
//! Results come from a [`TaskTable`]: the mean of the attempts of a subject at a task, as a share of the scale. Subjects are
//! the sample here: what is said of a task is said of subjects such as these.

use alloc::vec::Vec;
use core::num::NonZeroU64;

use super::correlation::pearson;
use super::estimate::{Estimate, interval};
use super::permutation::{Permutation, discoveries};
use super::random::Random;
use super::table::TaskTable;
use super::{StatisticsError, outside};
use karat_core::number::{BILLION, round_ratio};

pub mod subset;

/// The fewest subjects of a correlation: two always lie on a line.
const FEWEST: usize = 3;
/// Most arrangements that are all looked at; of more a sample is drawn.
const MOST_ARRANGED: f64 = 13_000.0;
/// Most arrangements in a sample, and the number of those as low as the observed one at which it ends.
const MOST_DRAWN: f64 = 1_000_000.0;
const ENOUGH: u32 = 20;
/// The highest p-value of a task that may be suspect.
const HALF: f64 = 0.5;
/// Most tasks of which all pairs are compared.
const MOST_PAIRED: usize = 3_000;

/// The results of a task over subjects.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskItem {
    /// The task, as the caller names it.
    pub task: usize,
    /// The mean over subjects, 0 for the hardest to 1, with its interval over subjects, if there are two or more.
    pub difficulty: Estimate,
    /// The correlation of its results with the mean of all other tasks, over the subjects that have both (the corrected
    /// item-total correlation: Henrysson, "Correction of item-total correlations in item analysis", Psychometrika 28, 1963).
    /// None of fewer than three such subjects, or where one of the two is the same for all.
    pub discrimination: Option<f64>,
    /// True if at least two subjects have it, and all with the same result: it decides nothing between them.
    pub decides_nothing: bool,
}

/// A task by subject.
struct Column {
    task: usize,
    /// Subjects in rising order, with the result, and the mean of their other tasks if they have any: in billionths.
    cells: Vec<(usize, i64, Option<i64>)>,
}

impl Column {
    /// Returns the pairs of a result and the mean of the rest.
    fn pairs(&self) -> impl Iterator<Item = (i64, i64)> + Clone {
        self.cells.iter().filter_map(|&(_, value, rest)| Some((value, rest?)))
    }

    /// Returns whether all results are the same.
    fn is_flat(&self) -> bool {
        self.cells.iter().zip(self.cells.iter().skip(1)).all(|(a, b)| a.1 == b.1)
    }
}

/// Returns the tasks in rising order, each with its results. The rest of a subject is over its other tasks, so it is
/// comparable over subjects only as far as they have the same ones.
fn columns(table: &TaskTable) -> Vec<Column> {
    let mut cells: Vec<(usize, usize, i64, Option<i64>)> = Vec::new();
    for subject in 0..table.subjects() {
        let total: i128 = table.results(subject).map(|(_, value)| i128::from(value)).sum();
        let others = table.tasks_of(subject).saturating_sub(1) as i128;
        let rest = |value: i64| {
            let rest = (others > 0).then(|| round_ratio(total - i128::from(value), others));
            rest.and_then(|rest| i64::try_from(rest).ok())
        };
        cells.extend(table.results(subject).map(|(task, value)| (task, subject, value, rest(value))));
    }
    cells.sort_unstable_by_key(|&(task, subject, ..)| (task, subject));
    let chunks = cells.chunk_by(|a, b| a.0 == b.0);
    let column = |cells: &[(usize, usize, i64, Option<i64>)]| {
        let task = cells.first()?.0;
        Some(Column {
            task,
            cells: cells.iter().map(|&(_, subject, value, rest)| (subject, value, rest)).collect(),
        })
    };
    chunks.filter_map(column).collect()
}

fn doubles(pairs: impl Iterator<Item = (i64, i64)>) -> Vec<(f64, f64)> {
    pairs.map(|(value, other)| (value as f64, other as f64)).collect()
}

/// Returns every task with its difficulty and discrimination, in rising order of their numbers.
///
/// # Errors
/// If `level` is not between 0 and 1.
pub fn items(table: &TaskTable, level: f64) -> Result<Vec<TaskItem>, StatisticsError> {
    outside(level)?;
    let item = |column: &Column| {
        let subjects = column.cells.len();
        let sum: i128 = column.cells.iter().map(|cell| i128::from(cell.1)).sum();
        let mean = round_ratio(sum, subjects.max(1) as i128) as f64 / BILLION as f64;
        let found = interval(column.cells.iter().map(|cell| (cell.1 as f64, 1.0)), 0.0, level)?;
        let pairs = doubles(column.pairs());
        Ok(TaskItem {
            task: column.task,
            difficulty: Estimate { mean, interval: found.filter(|_| subjects > 1), tasks: subjects },
            discrimination: pearson(&pairs).filter(|_| pairs.len() >= FEWEST),
            decides_nothing: subjects > 1 && column.is_flat(),
        })
    };
    columns(table).iter().map(item).collect()
}

karat_core::words! {
    /// The rule that keeps the share of false discoveries among the suspect tasks.
    pub enum FalseDiscoveryRule {
        /// Benjamini and Hochberg (1995): holds where, given how strong the subjects are, the results at different tasks are
        /// independent. Most sets of tasks are like that. Only tasks with a p-value up to 1/2 count, and theirs are divided
        /// by that: tasks that are good then do not hide the others (Zhao, Small and Su, "Multiple testing when
        /// many p-values are uniformly conservative", JASA 114, 2019).
        BenjaminiHochberg = "benjamini-hochberg",
        /// Benjamini and Yekutieli, Annals of Statistics 29 (2001): holds whatever the tasks have to do with each other, as
        /// where doing one kind well means doing another kind badly. All tasks count, and p-values have to be lower by
        /// `1 + 1/2 + ... + 1/m` for `m` tasks: 6.8 times at 500.
        BenjaminiYekutieli = "benjamini-yekutieli",
    }
}

/// The test of a task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskTest {
    /// The task, as the caller names it.
    pub task: usize,
    /// The one-sided p-value: the share of the arrangements of its results over the subjects whose correlation with the rest
    /// is as low as the observed one.
    pub p: f64,
    /// The lowest p-value that any arrangement has.
    pub lowest: f64,
    /// True if it is suspect: strong subjects fail it and weak ones pass it, by more than chance.
    pub suspect: bool,
}

/// The tests of all tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspects {
    /// The tests by rising number of the task; not of tasks with fewer than three subjects or no spread.
    pub tests: Vec<TaskTest>,
    /// The number of tests that count for the rule: of those that it looks at, the ones that could show anything at this rate.
    pub counted: usize,
    /// The fewest subjects with which one wrong task among the counted ones could be found, alone.
    pub subjects_for_one: usize,
}

/// Returns the lowest p-value that a task with passes and failures can have with a number of subjects, `1 / C(n, n / 2)`: 0.05
/// with 6 subjects, 0.014 with 8, 0.000005 with 20.
pub fn lowest_p(subjects: usize) -> f64 {
    let (count, half) = (subjects as f64, (subjects / 2) as f64);
    libm::exp(libm::lgamma(half + 1.0) + libm::lgamma(count - half + 1.0) - libm::lgamma(count + 1.0))
        .min(1.0)
}

/// Returns the fewest subjects with which a task with passes and failures can have a p-value as low as `p`.
fn subjects_for(p: f64) -> usize {
    (2..1100).find(|&subjects| lowest_p(subjects) <= p * (1.0 + 1e-9)).unwrap_or(1100)
}

/// Tests of every task whether strong subjects fail it and weak ones pass it, and returns which are suspect so that of those at
/// most the share `rate` is expected to be chance. A key that is wrong is one reason; a task that asks for
/// another ability is a second one.
///
/// The statistic is the sum over subjects of the result times the mean of the other tasks, under all arrangements of
/// the results over the subjects. If there are more than 13,000, they are drawn until 20 are as low, which gives a valid p-value
/// too (Besag and Clifford, "Sequential Monte Carlo p-values", Biometrika 78, 1991), or until there are enough for the rule. A task
/// that is as good as others has a correlation above 0, so its p-value is larger than that of a task without one.
///
/// # Errors
/// If `rate` is not between 0 and 1, or there are so few subjects that no arrangement of any task could be shown.
pub fn suspects(
    table: &TaskTable,
    rate: f64,
    rule: FalseDiscoveryRule,
    seed: u64,
) -> Result<Suspects, StatisticsError> {
    outside(rate)?;
    let all = columns(table);
    let with_pairs = all.iter().map(|column| (column.task, column.pairs().collect::<Vec<_>>()));
    let tested: Vec<(usize, Vec<(i64, i64)>)> = with_pairs.filter(|(_, pairs)| is_spread(pairs)).collect();
    let most =
        (4.0 * tested.len() as f64 * harmonic(rule, tested.len()) / rate).clamp(9_999.0, MOST_DRAWN) as u32;
    let test =
        |(task, pairs): &(usize, Vec<(i64, i64)>)| Some((*task, arranged(pairs, most, seed ^ *task as u64)?));
    let found: Vec<(usize, Arranged)> = tested.iter().filter_map(test).collect();
    let scaled: Vec<Option<Permutation>> = found.iter().map(|(_, it)| it.under(rule)).collect();
    let counted = scaled.iter().flatten().filter(|test| test.lowest <= rate).count();
    let rate_of_rule = rate / harmonic(rule, counted);
    if !found.iter().any(|(_, it)| it.test.lowest <= rate_of_rule * it.reach_under(rule)) {
        let subjects = tested.iter().map(|(_, pairs)| pairs.len()).max().unwrap_or_default();
        let needed = subjects_for(rate_of_rule * most_p(rule)).max(subjects + 1);
        let what = "subjects with different results";
        return Err(StatisticsError::TooFew { what, found: subjects, needed });
    }
    let shown = discoveries(&scaled, rate_of_rule);
    let tests = found.iter().zip(shown).map(|(&(task, it), suspect)| {
        let Permutation { p, lowest } = it.test;
        TaskTest { task, p, lowest, suspect }
    });
    let subjects_for_one = subjects_for(rate_of_rule * most_p(rule) / counted.max(1) as f64);
    Ok(Suspects { tests: tests.collect(), counted, subjects_for_one })
}

/// Returns the highest p-value that counts for a rule.
fn most_p(rule: FalseDiscoveryRule) -> f64 {
    if rule == FalseDiscoveryRule::BenjaminiHochberg { HALF } else { 1.0 }
}

/// The test of a task by arrangements.
#[derive(Debug, Clone, Copy)]
struct Arranged {
    test: Permutation,
    /// The highest p-value up to 1/2 that an arrangement has, which is the chance of one up to 1/2; else 0.
    reach: f64,
}

impl Arranged {
    /// Returns the chance that a task without a correlation counts for a rule.
    fn reach_under(self, rule: FalseDiscoveryRule) -> f64 {
        if rule == FalseDiscoveryRule::BenjaminiHochberg { self.reach } else { 1.0 }
    }

    /// Returns the test given that it counts for a rule; none if it does not.
    fn under(self, rule: FalseDiscoveryRule) -> Option<Permutation> {
        let (Permutation { p, lowest }, reach) = (self.test, self.reach_under(rule));
        (p <= most_p(rule)).then(|| Permutation { p: p / reach, lowest: lowest / reach })
    }
}

/// Returns what a rule divides the rate by.
fn harmonic(rule: FalseDiscoveryRule, tests: usize) -> f64 {
    match rule {
        FalseDiscoveryRule::BenjaminiHochberg => 1.0,
        FalseDiscoveryRule::BenjaminiYekutieli => (1..=tests.max(1)).rev().map(|it| 1.0 / it as f64).sum(),
    }
}

fn is_spread(pairs: &[(i64, i64)]) -> bool {
    let differs = |part: fn(&(i64, i64)) -> i64| {
        pairs.windows(2).any(|two| two.first().map(part) != two.last().map(part))
    };
    pairs.len() >= FEWEST && differs(|pair| pair.0) && differs(|pair| pair.1)
}

/// Returns the share of the arrangements of the first numbers whose sum of products is as low as the given one.
fn arranged(pairs: &[(i64, i64)], most: u32, seed: u64) -> Option<Arranged> {
    let (mut values, rest): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
    let sum = |values: &[i64]| -> i128 {
        values.iter().zip(&rest).map(|(&value, &rest)| i128::from(value) * i128::from(rest)).sum()
    };
    let observed = sum(&values);
    let log_factorial = |count: usize| libm::lgamma(count as f64 + 1.0);
    values.sort_unstable();
    let alike: f64 = values.chunk_by(|a, b| a == b).map(|equal| log_factorial(equal.len())).sum();
    let arrangements = libm::exp(log_factorial(values.len()) - alike);
    if arrangements <= MOST_ARRANGED {
        let mut sums = Vec::new();
        loop {
            sums.push(sum(&values));
            if !advance(&mut values) {
                break;
            }
        }
        sums.sort_unstable();
        let share = |it: i128| sums.partition_point(|&other| other <= it) as f64 / sums.len() as f64;
        let test = Permutation { p: share(observed), lowest: share(*sums.first()?) };
        let distinct = sums.chunk_by(|a, b| a == b).filter_map(<[i128]>::first);
        let reach = distinct.map(|&it| share(it)).take_while(|&it| it <= HALF).last().unwrap_or(0.0);
        return Some(Arranged { test, reach });
    }
    let of = |p| Arranged { test: Permutation { p, lowest: 1.0 / f64::from(most + 1) }, reach: HALF };
    let mut random = Random::new(seed);
    let mut as_low = 0;
    for drawn in 1..=most {
        for at in (1..values.len()).rev() {
            let bound = NonZeroU64::new(at as u64 + 1)?;
            values.swap(at, random.below(bound) as usize);
        }
        as_low += u32::from(sum(&values) <= observed);
        if as_low == ENOUGH {
            return Some(of(f64::from(as_low) / f64::from(drawn)));
        }
    }
    Some(of(f64::from(as_low + 1) / f64::from(most + 1)))
}

/// Makes the next arrangement in the order of a dictionary; false at the last one (Knuth, The Art of Computer Programming 4A,
/// 7.2.1.2, algorithm L).
fn advance(values: &mut [i64]) -> bool {
    let rises = values.windows(2).rposition(|two| two.first() < two.last());
    let Some(at) = rises else { return false };
    let low = values.get(at).copied();
    let next = values.iter().rposition(|&value| Some(value) > low).unwrap_or(at);
    values.swap(at, next);
    values.get_mut(at + 1..).unwrap_or_default().reverse();
    true
}

/// Tasks of which one would do, over the subjects at hand.
#[derive(Debug, Clone, PartialEq)]
pub struct Redundant {
    /// Groups of tasks with the same results of the same subjects, each in rising order.
    pub identical: Vec<Vec<usize>>,
    /// Pairs of tasks with a correlation of the threshold or more, the highest first; of identical tasks the first is
    /// in them. None of more than 3,000 different tasks: too many pairs.
    pub near: Option<Vec<(usize, usize, f64)>>,
}

/// Returns the tasks that are redundant over these subjects: identical, or with a correlation of at least `threshold` over the
/// subjects that both have. Only tasks that spread and that `fewest` subjects have, at least 3, are looked at.
///
/// That they are redundant for other subjects is not shown: of few subjects many tasks have the same results. Tasks of one
/// ability and one difficulty look alike too.
///
/// # Errors
/// If `threshold` is not above 0 and below 1, or no task has enough subjects.
pub fn redundant(table: &TaskTable, threshold: f64, fewest: usize) -> Result<Redundant, StatisticsError> {
    outside(threshold)?;
    let needed = fewest.max(FEWEST);
    let all = columns(table);
    let found = all.iter().map(|column| column.cells.len()).max().unwrap_or_default();
    if found < needed {
        return Err(StatisticsError::TooFew { what: "subjects of a task", found, needed });
    }
    let mut kept: Vec<(Vec<(usize, i64)>, usize)> = (all.iter())
        .filter(|column| column.cells.len() >= needed && !column.is_flat())
        .map(|column| (column.cells.iter().map(|cell| (cell.0, cell.1)).collect(), column.task))
        .collect();
    kept.sort_unstable();
    let groups = || kept.chunk_by(|a, b| a.0 == b.0);
    let mut first: Vec<&(Vec<(usize, i64)>, usize)> = groups().filter_map(<[_]>::first).collect();
    first.sort_unstable_by_key(|it| it.1);
    let tasks = |group: &[(Vec<(usize, i64)>, usize)]| group.iter().map(|it| it.1).collect::<Vec<_>>();
    let mut identical: Vec<Vec<usize>> = groups().filter(|group| group.len() > 1).map(tasks).collect();
    identical.sort_unstable();
    let mut near = Vec::new();
    for (at, (own, task)) in first.iter().enumerate().filter(|_| first.len() <= MOST_PAIRED) {
        for (other, later) in first.iter().skip(at + 1) {
            let pairs = doubles(shared(own, other));
            if let Some(found) = pearson(&pairs).filter(|&found| found >= threshold && pairs.len() >= needed)
            {
                near.push((*task, *later, found));
            }
        }
    }
    near.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
    Ok(Redundant { identical, near: (first.len() <= MOST_PAIRED).then_some(near) })
}

/// Returns the values of two lists at the keys that both have, which rise.
fn shared(own: &[(usize, i64)], other: &[(usize, i64)]) -> impl Iterator<Item = (i64, i64)> {
    let mut theirs = other.iter().peekable();
    own.iter().filter_map(move |&(subject, value)| {
        while theirs.next_if(|it| it.0 < subject).is_some() {}
        theirs.next_if(|it| it.0 == subject).map(|it| (value, it.1))
    })
}

#[cfg(test)]
mod tests;
