//! Means from labels of some items and verdicts of a judge on all: prediction-powered inference.
//!
//! The judge says where the mean lies, and the labels by how much the judge is off, so the interval is valid however wrong it
//! is: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, "Prediction-powered inference", Science 382 (2023). How far it is
//! trusted, `lambda` from 0 (labels only) to 1, is tuned to the least variance: Angelopoulos, Duchi and Zrnic, "PPI++" (2023).
//!
//! **The items to label must be a random sample of the items of each subject.** How many of each is free.

use alloc::vec::Vec;

use super::agreement::{at_least, is_share, score_ends};
use super::mean::student_t;
use super::special::normal_quantile;
use super::{Interval, IntervalMethod, StatisticsError, outside};

/// The fewest tasks with a label of a subject.
pub const FEWEST_TASKS: usize = 20;

/// A mean of independent items.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndependentMean {
    /// The mean of the labels of all such items.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The share of the verdicts that is used, 0 to 1.
    pub lambda: f64,
    /// The interval, by the normal distribution.
    pub interval: Interval,
}

impl IndependentMean {
    /// Returns PPI++ as published, for items that do not depend on each other: `labelled` are pairs of a label and a verdict,
    /// `unlabelled` verdicts, all finite and of any range. `lambda` is tuned if none is given. For many items only: of few the
    /// interval is too short.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, `lambda` or an item not a number, or there are fewer than 2 items of a kind.
    pub fn new(
        labelled: &[(f64, f64)],
        unlabelled: &[f64],
        lambda: Option<f64>,
        level: f64,
    ) -> Result<Self, StatisticsError> {
        let reach = -normal_quantile(outside(level)? / 2.0);
        at_least(2, "labelled items", labelled.len())?;
        at_least(2, "unlabelled items", unlabelled.len())?;
        let numbers =
            labelled.iter().flat_map(|it| [it.0, it.1]).chain(unlabelled.iter().copied()).chain(lambda);
        if let Some((row, found)) = numbers.enumerate().find(|it| !it.1.is_finite()) {
            return Err(StatisticsError::Value { row, part: "value", found, expected: "a finite number" });
        }
        let (n, more) = (labelled.len() as f64, unlabelled.len() as f64);
        let labels = || labelled.iter().map(|it| it.0);
        let verdicts = || labelled.iter().map(|it| it.1);
        let others = || unlabelled.iter().copied();
        let lambda = lambda.unwrap_or_else(|| {
            let (label, verdict) = (mean(labels()), mean(verdicts()));
            let all = verdicts().chain(others());
            let squares = variance(all.clone()) * (n + more) / (n + more - 1.0);
            let products = labelled.iter().map(|it| (it.0 - label) * (it.1 - verdict)).sum::<f64>() / n;
            if squares > 0.0 { (products / ((1.0 + n / more) * squares)).clamp(0.0, 1.0) } else { 0.0 }
        });
        let errors = labelled.iter().map(|it| it.0 - lambda * it.1);
        let used = others().map(|it| lambda * it);
        let mean = mean(used.clone()) + mean(errors.clone());
        let standard_error = libm::sqrt(variance(used) / more + variance(errors) / n);
        let (low, high) = (mean - reach * standard_error, mean + reach * standard_error);
        let interval = Interval { low, high, level, method: IntervalMethod::Normal };
        Ok(Self { mean, standard_error, lambda, interval })
    }
}

/// A verdict on an attempt of a subject at a task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rated {
    /// The task, as any number.
    pub task: usize,
    /// The subject, as any number.
    pub subject: usize,
    /// The label, a share from 0 to 1; none of most.
    pub label: Option<f64>,
    /// The verdict of the judge, a share from 0 to 1.
    pub verdict: f64,
}

/// The mean over tasks of a subject.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// The mean over tasks of the mean label of their attempts, 0 to 1; each task counts the same.
    pub mean: f64,
    /// Its standard error over tasks.
    pub standard_error: f64,
    /// The interval of the mean over all tasks of this kind.
    pub interval: Interval,
    /// The share of the verdicts that is used, 0 to 1.
    pub lambda: f64,
    /// The number of labels.
    pub labels: usize,
    /// The number of tasks with a label.
    pub labelled_tasks: usize,
    /// The distance of the mean verdict of the labelled items above that of all, in standard errors: far from 0 they are hardly a
    /// random sample.
    pub imbalance: f64,
    /// The parts of its variance.
    pub parts: Parts,
}

