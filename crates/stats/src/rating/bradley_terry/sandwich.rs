//! Intervals from one fit: the sandwich estimator, which does not take the model's word for the spread of results.

use alloc::vec;
use alloc::vec::Vec;

use super::counts::Counts;
use super::equations::{Centre, Equations, Prediction, axpy};
use super::fit::{Fit, Interval, Ties};

/// Most competitors: time goes with the cube of their number, memory with its square.
const MOST: usize = 1000;

/// Covariances of the strengths of a fit.
///
/// The inverse slopes, times what the matches' own surpluses scattered, times the inverse slopes (Huber 1967; White,
/// "Maximum Likelihood Estimation of Misspecified Models", 1982): right for many matches even where the model is not, as
/// long as matches are independent. Matches that share a judge or a task are not; their intervals are too narrow.
///
/// With a prior they describe the posterior, as a normal distribution around the fit: the inverse slopes of
/// likelihood times prior (Leonard 1977), for strengths around their mean. The surpluses of a competitor that only won
/// scatter hardly at all, and would give it the narrowest interval of all.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariance {
    competitors: usize,
    values: Vec<f64>,
}

/// The reason why there are no covariances or intervals.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum SandwichError {
    /// Too many competitors for a table of all pairs.
    #[error("there are {found} competitors, expected at most {MOST}; use the bootstrap, which takes any number", MOST = MOST)]
    TooManyCompetitors {
        /// Number of competitors given.
        found: usize,
    },
    /// The fit has another number of competitors than the counts.
    #[error("the fit has {found} competitors, expected the {expected} of the counts")]
    OtherFit {
        /// Competitors of the fit.
        found: usize,
        /// Competitors of the counts.
        expected: usize,
    },
    /// The slopes have no inverse in doubles.
    #[error(
        "some strengths rest on so few matches that their spread has no value; use the bootstrap, or add matches"
    )]
    Singular,
    /// A confidence that is not between 0 and 1.
    #[error("confidence is `{found}`, expected a number between 0 and 1, such as 0.95")]
    Confidence {
        /// The confidence.
        found: f64,
    },
}

impl Fit {
    /// Returns the covariances of the strengths. `counts` are the ones that were fitted.
    ///
    /// # Errors
    /// If the errors cannot be computed: [`SandwichError`].
    pub fn covariance(&self, counts: &Counts) -> Result<Covariance, SandwichError> {
        let competitors = self.strengths.len();
        if competitors != counts.names.len() {
            return Err(SandwichError::OtherFit { found: competitors, expected: counts.names.len() });
        }
        if competitors > MOST {
            return Err(SandwichError::TooManyCompetitors { found: competitors });
        }
        let inverse = self.slopes(counts).inverse().ok_or(SandwichError::Singular)?;
        let covariance = match self.prior {
            // The inverse has 1 / precision in the direction in which all strengths move alike. Their mean stays.
            Some(prior) => inverse.plus(-1.0 / (prior.precision() * competitors as f64), competitors),
            None => {
                let scattered = self.scattered(counts, &inverse);
                inverse.times(&scattered)
            }
        };
        Ok(Covariance::new(&covariance, competitors))
    }

    /// Returns the slopes of the equations. Without a prior, strengths are fixed only up to a constant: a constant
    /// matrix fixes their sum at 0 and changes nothing else.
    fn slopes(&self, counts: &Counts) -> Matrix {
        let competitors = self.strengths.len();
        let has_tie = self.ties == Ties::Davidson && self.tie > 0.0;
        let precision = self.prior.map_or(0.0, |prior| prior.precision());
        let mut equations = Equations::new(competitors, Centre { precision, ..Centre::default() });
        equations.set(&counts.pairs, &self.strengths, has_tie.then_some(self.tie));
        let mut slopes = Matrix::zero(competitors + 1);
        let mut trace = 0.0;
        let tie_curvature = equations.slopes(|first, second, curvature, cross| {
            trace += 2.0 * curvature;
            slopes.add(first, first, curvature);
            slopes.add(second, second, curvature);
            slopes.add(first, second, -curvature);
            slopes.add(second, first, -curvature);
            for (place, cross) in [(first, cross), (second, -cross)] {
                slopes.add(place, competitors, cross);
                slopes.add(competitors, place, cross);
            }
        });
        slopes.add(competitors, competitors, tie_curvature);
        if self.prior.is_some() {
            (0..competitors).for_each(|at| slopes.add(at, at, precision));
            return slopes;
        }
        let constant = trace / (competitors * competitors).max(1) as f64;
        for one in 0..competitors {
            for other in 0..competitors {
                slopes.add(one, other, constant);
            }
        }
        slopes
    }

