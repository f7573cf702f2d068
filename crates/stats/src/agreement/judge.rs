//! The errors of a judge against labels, and what they depend on.

use alloc::vec::Vec;

use super::super::mean::student_t;
use super::super::{Interval, IntervalMethod, StatisticsError, outside};
use super::{Clusters, FEWEST_TASKS, Measure, NO_TASKS, NOTHING, at_least, is_share, share, square};

/// An item with a label and the verdict of a judge, each a pass or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedItem {
    /// The task, as any number.
    pub task: usize,
    /// True if it passes, as labelled.
    pub label: bool,
    /// True if it passes, as judged.
    pub verdict: bool,
}

/// The shares of the verdicts of a judge that are right. Each item counts the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// The share of all items whose verdict is the label.
    pub accuracy: Measure,
    /// The share of those labelled a pass that are judged one; none without such.
    pub sensitivity: Option<Measure>,
    /// The share of those labelled a failure that are judged one; none without such.
    pub specificity: Option<Measure>,
    /// The mean of both.
    pub balanced: Option<Measure>,
    /// The share labelled a pass.
    pub base_rate: Measure,
    /// The share judged a pass.
    pub verdict_rate: Measure,
}

impl Accuracy {
    /// Measures a judge against labels, at the confidence `level`.
    ///
    /// The interval of the balanced accuracy is put together from the two others: Zou and Donner, Statistics in Medicine 27
    /// (2008).
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, or there are fewer than 2 tasks.
    pub fn new(items: &[JudgedItem], level: f64) -> Result<Self, StatisticsError> {
        let clusters = Clusters::new(items.iter().map(|item| item.task));
        at_least(2, "tasks", clusters.count)?;
        let share_of = |is_in: &dyn Fn(&JudgedItem) -> bool, is_hit: &dyn Fn(&JudgedItem) -> bool| {
            let hits =
                items.iter().filter(|it| is_in(it)).map(|it| (it.task, f64::from(u8::from(is_hit(it)))));
            share(&hits.collect::<Vec<_>>(), level)
        };
        let is_right = |it: &JudgedItem| it.label == it.verdict;
        let all = |is_hit: &dyn Fn(&JudgedItem) -> bool| share_of(&|_| true, is_hit)?.ok_or(NO_TASKS);
        let sensitivity = share_of(&|it| it.label, &is_right)?;
        let specificity = share_of(&|it| !it.label, &is_right)?;
        let balanced = sensitivity.zip(specificity).map(|(one, other)| {
            let sums = |label: bool, mean: f64| {
                let part = move |it: &JudgedItem| f64::from(u8::from(is_right(it))) - mean;
                clusters.sums(items.iter().map(|it| if it.label == label { part(it) } else { 0.0 }))
            };
            let (own, others) = (sums(true, one.value), sums(false, other.value));
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let squares = product(&own, &own) * product(&others, &others);
            let alike = if squares > 0.0 { product(&own, &others) / libm::sqrt(squares) } else { 0.0 };
            // The length of two sides with the angle whose cosine is their correlation.
            let half = |a: f64, b: f64| libm::sqrt((a * a + b * b + 2.0 * alike * a * b).max(0.0)) / 2.0;
            let value = f64::midpoint(one.value, other.value);
            let interval = one.interval.zip(other.interval).map(|(a, b)| Interval {
                low: value - half(one.value - a.low, other.value - b.low),
                high: value + half(a.high - one.value, b.high - other.value),
                ..a
            });
            Measure { value, standard_error: half(one.standard_error, other.standard_error), interval }
        });
        let accuracy = all(&is_right)?;
        let (base_rate, verdict_rate) = (all(&|it| it.label)?, all(&|it| it.verdict)?);
        Ok(Self { accuracy, sensitivity, specificity, balanced, base_rate, verdict_rate })
    }
}

/// An item with a label, the verdict of a judge, and a number that the verdict should not depend on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BiasItem {
    /// The task, as any number.
    pub task: usize,
    /// The label, a share from 0 to 1.
    pub label: f64,
    /// The verdict, a share from 0 to 1.
    pub verdict: f64,
    /// The number, such as 1 for the judge's own family and 0 for others, or the length of the answer.
    pub covariate: f64,
}

/// The slope of the excess of a judge, verdict minus label, by a covariate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bias {
    /// The slope of the excess: what the judge adds to a gap between subjects. A judge that errs at random to both sides takes
    /// from the better of two.
    pub slope: Measure,
    /// The slope among items with equal labels: what the judge adds by the covariate alone. None where all labels are equal,
    /// or the labels say the covariate.
    pub at_equal_labels: Option<Measure>,
}

