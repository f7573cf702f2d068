//! Evidence that may be looked at every night: an alarm on ranks, and a confidence sequence of a mean by betting.
//!
//! The chances of both are over a whole life (Ville, 1939): of all lives in which nothing changes, at most the share
//! 1 - `level` ever has an alarm, or an interval that misses the mean, whenever and however often someone looks.

use core::f64::consts::PI;

use alloc::vec::Vec;

use super::super::special::{halve, normal_cumulative, normal_quantile};
use super::super::{Interval, IntervalMethod, StatisticsError, outside};

karat_core::words! {
    /// The change that an alarm looks for.
    pub enum Direction {
        /// Lower scores from some night on.
        Decline = "decline",
        /// Higher scores from some night on.
        Improvement = "improvement",
        /// Lower or higher ones: each side has half of the chance of a false alarm.
        Either = "either",
    }
}

/// Nights after the baseline within which half of all changes are expected.
const HALF_OF_CHANGES: f64 = 20.0;
/// The deviation of the size of a step that is expected, in deviations of the score of a night.
const STEP: f64 = 1.0;

/// The evidence that the scores of nights have changed, from nothing but their order.
///
/// **Assumption.** While nothing changes, nights are exchangeable: every order of the same nights is as likely. The night is
/// the unit, so tasks of one night may depend on each other in any way, tasks may differ in difficulty, and some nights may
/// be bad, however bad, if each is as likely to be one. Not covered are bad nights that come in a row and days of the week:
/// for this test they are changes. Where scores only rise, an alarm of a decline is not more likely. The baseline has no noise
/// to correct for, because no score is compared with it alone: each night is compared with all nights before it.
///
/// **Method.** The rank `R` of night `t` among the first `t` is uniform, and independent of all ranks before it. Its normal
/// score is `z = t (f(q(R / t)) - f(q((R - 1) / t)))`, the mean of the normal distribution over the cell of the rank (`f` its
/// density, `q` its quantile; sequential normal scores: Conover, Tercero-Gomez and Cordero-Franco, Sequential Analysis 36,
/// 2017). By Jensen's inequality the mean of `exp(h z - h^2 / 2)` is at most 1 for every `h`, so the product over nights is a
/// test supermartingale, in the filtration of the ranks. A step of `d` deviations after night `k` moves the recursive
/// residual of night `t` by `h = d k / sqrt(t (t - 1))` (Brown, Durbin and Evans, Journal of the Royal Statistical Society
/// B 37, 1975). The evidence is the mean of the products over all `k` from the baseline on and over half-normal `d` (Robbins,
/// Annals of Mathematical Statistics 41, 1970). It is a conformal test martingale: Vovk, Gammerman and Shafer, "Algorithmic
/// learning in a random world", 2nd edition, 2022, chapter 8.
#[derive(Debug, Clone)]
pub struct RankEvidence {
    baseline: usize,
    direction: Direction,
    /// All scores so far with what orders ties, rising.
    sorted: Vec<(i64, u64)>,
    /// Of each side, lower and higher, the sums of `z / sqrt(t (t - 1))` up to each night, from no night on.
    sums: [Vec<f64>; 2],
}

impl RankEvidence {
    /// Starts without a night; the first `baseline` nights, at least 1, are known to be alike.
    pub fn new(baseline: usize, direction: Direction) -> Self {
        let sums = [alloc::vec![0.0], alloc::vec![0.0]];
        Self { baseline: baseline.max(1), direction, sorted: Vec::new(), sums }
    }