    /// Returns the sum over all matches of the outer products of their gradients, times `inverse`. A gradient touches two
    /// competitors and the tie parameter, so the sum over pairs needs no separate matrix.
    fn scattered(&self, counts: &Counts, inverse: &Matrix) -> Matrix {
        let size = inverse.size;
        let has_tie = self.ties == Ties::Davidson && self.tie > 0.0;
        let mut out = Matrix::zero(size);
        let (mut pull, mut tie_row) = (vec![0.0; size], vec![0.0; size]);
        for pair in &counts.pairs {
            let (first, second) = (pair.first as usize, pair.second as usize);
            let (Some(one), Some(other), Some(tie)) =
                (inverse.row(first), inverse.row(second), inverse.row(size - 1))
            else {
                continue;
            };
            let (Some(strength), Some(opponent)) = (self.strengths.get(first), self.strengths.get(second))
            else {
                continue;
            };
            let prediction = Prediction::of(strength - opponent, self.tie);
            let surpluses = prediction.surpluses();
            let drawn = if has_tie {
                [-prediction.draw, prediction.win + prediction.loss, -prediction.draw]
            } else {
                [0.0; 3]
            };
            let counts = [pair.wins as f64, pair.draws as f64, pair.losses as f64];
            let sum = |one: [f64; 3], other: [f64; 3]| {
                counts
                    .iter()
                    .zip(one.iter().zip(other))
                    .map(|(count, (one, other))| count * one * other)
                    .sum()
            };
            let (square, cross): (f64, f64) = (sum(surpluses, surpluses), sum(surpluses, drawn));
            let tie_square: f64 = sum(drawn, drawn);
            let rows = one.iter().zip(other).zip(tie);
            for ((pull, tie_sum), ((one, other), tie)) in pull.iter_mut().zip(&mut tie_row).zip(rows) {
                let difference = one - other;
                *pull = square * difference + cross * tie;
                *tie_sum += cross * difference + tie_square * tie;
            }
            if let Some(row) = out.row_mut(first) {
                axpy(row, 1.0, &pull);
            }
            if let Some(row) = out.row_mut(second) {
                axpy(row, -1.0, &pull);
            }
        }
        if let Some(row) = out.row_mut(size - 1) {
            axpy(row, 1.0, &tie_row);
        }
        out
    }
}

impl Covariance {
    /// Takes the part of a matrix that is about the strengths: its first `competitors` rows and columns.
    pub(in crate::rating) fn new(matrix: &Matrix, competitors: usize) -> Self {
        let values = matrix.rows().take(competitors).flat_map(|row| row.iter().take(competitors));
        Self { competitors, values: values.copied().collect() }
    }

    /// Returns the covariance of two competitors' strengths, in squared logits; `None` if there is no such index.
    pub fn between(&self, one: u32, other: u32) -> Option<f64> {
        let other = other as usize;
        let row = self.values.chunks_exact(self.competitors.max(1)).nth(one as usize)?;
        row.get(other).copied()
    }

    /// Returns the standard error of a strength, in logits, where the mean of all strengths is 0.
    pub fn standard_error(&self, place: u32) -> Option<f64> {
        self.between(place, place).map(|variance| libm::sqrt(variance.max(0.0)))
    }

    /// Returns the standard error of the difference of two strengths, in logits, which decides whether they are tied.
    pub fn difference_error(&self, one: u32, other: u32) -> Option<f64> {
        let sum = self.between(one, one)? + self.between(other, other)?;
        Some(libm::sqrt((sum - 2.0 * self.between(one, other)?).max(0.0)))
    }

    /// Returns normal intervals of the strengths of `fit`, in logits, each with the given confidence separately.
    ///
    /// # Errors
    /// If the confidence is not between 0 and 1, or the fit is another one: [`SandwichError`].
    pub fn intervals(&self, fit: &Fit, confidence: f64) -> Result<Vec<Interval>, SandwichError> {
        let found = fit.strengths.len();
        if found != self.competitors {
            return Err(SandwichError::OtherFit { found, expected: self.competitors });
        }
        let deviations =
            normal_deviations(confidence).ok_or(SandwichError::Confidence { found: confidence })?;
        let interval = |(place, strength): (u32, &f64)| {
            let reach = deviations * self.standard_error(place)?;
            Some(Interval { lower: strength - reach, upper: strength + reach })
        };
        Ok((0..).zip(&fit.strengths).filter_map(interval).collect())
    }
}

