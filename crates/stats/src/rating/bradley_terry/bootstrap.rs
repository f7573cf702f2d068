//! Intervals from many fits: the bootstrap, which draws as many matches again from those there are.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::counts::{Counts, PairCount};
use super::error::FitError;
use super::fit::{BradleyTerry, Fit, Interval, check};
use super::graph;
use crate::distribution::quantile;
use crate::random::Random;

/// Rounds of the bootstrap (Efron 1979) that are still to be drawn: `rounds` of the stream of `seed`.
///
/// A round draws as many matches as there were, each equally likely and again and again, and fits them. Only the counts
/// of pairs and outcomes matter, so the counts are drawn, exactly: a multinomial draw by binomial splits. Round number
/// `k` of a seed is the same alone, in any range and on any machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bootstrap {
    /// The seed.
    pub seed: u64,
    /// The rounds, by number.
    pub rounds: Range<u64>,
}

/// Strengths that other samples of matches would have given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Resamples {
    /// Strengths by round, in logits, of the rounds that have any.
    pub strengths: Vec<Vec<f64>>,
    /// Rounds whose matches have no fit, mostly because some competitor only won or only lost in them.
    pub without_fit: u64,
}

/// The reason why resamples give no intervals.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum BootstrapError {
    /// A confidence that is not between 0 and 1.
    #[error("confidence is `{found}`, expected a number between 0 and 1, such as 0.95")]
    Confidence {
        /// The confidence.
        found: f64,
    },
    /// Fewer rounds than the two tails need.
    #[error("there are {found} rounds, expected at least {expected} for this confidence")]
    TooFewRounds {
        /// Rounds there are.
        found: u64,
        /// Rounds it takes.
        expected: u64,
    },
    /// This many rounds have no fit, so that they could hold the end of an interval.
    #[error(
        "{found} of {rounds} rounds have no fit: some competitor won or lost nearly everything, and its strength \
                 has no upper or lower end; add matches, leave it out, or give the strengths a prior"
    )]
    WithoutFit {
        /// Rounds without a fit.
        found: u64,
        /// All rounds.
        rounds: u64,
    },
}

impl Resamples {
    /// Joins these rounds and those that follow: two halves, each drawn separately, give the same rounds as the
    /// whole.
    #[must_use]
    pub fn followed_by(mut self, others: Self) -> Self {
        self.strengths.extend(others.strengths);
        self.without_fit += others.without_fit;
        self
    }

    /// Returns percentile intervals, in logits: the quantiles of the rounds, with linear interpolation between two of
    /// them.
    ///
    /// # Errors
    /// If the rounds do not suffice: [`BootstrapError`].
    pub fn intervals(&self, confidence: f64) -> Result<Vec<Interval>, BootstrapError> {
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(BootstrapError::Confidence { found: confidence });
        }
        let tail = 0.5 * (1.0 - confidence);
        let rounds = self.strengths.len() as u64 + self.without_fit;
        // A confidence such as 0.95 gives whole numbers only nearly.
        let expected = libm::ceil(1.0 / tail - 1e-6);
        if (rounds as f64) < expected {
            return Err(BootstrapError::TooFewRounds { found: rounds, expected: expected as u64 });
        }
        if self.without_fit as f64 > tail * rounds as f64 {
            return Err(BootstrapError::WithoutFit { found: self.without_fit, rounds });
        }
        let competitors = self.strengths.first().map_or(0, Vec::len);
        let interval = |place: usize| {
            let mut values: Vec<f64> =
                self.strengths.iter().filter_map(|round| round.get(place).copied()).collect();
            values.sort_unstable_by(f64::total_cmp);
            Interval { lower: quantile(&values, tail), upper: quantile(&values, 1.0 - tail) }
        };
        Ok((0..competitors).map(interval).collect())
    }
}

impl BradleyTerry {
    /// Draws and fits the rounds of a bootstrap, each from the strengths of `fit`, the fit of `counts`.
    ///
    /// # Errors
    /// If `counts` are not a league: [`FitError`].
    pub fn resample(&self, counts: &Counts, fit: &Fit, bootstrap: &Bootstrap) -> Result<Resamples, FitError> {
        check(counts)?;
        let mut sums = vec![0u64];
        let mut sum = 0;
        for count in counts.pairs.iter().flat_map(|pair| [pair.wins, pair.draws, pair.losses]) {
            sum += count;
            sums.push(sum);
        }
        let mut drawn = vec![0u64; sums.len() - 1];
        let mut pairs: Vec<PairCount> = counts.pairs.clone();
        let mut resamples = Resamples::default();
        for round in bootstrap.rounds.clone() {
            let mut generator = Random::stream(bootstrap.seed, round);
            split(&mut generator, &sums, &mut drawn, sum);
            for (pair, drawn) in pairs.iter_mut().zip(drawn.as_chunks::<3>().0) {
                [pair.wins, pair.draws, pair.losses] = *drawn;
            }
            let holds = self.prior.is_some() || graph::components(&pairs, counts.names.len()).len() == 1;
            let fitted = holds.then(|| self.fit_from(&pairs, fit.strengths.clone(), fit.tie));
            match fitted {
                Some(Ok(fitted)) => resamples.strengths.push(fitted.strengths),
                _ => resamples.without_fit += 1,
            }
        }
        Ok(resamples)
    }
}

/// Throws `balls` into cells whose weights are the differences of `sums`, by halves of the cells.
fn split(generator: &mut Random, sums: &[u64], cells: &mut [u64], balls: u64) {
    if let [cell] = cells {
        *cell = balls;
        return;
    }
    if balls == 0 {
        cells.fill(0);
        return;
    }
    let half = cells.len() / 2;
    if let (Some(&start), Some(&middle), Some(&end)) = (sums.first(), sums.get(half), sums.last()) {
        let left = generator.binomial(balls, middle - start, end - start);
        let (low, high) = cells.split_at_mut(half);
        split(generator, sums.get(..=half).unwrap_or_default(), low, left);
        split(generator, sums.get(half..).unwrap_or_default(), high, balls - left);
    }
}
