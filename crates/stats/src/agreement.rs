//! Agreement of raters on the same items, and the errors and biases of a judge against labels.
//!
//! Items of one task are alike, so the task is the unit: each measure is linearised, the parts of the items of a task are added,
//! and its standard error follows from the sums (`G / (G - 1) sum s^2` over `G` tasks: Liang and Zeger, Biometrika 73, 1986). The
//! reach of an interval is the quantile of Student's t with `G - 1` degrees of freedom. A share has the score interval of as many
//! independent items as have that standard error (Korn and Graubard, Survey Methodology 24, 1998; Dean and Pagano, Journal of
//! Survey Statistics and Methodology 3, 2015), a coefficient that of its `atanh` (Fisher, Metron 1, 1921), a slope the plain one.

use alloc::vec::Vec;

use super::mean::student_t;
use super::{Interval, IntervalMethod, StatisticsError, outside};

mod judge;
pub use judge::{Accuracy, Bias, BiasItem, JudgedItem};

/// The fewest tasks that have an interval.
pub const FEWEST_TASKS: usize = 10;

/// A variance below this is a rounding error.
const NOTHING: f64 = 1e-24;

/// An estimate with its uncertainty over tasks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    /// The estimate.
    pub value: f64,
    /// Its standard error; 0 where the items do not differ, infinite where one task alone says the value.
    pub standard_error: f64,
    /// The interval; none of fewer than [`FEWEST_TASKS`] tasks, and where the items do not show how far it may be off.
    pub interval: Option<Interval>,
}

/// An item that raters gave categories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RatedItem<'a> {
    /// The task, as any number.
    pub task: usize,
    /// The category that each rater gave, from 0 to below the number of categories; none where a rater gave none.
    pub verdicts: &'a [Option<usize>],
}

karat_core::words! {
    /// The measure of how much two categories agree.
    pub enum Weighting {
        /// Only a category with itself.
        Identity = "identity",
        /// Less by their distance, for ordered categories.
        Linear = "linear",
        /// Less by the square of their distance: Cohen, Psychological Bulletin 70 (1968).
        Quadratic = "quadratic",
    }
}

impl Weighting {
    /// Returns the agreement of two of `categories`, 0 to 1.
    fn of(self, first: usize, second: usize, categories: usize) -> f64 {
        let distance = first.abs_diff(second) as f64 / categories.saturating_sub(1).max(1) as f64;
        match self {
            Self::Identity => f64::from(u8::from(first == second)),
            Self::Linear => 1.0 - distance,
            Self::Quadratic => 1.0 - distance * distance,
        }
    }
}

/// The agreement of raters on items. Each item counts the same, if at least two raters gave it a category.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// The number of items that count.
    pub items: usize,
    /// The number of their tasks.
    pub tasks: usize,
    /// The weighted share of pairs of verdicts that agree, 0 to 1.
    pub share: Measure,
    /// Cohen's kappa, -1 to 1; of more than two raters Conger's. None where chance alone gives full agreement.
    pub kappa: Option<Measure>,
    /// Fleiss' kappa, -1 to 1; of two raters Scott's pi. None where chance alone gives full agreement.
    pub fleiss: Option<Measure>,
    /// Gwet's AC1, with weights AC2, -1 to 1.
    pub ac: Option<Measure>,
    /// The share of each category among the items of each rater, by rater and category; none of a rater without items.
    pub base_rates: Vec<Vec<Option<Measure>>>,
}