/// Returns how many standard deviations around the mean of a normal distribution hold `confidence` of it; none unless that is
/// between 0 and 1. By halving: some sixty values of the error function.
pub fn normal_deviations(confidence: f64) -> Option<f64> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let (mut low, mut high) = (0.0, 40.0);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return Some(middle);
        }
        if libm::erfc(middle * core::f64::consts::FRAC_1_SQRT_2) > 1.0 - confidence {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// A square matrix, row by row.
pub(in crate::rating) struct Matrix {
    size: usize,
    values: Vec<f64>,
}

impl Matrix {
    pub(in crate::rating) fn zero(size: usize) -> Self {
        Self { size, values: vec![0.0; size * size] }
    }

    pub(in crate::rating) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.size.max(1))
    }

    pub(in crate::rating) fn row(&self, at: usize) -> Option<&[f64]> {
        self.values.get(at * self.size..(at + 1) * self.size)
    }

    fn row_mut(&mut self, at: usize) -> Option<&mut [f64]> {
        self.values.get_mut(at * self.size..(at + 1) * self.size)
    }

    pub(in crate::rating) fn add(&mut self, row: usize, column: usize, value: f64) {
        if let Some(sum) = self.row_mut(row).and_then(|row| row.get_mut(column)) {
            *sum += value;
        }
    }

    /// Returns the matrix with `value` added to the first `size` places of the first `size` rows.
    fn plus(mut self, value: f64, size: usize) -> Self {
        for row in 0..size {
            (0..size).for_each(|column| self.add(row, column, value));
        }
        self
    }

    /// Returns the inverse of a symmetric, positive definite matrix, by Gauss and Jordan's elimination on its
    /// diagonal; none if a pivot vanishes.
    pub(in crate::rating) fn inverse(mut self) -> Option<Self> {
        let largest = (0..self.size).filter_map(|at| self.row(at)?.get(at).copied()).fold(0.0, f64::max);
        let mut pivot_row = vec![0.0; self.size];
        for at in 0..self.size {
            let row = self.row_mut(at)?;
            let pivot = core::mem::replace(row.get_mut(at)?, 1.0);
            if pivot.is_nan() || pivot <= largest * 1e-15 {
                return None;
            }
            row.iter_mut().for_each(|value| *value /= pivot);
            pivot_row.copy_from_slice(row);
            for other in (0..self.size).filter(|&other| other != at) {
                let row = self.row_mut(other)?;
                let factor = core::mem::replace(row.get_mut(at)?, 0.0);
                axpy(row, -factor, &pivot_row);
            }
        }
        Some(self)
    }

    pub(in crate::rating) fn times(&self, other: &Self) -> Self {
        let mut out = Self::zero(self.size);
        for (at, row) in self.rows().enumerate() {
            for (factor, other) in row.iter().zip(other.rows()) {
                if let Some(sum) = out.row_mut(at) {
                    axpy(sum, *factor, other);
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_deviations_are_those_of_the_tables() {
        for (confidence, deviations) in [(0.5, 0.674_489_75), (0.95, 1.959_963_985), (0.99, 2.575_829_304)] {
            let found = normal_deviations(confidence).unwrap();
            assert!((found - deviations).abs() < 1e-8, "{confidence}: {found}");
        }
        for wrong in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(normal_deviations(wrong), None);
        }
    }

    #[test]
    fn an_inverse_undoes_its_matrix() {
        let values = vec![4.0, 1.0, 0.5, 1.0, 3.0, -1.0, 0.5, -1.0, 2.0];
        let matrix = Matrix { size: 3, values: values.clone() };
        let inverse = Matrix { size: 3, values }.inverse().unwrap();
        for (at, row) in matrix.times(&inverse).rows().enumerate() {
            for (other, value) in row.iter().enumerate() {
                assert!((value - f64::from(u8::from(at == other))).abs() < 1e-14);
            }
        }
        assert!(Matrix { size: 2, values: vec![1.0; 4] }.inverse().is_none());
    }
}