impl Predicted {
    /// Estimates the mean of `subject` from its rows; those of others are not looked at. `lambda`, from 0 to 1, is tuned if none
    /// is given.
    ///
    /// An attempt weighs `1 / (T m)` where its task has `m` of them and there are `T` tasks; `mean = lambda (mean verdict of all) +
    /// (weighted mean of label - lambda verdict of the labelled)`, a difference estimator of two-phase sampling (Särndal, Swensson
    /// and Wretman, "Model assisted survey sampling", 1992, section 9.6). It is linearised and summed by task. Two labels are added to
    /// its variance, one against a verdict of each kind (as Agresti and Coull, The American Statistician 52, 1998, do for shares):
    /// a judge that was never wrong in a few labels may still be. The interval is the score interval with that variance and the
    /// quantile of Student's t, with one degree less for `lambda`.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, a value of a row or `lambda` is not a share, or fewer than [`FEWEST_TASKS`] tasks of the
    /// subject have a label.
    pub fn new(
        rows: &[Rated],
        subject: usize,
        lambda: Option<f64>,
        level: f64,
    ) -> Result<Self, StatisticsError> {
        outside(level)?;
        let parts = Linear::new(&Tasks::new(rows, subject)?, lambda)?;
        let reach = student_t(parts.degrees() + 1, level)?.unwrap_or(f64::INFINITY);
        let variance = parts.variance(parts.lambda);
        let mean = parts.mean.clamp(0.0, 1.0);
        // A mean of 0 or 1 is as sure as one that half a label is off.
        let edge = 0.5 / parts.labels as f64;
        let inside = mean.clamp(edge, 1.0 - edge);
        let (low, high) = score_ends(mean, inside * (1.0 - inside) / variance, reach);
        Ok(Self {
            mean,
            standard_error: libm::sqrt(variance),
            interval: Interval { low, high, level, method: IntervalMethod::Wilson },
            lambda: parts.lambda,
            labels: parts.labels,
            labelled_tasks: parts.labelled_tasks,
            imbalance: parts.imbalance,
            parts: parts.parts(),
        })
    }
}

/// The difference of two subjects over the tasks that both have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictedDifference {
    /// The mean of the first minus that of the second, -1 to 1.
    pub mean: f64,
    /// Its standard error over tasks.
    pub standard_error: f64,
    /// The interval over all tasks of this kind.
    pub interval: Interval,
    /// The number of tasks that both have.
    pub tasks: usize,
    /// The parts of its variance, for as many labels of each.
    pub parts: Parts,
}

impl PredictedDifference {
    /// Compares two subjects; each has its mean of [`Predicted::new`] over the tasks that both have, and what they have in common at
    /// a task cancels.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, a value of a row or `lambda` is not a share, or fewer than [`FEWEST_TASKS`] of the tasks
    /// that both have are labelled of either.
    pub fn new(
        rows: &[Rated],
        (first, second): (usize, usize),
        lambda: Option<f64>,
        level: f64,
    ) -> Result<Self, StatisticsError> {
        outside(level)?;
        let (mut own, mut other) = (Tasks::new(rows, first)?, Tasks::new(rows, second)?);
        own.keep(&other);
        other.keep(&own);
        let (own, other) = (Linear::new(&own, lambda)?, Linear::new(&other, lambda)?);
        let degrees = own.degrees().min(other.degrees());
        let tasks = own.tasks.len();
        let squares: f64 = own
            .tasks
            .iter()
            .zip(&other.tasks)
            .map(|(a, b)| square(a.0 + own.lambda * a.1 - b.0 - other.lambda * b.1))
            .sum();
        let added = own.added(own.lambda) + other.added(other.lambda);
        let variance = (squares + added) * (own.factor().max(other.factor()));
        let standard_error = libm::sqrt(variance);
        let reach = student_t(degrees + 1, level)?.unwrap_or(f64::INFINITY) * standard_error;
        let mean = own.mean.clamp(0.0, 1.0) - other.mean.clamp(0.0, 1.0);
        let (low, high) = ((mean - reach).max(-1.0), (mean + reach).min(1.0));
        // By their own parts, as far as they do not hang together.
        let (a, b) = (own.parts(), other.parts());
        let by_labels = own.label_variance(own.lambda) + other.label_variance(other.lambda);
        let parts = Parts {
            items: a.items.min(b.items),
            of_tasks: (variance - by_labels).clamp(0.0, a.of_tasks + b.of_tasks),
            with_judge: a.with_judge + b.with_judge,
            labels_only: a.labels_only + b.labels_only,
        };
        let interval = Interval { low, high, level, method: IntervalMethod::ClusterT };
        Ok(Self { mean, standard_error, interval, tasks, parts })
    }
}