impl Agreement {
    /// Measures the agreement of `raters` (2 or more) that give `categories` (2 or more), at the confidence `level`.
    ///
    /// Coefficients and their linearised forms: Gwet, "Handbook of inter-rater reliability" (4th edition, 2014), chapters 2 to
    /// 5, of which the standard errors are those here if each task has one item.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, there are fewer than 2 raters, categories or tasks, or an item has other raters or
    /// categories.
    pub fn new(
        items: &[RatedItem<'_>],
        raters: usize,
        categories: usize,
        weighting: Weighting,
        level: f64,
    ) -> Result<Self, StatisticsError> {
        outside(level)?;
        at_least(2, "raters", raters)?;
        at_least(2, "categories", categories)?;
        for (row, item) in items.iter().enumerate() {
            let wrong = |part, found: usize, expected| {
                Err(StatisticsError::Value { row, part, found: found as f64, expected })
            };
            if item.verdicts.len() != raters {
                return wrong("number of verdicts", item.verdicts.len(), "one of each rater");
            }
            if let Some(&found) = item.verdicts.iter().flatten().find(|it| **it >= categories) {
                return wrong("category", found, "a number below that of the categories");
            }
        }
        let items: Vec<&RatedItem<'_>> =
            items.iter().filter(|item| item.verdicts.iter().flatten().count() > 1).collect();
        let clusters = Clusters::new(items.iter().map(|item| item.task));
        at_least(2, "tasks", clusters.count)?;
        let count = items.len() as f64;
        let agree = |one: usize, other: usize| weighting.of(one, other, categories);

        // What each item shows of agreement, and of the categories.
        let (mut agreed, mut shares) = (Vec::new(), alloc::vec![0.0; categories]);
        for item in &items {
            let given: Vec<usize> = item.verdicts.iter().flatten().copied().collect();
            let (size, mut sum) = (given.len() as f64, 0.0);
            for (at, one) in given.iter().enumerate() {
                sum += given
                    .iter()
                    .enumerate()
                    .filter(|it| it.0 != at)
                    .map(|it| agree(*one, *it.1))
                    .sum::<f64>();
                if let Some(share) = shares.get_mut(*one) {
                    *share += 1.0 / (size * count);
                }
            }
            agreed.push((item.task, sum / (size * (size - 1.0))));
        }
        let mut base_rates = Vec::new();
        for rater in 0..raters {
            let own: Vec<(usize, usize)> = items
                .iter()
                .filter_map(|item| item.verdicts.get(rater).copied().flatten().map(|it| (item.task, it)))
                .collect();
            let rate = |category| {
                let hits = own.iter().map(|it| (it.0, f64::from(u8::from(it.1 == category))));
                share(&hits.collect::<Vec<_>>(), level)
            };
            base_rates.push((0..categories).map(rate).collect::<Result<Vec<_>, _>>()?);
        }
        let share = share(&agreed, level)?.ok_or(NO_TASKS)?;

        // By chance, of the mean shares: Fleiss (1971), and Gwet (2008).
        let expected = |one: usize| -> f64 {
            shares.iter().enumerate().map(|(other, share)| agree(one, other) * share).sum()
        };
        let all: f64 = (0..categories * categories).map(|it| agree(it / categories, it % categories)).sum();
        let scale = all / (categories as f64 * (categories as f64 - 1.0));
        let gwet = |one: usize| scale * (1.0 - shares.get(one).copied().unwrap_or_default());
        let of_shares = |each: &dyn Fn(usize) -> f64| {
            let chance: f64 = shares.iter().enumerate().map(|(at, share)| share * each(at)).sum();
            let parts = items.iter().map(|item| {
                let (sum, size) = item
                    .verdicts
                    .iter()
                    .flatten()
                    .fold((0.0, 0.0), |it, verdict| (it.0 + each(*verdict), it.1 + 1.0));
                sum / size - chance
            });
            (chance, parts.collect::<Vec<f64>>())
        };
        // By chance, of the shares of each rater: Cohen (1960), Conger (1980).
        let rate = |rater: usize, category: usize| {
            let rates: Option<&Option<Measure>> = base_rates.get(rater).and_then(|it| it.get(category));
            rates.copied().flatten().map_or(0.0, |it| it.value)
        };
        let pairs = (raters * (raters - 1)) as f64;
        let (mut chance, mut parts) = (0.0, alloc::vec![0.0; items.len()]);
        for rater in 0..raters {
            let others =
                |other: usize| (0..raters).filter(|it| *it != rater).map(|it| rate(it, other)).sum::<f64>();
            let others: Vec<f64> = (0..categories).map(others).collect();
            let with = |one: usize| -> f64 {
                others.iter().enumerate().map(|(other, share)| agree(one, other) * share / pairs).sum()
            };
            let own: f64 = (0..categories).map(|it| rate(rater, it) * with(it)).sum();
            let given = items.iter().filter(|it| it.verdicts.get(rater).copied().flatten().is_some()).count();
            for (part, item) in parts.iter_mut().zip(&items) {
                if let Some(verdict) = item.verdicts.get(rater).copied().flatten() {
                    *part += (with(verdict) - own) * count / given as f64;
                }
            }
            chance += own;
        }
        let agreed: Vec<f64> = agreed.into_iter().map(|it| it.1).collect();
        let of =
            |(chance, parts): (f64, Vec<f64>)| coefficient(&clusters, &agreed, share, chance, &parts, level);
        let (kappa, fleiss, ac) = (of((chance, parts))?, of(of_shares(&expected))?, of(of_shares(&gwet))?);
        Ok(Self { items: items.len(), tasks: clusters.count, share, kappa, fleiss, ac, base_rates })
    }
}

/// Returns `(share - chance) / (1 - chance)` of the shares of items that agree; `parts` are their parts in half the chance.
fn coefficient(
    clusters: &Clusters,
    agreed: &[f64],
    share: Measure,
    chance: f64,
    parts: &[f64],
    level: f64,
) -> Result<Option<Measure>, StatisticsError> {
    let left = 1.0 - chance;
    if left < 1e-12 {
        return Ok(None);
    }
    let value = (share.value - chance) / left;
    let influence = agreed
        .iter()
        .zip(parts)
        .map(|(agreed, part)| (agreed - share.value - 2.0 * (1.0 - value) * part) / left);
    let variance = clusters.variance(influence);
    let reach = clusters.reach(level)?;
    let ends = if variance > NOTHING && value.abs() < 1.0 {
        let (center, half) = (libm::atanh(value), libm::sqrt(variance) / (1.0 - value * value));
        reach.map(|reach| (libm::tanh(center - reach * half), libm::tanh(center + reach * half)))
    } else {
        // All agree: as far off as the share may be.
        let low = share.interval.filter(|_| value > 1.0 - 1e-12).map(|it| 1.0 - (1.0 - it.low) / left);
        low.map(|low| (low, 1.0))
    };
    let interval = ends.map(|(low, high)| Interval { low, high, level, method: IntervalMethod::FisherZ });
    Ok(Some(Measure { value, standard_error: rooted(variance), interval }))
}

fn square(value: f64) -> f64 {
    value * value
}

/// Returns the root of a variance, 0 for a rounding error.
fn rooted(variance: f64) -> f64 {
    if variance > NOTHING { libm::sqrt(variance) } else { 0.0 }
}

/// Returns the mean of values from 0 to 1, each with its task; none without values.
fn share(values: &[(usize, f64)], level: f64) -> Result<Option<Measure>, StatisticsError> {
    outside(level)?;
    if values.is_empty() {
        return Ok(None);
    }
    let count = values.len() as f64;
    let value = values.iter().map(|it| it.1).sum::<f64>() / count;
    let clusters = Clusters::new(values.iter().map(|it| it.0));
    let variance = clusters.variance(values.iter().map(|it| it.1 - value));
    let effective = if variance > NOTHING {
        let effective = value * (1.0 - value) / variance;
        // Items of a task that seem to differ more than those of others are chance.
        let is_count = values.iter().all(|it| it.1 == 0.0 || it.1 == 1.0);
        if is_count { effective.min(count) } else { effective }
    } else {
        clusters.count as f64
    };
    let interval = clusters.reach(level)?.map(|reach| {
        let (low, high) = score_ends(value, effective, reach);
        Interval { low, high, level, method: IntervalMethod::Wilson }
    });
    Ok(Some(Measure { value, standard_error: rooted(variance), interval }))
}

/// Returns the shares `p` with `|share - p| <= reach sqrt(p (1 - p) / effective)`: Wilson, JASA 22 (1927).
pub(super) fn score_ends(share: f64, effective: f64, reach: f64) -> (f64, f64) {
    let part = reach * reach / effective;
    let center = (share + part / 2.0) / (1.0 + part);
    let half = libm::sqrt(part * share * (1.0 - share) + part * part / 4.0) / (1.0 + part);
    ((center - half).clamp(0.0, share), (center + half).clamp(share, 1.0))
}

/// Items by their tasks.
struct Clusters {
    /// The place of the task of each item.
    places: Vec<usize>,
    count: usize,
}

impl Clusters {
    fn new(tasks: impl Iterator<Item = usize>) -> Self {
        let each: Vec<usize> = tasks.collect();
        let mut all = each.clone();
        all.sort_unstable();
        all.dedup();
        Self {
            places: each.iter().map(|task| all.partition_point(|it| it < task)).collect(),
            count: all.len(),
        }
    }

