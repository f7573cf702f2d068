//! The smallest set of tasks that keeps the order of the subjects: searched on one part of the data, checked on another.

use alloc::vec::Vec;
use core::num::NonZeroU64;

use super::{Column, FEWEST, columns};
use crate::correlation::kendall;
use crate::estimate::interval;
use crate::random::Random;
use crate::table::{TaskSum, TaskTable};
use crate::{Interval, StatisticsError, outside};

/// Most ranks that the search for a subset may compute.
const MOST_RANKED: u64 = 200_000_000;
/// Random subsets that the chosen one is compared with.
const SUBSETS: u32 = 200;

/// A subset of the tasks that orders the subjects as all tasks do.
#[derive(Debug, Clone, PartialEq)]
pub struct Subset {
    /// The tasks in the order in which they were chosen.
    pub tasks: Vec<usize>,
    /// The number of tasks that all subjects of both tables have: the subset is of these, and so are the comparisons.
    pub of_tasks: usize,
    /// Kendall's tau-b of the means over the subset and over all tasks, where it was found: too good.
    pub tau_found: f64,
    /// The same in the other table: what the subset keeps. None where all subjects have the same mean.
    pub tau_checked: Option<f64>,
    /// The mean of the same over 200 random subsets of this size, in the other table: what any subset keeps.
    pub tau_random: Option<f64>,
    /// The mean width of the intervals of the subjects over all tasks, in the other table.
    pub width_of_all: f64,
    /// The mean width over the subset. The intervals hold for tasks drawn at random, which these are not.
    pub width_of_subset: f64,
}

/// The settings of the search for a subset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubsetPlan {
    /// Kendall's tau-b that is to be reached where the subset is found, above 0 and at most 1, such as 0.95.
    pub tau: f64,
    /// The most tasks of the subset.
    pub most: usize,
    /// The confidence of the intervals.
    pub level: f64,
    /// The seed of the random subsets.
    pub seed: u64,
}

/// Searches for the fewest tasks whose mean orders the subjects of `found` as all tasks do, and checks them on `checked`, which
/// has the same tasks. Tasks are added one by one, each time the one that raises tau most, then the one of which the means
/// come closest, then the first: deterministic, and not always the smallest subset. None if `most` tasks do not reach it.
///
/// The two tables must not share results, or the check is as good as the search. Where subjects have several attempts at each
/// task, `checked` is the second half of the attempts: it shows what a new run of the same subjects would lose.
/// Otherwise it is the other half of the subjects ([`split_subjects`]): what new subjects would lose, which is the harder
/// question. Halves of the tasks answer neither, as the subset would have to be in both.
///
/// # Errors
/// If a table has fewer than three subjects with tasks, they share fewer than two tasks, the plan is out of range, or the
/// search is too long.
pub fn smallest_subset(
    found: &TaskTable,
    checked: &TaskTable,
    plan: SubsetPlan,
) -> Result<Option<Subset>, StatisticsError> {
    outside(plan.level)?;
    if !(plan.tau > 0.0 && plan.tau <= 1.0) {
        return Err(StatisticsError::Level { found: plan.tau });
    }
    let present = |table: &TaskTable| (0..table.subjects()).filter(|&it| table.tasks_of(it) > 0).count();
    let subjects = present(found).min(present(checked));
    if subjects < FEWEST {
        let what = "subjects of each half";
        return Err(StatisticsError::TooFew { what, found: subjects, needed: FEWEST });
    }
    let (own, other) = (columns(found), columns(checked));
    let is_whole = |columns: &[Column], task: usize, subjects: usize| {
        let at = columns.binary_search_by_key(&task, |column| column.task);
        at.is_ok_and(|at| columns.get(at).is_some_and(|column| column.cells.len() == subjects))
    };
    let both = |task| is_whole(&own, task, present(found)) && is_whole(&other, task, present(checked));
    let tasks: Vec<usize> = own.iter().map(|column| column.task).filter(|&task| both(task)).collect();
    if tasks.len() < 2 {
        return Err(StatisticsError::TooFew {
            what: "tasks that all subjects have",
            found: tasks.len(),
            needed: 2,
        });
    }
    let values = |columns: &[Column]| -> Vec<Vec<i64>> {
        let kept = columns.iter().filter(|column| tasks.binary_search(&column.task).is_ok());
        kept.map(|column| column.cells.iter().map(|cell| cell.1).collect()).collect()
    };
    let (own, other) = (values(&own), values(&other));
    let most = plan.most.min(tasks.len());
    let ranked = (most as u64).saturating_mul(tasks.len() as u64).saturating_mul(present(found) as u64);
    if ranked > MOST_RANKED {
        return Err(StatisticsError::TooMany {
            what: "tasks times subjects",
            found: ranked,
            most: MOST_RANKED,
        });
    }
    let Some((chosen, tau_found)) = greedy(&own, plan.tau, most) else { return Ok(None) };
    let every: Vec<usize> = (0..tasks.len()).collect();
    let totals = sums(&other, &every);
    let tau_of = |places: &[usize]| tau(&sums(&other, places), &totals);
    let mut random = Random::new(plan.seed);
    let (mut sum, mut places) = (Some(0.0), every.clone());
    for _ in 0..SUBSETS {
        for at in 0..chosen.len() {
            let left = NonZeroU64::new(places.len().saturating_sub(at) as u64).unwrap_or(NonZeroU64::MIN);
            places.swap(at, at + random.below(left) as usize);
        }
        // A subset that ties all subjects keeps nothing of their order.
        sum = tau(&totals, &totals)
            .and(sum)
            .map(|sum: f64| sum + tau_of(places.get(..chosen.len()).unwrap_or_default()).unwrap_or(0.0));
    }
    Ok(Some(Subset {
        of_tasks: tasks.len(),
        tau_checked: tau_of(&chosen),
        tau_random: sum.map(|sum| sum / f64::from(SUBSETS)),
        width_of_all: width(&other, &every, plan.level)?,
        width_of_subset: width(&other, &chosen, plan.level)?,
        tasks: chosen.iter().filter_map(|&at| tasks.get(at).copied()).collect(),
        tau_found,
    }))
}

