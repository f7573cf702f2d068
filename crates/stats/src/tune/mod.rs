//! Weights that predict an outcome: found on one part of the cases, judged on the other.
//!
//! The model is logistic: the chance of the outcome rises with the composite, `1 / (1 + e^-(a + b c))`, and the composite
//! `c` is a weighted mean of the dimensions. With `v = b w` that is a logistic regression whose coefficients must not be
//! negative, and the weights are their shares. It has one best point, which `fit` finds.
//!
//! The measure is the concordance: of all pairs of held-out cases with different outcomes, the share in which the case
//! with the higher composite has the higher outcome; equal composites count half. It is the area under the curve of
//! Hanley and McNeil (1982) for two outcomes, and no change of the scale changes it.
//!
//! - `fit`: the regression; `concordance`: the measure, for cases counted several times

mod concordance;
mod fit;
#[cfg(test)]
mod tests;

use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU64;

use super::distribution::quantile;
use super::mean::student_t;
use super::random::Random;
use super::{StatisticsError, outside};
use concordance::Order;
use fit::Row;
use karat_core::number::{Decimal, round_ratio};

/// Fewest clusters of each part: fewer say hardly anything about how sure a gain is.
pub const CLUSTERS_LEAST: usize = 10;
/// The refits of the intervals of the weights begin at this stream of the seed.
const REFITS_FROM: u64 = 1 << 32;
/// Share of the resamples that must have cases with different outcomes.
const USABLE: f64 = 0.9;

/// One case: an item with its outcome, or two items and how the first fared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    /// The item, or the first of two, as an index into [`Question::values`].
    pub first: usize,
    /// The second of two items. Either all cases of a question have one, or none.
    pub second: Option<usize>,
    /// The outcome: any number; of two items 1 if the first won, 0 if the second did, one half if neither.
    pub outcome: f64,
    /// The cluster, such as the task: its cases are not independent, and are drawn together.
    pub cluster: usize,
    /// True if it judges the weights, false if they are found with it. The same for all cases of a cluster.
    pub is_held_out: bool,
}

/// The items, their outcomes, and the weights to compare with.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The values of every item by dimension, in billionths; `None` where it has none.
    pub values: &'a [Vec<Option<i64>>],
    /// The weights to compare with, by dimension; their sum is above 0.
    pub own: &'a [Decimal],
    /// True if a dimension without a value counts as 0, as in a weighted sum; else the others share its weight.
    pub counts_missing: bool,
    /// The cases.
    pub cases: &'a [Case],
}

/// The settings of the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The sum of the weights, above 0.
    pub sum: Decimal,
    /// The grid of the weights, a divisor of the sum.
    pub step: Decimal,
    /// The confidence of the intervals.
    pub level: f64,
    /// Resamples of the held-out clusters, for the gain.
    pub resamples: u32,
    /// Resamples of the other clusters, each with its own fit, for the weights.
    pub refits: u32,
    /// The seed.
    pub seed: u64,
}

/// An estimate with the ends of its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub point: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The cases of one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Cases.
    pub cases: usize,
    /// Clusters.
    pub clusters: usize,
}

/// The weights that were found, and what they gain.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// The weights on the grid, by dimension; they sum to the same as the plan's.
    pub weights: Vec<Decimal>,
    /// The intervals of the weights, by dimension: quantiles of the refits.
    pub intervals: Vec<Estimate>,
    /// The concordance under the weights to compare with.
    pub own: f64,
    /// The concordance under the weights that were found.
    pub tuned: f64,
    /// The second less the first: the deviation over the resamples times the quantile of Student's t.
    pub gain: Estimate,
    /// Pairs of held-out cases with different outcomes; of cases that are pairs, those that are not draws.
    pub compared: u64,
    /// The part on which weights were found.
    pub learned: Part,
    /// The part on which they were judged.
    pub held_out: Part,
    /// Held-out cases that have no composite under one of the two.
    pub without_composite: usize,
}

impl Tuned {
    /// Returns true if the interval of the gain lies above 0.
    pub fn is_better(&self) -> bool {
        self.gain.low > 0.0
    }
}

