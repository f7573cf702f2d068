//! Glicko-2: a rating with its deviation, and a volatility that says how erratic it is. `periods` is for whole periods.
//!
//! After Mark E. Glickman, "Example of the Glicko-2 system", 30 November 2013; the steps below are its steps.

mod periods;
mod volatility;

use alloc::vec::Vec;

use super::bounds::{DEVIATION_LEAST, DEVIATION_LIMIT, OutOfRange, POINTS_LIMIT, outside};
use super::outcome::Outcome;
use super::system::System;
pub use periods::{PeriodError, Seat};

/// Points of one unit of the internal scale (step 2).
const POINTS_PER_UNIT: f64 = 173.7178;
/// Units of one point.
const UNITS_PER_POINT: f64 = 1.0 / POINTS_PER_UNIT;
/// Rating in points at the origin of the internal scale (step 2).
const ORIGIN_POINTS: f64 = 1500.0;
/// The largest volatility; 0.06 is usual.
const VOLATILITY_LIMIT: f64 = 10.0;
/// The largest difference, in weighted units, that still counts: 50 promise 5e21 to one.
const DIFFERENCE_LIMIT: f64 = 50.0;

/// The rating of a competitor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Glicko2Rating {
    /// The rating, in points (`r`).
    pub points: f64,
    /// Its standard deviation, in points (`RD`).
    pub deviation: f64,
    /// The movement of the strength in a period, in units of the internal scale (`sigma`).
    pub volatility: f64,
}

/// The settings of Glicko-2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Glicko2 {
    /// The freedom of the volatility to change (`tau`): 0.3 to 1.2 is reasonable.
    pub tau: f64,
    /// Rating of a newcomer, in points.
    pub initial_points: f64,
    /// Deviation of a newcomer, in points.
    pub initial_deviation: f64,
    /// Volatility of a newcomer.
    pub initial_volatility: f64,
}

impl Default for Glicko2 {
    /// Defaults to tau 0.5, 1500 points, deviation 350, volatility 0.06: the values of the document.
    fn default() -> Self {
        Self { tau: 0.5, initial_points: 1500.0, initial_deviation: 350.0, initial_volatility: 0.06 }
    }
}

/// The evidence about a competitor in the matches of a period, summed over its opponents (steps 3 and 4).
#[derive(Clone, Copy, Default)]
struct Evidence {
    /// Sum of `g^2 E (1 - E)`: one over the variance `v`.
    precision: f64,
    /// Sum of `g (s - E)`: the improvement `Delta` over `v`.
    surplus: f64,
}

impl Evidence {
    fn add(&mut self, attenuation: f64, expected: Expected, score: f64, weight: f64) {
        self.precision += weight * attenuation * attenuation * expected.variance;
        self.surplus += weight * attenuation * (score - expected.score);
    }
}

/// A match that counts in part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedMatch {
    /// The opponent, as it was rated when the period began.
    pub opponent: Glicko2Rating,
    /// The outcome for the competitor.
    pub outcome: Outcome,
    /// The part of a whole match that it counts, above 0 to 1.
    pub weight: f64,
}

/// An expected score and `E (1 - E)`, which keeps its digits where `E` is next to 1.
#[derive(Clone, Copy)]
struct Expected {
    score: f64,
    variance: f64,
}

impl Expected {
    /// Computes it from the difference of two strengths, already attenuated.
    fn of(difference: f64) -> Self {
        let odds = libm::exp(-difference.abs().min(DIFFERENCE_LIMIT));
        let share = 1.0 / (1.0 + odds);
        let score = if difference < 0.0 { odds * share } else { share };
        Self { score, variance: odds * share * share }
    }
}

/// A rating on the internal scale (step 2).
#[derive(Clone, Copy)]
struct Internal {
    strength: f64,
    variance: f64,
}

impl Internal {
    fn of(rating: &Glicko2Rating) -> Self {
        let deviation = rating.deviation * UNITS_PER_POINT;
        Self { strength: (rating.points - ORIGIN_POINTS) * UNITS_PER_POINT, variance: deviation * deviation }
    }

    /// Returns `g` of the deviation (step 3): how little an uncertain opponent says.
    fn attenuation(self) -> f64 {
        const THREE_OVER_PI_SQUARED: f64 = 3.0 / (core::f64::consts::PI * core::f64::consts::PI);
        1.0 / libm::sqrt(1.0 + THREE_OVER_PI_SQUARED * self.variance)
    }
}

impl Glicko2 {
    /// Returns the rating after a period with these matches: every opponent with the rating it had when the period began, and
    /// the outcome seen from `rating`. Without matches only the deviation grows (the end of the document).
    ///
    /// Sums are in the order of `matches`.
    pub fn period(&self, rating: &Glicko2Rating, matches: &[(Glicko2Rating, Outcome)]) -> Glicko2Rating {
        let whole = |&(opponent, outcome): &(Glicko2Rating, Outcome)| WeightedMatch {
            opponent,
            outcome,
            weight: 1.0,
        };
        self.after(rating, matches.iter().map(whole), 1.0)
    }

    /// Returns the rating after matches that count in part, `periods` after the last ones; that may be a fraction of a
    /// period. With one period and weights of 1 it is [`Self::period`].
    ///
    /// A match of weight `w` is evidence to the power of `w`: its likelihood `L` counts as `L^w`, so a weight of 1/2 twice
    /// is one whole match. The logarithm is multiplied by `w`, and so are both sums of steps 3 and 4, which are its
    /// derivatives:
    ///
    /// ```text
    /// 1 / v     = sum of w g^2 E (1 - E)
    /// Delta / v = sum of w g (s - E)
    /// ```
    ///
    /// Steps 5 to 8 remain as they are. Weights outside their range are brought into it; one of 0 or NaN is not a match.
    pub fn weighted(&self, rating: &Glicko2Rating, matches: &[WeightedMatch], periods: f64) -> Glicko2Rating {
        self.after(rating, matches.iter().copied().filter(|it| it.weight > 0.0), periods)
    }