    /// Adds the score of the next night, in any unit, and returns the natural logarithm of the evidence after it: 0 to begin
    /// with, and an alarm from `-ln(1 - level)` on.
    ///
    /// `tie` orders nights with the same score; it must depend on the results of this night alone. Where it is the same too,
    /// the order that is the least evidence is taken, which can only lower the evidence.
    pub fn push(&mut self, score: i64, tie: u64) -> f64 {
        let key = (score, tie);
        let below = self.sorted.partition_point(|it| *it < key);
        let up_to = self.sorted.partition_point(|it| *it <= key);
        let above = self.sorted.len() - below;
        let count = self.sorted.len() as f64 + 1.0;
        let sides = [(up_to, Direction::Improvement), (above, Direction::Decline)];
        for (sums, (others, opposite)) in self.sums.iter_mut().zip(sides) {
            // A side that is not looked for stays empty.
            if self.direction != opposite {
                // The first night has the score 0.
                let term = normal_score(others as f64, count) / libm::sqrt(count * (count - 1.0)).max(1.0);
                sums.push(sums.last().copied().unwrap_or_default() + term);
            }
        }
        self.sorted.insert(up_to, key);
        let [lower, higher] = &self.sums;
        match self.direction {
            Direction::Decline => log_evidence(lower, self.baseline),
            Direction::Improvement => log_evidence(higher, self.baseline),
            Direction::Either => {
                log_sum([lower, higher].map(|it| (log_evidence(it, self.baseline), 0.5)).into_iter())
            }
        }
    }
}

/// Returns the normal score of a night that `others` of the `count - 1` nights before it are as bad as or worse than.
fn normal_score(others: f64, count: f64) -> f64 {
    let density = |chance: f64| {
        let quantile = normal_quantile(chance);
        libm::exp(-quantile * quantile / 2.0) / libm::sqrt(2.0 * PI)
    };
    count * (density((others + 1.0) / count) - density(others / count))
}

/// Returns the logarithm of the evidence of one side.
fn log_evidence(sums: &[f64], baseline: usize) -> f64 {
    let nights = sums.len().saturating_sub(1);
    let (t, last) = (nights as f64, sums.last().copied().unwrap_or_default());
    let changes = sums.iter().enumerate().take(nights).skip(baseline).map(|(night, sum)| {
        let (k, since) = (night as f64, (night - baseline) as f64);
        // The chances of all nights sum to 1.
        let chance = HALF_OF_CHANGES / ((HALF_OF_CHANGES + since) * (HALF_OF_CHANGES + since + 1.0));
        // The sum of h z and of h^2, where d is 1.
        let (log, factor) = normal_mixture(k * (last - sum), k * (t - k) / t);
        (log, factor * chance)
    });
    // Changes that are still to come.
    let since = nights.saturating_sub(baseline) as f64;
    log_sum(changes.chain([(0.0, HALF_OF_CHANGES / (HALF_OF_CHANGES + since))]))
}

/// Returns the mean of `exp(d sum - d^2 information / 2)` over half-normal `d`, as the logarithm of one factor and another.
fn normal_mixture(sum: f64, information: f64) -> (f64, f64) {
    let spread = 1.0 + STEP * STEP * information;
    let x = sum * STEP / libm::sqrt(spread);
    let factor = 2.0 / libm::sqrt(spread);
    if x < -30.0 {
        // Both factors leave the range of doubles, the product does not: Mills' ratio.
        return (0.0, factor / (-x * libm::sqrt(2.0 * PI)));
    }
    let half_square = x * x / 2.0;
    if x > 0.0 {
        (half_square, factor * normal_cumulative(x))
    } else {
        (0.0, factor * libm::exp(half_square) * normal_cumulative(x))
    }
}

/// Returns the logarithm of a sum, each part given by the logarithm of one factor and another.
fn log_sum(parts: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut most, mut sum) = (0.0, 0.0);
    for (log, factor) in parts {
        if log > most {
            sum *= libm::exp(most - log);
            most = log;
        }
        sum += factor * libm::exp(log - most);
    }
    most + libm::log(sum)
}

/// The share of all that a mean allows to bet, at most.
const MOST_BET: f64 = 0.5;

/// A confidence sequence of a mean: intervals that all hold at once, of values whose mean given all before them is the same.
///
/// The hedged capital of Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", Journal of the
/// Royal Statistical Society B 86 (2024), with their predictable plug-in bets: of each candidate mean `m` two gamblers start
/// with half of the capital each and bet that the mean is above and below it, never more than half of what `m` allows. An `m`
/// at which one of them reaches `1 / (1 - level)` is excluded for good.
///
/// Values may have any distribution, and the bounds hold for values that are compared with a known value, or for
/// differences of pairs that share nothing. Differences from one run share its noise and have no such mean: see
/// [`RankEvidence`].
#[derive(Debug, Clone)]
pub struct ConfidenceSequence {
    level: f64,
    lowest: f64,
    /// Each value from 0 for `lowest` to 1, and its bet before it is cut.
    bets: Vec<(f64, f64)>,
    sum: f64,
    squares: f64,
    /// The ends so far, as shares of the range; none once they have met.
    ends: Option<(f64, f64)>,
}

