//! Elo: two ratings move by how far the result was from what their difference promised.

use alloc::vec::Vec;

use super::bounds::{OutOfRange, POINTS_LIMIT, outside};
use super::outcome::Outcome;
use super::system::System;

/// A competitor's points and experience.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EloRating {
    /// Points.
    pub points: f64,
    /// Matches played so far: they choose the factor of the next one.
    pub matches: u32,
}

/// The rounding of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// Points keep their fractions.
    None,
    /// After every match points are rounded to the nearest whole number, halves up.
    HalfUp,
}

/// The settings of Elo. [`Elo::ARENA`] is the arena's; the default is the plain system: 1500 points, a factor of 32.
///
/// Expected score `E = 1 / (1 + 10^((opponent - own) / scale))`, new points `own + K (S - E)` (Elo, The Rating of
/// Chessplayers, 1978, 1.6; arena document, "Impact on Elo").
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Elo {
    /// Points of a newcomer.
    pub initial_points: f64,
    /// The lowest rating, in points; a rating below it is lifted at its next match.
    pub floor_points: Option<f64>,
    /// The factor K of a competitor of fewer than `established_from_matches` matches.
    pub factor_new: f64,
    /// The factor K from then on.
    pub factor_established: f64,
    /// Number of matches before the first one that has the second factor.
    pub established_from_matches: u32,
    /// The difference in points that promises ten to one.
    pub scale_points: f64,
    /// The rounding of points.
    pub rounding: Rounding,
}

impl Default for Elo {
    fn default() -> Self {
        Self {
            initial_points: 1500.0,
            floor_points: None,
            factor_new: 32.0,
            factor_established: 32.0,
            established_from_matches: 0,
            scale_points: 400.0,
            rounding: Rounding::None,
        }
    }
}

impl Elo {
    /// The arena's: from 1000, never below 100, K of 32 for thirty matches and 16 after them, whole points.
    pub const ARENA: Self = Self {
        initial_points: 1000.0,
        floor_points: Some(100.0),
        factor_new: 32.0,
        factor_established: 16.0,
        established_from_matches: 30,
        scale_points: 400.0,
        rounding: Rounding::HalfUp,
    };

    /// Returns the score that `points` promise against `opponent_points`, 0 to 1.
    #[inline]
    pub fn expected_score(&self, points: f64, opponent_points: f64) -> f64 {
        let exponent = (opponent_points - points) * (core::f64::consts::LOG2_10 / self.scale_points);
        1.0 / (1.0 + libm::exp2(exponent))
    }

    /// Returns the rating after a match against an opponent whose own rating stays as it is, such as a challenge.
    pub fn against(&self, rating: &EloRating, opponent_points: f64, outcome: Outcome) -> EloRating {
        self.moved(rating, outcome.score() - self.expected_score(rating.points, opponent_points))
    }

    /// Returns the factor K of a competitor that has played that many matches.
    #[inline]
    pub const fn factor_after(&self, matches: u32) -> f64 {
        if matches < self.established_from_matches { self.factor_new } else { self.factor_established }
    }

    /// Returns the points after a match, before the floor: `surplus` is the score less the expected one.
    #[inline]
    pub(super) fn unfloored(&self, rating: &EloRating, surplus: f64) -> f64 {
        let points = rating.points + self.factor_after(rating.matches) * surplus;
        match self.rounding {
            Rounding::None => points,
            Rounding::HalfUp => half_up(points),
        }
    }

    #[inline]
    fn moved(&self, rating: &EloRating, surplus: f64) -> EloRating {
        let points = self.unfloored(rating, surplus);
        let points = self.floor_points.map_or(points, |floor| points.max(floor));
        // Between competitors who differ by everything a rating could creep out of its range.
        EloRating {
            points: points.clamp(-POINTS_LIMIT, POINTS_LIMIT),
            matches: rating.matches.saturating_add(1),
        }
    }
}

