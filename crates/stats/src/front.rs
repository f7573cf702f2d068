//! Quality against cost: the Pareto front, who dominates whom, and the cost of a solved task.
//!
//! Quality is in whole billionths of the scale, 0 to 1,000,000,000; cost is in any unit, from 0 on. The task is the unit: the
//! caller averages several attempts of a subject at a task, quality and cost over the same attempts.

use alloc::vec::Vec;
use core::num::NonZeroU64;

use super::mean::student_t;
use super::random::Random;
use super::{Interval, IntervalMethod, StatisticsError, outside};
use karat_core::number::BILLION;

/// The most numbers that are weighed: results times resamples, and pairs of subjects times resamples.
const MOST_WEIGHED: u64 = 10_000_000_000;

/// A result of a subject at a task and what it cost, each if known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostRow {
    /// The subject, by its index in the caller's list of subjects.
    pub subject: usize,
    /// The task, as any number, the same for all subjects.
    pub task: usize,
    /// The quality in whole billionths, 0 to 1,000,000,000 (which is 1, or solved).
    pub quality: Option<i64>,
    /// The cost, finite and from 0 on.
    pub cost: Option<f64>,
}

/// Checked results and costs by subject and task.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    /// By subject, its rows in rising order of tasks.
    subjects: Vec<Vec<CostRow>>,
}

/// The cost of a solved task of a subject.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostPerSolved {
    /// The sum of the costs over the sum of the quality, over the tasks that have both; none where nothing is solved there.
    pub cost: Option<f64>,
    /// Its interval over tasks; none where nothing is solved or paid, and of fewer than two tasks with both.
    pub interval: Option<Interval>,
    /// Number of tasks that have both a quality and a cost.
    pub tasks: usize,
    /// The share of its rows that have both, 0 to 1.
    pub share_with_both: f64,
}

/// The settings of the resamples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrontPlan {
    /// Number of resamples of the tasks.
    pub draws: u32,
    /// The seed of the generator.
    pub seed: u64,
}

/// The position of a subject.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrontSubject {
    /// The mean quality over the tasks that count, 0 to 1.
    pub quality: f64,
    /// The mean cost of a task.
    pub cost: f64,
    /// True if no subject dominates it: has no lower quality and no higher cost, and one of the two is better.
    pub on_front: bool,
    /// The share of resamples in which no subject dominates it.
    pub share: f64,
}

/// A pair of subjects of which the first dominates the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dominance {
    /// The subject that dominates.
    pub better: usize,
    /// The subject that is dominated.
    pub worse: usize,
    /// True if it does so on the tasks at hand.
    pub holds: bool,
    /// The share of resamples in which it does, above 0 if it does not on the tasks at hand.
    pub share: f64,
}

/// The Pareto front, and how often each subject is on it under resamples of the tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct Front {
    /// By subject; none for one that has no task with both a quality and a cost, which is compared with no one.
    pub subjects: Vec<Option<FrontSubject>>,
    /// Ordered pairs in which one dominates the other, on the tasks at hand or in a resample, by the numbers of the
    /// subjects.
    pub pairs: Vec<Dominance>,
    /// Number of tasks that count: every subject compared has both at them.
    pub tasks: usize,
    /// Number of tasks that do not.
    pub tasks_left_out: usize,
    /// The settings of the resamples.
    pub plan: FrontPlan,
}

impl Costs {
    /// Checks rows, given in any order, of `subjects` subjects.
    ///
    /// # Errors
    /// If a subject is not below `subjects`, a quality or a cost is out of range, or a subject has two rows of a task.
    pub fn new(subjects: usize, rows: &[CostRow]) -> Result<Self, StatisticsError> {
        let error = |row, part, found, expected| Err(StatisticsError::Row { row, part, found, expected });
        let mut places: Vec<usize> = (0..rows.len()).collect();
        let key = |&place: &usize| rows.get(place).map(|it| (it.subject, it.task));
        places.sort_by_key(key);
        for pair in places.windows(2) {
            if let &[first, second] = pair
                && key(&first) == key(&second)
            {
                return Err(StatisticsError::Twice { what: "the same task of one subject", first, second });
            }
        }
        let mut own = alloc::vec![Vec::new(); subjects];
        for row in places {
            let Some(it) = rows.get(row).copied() else { continue };
            if let Some(found) = it.quality.filter(|quality| !(0..=BILLION).contains(quality)) {
                return error(row, "quality", found, "billionths from 0 to 1000000000");
            }
            if let Some(found) = it.cost.filter(|cost| !(*cost >= 0.0 && cost.is_finite())) {
                return error(row, "cost", found as i64, "a finite number from 0 on");
            }
            match own.get_mut(it.subject) {
                Some(rows) => rows.push(it),
                None => {
                    let found = i64::try_from(it.subject).unwrap_or(i64::MAX);
                    return error(row, "subject", found, "a place in the list of subjects");
                }
            }
        }
        Ok(Self { subjects: own })
    }

