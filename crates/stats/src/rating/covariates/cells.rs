//! The likelihood of matches beside covariates: its sums, its largest value, and the covariances there.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::{Covariate, CovariatesError};
use crate::rating::bradley_terry::{Fit, Matrix, PairCount, Prediction, dot};
use crate::rating::outcome::{Match, Outcome};

/// Steps of Newton's method before it is given up.
const STEPS: u32 = 100;
/// The most that one step may move a parameter, in logits.
const LONGEST_STEP: f64 = 2.0;
/// A whole step below this, in logits, is the last.
const LAST_STEP: f64 = 1e-8;
/// A covariate's variance, over that which it would have alone, from which on the data do not fix its effect.
const MOST_INFLATION: f64 = 1e9;

/// Matches counted by pair and contrasts, in the order of both.
pub(super) struct Cells {
    counts: Vec<PairCount>,
    /// The contrasts of each cell over their deviations.
    contrasts: Vec<f64>,
    /// Number of covariates.
    width: usize,
}

/// Values of the parameters.
pub(super) struct Point {
    pub(super) strengths: Vec<f64>,
    pub(super) coefficients: Vec<f64>,
}

/// Surpluses of the scores over the expected ones, by parameter, and the outer products of the matches' variables.
struct Sums {
    surpluses: Vec<f64>,
    products: Matrix,
    /// The mean of the products of two competitors.
    constant: f64,
}

impl Cells {
    /// Counts the matches, and returns the deviation of each contrast, too.
    pub(super) fn new(
        matches: &[Match],
        contrasts: &[f64],
        covariates: &[Covariate],
    ) -> Result<(Self, Vec<f64>), CovariatesError> {
        let width = covariates.len();
        let count = |found: &Match| {
            let one = |which| u64::from(found.outcome == which);
            let (wins, draws, losses) = (one(Outcome::Win), one(Outcome::Draw), one(Outcome::Loss));
            PairCount { first: found.first, second: found.second, wins, draws, losses }
        };
        let mut order: Vec<(PairCount, &[f64])> =
            matches.iter().map(count).zip(contrasts.chunks_exact(width)).collect();
        order.sort_unstable_by(|(one, its), (other, others)| {
            let by_pair = (one.first, one.second).cmp(&(other.first, other.second));
            let values = || its.iter().zip(*others).map(|(a, b)| a.total_cmp(b));
            by_pair.then_with(|| values().find(|order| order.is_ne()).unwrap_or(Ordering::Equal))
        });
        order.dedup_by(|(next, its), (kept, others)| {
            let same = (next.first, next.second) == (kept.first, kept.second) && its == others;
            if same {
                kept.wins += next.wins;
                kept.draws += next.draws;
                kept.losses += next.losses;
            }
            same
        });
        let counts: Vec<PairCount> = order.iter().map(|(count, _)| *count).collect();
        let mut contrasts: Vec<f64> =
            order.iter().flat_map(|(_, contrasts)| contrasts.iter().copied()).collect();
        let mut deviations = vec![0.0; width];
        for (count, row) in counts.iter().zip(contrasts.chunks_exact(width)) {
            let squares = row.iter().map(|value| count.matches() as f64 * value * value);
            deviations.iter_mut().zip(squares).for_each(|(sum, square)| *sum += square);
        }
        for (deviation, Covariate { name, .. }) in deviations.iter_mut().zip(covariates) {
            if *deviation == 0.0 {
                return Err(CovariatesError::Constant { name: name.clone() });
            }
            *deviation = libm::sqrt(*deviation / matches.len() as f64);
        }
        for row in contrasts.chunks_exact_mut(width) {
            row.iter_mut().zip(&deviations).for_each(|(value, deviation)| *value /= deviation);
        }
        Ok((Self { counts, contrasts, width }, deviations))
    }

    /// Adds up the matches at a point; each cell weighs as much as `weigh` computes from its counts and its prediction.
    fn sums(&self, point: &Point, weigh: impl Fn(&PairCount, &Prediction) -> f64) -> Sums {
        let (competitors, width) = (point.strengths.len(), self.width);
        let mut surpluses = vec![0.0; competitors + width];
        let mut products = Matrix::zero(competitors + width);
        let (mut trace, mut own, mut squares) = (0.0, vec![0.0; width], vec![0.0; width * width]);
        let mut rows = self.contrasts.chunks_exact(width);
        let of_one_pair =
            |one: &PairCount, other: &PairCount| (one.first, one.second) == (other.first, other.second);
        for pair in self.counts.chunk_by(of_one_pair) {
            let Some((first, second)) = pair.first().map(|it| (it.first as usize, it.second as usize)) else {
                continue;
            };
            let strength = |at: usize| point.strengths.get(at).copied().unwrap_or_default();
            let difference = strength(first) - strength(second);
            let (mut surplus, mut weight, mut cross) = (0.0, 0.0, vec![0.0; width]);
            for (count, row) in pair.iter().zip(&mut rows) {
                let found = Prediction::of(difference + dot(&point.coefficients, row), 0.0);
                let [win, draw, loss] = found.surpluses();
                let more = count.wins as f64 * win + count.draws as f64 * draw + count.losses as f64 * loss;
                let weighed = weigh(count, &found);
                surplus += more;
                weight += weighed;
                let sums = own.iter_mut().zip(&mut cross).zip(squares.chunks_exact_mut(width)).zip(row);
                for (((own, cross), squares), value) in sums {
                    *own += more * value;
                    let part = weighed * value;
                    *cross += part;
                    squares.iter_mut().zip(row).for_each(|(sum, other)| *sum += part * other);
                }
            }
            trace += 2.0 * weight;
            for (at, other, sign) in [(first, second, 1.0), (second, first, -1.0)] {
                if let Some(sum) = surpluses.get_mut(at) {
                    *sum += sign * surplus;
                }
                products.add(at, at, weight);
                products.add(at, other, -weight);
                for (column, cross) in (competitors..).zip(&cross) {
                    products.add(at, column, sign * cross);
                    products.add(column, at, sign * cross);
                }
            }
        }
        surpluses.iter_mut().skip(competitors).zip(own).for_each(|(sum, own)| *sum = own);
        for (row, squares) in (competitors..).zip(squares.chunks_exact(width)) {
            (competitors..).zip(squares).for_each(|(column, &square)| products.add(row, column, square));
        }
        Sums { surpluses, products, constant: trace / (competitors * competitors).max(1) as f64 }
    }