/// The parts of the variance of a mean or a difference, `of_tasks + part (1 / labels - 1 / items)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts {
    /// The number of items, labelled or not; of two subjects that of the one that has fewer.
    pub items: usize,
    /// The variance if all items were labelled: only more tasks make it less.
    pub of_tasks: f64,
    /// The variance of one label with the judge.
    pub with_judge: f64,
    /// The variance of one label without a judge.
    pub labels_only: f64,
}

/// The labels that are needed of each subject; none where more than all items would be, so that only more tasks help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelsNeeded {
    /// Their number with the judge.
    pub with_judge: Option<u64>,
    /// Their number without a judge.
    pub labels_only: Option<u64>,
}

impl Parts {
    /// Returns the effective sample size: how many labels without a judge are worth as much as `labels` with it; as many as there are
    /// items at most.
    pub fn effective_labels(&self, labels: usize) -> f64 {
        let (n, all) = (labels.max(1) as f64, self.items.max(1) as f64);
        let saved = if self.labels_only > 0.0 { self.with_judge / self.labels_only } else { 1.0 };
        1.0 / (1.0 / all + saved * (1.0 / n - 1.0 / all).max(0.0))
    }

    /// Returns how many labels of each subject make an interval at `level` reach about `half_width` to either side.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1.
    pub fn labels_for_half_width(
        &self,
        half_width: f64,
        level: f64,
    ) -> Result<LabelsNeeded, StatisticsError> {
        let z = -normal_quantile(outside(level)? / 2.0);
        Ok(self.labels_for(half_width / z, z))
    }

    /// Returns how many labels of each subject show a difference of `gap` with the chance `power`
    /// ([`POWER`](super::power::POWER) for want of another): Guenther, The American Statistician 35 (1981), as in [`super::power`].
    ///
    /// # Errors
    /// If `level` or `power` is not between 0 and 1.
    pub fn labels_for_gap(&self, gap: f64, level: f64, power: f64) -> Result<LabelsNeeded, StatisticsError> {
        let z = -normal_quantile(outside(level)? / 2.0);
        outside(power)?;
        Ok(self.labels_for(gap.abs() / (z + normal_quantile(power)).max(0.0), z))
    }

    /// Returns how many labels have this standard error, and more for Student's t.
    fn labels_for(&self, standard_error: f64, z: f64) -> LabelsNeeded {
        let needed = |part: f64| {
            let left = square(standard_error) - self.of_tasks + part / self.items.max(1) as f64;
            let labels = libm::ceil(part / left + z * z / 2.0);
            (left > 0.0 && labels <= self.items as f64).then_some(labels as u64)
        };
        LabelsNeeded { with_judge: needed(self.with_judge), labels_only: needed(self.labels_only) }
    }
}

/// The items of a task, a label and a verdict each.
type Items = Vec<(Option<f64>, f64)>;

/// The items of a subject by task.
struct Tasks {
    all: Vec<(usize, Items)>,
}

impl Tasks {
    fn new(rows: &[Rated], subject: usize) -> Result<Self, StatisticsError> {
        let mut own: Vec<&Rated> = Vec::new();
        for (row, it) in rows.iter().enumerate().filter(|it| it.1.subject == subject) {
            is_share(row, "verdict", it.verdict)?;
            it.label.map_or(Ok(()), |label| is_share(row, "label", label))?;
            own.push(it);
        }
        own.sort_by_key(|it| it.task);
        let mut all: Vec<(usize, Items)> = Vec::new();
        for it in own {
            match all.last_mut().filter(|last| last.0 == it.task) {
                Some(last) => last.1.push((it.label, it.verdict)),
                None => all.push((it.task, alloc::vec![(it.label, it.verdict)])),
            }
        }
        Ok(Self { all })
    }

    /// Leaves out the tasks that another has not.
    fn keep(&mut self, other: &Self) {
        self.all.retain(|it| other.all.binary_search_by_key(&it.0, |task| task.0).is_ok());
    }
}

/// The mean of a subject, linearised.
struct Linear {
    mean: f64,
    lambda: f64,
    is_tuned: bool,
    labels: usize,
    labelled_tasks: usize,
    items: usize,
    imbalance: f64,
    /// The part of each task in the mean of the labels, and in the correction by the verdicts.
    tasks: Vec<(f64, f64)>,
    /// The squares of label, of label with verdict, and of verdict that one label has on average.
    one: [f64; 3],
}