impl ConfidenceSequence {
    /// Starts without a value; values lie from `lowest`, 0 for shares or -1 for differences, up to 1.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1.
    pub fn new(lowest: f64, level: f64) -> Result<Self, StatisticsError> {
        outside(level)?;
        Ok(Self { level, lowest, bets: Vec::new(), sum: 0.0, squares: 0.0, ends: Some((0.0, 1.0)) })
    }

    /// Adds the next value and returns the interval after it; none from where no mean is left: the mean has changed.
    ///
    /// # Errors
    /// If the value is out of its range.
    pub fn push(&mut self, value: f64) -> Result<Option<Interval>, StatisticsError> {
        if !(self.lowest..=1.0).contains(&value) {
            let (row, found) = (self.bets.len(), (value * 1e9) as i64);
            return Err(StatisticsError::Row {
                row,
                part: "value",
                found,
                expected: "at most 1, in billionths",
            });
        }
        let value = (value - self.lowest) / (1.0 - self.lowest);
        let before = self.bets.len() as f64;
        // One value of 1/2 and one square of 1/4 are taken for seen.
        let variance = (0.25 + self.squares) / (before + 1.0);
        let rounds = (before + 1.0) * libm::log(before + 2.0);
        let bet = libm::sqrt(2.0 * libm::log(2.0 / (1.0 - self.level)) / (rounds * variance));
        self.bets.push((value, bet));
        self.sum += value;
        let apart = value - (0.5 + self.sum) / (before + 2.0);
        self.squares += apart * apart;
        let most = 2.0 / (1.0 - self.level);
        self.ends = self.ends.and_then(|(low, high)| {
            let is_low = |mean: f64| self.above(mean) <= most;
            let is_high = |rest: f64| self.below(1.0 - rest) <= most;
            let (new_low, new_high) = (
                if is_low(low) { low } else { halve(low, high, is_low) },
                if is_high(1.0 - high) { high } else { 1.0 - halve(1.0 - high, 1.0 - low, is_high) },
            );
            (is_low(new_low) && is_high(1.0 - new_high) && new_low <= new_high).then_some((new_low, new_high))
        });
        Ok(self.interval())
    }

    /// Returns the interval so far: the whole range before the first value.
    pub fn interval(&self) -> Option<Interval> {
        let end = |share: f64| self.lowest + share * (1.0 - self.lowest);
        self.ends.map(|(low, high)| Interval {
            low: end(low),
            high: end(high),
            level: self.level,
            method: IntervalMethod::Betting,
        })
    }

    /// Returns the capitals of bets that the mean is above and below `mean`: each starts with 1 and, where `mean` is true,
    /// reaches `n` with a chance of at most `1 / n`. Infinite where it is more than doubles can hold.
    pub fn capitals(&self, mean: f64) -> (f64, f64) {
        let mean = (mean - self.lowest) / (1.0 - self.lowest);
        (self.above(mean), self.below(mean))
    }

    /// Returns the capital of the bets that the mean is above, which falls as `mean` rises.
    fn above(&self, mean: f64) -> f64 {
        let most = MOST_BET / mean;
        self.bets.iter().fold(1.0, |capital, (value, bet)| capital * (1.0 + bet.min(most) * (value - mean)))
    }

    /// Returns the capital of the bets that the mean is below, which rises with `mean`.
    fn below(&self, mean: f64) -> f64 {
        let most = MOST_BET / (1.0 - mean);
        self.bets.iter().fold(1.0, |capital, (value, bet)| capital * (1.0 - bet.min(most) * (value - mean)))
    }
}

#[cfg(test)]
#[path = "sequence_tests.rs"]
mod tests;