/// Returns the sums of the subjects over some tasks.
fn sums(values: &[Vec<i64>], places: &[usize]) -> Vec<i128> {
    let mut sums = alloc::vec![0i128; values.first().map_or(0, Vec::len)];
    for task in places.iter().filter_map(|&at| values.get(at)) {
        sums.iter_mut().zip(task).for_each(|(sum, value)| *sum += i128::from(*value));
    }
    sums
}

/// Returns Kendall's tau-b of two lists of sums, each below 2^53.
fn tau(first: &[i128], second: &[i128]) -> Option<f64> {
    kendall(first.iter().zip(second).map(|(a, b)| (*a as f64, *b as f64)).collect())
}

/// Returns the tasks chosen and the tau that they reach; none if they do not.
fn greedy(values: &[Vec<i64>], wanted: f64, most: usize) -> Option<(Vec<usize>, f64)> {
    let every: Vec<usize> = (0..values.len()).collect();
    let totals = sums(values, &every);
    let mut chosen: Vec<usize> = Vec::new();
    let mut so_far = sums(values, &[]);
    while chosen.len() < most {
        let mut best: Option<(f64, f64, usize)> = None;
        let scale = values.len() as f64 / (chosen.len() + 1) as f64;
        for (at, task) in values.iter().enumerate().filter(|(at, _)| !chosen.contains(at)) {
            let sums: Vec<i128> =
                so_far.iter().zip(task).map(|(sum, value)| sum + i128::from(*value)).collect();
            let found = tau(&sums, &totals).unwrap_or(-1.0);
            if best.is_some_and(|best| found < best.0) {
                continue;
            }
            let apart =
                sums.iter().zip(&totals).map(|(a, b)| *a as f64 * scale - *b as f64).map(|it| it * it).sum();
            if best.is_none_or(|best| found > best.0 || apart < best.1) {
                best = Some((found, apart, at));
            }
        }
        let (found, _, at) = best?;
        chosen.push(at);
        so_far = sums(values, &chosen);
        if found >= wanted {
            return Some((chosen, found));
        }
    }
    None
}

/// Returns the mean width of the intervals of the subjects over some tasks.
fn width(values: &[Vec<i64>], places: &[usize], level: f64) -> Result<f64, StatisticsError> {
    let subjects = values.first().map_or(0, Vec::len);
    let mut sum = 0.0;
    for subject in 0..subjects {
        let of_subject = places.iter().filter_map(|&at| values.get(at)?.get(subject));
        let found: Option<Interval> = interval(of_subject.map(|&value| (value as f64, 1.0)), 0.0, level)?;
        sum += found.map_or(1.0, |it| it.high - it.low);
    }
    Ok(sum / subjects.max(1) as f64)
}

/// Splits the subjects into two tables that both span the range: in the order of their means, by turns 1, 2, 2, 1. Subjects
/// keep their numbers.
///
/// # Errors
/// If fewer than six subjects have tasks.
pub fn split_subjects(table: &TaskTable) -> Result<(TaskTable, TaskTable), StatisticsError> {
    let mut order: Vec<(i64, usize)> =
        (0..table.subjects()).filter_map(|subject| Some((table.mean(subject)?, subject))).collect();
    if order.len() < 2 * FEWEST {
        return Err(StatisticsError::TooFew { what: "subjects", found: order.len(), needed: 2 * FEWEST });
    }
    order.sort_unstable();
    let half = |wanted: bool| {
        let own = order.iter().enumerate().filter(move |(at, _)| (at % 4 == 0 || at % 4 == 3) == wanted);
        let results = own.flat_map(|(_, &(_, subject))| {
            table.results(subject).map(move |(task, sum)| TaskSum { subject, task, sum, trials: 1 })
        });
        let results: Vec<TaskSum> = results.collect();
        TaskTable::of_sums(table.subjects(), results.iter().copied())
    };
    Ok((half(true)?, half(false)?))
}
