//! The strengths at which the observed results are most likely.

use alloc::vec;
use alloc::vec::Vec;

use super::counts::{Counts, PairCount};
pub use super::equations::Prediction;
use super::equations::{Centre, Equations, dot};
use super::error::{FitError, Separation};
use super::graph;

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

/// The belief about every strength before the first match: a normal distribution around the mean of the pool
/// (Leonard, "An Alternative Bayesian Approach to the Bradley-Terry Model for Paired Comparisons", Biometrics 33,
/// 1977). The strengths are then those at which likelihood times prior is largest, and every pool has them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaussian {
    /// The standard deviation, in logits.
    pub deviation: f64,
}

impl Gaussian {
    /// Returns the prior with this deviation in points, of which [`LOGIT_POINTS`] are a logit.
    pub fn of_points(deviation: f64) -> Self {
        Self { deviation: deviation / LOGIT_POINTS }
    }

    /// Returns its strength: one over the variance, in logits to the power of minus two.
    pub fn precision(&self) -> f64 {
        1.0 / (self.deviation * self.deviation)
    }

    /// Returns the number of drawn matches against an opponent of the mean that say as much about a strength near it:
    /// each adds a quarter to the precision, where a draw is half a win.
    pub fn draws(&self) -> f64 {
        4.0 * self.precision()
    }
}

/// The model, as settings. The default takes draws as Davidson does, and has no prior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BradleyTerry {
    /// The meaning of a draw.
    pub ties: Ties,
    /// The belief about the strengths before the first match; `None` for maximum likelihood.
    pub prior: Option<Gaussian>,
}

impl Default for BradleyTerry {
    fn default() -> Self {
        Self { ties: Ties::Davidson, prior: None }
    }
}

/// Strengths by maximum likelihood, or with a prior where likelihood times prior is largest.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The meaning that a draw was given.
    pub ties: Ties,
    /// The prior of the strengths.
    pub prior: Option<Gaussian>,
    /// Strength of every competitor, in logits; their mean is 0. Times [`LOGIT_POINTS`] they are points of Elo.
    pub strengths: Vec<f64>,
    /// Davidson's tie parameter `nu`: how often equals draw, as odds against either one winning. 0 without draws, and
    /// where draws are half wins.
    pub tie: f64,
    /// Steps of Newton's method.
    pub steps: u32,
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
    pub fn predict(&self, first: u32, second: u32) -> Option<Prediction> {
        let strength = |place: u32| self.strengths.get(place as usize);
        Some(Prediction::of(strength(first)? - strength(second)?, self.tie))
    }

    /// Returns the expected score of the first, 0 to 1; `None` if there is no such index.
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
    /// with others: [`FitError`]. Without a prior nothing is regularised away: rate [`Counts::among`] a group instead.
    /// With one, any league with a match has strengths; only Davidson's tie parameter still needs a win.
    pub fn fit(&self, counts: &Counts) -> Result<Fit, FitError> {
        check(counts)?;
        if let Some(prior) = self.prior.filter(|prior| !(prior.deviation > 0.0 && prior.precision() > 0.0)) {
            return Err(FitError::Prior { deviation: prior.deviation });
        }
        let matches = counts.matches();
        if self.prior.is_none()
            && let Some(separation) = Separation::find(counts)
        {
            return Err(FitError::Separated(separation));
        }
        let draws: u64 = counts.pairs.iter().map(|pair| pair.draws).sum();
        if draws == matches && !(self.prior.is_some() && self.ties == Ties::HalfWins) {
            return Err(FitError::AllDrawn { matches });
        }
        // Exact if all are equal; not used where a draw is half a win.
        let tie = 2.0 * draws as f64 / (matches - draws).max(1) as f64;
        self.fit_from(&counts.pairs, vec![0.0; counts.names.len()], tie)
    }

    /// Fits from a point nearby. The comparisons must hold together, unless there is a prior.
    pub(super) fn fit_from(
        &self,
        pairs: &[PairCount],
        strengths: Vec<f64>,
        tie: f64,
    ) -> Result<Fit, FitError> {
        if self.ties == Ties::Davidson && pairs.iter().all(|pair| pair.wins + pair.losses == 0) {
            return Err(FitError::AllDrawn { matches: pairs.iter().map(|pair| pair.draws).sum() });
        }
        let has_tie = self.ties == Ties::Davidson && tie > 0.0 && pairs.iter().any(|pair| pair.draws > 0);
        let mut point = Point { strengths, tie: has_tie.then_some(tie) };
        let mut equations = Equations::new(point.strengths.len(), self.centre(pairs, point.strengths.len()));
        equations.set(pairs, &point.strengths, point.tie);
        let mut last_step = f64::INFINITY;
        for steps in 1..=STEPS {
            let step = equations.step();
            last_step = step.iter().fold(0.0, |most: f64, part| most.max(part.abs()));
            let climb = dot(&step, &equations.residual);
            let mut share = if last_step > LONGEST_STEP { LONGEST_STEP / last_step } else { 1.0 };
            let ended = last_step < LAST_STEP;
            let mut next = point.moved(&step, share, &equations.prior);
            if !ended {
                equations.set(pairs, &next.strengths, next.tie);
                // The likelihood is concave: while it does not fall steeply at the new point, the step was not far too
                // long.
                while dot(&step, &equations.residual) < -0.5 * climb && share > 1e-9 {
                    share *= 0.5;
                    next = point.moved(&step, share, &equations.prior);
                    equations.set(pairs, &next.strengths, next.tie);
                }
            }
            point = next;
            if ended {
                return Ok(Fit {
                    ties: self.ties,
                    prior: self.prior,
                    tie: point.tie.unwrap_or(0.0),
                    strengths: point.strengths,
                    steps,
                });
            }
        }
        Err(FitError::NotConverged { steps: STEPS, last_step })
    }
}

impl BradleyTerry {
    /// Returns the prior as the equations take it.
    fn centre(&self, pairs: &[PairCount], competitors: usize) -> Centre {
        let Some(prior) = self.prior else { return Centre::default() };
        Centre { precision: prior.precision(), parts: graph::parts(pairs, competitors) }
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
    fn moved(&self, step: &[f64], share: f64, prior: &Centre) -> Self {
        let moved = || self.strengths.iter().zip(step).map(|(strength, step)| strength + share * step);
        let mean = moved().sum::<f64>() / self.strengths.len() as f64;
        let mut strengths: Vec<f64> = moved().map(|strength| strength - mean).collect();
        prior.around_zero(&mut strengths);
        Self {
            strengths,
            tie: self.tie.map(|tie| tie * libm::exp(share * step.last().copied().unwrap_or(0.0))),
        }
    }
}