/// Returns the nearest whole number, halves up, for numbers below 2^51.
#[inline]
fn half_up(x: f64) -> f64 {
    // Doubles of this size are whole, so adding it rounds, ties to even.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    let even = (x + WHOLE) - WHOLE;
    if x - even == 0.5 { even + 1.0 } else { even }
}

impl System for Elo {
    type Rating = EloRating;

    fn settings_outside(&self) -> Vec<OutOfRange> {
        outside(&[
            ("initial_points", self.initial_points, -POINTS_LIMIT, POINTS_LIMIT),
            ("floor_points", self.floor_points.unwrap_or(0.0), -POINTS_LIMIT, POINTS_LIMIT),
            ("factor_new", self.factor_new, 0.0, POINTS_LIMIT),
            ("factor_established", self.factor_established, 0.0, POINTS_LIMIT),
            ("scale_points", self.scale_points, 1.0, POINTS_LIMIT),
        ])
    }

    fn rating_outside(&self, rating: &EloRating) -> Vec<OutOfRange> {
        outside(&[("points", rating.points, -POINTS_LIMIT, POINTS_LIMIT)])
    }

    fn initial(&self) -> EloRating {
        EloRating { points: self.initial_points, matches: 0 }
    }

    fn points(&self, rating: &EloRating) -> f64 {
        rating.points
    }

    /// Returns none: Elo does not say how sure it is.
    fn deviation(&self, _rating: &EloRating) -> Option<f64> {
        None
    }

    fn expected(&self, first: &EloRating, second: &EloRating) -> f64 {
        self.expected_score(first.points, second.points)
    }

    #[inline]
    fn update(&self, first: &EloRating, second: &EloRating, outcome: Outcome) -> (EloRating, EloRating) {
        let surplus = outcome.score() - self.expected(first, second);
        (self.moved(first, surplus), self.moved(second, -surplus))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn halves_go_up() {
        for (x, expected) in
            [(0.5, 1.0), (1.5, 2.0), (2.5, 3.0), (-0.5, 0.0), (-1.5, -1.0), (2.4999, 2.0), (-2.6, -3.0)]
        {
            assert_eq!(half_up(x), expected, "{x}");
        }
        assert_eq!(half_up(0.499_999_999_999_999_94), 0.0);
    }

    /// A half is only met where both are equal, so the last bit of the expected score never decides a rounding.
    #[test]
    fn no_rounding_hangs_on_the_last_bit() {
        for difference in -6000..=6000 {
            for factor in [16.0, 32.0] {
                let gain = factor * Elo::ARENA.expected_score(f64::from(difference), 0.0);
                let from_half = (gain - libm::floor(gain) - 0.5).abs();
                assert!(difference == 0 || from_half > 1e-9, "{difference} {factor}: {from_half}");
            }
        }
    }

    #[test]
    fn settings_and_ratings_that_are_no_numbers_are_refused() {
        let wrong = Elo { scale_points: 0.0, floor_points: Some(f64::NAN), ..Elo::default() };
        let names: Vec<_> = wrong.settings_outside().iter().map(|problem| problem.name).collect();
        assert_eq!(names, ["floor_points", "scale_points"]);
        assert!(Elo::ARENA.settings_outside().is_empty() && Elo::default().settings_outside().is_empty());
        assert_eq!(wrong.rating_outside(&EloRating { points: f64::INFINITY, matches: 0 }).len(), 1);
    }

    proptest! {
        #[test]
        fn what_comes_out_can_go_in(
            first in -1e6..1e6f64, second in -1e6..1e6f64, scale in 1.0..1e6f64, factor in 0.0..1e6f64,
        ) {
            let elo = Elo { scale_points: scale, factor_established: factor, ..Elo::default() };
            let rating = |points| EloRating { points, matches: u32::MAX };
            let after = elo.update(&rating(first), &rating(second), Outcome::Win);
            prop_assert!((0.0..=1.0).contains(&elo.expected(&rating(first), &rating(second))));
            prop_assert!(elo.rating_outside(&after.0).is_empty());
            prop_assert!(elo.rating_outside(&after.1).is_empty());
        }
    }
}