    /// Adds up the slopes of the likelihood equations. Strengths are fixed only up to a constant: a constant matrix fixes
    /// their sum at 0 and changes nothing else.
    fn slopes(&self, point: &Point) -> Sums {
        let mut sums = self.sums(point, |count, found| count.matches() as f64 * found.win * found.loss);
        for row in 0..point.strengths.len() {
            (0..point.strengths.len()).for_each(|column| sums.products.add(row, column, sums.constant));
        }
        sums
    }

    /// Climbs to the largest likelihood by Newton's method, from the fit without covariates. Returns the number of steps,
    /// too.
    pub(super) fn climb(
        &self,
        start: &Fit,
        covariates: &[Covariate],
    ) -> Result<(Point, u32), CovariatesError> {
        let mut point = Point { strengths: start.strengths.clone(), coefficients: vec![0.0; self.width] };
        let competitors = point.strengths.len();
        let Sums { mut surpluses, products, .. } = self.slopes(&point);
        let own = |matrix: &Matrix, at: usize| matrix.row(at).and_then(|row| row.get(at).copied());
        let curvatures: Vec<f64> = (competitors..).map_while(|at| own(&products, at)).collect();
        // The covariate whose effect the other parameters can make up for, or the matches no longer bound.
        let free = |inverse: Option<&Matrix>| {
            let is_free = |&(at, (_, curvature)): &(usize, (&Covariate, &f64))| {
                let variance = inverse.and_then(|inverse| own(inverse, competitors + at));
                variance.is_none_or(|variance| variance.is_nan() || variance * curvature >= MOST_INFLATION)
            };
            let found = covariates.iter().zip(&curvatures).enumerate().rfind(is_free);
            found.map(|(_, (covariate, _))| covariate.name.clone())
        };
        let mut inverse = products.inverse();
        for steps in 1..=STEPS {
            match free(inverse.as_ref()) {
                Some(name) if steps == 1 => return Err(CovariatesError::Collinear { name }),
                Some(_) => break,
                None => {}
            }
            let Some(slopes) = &inverse else { break };
            let step: Vec<f64> = slopes.rows().map(|row| dot(row, &surpluses)).collect();
            let longest = step.iter().fold(0.0, |most: f64, part| most.max(part.abs()));
            if longest < LAST_STEP {
                return Ok((point.moved(&step, 1.0), steps));
            }
            let climb = dot(&step, &surpluses);
            let mut share = if longest > LONGEST_STEP { LONGEST_STEP / longest } else { 1.0 };
            // The likelihood is concave: while it does not fall steeply at the new point, the step was not far too long.
            loop {
                let next = point.moved(&step, share);
                let sums = self.slopes(&next);
                if share <= 1e-9 || dot(&step, &sums.surpluses) >= -0.5 * climb {
                    (point, surpluses, inverse) = (next, sums.surpluses, sums.products.inverse());
                    break;
                }
                share *= 0.5;
            }
        }
        let sizes = covariates.iter().zip(point.coefficients.iter().map(|logits| logits.abs()));
        let largest = sizes.max_by(|one, other| one.1.total_cmp(&other.1));
        let name = largest.map(|(covariate, _)| covariate.name.clone()).unwrap_or_default();
        Err(CovariatesError::Separated { name })
    }

    /// Returns the covariances of all parameters: the inverse slopes, times what the surpluses of matches scattered, times the
    /// inverse slopes (White, "Maximum Likelihood Estimation of Misspecified Models", 1982); none if there is no inverse.
    pub(super) fn covariance(&self, point: &Point) -> Option<Matrix> {
        let inverse = self.slopes(point).products.inverse()?;
        let scattered = self.sums(point, |count, found| {
            let counts = [count.wins as f64, count.draws as f64, count.losses as f64];
            counts.iter().zip(found.surpluses()).map(|(count, surplus)| count * surplus * surplus).sum()
        });
        Some(inverse.times(&scattered.products).times(&inverse))
    }
}

impl Point {
    /// Returns the point a share of a step away, with strengths around 0.
    fn moved(&self, step: &[f64], share: f64) -> Self {
        let (strengths, coefficients) = step.split_at(self.strengths.len().min(step.len()));
        let moved = |from: &[f64], step: &[f64]| -> Vec<f64> {
            from.iter().zip(step).map(|(value, step)| value + share * step).collect()
        };
        let mut strengths = moved(&self.strengths, strengths);
        let mean = strengths.iter().sum::<f64>() / strengths.len() as f64;
        strengths.iter_mut().for_each(|strength| *strength -= mean);
        Self { strengths, coefficients: moved(&self.coefficients, coefficients) }
    }
}