impl Bias {
    /// Compares two groups: the mean excess of the items whose covariate is 1 minus that of those with 0.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, a value is not from 0 to 1 or another covariate, or a group has fewer than 2 tasks.
    pub fn of_group(items: &[BiasItem], level: f64) -> Result<Self, StatisticsError> {
        let is_either = |it: f64| it == 0.0 || it == 1.0;
        if let Some((row, item)) = items.iter().enumerate().find(|it| !is_either(it.1.covariate)) {
            let (part, found) = ("covariate", item.covariate);
            return Err(StatisticsError::Value { row, part, found, expected: "0 or 1" });
        }
        let tasks = |group: f64| {
            Clusters::new(items.iter().filter(|it| it.covariate == group).map(|it| it.task)).count
        };
        let fewest = tasks(0.0).min(tasks(1.0));
        at_least(2, "tasks of a group", fewest)?;
        Self::of(items, 1.0, fewest, level)
    }

    /// Returns the slopes by the covariate, for each standard deviation of it among these items (divided by their number).
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, a value is not from 0 to 1, the covariate not finite or the same everywhere, or there
    /// are fewer than 2 tasks.
    pub fn by_covariate(items: &[BiasItem], level: f64) -> Result<Self, StatisticsError> {
        let found = |it: &(usize, &BiasItem)| !it.1.covariate.is_finite();
        if let Some((row, item)) = items.iter().enumerate().find(found) {
            let (part, found) = ("covariate", item.covariate);
            return Err(StatisticsError::Value { row, part, found, expected: "a finite number" });
        }
        let tasks = Clusters::new(items.iter().map(|it| it.task)).count;
        at_least(2, "tasks", tasks)?;
        let covariate: Vec<f64> = centered(items.iter().map(|it| it.covariate));
        let squares: f64 = covariate.iter().map(|it| it * it).sum();
        Self::of(items, libm::sqrt(squares / items.len() as f64), tasks, level)
    }

    /// Returns the slopes for each `unit` of the covariate, with the quantile for `tasks`.
    fn of(items: &[BiasItem], unit: f64, tasks: usize, level: f64) -> Result<Self, StatisticsError> {
        outside(level)?;
        for (row, item) in items.iter().enumerate() {
            is_share(row, "label", item.label)?;
            is_share(row, "verdict", item.verdict)?;
        }
        let excess = centered(items.iter().map(|it| it.verdict - it.label));
        let covariate = centered(items.iter().map(|it| it.covariate / unit));
        let label = centered(items.iter().map(|it| it.label));
        let clusters = Clusters::new(items.iter().map(|it| it.task));
        let reach = (tasks >= FEWEST_TASKS).then(|| student_t(tasks as u64, level)).transpose()?.flatten();
        let slope = |excess: &[f64], covariate: &[f64]| {
            let slope = regression(excess, covariate)?;
            // Divided by what is left without the task: the jackknife of Bell and McCaffrey, Survey Methodology 28 (2002).
            let all: f64 = covariate.iter().map(|it| it * it).sum();
            let errors = excess.iter().zip(covariate).map(|(y, x)| x * (y - slope * x) / all);
            let sums = clusters.sums(errors);
            let shares = clusters.sums(covariate.iter().map(|it| it * it / all));
            let squares: f64 = sums.iter().zip(&shares).map(|(it, share)| square(it / (1.0 - share))).sum();
            let count = clusters.count as f64;
            let standard_error = libm::sqrt(squares * (count - 1.0) / count);
            let interval = reach.filter(|_| squares > NOTHING && squares.is_finite()).map(|reach| {
                let (low, high) = (slope - reach * standard_error, slope + reach * standard_error);
                Interval { low, high, level, method: IntervalMethod::ClusterT }
            });
            Some(Measure { value: slope, standard_error, interval })
        };
        let without_labels = |values: &[f64]| {
            let slope = regression(values, &label)?;
            Some(values.iter().zip(&label).map(|(it, label)| it - slope * label).collect::<Vec<f64>>())
        };
        let at_equal_labels = without_labels(&excess).zip(without_labels(&covariate));
        let one_value = StatisticsError::TooFew { what: "different covariates", found: 1, needed: 2 };
        Ok(Self {
            slope: slope(&excess, &covariate).ok_or(one_value)?,
            at_equal_labels: at_equal_labels.and_then(|(excess, covariate)| slope(&excess, &covariate)),
        })
    }
}

/// Returns the slope of centred values on others; none where those do not differ.
fn regression(values: &[f64], on: &[f64]) -> Option<f64> {
    let squares: f64 = on.iter().map(|it| it * it).sum();
    let products: f64 = values.iter().zip(on).map(|(value, on)| value * on).sum();
    (squares > 1e-12 && squares.is_finite()).then(|| products / squares)
}

pub(super) fn centered(values: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let (sum, count) = values.clone().fold((0.0, 0.0), |it, value| (it.0 + value, it.1 + 1.0));
    values.map(|value| value - sum / count).collect()
}