    fn after(
        &self,
        rating: &Glicko2Rating,
        matches: impl Iterator<Item = WeightedMatch>,
        periods: f64,
    ) -> Glicko2Rating {
        let own = Internal::of(rating);
        let mut evidence = Evidence::default();
        let mut is_rest = true;
        for WeightedMatch { opponent, outcome, weight } in matches {
            let opponent = Internal::of(&opponent);
            let attenuation = opponent.attenuation();
            let expected = Expected::of(attenuation * (own.strength - opponent.strength));
            evidence.add(attenuation, expected, outcome.score(), weight.min(1.0));
            is_rest = false;
        }
        if is_rest { self.rested(rating, periods) } else { self.moved(rating, own, evidence, periods) }
    }

    /// Returns the rating after `periods` without a match: the variance grows by the squared volatility in each.
    pub(crate) fn rested(&self, rating: &Glicko2Rating, periods: f64) -> Glicko2Rating {
        if periods.is_nan() || periods <= 0.0 {
            return *rating;
        }
        let grown = rating.volatility * rating.volatility * periods;
        let deviation = libm::sqrt(Internal::of(rating).variance + grown) * POINTS_PER_UNIT;
        Glicko2Rating { deviation: deviation.min(DEVIATION_LIMIT), ..*rating }
    }

    /// Steps 5 to 8. The results are kept where [`System::rating_outside`] lets them be, which no match between ratings
    /// of people or agents comes near.
    fn moved(
        &self,
        rating: &Glicko2Rating,
        own: Internal,
        evidence: Evidence,
        periods: f64,
    ) -> Glicko2Rating {
        let v = 1.0 / evidence.precision;
        let improvement = v * evidence.surplus;
        let volatility =
            volatility::next(rating.volatility, own.variance, v, improvement, self.tau).min(VOLATILITY_LIMIT);
        let before = own.variance + volatility * volatility * periods.max(0.0);
        // 1 / (1 / before + 1 / v), with one division.
        let variance = before / (1.0 + before * evidence.precision);
        let strength = own.strength + variance * evidence.surplus;
        let points = strength * POINTS_PER_UNIT + ORIGIN_POINTS;
        Glicko2Rating {
            points: points.clamp(-POINTS_LIMIT, POINTS_LIMIT),
            deviation: (libm::sqrt(variance) * POINTS_PER_UNIT).clamp(DEVIATION_LEAST, DEVIATION_LIMIT),
            volatility: volatility.max(f64::MIN_POSITIVE),
        }
    }
}

impl System for Glicko2 {
    type Rating = Glicko2Rating;

    fn settings_outside(&self) -> Vec<OutOfRange> {
        outside(&[
            ("tau", self.tau, 1e-6, 10.0),
            ("initial_points", self.initial_points, -POINTS_LIMIT, POINTS_LIMIT),
            ("initial_deviation", self.initial_deviation, DEVIATION_LEAST, DEVIATION_LIMIT),
            ("initial_volatility", self.initial_volatility, f64::MIN_POSITIVE, VOLATILITY_LIMIT),
        ])
    }

    fn rating_outside(&self, rating: &Glicko2Rating) -> Vec<OutOfRange> {
        outside(&[
            ("points", rating.points, -POINTS_LIMIT, POINTS_LIMIT),
            ("deviation", rating.deviation, DEVIATION_LEAST, DEVIATION_LIMIT),
            ("volatility", rating.volatility, f64::MIN_POSITIVE, VOLATILITY_LIMIT),
        ])
    }

    fn initial(&self) -> Glicko2Rating {
        Glicko2Rating {
            points: self.initial_points,
            deviation: self.initial_deviation,
            volatility: self.initial_volatility,
        }
    }

    fn points(&self, rating: &Glicko2Rating) -> f64 {
        rating.points
    }

    fn deviation(&self, rating: &Glicko2Rating) -> Option<f64> {
        Some(rating.deviation)
    }

    /// Predicts with both deviations, so that neither side's uncertainty is lost: `g` of their joint variance, as for
    /// the prediction of a match in Glickman's "The Glicko system".
    fn expected(&self, first: &Glicko2Rating, second: &Glicko2Rating) -> f64 {
        let (own, other) = (Internal::of(first), Internal::of(second));
        let joint = Internal { strength: 0.0, variance: own.variance + other.variance };
        Expected::of(joint.attenuation() * (own.strength - other.strength)).score
    }

    /// Returns a period of one match for both.
    fn update(
        &self,
        first: &Glicko2Rating,
        second: &Glicko2Rating,
        outcome: Outcome,
    ) -> (Glicko2Rating, Glicko2Rating) {
        let (own, other) = (Internal::of(first), Internal::of(second));
        let difference = own.strength - other.strength;
        let side = |rating, own, opponent: Internal, difference: f64, score| {
            let attenuation = opponent.attenuation();
            let mut evidence = Evidence::default();
            evidence.add(attenuation, Expected::of(attenuation * difference), score, 1.0);
            self.moved(rating, own, evidence, 1.0)
        };
        let score = outcome.score();
        let after = side(first, own, other, difference, score);
        (after, side(second, other, own, -difference, 1.0 - score))
    }
}

#[cfg(test)]
mod tests;
