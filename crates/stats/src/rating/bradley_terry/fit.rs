//! The strengths at which the observed results are most likely.

use alloc::vec;
use alloc::vec::Vec;

use super::counts::{Counts, PairCount};
pub use super::equations::Prediction;
use super::equations::{Equations, dot};
use super::error::{FitError, Separation};

/// Points of one logit where 400 points promise ten to one, as in Elo: `400 / ln 10`.
pub const LOGIT_POINTS: f64 = 400.0 / core::f64::consts::LN_10;

/// Steps of Newton's method before it is given up.
const STEPS: u32 = 100;
/// The most that one step may move a strength, in logits.
const LONGEST_STEP: f64 = 2.0;
/// A whole step below this, in logits, is the last. What is left then is of the order of its square and of its
/// millionth part: below 1e-13 where comparisons are many.
const LAST_STEP: f64 = 1e-8;

/// The meaning of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// A third outcome, with its own parameter, which the matches fix (Davidson 1970).
    Davidson,
    /// Half a win and half a loss, in Bradley and Terry's model of two outcomes.
    HalfWins,
}

/// The model, as settings. The default takes draws as Davidson does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BradleyTerry {
    /// The meaning of a draw.
    pub ties: Ties,
}

impl Default for BradleyTerry {
    fn default() -> Self {
        Self { ties: Ties::Davidson }
    }
}

/// Strengths by maximum likelihood.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The meaning that a draw was given.
    pub ties: Ties,
    /// Strength of every competitor, in logits; their mean is 0. Times [`LOGIT_POINTS`] they are points of Elo.
    pub strengths: Vec<f64>,
    /// Davidson's tie parameter `nu`: how often equals draw, as odds against either one winning. 0 without draws, and
    /// where draws are half wins.
    pub tie: f64,
    /// Steps of Newton's method.
    pub steps: u32,
    /// The largest move of a strength in the last step, in logits.
    pub last_step: f64,
}

/// A range, in the unit of what it is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl Fit {
    /// Probabilities of a match between two competitors, by their indices; `None` if there is no such index.
    #[must_use]
    pub fn predict(&self, first: u32, second: u32) -> Option<Prediction> {
        let strength = |place: u32| self.strengths.get(place as usize);
        Some(Prediction::of(strength(first)? - strength(second)?, self.tie))
    }

    /// Returns the expected score of the first, 0 to 1; `None` if there is no such index.
    #[must_use]
    pub fn expected(&self, first: u32, second: u32) -> Option<f64> {
        self.predict(first, second).map(|prediction| prediction.score())
    }

    /// Returns the strengths in points, around `mean_points`.
    pub fn points(&self, mean_points: f64) -> impl Iterator<Item = f64> {
        self.strengths.iter().map(move |strength| mean_points + LOGIT_POINTS * strength)
    }
}

impl BradleyTerry {
    /// Fits the model. Counts are whole numbers and sums are taken by pairs, so the order of matches changes no bit.
    ///
    /// # Errors
    /// If there are no matches, fewer than two competitors, nothing but draws, or some competitors cannot be compared
    /// with others: [`FitError`]. Nothing is regularised away: rate [`Counts::among`] a group instead.
    pub fn fit(&self, counts: &Counts) -> Result<Fit, FitError> {
        check(counts)?;
        let matches = counts.matches();
        if let Some(separation) = Separation::find(counts) {
            return Err(FitError::Separated(separation));
        }
        let draws: u64 = counts.pairs.iter().map(|pair| pair.draws).sum();
        if draws == matches {
            return Err(FitError::AllDrawn { matches });
        }
        // Exact if all are equal.
        let tie = 2.0 * draws as f64 / (matches - draws) as f64;
        self.fit_from(&counts.pairs, vec![0.0; counts.names.len()], tie)
    }

    /// Fits from a point nearby. The comparisons must hold together.
    pub(super) fn fit_from(
        &self,
        pairs: &[PairCount],
        strengths: Vec<f64>,
        tie: f64,
    ) -> Result<Fit, FitError> {
        let has_tie = self.ties == Ties::Davidson && tie > 0.0 && pairs.iter().any(|pair| pair.draws > 0);
        let mut point = Point { strengths, tie: has_tie.then_some(tie) };
        let mut equations = Equations::new(point.strengths.len());
        equations.set(pairs, &point.strengths, point.tie);
        let mut last_step = f64::INFINITY;
        for steps in 1..=STEPS {
            let step = equations.step();
            last_step = step.iter().fold(0.0, |most: f64, part| most.max(part.abs()));
            let climb = dot(&step, &equations.residual);
            let mut share = if last_step > LONGEST_STEP { LONGEST_STEP / last_step } else { 1.0 };
            let ended = last_step < LAST_STEP;
            let mut next = point.moved(&step, share);
            if !ended {
                equations.set(pairs, &next.strengths, next.tie);
                // The likelihood is concave: while it does not fall steeply at the new point, the step was not far too
                // long.
                while dot(&step, &equations.residual) < -0.5 * climb && share > 1e-9 {
                    share *= 0.5;
                    next = point.moved(&step, share);
                    equations.set(pairs, &next.strengths, next.tie);
                }
            }
            point = next;
            if ended {
                return Ok(Fit {
                    ties: self.ties,
                    tie: point.tie.unwrap_or(0.0),
                    strengths: point.strengths,
                    steps,
                    last_step,
                });
            }
        }
        Err(FitError::NotConverged { steps: STEPS, last_step })
    }
}

/// Refuses counts that are not a league.
pub(super) fn check(counts: &Counts) -> Result<(), FitError> {
    let competitors = counts.names.len();
    if competitors < 2 {
        return Err(FitError::TooFewCompetitors { found: competitors });
    }
    let wrong = |pair: &PairCount| pair.first >= pair.second || pair.second as usize >= competitors;
    let wrong = counts.pairs.iter().position(wrong);
    if let Some((place, &found)) = wrong.and_then(|place| Some((place, counts.pairs.get(place)?))) {
        return Err(FitError::Pair { place, found });
    }
    match counts.matches() {
        0 => Err(FitError::NoMatch),
        found if found > Counts::MOST => Err(FitError::TooManyMatches { found }),
        _ => Ok(()),
    }
}

/// The point that the search has reached.
struct Point {
    strengths: Vec<f64>,
    tie: Option<f64>,
}

impl Point {
    /// Returns the point a share of a step away, with strengths around 0. The step of the tie parameter is one of its
    /// logarithm.
    fn moved(&self, step: &[f64], share: f64) -> Self {
        let moved = || self.strengths.iter().zip(step).map(|(strength, step)| strength + share * step);
        let mean = moved().sum::<f64>() / self.strengths.len() as f64;
        Self {
            strengths: moved().map(|strength| strength - mean).collect(),
            tie: self.tie.map(|tie| tie * libm::exp(share * step.last().copied().unwrap_or(0.0))),
        }
    }
}
