//! The likelihood equations at one point: how far they are from holding, their slopes, and the step that fixes them.
//!
//! With strengths `a`, `b` in logits, `x = a - b` and Davidson's tie parameter `nu`, a match is won, drawn or lost with
//! probabilities in the proportion `e^(x/2) : nu : e^(-x/2)` (Davidson, "On Extending the Bradley-Terry Model to
//! Accommodate Ties", 1970). It is an exponential family in the strengths and `ln nu`, so slopes are variances and
//! covariances of the score (1, 1/2, 0) and of being drawn. Without `nu` it is Bradley and Terry's.

use alloc::vec;
use alloc::vec::Vec;

use super::counts::PairCount;

/// Probabilities of the three outcomes, seen from the first competitor. They sum to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The first wins.
    pub win: f64,
    /// Neither wins.
    pub draw: f64,
    /// The second wins.
    pub loss: f64,
}

impl Prediction {
    /// Computes it from the difference of two strengths and the tie parameter.
    #[inline]
    pub(in crate::rating) fn of(difference: f64, tie: f64) -> Self {
        // Over the weight of the stronger side, so that nothing overflows.
        let root = libm::exp(-0.5 * difference.abs());
        let share = 1.0 / (1.0 + root * root + tie * root);
        let (draw, weaker) = (tie * root * share, root * root * share);
        let (win, loss) = if difference < 0.0 { (weaker, share) } else { (share, weaker) };
        Self { win, draw, loss }
    }

    /// Returns the expected score of the first.
    pub fn score(&self) -> f64 {
        self.win + 0.5 * self.draw
    }

    /// Returns how far each outcome's score (win, draw, loss) is from the expected one; without cancellation, so that one loss
    /// among a million wins keeps its digits.
    pub(in crate::rating) fn surpluses(&self) -> [f64; 3] {
        [self.loss + 0.5 * self.draw, 0.5 * (self.loss - self.win), -self.score()]
    }
}

/// The slopes that one pair adds.
#[derive(Clone, Copy, Default)]
struct Link {
    first: u32,
    second: u32,
    /// Variance of the score, times the matches.
    curvature: f64,
    /// Covariance of the score and of being drawn, times the matches.
    cross: f64,
}

/// The prior of the strengths: normal, around 0.
#[derive(Debug, Default)]
pub(super) struct Centre {
    /// One over its variance; 0 without a prior.
    pub(super) precision: f64,
    /// The competitors in parts that no match connects; empty without a prior.
    pub(super) parts: Vec<Vec<u32>>,
}

impl Centre {
    /// Moves the values of every part so that their sum is 0, as that of strengths and surpluses is: what one scored
    /// above expectation, another scored below. A weak prior would make much of the rounding that is left.
    pub(super) fn around_zero(&self, vector: &mut [f64]) {
        for part in &self.parts {
            let sum: f64 = part.iter().filter_map(|&place| vector.get(place as usize)).sum();
            let mean = sum / part.len() as f64;
            for &place in part {
                add(vector, place as usize, -mean);
            }
        }
    }
}

/// The equations at one point. Vectors have one place for every competitor, and one more for the tie parameter.
pub(super) struct Equations {
    links: Vec<Link>,
    diagonal: Vec<f64>,
    /// The prior of the strengths.
    pub(super) prior: Centre,
    /// By how much more was scored than expected; last, drawn.
    pub(super) residual: Vec<f64>,
}

/// Steps of the conjugate gradients in one solution.
const INNER_STEPS: usize = 1000;
/// The part of the residual that a solution leaves. The next step of Newton's method removes it.
const INNER_TOLERANCE: f64 = 1e-6;
/// A direction that bends the likelihood by less than this share of what its parts would alone has no bend.
const LEAST_BEND: f64 = 1e-14;

impl Equations {
    /// Makes equations for this number of competitors.
    pub(super) fn new(competitors: usize, prior: Centre) -> Self {
        let zeros = || vec![0.0; competitors + 1];
        Self { links: Vec::new(), diagonal: zeros(), prior, residual: zeros() }
    }