    /// Returns the tasks of a subject that have both, with the quality as a share and the cost.
    fn both(&self, subject: usize) -> impl Iterator<Item = (usize, f64, f64)> {
        let rows = self.subjects.get(subject).map_or(&[][..], Vec::as_slice);
        rows.iter().filter_map(|it| Some((it.task, it.quality? as f64 / BILLION as f64, it.cost?)))
    }

    /// Returns the cost of a solved task, as the ratio of two means over the same tasks: those that have both a quality and a
    /// cost. The sum of all known costs over all that is solved would be too low wherever a cost is missing.
    ///
    /// The interval is symmetric about the logarithm of the ratio, by its linear part (delta method: Cochran, "Sampling Techniques", 3rd
    /// edition 1977, section 6.3 for the variance), with Student's t of one degree fewer than tasks. Its high end is found with
    /// one task more, unsolved at the highest cost that was seen: few tasks rarely show the rare failure and the rare
    /// high cost that decide the mean (as Gaffke's bound on a mean adds the worst value). Of costs without a heavier tail than
    /// the log-normal distribution of deviation 1 it covers 0.96 to 0.99 at 20 tasks and 0.96 to 0.97 at 200, where Fieller's
    /// and the plain delta interval fall to 0.87 and 0.89; at deviation 1.5 it covers 0.91 at 20: example `front_coverage`.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, or the subject has no rows.
    pub fn cost_per_solved(&self, subject: usize, level: f64) -> Result<CostPerSolved, StatisticsError> {
        outside(level)?;
        let rows = self.subjects.get(subject).map_or(0, Vec::len);
        if rows == 0 {
            return Err(StatisticsError::TooFew { what: "tasks of the subject", found: 0, needed: 1 });
        }
        let mut both: Vec<(f64, f64)> =
            self.both(subject).map(|(_, quality, cost)| (quality, cost)).collect();
        let tasks = both.len();
        let (solved, paid) = sums(&both);
        let reach = student_t(tasks as u64, level)?.filter(|_| solved > 0.0 && paid > 0.0);
        let interval = reach.map(|reach| {
            let (log, error) = log_ratio(&both);
            let low = libm::exp(log - reach * error);
            both.push((0.0, both.iter().map(|it| it.1).fold(0.0, f64::max)));
            let (log, error) = log_ratio(&both);
            Interval { low, high: libm::exp(log + reach * error), level, method: IntervalMethod::LogRatio }
        });
        Ok(CostPerSolved {
            cost: (solved > 0.0).then(|| paid / solved),
            interval,
            tasks,
            share_with_both: tasks as f64 / rows as f64,
        })
    }