impl Linear {
    fn new(tasks: &Tasks, lambda: Option<f64>) -> Result<Self, StatisticsError> {
        lambda.map_or(Ok(()), |lambda| is_share(0, "lambda", lambda))?;
        let labelled_tasks = tasks.all.iter().filter(|it| it.1.iter().any(|item| item.0.is_some())).count();
        at_least(FEWEST_TASKS, "tasks with a label of the subject", labelled_tasks)?;
        let count = tasks.all.len() as f64;
        let items: usize = tasks.all.iter().map(|it| it.1.len()).sum();
        // Each labelled item with its weight, and the mean verdict of each task.
        let labelled = || {
            tasks.all.iter().flat_map(|(_, items)| {
                let weight = 1.0 / items.len() as f64;
                items.iter().filter_map(move |it| Some((weight, it.0?, it.1)))
            })
        };
        let (all, label, verdict) = labelled().fold((0.0, 0.0, 0.0), |sum, (weight, label, verdict)| {
            (sum.0 + weight, sum.1 + weight * label, sum.2 + weight * verdict)
        });
        let (label, verdict) = (label / all, verdict / all);
        let judged = |items: &[(Option<f64>, f64)]| mean(items.iter().map(|it| it.1));
        let center = mean(tasks.all.iter().map(|it| judged(&it.1)));
        let linear = tasks.all.iter().map(|(_, items)| {
            let weight = 1.0 / (items.len() as f64 * all);
            let own = || items.iter().filter_map(|it| Some((it.0?, it.1)));
            let labels: f64 = own().map(|it| it.0 - label).sum();
            let verdicts: f64 = own().map(|it| it.1 - verdict).sum();
            (weight * labels, (judged(items) - center) / count - weight * verdicts)
        });
        let labels = labelled().count();
        let scale = items as f64 / count;
        let mut one = [0.0; 3];
        for (weight, its, verdicts) in labelled() {
            let (a, b) = (scale * weight * (its - label), -scale * weight * (verdicts - verdict));
            let sums = one.iter_mut().zip([a * a, a * b, b * b]);
            sums.for_each(|(sum, it)| *sum += it / (labels - 1) as f64);
        }
        let mut found = Self {
            mean: 0.0,
            lambda: 0.0,
            is_tuned: lambda.is_none(),
            labels,
            labelled_tasks,
            items,
            imbalance: 0.0,
            tasks: linear.collect(),
            one,
        };
        let product: f64 = found.tasks.iter().map(|it| it.0 * it.1).sum();
        let squares: f64 = found.tasks.iter().map(|it| it.1 * it.1).sum();
        let added = found.added(0.0);
        found.lambda = lambda.unwrap_or_else(|| (-(product + added) / (squares + added)).clamp(0.0, 1.0));
        found.mean = label + found.lambda * (center - verdict);
        found.imbalance = if squares > 0.0 { (verdict - center) / libm::sqrt(squares) } else { 0.0 };
        Ok(found)
    }

    /// Returns the squares of two labels that are added.
    fn added(&self, lambda: f64) -> f64 {
        0.5 * square((1.0 + lambda) / self.labels as f64)
    }

    fn degrees(&self) -> u64 {
        (self.labelled_tasks - 1 - usize::from(self.is_tuned)) as u64
    }

    fn factor(&self) -> f64 {
        self.labelled_tasks as f64 / self.degrees() as f64
    }

    fn variance(&self, lambda: f64) -> f64 {
        let squares: f64 = self.tasks.iter().map(|it| square(it.0 + lambda * it.1)).sum();
        (squares + self.added(lambda)) * self.factor()
    }

    /// Returns the variance of one label.
    fn of_one(&self, lambda: f64) -> f64 {
        let [label, both, verdict] = self.one;
        label + 2.0 * lambda * both + lambda * lambda * verdict + self.added(lambda) * self.labels as f64
    }

    /// Returns the part of the variance that the choice of the labels has.
    fn label_variance(&self, lambda: f64) -> f64 {
        self.of_one(lambda) * (1.0 / self.labels as f64 - 1.0 / self.items as f64)
    }

    fn parts(&self) -> Parts {
        let (with_judge, labels_only) = (self.of_one(self.lambda), self.of_one(0.0));
        // Attempts at a task are between independent and the same.
        let (least, most) = (labels_only / self.items as f64, labels_only / self.tasks.len() as f64);
        let of_tasks = (self.variance(self.lambda) - self.label_variance(self.lambda)).clamp(least, most);
        Parts { items: self.items, of_tasks, with_judge, labels_only }
    }
}

/// Returns the mean; not a number without values.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |it, value| (it.0 + value, it.1 + 1.0));
    sum / count
}

/// Returns the mean square of the distances from the mean.
fn variance(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let center = mean(values.clone());
    mean(values.map(|it| square(it - center)))
}

fn square(value: f64) -> f64 {
    value * value
}

#[cfg(test)]
mod tests;