    /// Sets them up at `strengths` and `tie`; without a tie, its parameter is fixed.
    pub(super) fn set(&mut self, pairs: &[PairCount], strengths: &[f64], tie: Option<f64>) {
        self.links.clear();
        self.diagonal.fill(0.0);
        self.residual.fill(0.0);
        let (mut tie_residual, mut tie_curvature) = (0.0, 0.0);
        let nu = tie.unwrap_or(0.0);
        for pair in pairs {
            let (first, second) = (pair.first as usize, pair.second as usize);
            let (Some(one), Some(other)) = (strengths.get(first), strengths.get(second)) else { continue };
            let prediction = Prediction::of(one - other, nu);
            let [win, draw, loss] = prediction.surpluses();
            let (wins, draws, losses) = (pair.wins as f64, pair.draws as f64, pair.losses as f64);
            let matches = pair.matches() as f64;
            let residual = wins * win + draws * draw + losses * loss;
            let Prediction { win: p_win, draw: p_draw, loss: p_loss } = prediction;
            let curvature = matches * (p_win * win * win + p_draw * draw * draw + p_loss * loss * loss);
            let decided = p_win + p_loss;
            let mut cross = 0.0;
            if tie.is_some() {
                cross = matches * p_draw * draw;
                tie_residual += draws * decided - (wins + losses) * p_draw;
                tie_curvature += matches * p_draw * decided;
            }
            add(&mut self.residual, first, residual);
            add(&mut self.residual, second, -residual);
            add(&mut self.diagonal, first, curvature);
            add(&mut self.diagonal, second, curvature);
            self.links.push(Link { first: pair.first, second: pair.second, curvature, cross });
        }
        let parts = self.residual.iter_mut().zip(&mut self.diagonal);
        for ((residual, diagonal), strength) in parts.zip(strengths) {
            *residual -= self.prior.precision * strength;
            *diagonal += self.prior.precision;
        }
        self.prior.around_zero(&mut self.residual);
        // A fixed parameter has a separate equation that is always satisfied.
        if let (Some(curvature), Some(residual)) = (self.diagonal.last_mut(), self.residual.last_mut()) {
            *curvature = if tie.is_some() { tie_curvature } else { 1.0 };
            *residual = tie_residual;
        }
    }

    /// Returns the step to the point where the equations hold if their slopes stay, within the tolerance: conjugate gradients
    /// (Hestenes and Stiefel 1952), preconditioned by the diagonal, every sum in the order of the pairs. It needs no
    /// matrix, and strengths that are only fixed up to a constant do not disturb it.
    pub(super) fn step(&self) -> Vec<f64> {
        let mut step = vec![0.0; self.residual.len()];
        let mut rest = self.residual.clone();
        let mut scaled: Vec<f64> = self.scaled(&rest);
        let mut direction = scaled.clone();
        let mut length = dot(&rest, &scaled);
        let enough = length * INNER_TOLERANCE * INNER_TOLERANCE;
        let mut slope = vec![0.0; rest.len()];
        for _ in 0..INNER_STEPS {
            if length <= enough {
                break;
            }
            self.apply(&direction, &mut slope);
            let bend = dot(&direction, &slope);
            let weights = direction.iter().zip(&self.diagonal);
            let straight: f64 = weights.map(|(part, scale)| part * part * scale).sum();
            // All strengths move by one constant: rounding alone is left.
            if bend.is_nan() || bend <= LEAST_BEND * straight {
                break;
            }
            let far = length / bend;
            axpy(&mut step, far, &direction);
            axpy(&mut rest, -far, &slope);
            scaled = self.scaled(&rest);
            let next = dot(&rest, &scaled);
            let turn = next / length;
            length = next;
            for (direction, scaled) in direction.iter_mut().zip(&scaled) {
                *direction = scaled + turn * *direction;
            }
        }
        step
    }

    fn scaled(&self, vector: &[f64]) -> Vec<f64> {
        vector.iter().zip(&self.diagonal).map(|(value, scale)| value / scale).collect()
    }

    /// Sets `out` to the slopes times `vector`.
    fn apply(&self, vector: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let tie = vector.last().copied().unwrap_or(0.0);
        let mut tie_sum = self.diagonal.last().copied().unwrap_or(0.0) * tie;
        for link in &self.links {
            let (first, second) = (link.first as usize, link.second as usize);
            if let (Some(one), Some(other)) = (vector.get(first), vector.get(second)) {
                let difference = one - other;
                let pull = link.curvature * difference + link.cross * tie;
                tie_sum += link.cross * difference;
                add(out, first, pull);
                add(out, second, -pull);
            }
        }
        for (sum, part) in out.iter_mut().zip(vector) {
            *sum += self.prior.precision * part;
        }
        if let Some(last) = out.last_mut() {
            *last = tie_sum;
        }
    }

    /// Calls `visit` with the indices, the curvature and the cross slope of every pair, and gives the tie curvature.
    pub(super) fn slopes(&self, mut visit: impl FnMut(usize, usize, f64, f64)) -> f64 {
        for link in &self.links {
            visit(link.first as usize, link.second as usize, link.curvature, link.cross);
        }
        self.diagonal.last().copied().unwrap_or(1.0)
    }
}

#[inline]
fn add(vector: &mut [f64], place: usize, value: f64) {
    if let Some(sum) = vector.get_mut(place) {
        *sum += value;
    }
}

/// Returns the sum of products, in order.
pub(in crate::rating) fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Adds `factor` times `other`.
pub(super) fn axpy(sum: &mut [f64], factor: f64, other: &[f64]) {
    for (sum, other) in sum.iter_mut().zip(other) {
        *sum += factor * other;
    }
}