/// Finds weights on the cases that are not held out, and compares them with the own ones on those that are.
///
/// # Errors
/// If a part has too few clusters or one outcome only, or a setting is out of range: [`StatisticsError`].
pub fn tune(question: &Question<'_>, plan: &Plan) -> Result<Tuned, StatisticsError> {
    let tail = outside(plan.level)? / 2.0;
    let least = libm::ceil(1.0 / tail - 1e-6) as u32;
    for found in [plan.resamples, plan.refits] {
        if found < least {
            return Err(StatisticsError::Draws { found, needed: least });
        }
    }
    let (held, learned): (Vec<&Case>, Vec<&Case>) = question.cases.iter().partition(|case| case.is_held_out);
    let (held_clusters, learned_clusters) = (clusters(&held), clusters(&learned));
    for (what, found) in
        [("clusters to learn from", learned_clusters.len()), ("held-out clusters", held_clusters.len())]
    {
        if found < CLUSTERS_LEAST {
            return Err(StatisticsError::TooFew { what, found, needed: CLUSTERS_LEAST });
        }
    }
    let own_shares = shares(question.own);
    let rows = rows(question, &learned, &own_shares);
    let outcomes = |cases: &[&Case]| cases.windows(2).any(|pair| pair[0].outcome != pair[1].outcome);
    let is_single = question.cases.iter().all(|case| case.second.is_none());
    for (what, cases) in [("outcomes to learn from", &learned), ("held-out outcomes", &held)] {
        if is_single && !outcomes(cases) {
            return Err(StatisticsError::TooFew { what, found: 1, needed: 2 });
        }
    }

    let whole = fit::fit(&rows, &vec![1.0; rows.len()], &own_shares);
    let weights = on_grid(&whole, plan);
    let of_rows = places(&learned, &learned_clusters);
    let mut drawn: Vec<Vec<f64>> = vec![Vec::new(); own_shares.len()];
    for round in 0..u64::from(plan.refits) {
        let counts = draw(plan.seed, REFITS_FROM + round, learned_clusters.len());
        let counts: Vec<f64> = of_rows.iter().map(|&at| counts.get(at).copied().unwrap_or(0.0)).collect();
        for (list, share) in drawn.iter_mut().zip(fit::fit(&rows, &counts, &own_shares)) {
            list.push(share);
        }
    }
    let sum = plan.sum.millionths() as f64 / 1e6;
    let interval = |(point, list): (&f64, &mut Vec<f64>)| {
        list.sort_unstable_by(f64::total_cmp);
        Estimate {
            point: sum * point,
            low: sum * quantile(list, tail),
            high: sum * quantile(list, 1.0 - tail),
        }
    };
    let intervals = whole.iter().zip(&mut drawn).map(interval).collect();

    let composites = |weights: &[Decimal]| -> Vec<Option<i64>> {
        let composite = |values: &Vec<Option<i64>>| composite(values, weights, question.counts_missing);
        question.values.iter().map(composite).collect()
    };
    let (by_own, by_tuned) = (composites(question.own), composites(&weights));
    let has = |list: &[Option<i64>], at: usize| list.get(at).is_some_and(Option::is_some);
    let has_both = |at: usize| has(&by_own, at) && has(&by_tuned, at);
    let judged: Vec<&Case> = held
        .iter()
        .copied()
        .filter(|case| has_both(case.first) && case.second.is_none_or(has_both))
        .collect();
    let held_places = places(&judged, &held_clusters);
    let (own, tuned) =
        (Order::new(&judged, &held_places, &by_own), Order::new(&judged, &held_places, &by_tuned));
    let ones = vec![1.0; held_clusters.len()];
    let too_few =
        StatisticsError::TooFew { what: "held-out pairs with different outcomes", found: 0, needed: 1 };
    let (Some((own_share, compared)), Some((tuned_share, _))) =
        (own.concordance(&ones), tuned.concordance(&ones))
    else {
        return Err(too_few);
    };
    let mut gains = Vec::new();
    for round in 0..u64::from(plan.resamples) {
        let counts = draw(plan.seed, round, held_clusters.len());
        if let (Some((own, _)), Some((tuned, _))) = (own.concordance(&counts), tuned.concordance(&counts)) {
            gains.push(tuned - own);
        }
    }
    if (gains.len() as f64) < USABLE * f64::from(plan.resamples) {
        return Err(too_few);
    }
    let point = tuned_share - own_share;
    // Resamples of n clusters spread too little, by the root of (n - 1) / n.
    let n = held_clusters.len() as f64;
    let reach = student_t(held_clusters.len() as u64, plan.level)?.unwrap_or(f64::INFINITY)
        * deviation(&gains)
        * libm::sqrt(n / (n - 1.0));
    Ok(Tuned {
        weights,
        intervals,
        own: own_share,
        tuned: tuned_share,
        gain: Estimate { point, low: point - reach, high: point + reach },
        compared: compared as u64,
        learned: Part { cases: learned.len(), clusters: learned_clusters.len() },
        held_out: Part { cases: held.len(), clusters: held_clusters.len() },
        without_composite: held.len() - judged.len(),
    })
}