    /// Returns the sum of each task.
    fn sums(&self, values: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut sums = alloc::vec![0.0; self.count];
        for (place, value) in self.places.iter().zip(values) {
            if let Some(sum) = sums.get_mut(*place) {
                *sum += value;
            }
        }
        sums
    }

    /// Returns the variance of a mean over the items, of which the parts are given; 0 of one task.
    fn variance(&self, parts: impl Iterator<Item = f64>) -> f64 {
        let (count, items) = (self.count as f64, self.places.len() as f64);
        let squares: f64 = self.sums(parts).iter().map(|it| square(it / items)).sum();
        if self.count > 1 { squares * count / (count - 1.0) } else { 0.0 }
    }

    /// Returns how many standard errors an interval reaches to either side.
    fn reach(&self, level: f64) -> Result<Option<f64>, StatisticsError> {
        if self.count < FEWEST_TASKS { Ok(None) } else { student_t(self.count as u64, level) }
    }
}

/// The refusal of items without tasks.
const NO_TASKS: StatisticsError = StatisticsError::TooFew { what: "tasks", found: 0, needed: 2 };

/// Returns nothing if there are enough.
pub(super) fn at_least(needed: usize, what: &'static str, found: usize) -> Result<(), StatisticsError> {
    if found < needed { Err(StatisticsError::TooFew { what, found, needed }) } else { Ok(()) }
}

/// Returns nothing if a value is a share.
pub(super) fn is_share(row: usize, part: &'static str, found: f64) -> Result<(), StatisticsError> {
    let expected = "a share from 0 to 1";
    if (0.0..=1.0).contains(&found) {
        Ok(())
    } else {
        Err(StatisticsError::Value { row, part, found, expected })
    }
}

#[cfg(test)]
mod tests;