    /// Returns the Pareto front over the tasks at which every subject has both, except subjects that have both nowhere; and how
    /// often each subject is on it if the tasks were others.
    ///
    /// A resample weighs the tasks at random, all weights alike that sum to 1 (Rubin, "The Bayesian bootstrap", Annals of
    /// Statistics 9, 1981), the same for all subjects, for quality and for cost: what is hard or dear for all does not come
    /// between them. One task more is weighed that was not seen: solved or not by the toss of a coin for each subject, and
    /// as dear as a task that was. Without it, of two that solve the same few tasks the cheaper one would dominate in every
    /// resample, though the next task may decide otherwise. How sure the shares are: example `front_coverage`.
    ///
    /// # Errors
    /// If there are no resamples or too many, or fewer than two tasks that count.
    pub fn front(&self, plan: FrontPlan) -> Result<Front, StatisticsError> {
        if plan.draws == 0 {
            return Err(StatisticsError::Draws { found: 0, needed: 1 });
        }
        let compared: Vec<usize> =
            (0..self.subjects.len()).filter(|&subject| self.both(subject).next().is_some()).collect();
        let mut tasks: Vec<usize> =
            compared.iter().flat_map(|&subject| self.both(subject).map(|it| it.0)).collect();
        tasks.sort_unstable();
        let complete: Vec<usize> = (tasks.chunk_by(|a, b| a == b))
            .filter(|same| same.len() == compared.len())
            .filter_map(|same| same.first().copied())
            .collect();
        let mut all: Vec<usize> = self.subjects.iter().flatten().map(|it| it.task).collect();
        all.sort_unstable();
        all.dedup();
        let (count, found) = (compared.len() as u64, complete.len());
        if found < 2 {
            let what = "tasks at which every subject has a quality and a cost";
            return Err(StatisticsError::TooFew { what, found, needed: 2 });
        }
        let weighed = (found as u64 * 2).max(count).saturating_mul(count).saturating_mul(plan.draws.into());
        if weighed > MOST_WEIGHED {
            let what = "results or pairs times resamples";
            return Err(StatisticsError::TooMany { what, found: weighed, most: MOST_WEIGHED });
        }
        let of_subject = |&subject: &usize| -> Vec<(f64, f64)> {
            let counts = self.both(subject).filter(|it| complete.binary_search(&it.0).is_ok());
            counts.map(|(_, quality, cost)| (quality, cost)).collect()
        };
        let values: Vec<Vec<(f64, f64)>> = compared.iter().map(of_subject).collect();
        let mut tally = Tally::new(values.len());
        let mut random = Random::new(plan.seed);
        let (shapes, mut weights) = (alloc::vec![1.0; found + 1], alloc::vec![0.0; found + 1]);
        let tasks = NonZeroU64::new(found as u64).unwrap_or(NonZeroU64::MIN);
        for _ in 0..plan.draws {
            random.dirichlet(&shapes, &mut weights);
            let mut points = means(&values, &weights);
            let (unseen, like) = (weights.last().copied().unwrap_or_default(), random.below(tasks) as usize);
            for (point, own) in points.iter_mut().zip(&values) {
                let solved = f64::from(u8::from(random.open_unit() < 0.5));
                *point = (point.0 + unseen * solved, point.1 + unseen * own.get(like).map_or(0.0, |it| it.1));
            }
            tally.add(&points);
        }
        // Sums, not means: equal ones stay equal.
        let at_hand = means(&values, &shapes);
        let draws = f64::from(plan.draws);
        let mut subjects = alloc::vec![None; self.subjects.len()];
        for ((&subject, &point), &times) in compared.iter().zip(&at_hand).zip(&tally.on_front) {
            let on_front = !at_hand.iter().any(|&other| dominates(other, point));
            let (quality, cost) = (point.0 / found as f64, point.1 / found as f64);
            let row = FrontSubject { quality, cost, on_front, share: f64::from(times) / draws };
            subjects.get_mut(subject).into_iter().for_each(|slot| *slot = Some(row));
        }
        let mut pairs = Vec::new();
        let ordered = compared.iter().zip(&at_hand).zip(tally.dominating.chunks(compared.len().max(1)));
        for ((&better, &own), times) in ordered {
            for ((&worse, &other), &times) in compared.iter().zip(&at_hand).zip(times) {
                let holds = dominates(own, other);
                if holds || times > 0 {
                    pairs.push(Dominance { better, worse, holds, share: f64::from(times) / draws });
                }
            }
        }
        Ok(Front { subjects, pairs, tasks: found, tasks_left_out: all.len().saturating_sub(found), plan })
    }
}

/// Returns the sums of quality and cost.
fn sums(both: &[(f64, f64)]) -> (f64, f64) {
    both.iter().fold((0.0, 0.0), |sums, it| (sums.0 + it.0, sums.1 + it.1))
}

/// Returns the logarithm of the ratio of the sums, and the standard error of its linear part.
fn log_ratio(both: &[(f64, f64)]) -> (f64, f64) {
    let count = both.len() as f64;
    let (solved, paid) = sums(both);
    // The parts sum to 0.
    let part = |it: &(f64, f64)| count * (it.1 / paid - it.0 / solved);
    let squares: f64 = both.iter().map(|it| part(it) * part(it)).sum();
    (libm::log(paid / solved), libm::sqrt(squares / (count - 1.0) / count))
}

/// Returns the weighted sums of quality and cost of each subject.
fn means(values: &[Vec<(f64, f64)>], weights: &[f64]) -> Vec<(f64, f64)> {
    let sum = |own: &Vec<(f64, f64)>| {
        let weighed = own.iter().zip(weights);
        weighed.fold((0.0, 0.0), |sums, (it, weight)| (sums.0 + weight * it.0, sums.1 + weight * it.1))
    };
    values.iter().map(sum).collect()
}

/// Returns whether the first has no lower quality and no higher cost, and one of the two is better.
fn dominates(own: (f64, f64), other: (f64, f64)) -> bool {
    own.0 >= other.0 && own.1 <= other.1 && (own.0 > other.0 || own.1 < other.1)
}

/// Counts over resamples.
struct Tally {
    on_front: Vec<u32>,
    /// By the subject that dominates, then by the one that is dominated.
    dominating: Vec<u32>,
}

impl Tally {
    fn new(subjects: usize) -> Self {
        Self { on_front: alloc::vec![0; subjects], dominating: alloc::vec![0; subjects * subjects] }
    }

    fn add(&mut self, points: &[(f64, f64)]) {
        for (row, &own) in self.dominating.chunks_mut(points.len().max(1)).zip(points) {
            row.iter_mut().zip(points).for_each(|(times, &other)| *times += u32::from(dominates(own, other)));
        }
        for (times, &own) in self.on_front.iter_mut().zip(points) {
            *times += u32::from(!points.iter().any(|&other| dominates(other, own)));
        }
    }
}

#[cfg(test)]
mod tests;