/// Returns the composite of an item, in billionths; none if no dimension with a weight has a value.
fn composite(values: &[Option<i64>], weights: &[Decimal], counts_missing: bool) -> Option<i64> {
    let (mut sum, mut present, mut all) = (0i128, 0i128, 0i128);
    for (value, weight) in values.iter().zip(weights) {
        let weight = i128::from(weight.millionths());
        all += weight;
        if let Some(value) = value {
            sum += weight * i128::from(*value);
            present += weight;
        }
    }
    let of = if counts_missing { all } else { present };
    (present > 0).then(|| round_ratio(sum.max(0), of) as i64)
}

/// Returns the rows of the regression. A dimension without a value has the composite of the item under the own weights,
/// which gives that composite again: the model stays one of coefficients.
fn rows(question: &Question<'_>, cases: &[&Case], own: &[f64]) -> Vec<Row> {
    let features = |item: usize| -> Vec<f64> {
        let values = question.values.get(item).map_or(&[][..], Vec::as_slice);
        let filler = match composite(values, question.own, question.counts_missing) {
            Some(composite) if !question.counts_missing => composite as f64 / 1e9,
            _ => 0.0,
        };
        let value = |at: usize| values.get(at).copied().flatten().map_or(filler, |value| value as f64 / 1e9);
        (0..own.len()).map(value).collect()
    };
    let (least, most) = cases.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), case| {
        (least.min(case.outcome), most.max(case.outcome))
    });
    let row = |case: &&Case| match case.second {
        None => {
            let outcome = if most > least { (case.outcome - least) / (most - least) } else { 0.5 };
            Row { features: features(case.first), outcome, intercept: 1.0 }
        }
        Some(second) => {
            let pairs = features(case.first).into_iter().zip(features(second));
            Row {
                features: pairs.map(|(one, other)| one - other).collect(),
                outcome: case.outcome,
                intercept: 0.0,
            }
        }
    };
    cases.iter().map(row).collect()
}

/// Returns weights as shares of their sum.
fn shares(weights: &[Decimal]) -> Vec<f64> {
    let sum: i64 = weights.iter().map(|weight| weight.millionths()).fold(0, i64::saturating_add);
    weights.iter().map(|weight| weight.millionths() as f64 / sum.max(1) as f64).collect()
}

/// Returns shares as weights on the grid: each rounded down, then a step more for those that lost most.
fn on_grid(shares: &[f64], plan: &Plan) -> Vec<Decimal> {
    let step = plan.step.millionths().max(1);
    let steps = plan.sum.millionths() / step;
    let mut parts: Vec<(usize, i64, f64)> = Vec::new();
    let mut left = steps;
    for (at, share) in shares.iter().enumerate() {
        let exact = share * steps as f64;
        let whole = libm::floor(exact) as i64;
        left -= whole;
        parts.push((at, whole, exact - whole as f64));
    }
    parts.sort_by(|one, other| other.2.total_cmp(&one.2).then(one.0.cmp(&other.0)));
    for (_, whole, _) in parts.iter_mut().take(usize::try_from(left).unwrap_or(0)) {
        *whole += 1;
    }
    parts.sort_by_key(|&(at, ..)| at);
    parts.into_iter().map(|(_, whole, _)| Decimal::from_millionths(whole * step)).collect()
}

/// Returns the clusters of some cases, in order.
fn clusters(cases: &[&Case]) -> Vec<usize> {
    let mut clusters: Vec<usize> = cases.iter().map(|case| case.cluster).collect();
    clusters.sort_unstable();
    clusters.dedup();
    clusters
}

/// Returns the place of the cluster of each case.
fn places(cases: &[&Case], clusters: &[usize]) -> Vec<usize> {
    cases.iter().filter_map(|case| clusters.binary_search(&case.cluster).ok()).collect()
}

/// Returns how often each of `clusters` clusters is drawn in one resample.
fn draw(seed: u64, stream: u64, clusters: usize) -> Vec<f64> {
    let mut random = Random::stream(seed, stream);
    let mut counts = vec![0.0; clusters];
    if let Some(bound) = NonZeroU64::new(clusters as u64) {
        for _ in 0..clusters {
            if let Some(count) = counts.get_mut(random.below(bound) as usize) {
                *count += 1.0;
            }
        }
    }
    counts
}

/// Returns the deviation of some numbers around their mean.
fn deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    libm::sqrt(squares / (count - 1.0).max(1.0))
}
