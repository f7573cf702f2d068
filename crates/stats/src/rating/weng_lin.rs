//! Weng and Lin's Bayesian rating, with the Bradley-Terry model over full pairs.

use alloc::vec::Vec;

use super::bounds::{DEVIATION_LEAST, DEVIATION_LIMIT, OutOfRange, POINTS_LIMIT, outside};
use super::outcome::Outcome;
use super::system::System;

/// A belief about a competitor's strength: a normal distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WengLinRating {
    /// Its mean, in points.
    pub mean: f64,
    /// Its standard deviation, in points.
    pub deviation: f64,
}

/// The settings of Weng and Lin's system: algorithm 1 of "A Bayesian Approximation Method for Online Ranking", Journal
/// of Machine Learning Research 12 (2011), for competitors that are not teams, with `gamma = deviation / c` as there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WengLin {
    /// Mean of a newcomer, in points.
    pub initial_mean: f64,
    /// Deviation of a newcomer, in points.
    pub initial_deviation: f64,
    /// The spread of one performance around a strength, in points (`beta`).
    pub beta: f64,
    /// The least by which one match may shrink a variance (`kappa`), a factor.
    pub kappa: f64,
    /// The deviation of the movement of a strength between two of its matches, in points (`tau`): its square is added
    /// to the variance before each match. 0 as in the paper; openskill's default is a hundredth of its deviation of a
    /// newcomer, 25/300.
    pub tau: f64,
}

impl Default for WengLin {
    /// Defaults to 25 points, deviation 25/3, beta 25/6, kappa 0.0001 (section 6 of the paper), tau 0.
    fn default() -> Self {
        Self { initial_mean: 25.0, initial_deviation: 25.0 / 3.0, beta: 25.0 / 6.0, kappa: 0.0001, tau: 0.0 }
    }
}

/// The part of one opponent in a competitor's update: `omega` of the mean, `delta` of the shrinking.
#[derive(Clone, Copy, Default)]
struct Evidence {
    omega: f64,
    delta: f64,
}

impl WengLin {
    /// Ratings after one meeting of many competitors: a lower rank is better, equal ranks are a draw. Every pair of
    /// them counts as a match, all from the ratings before the meeting. Takes time in the square of their number.
    ///
    /// Ratings without a rank are left as they are.
    pub fn rank(&self, ratings: &[WengLinRating], ranks: &[u32]) -> Vec<WengLinRating> {
        let before: Vec<WengLinRating> = ratings.iter().map(|rating| self.before(rating)).collect();
        let ranked = || before.iter().zip(ranks).enumerate();
        let moved = ranked().map(|(own, (rating, rank))| {
            let mut sum = Evidence::default();
            for (other, (opponent, opponent_rank)) in ranked() {
                if own != other {
                    let outcome = match rank.cmp(opponent_rank) {
                        core::cmp::Ordering::Less => Outcome::Win,
                        core::cmp::Ordering::Equal => Outcome::Draw,
                        core::cmp::Ordering::Greater => Outcome::Loss,
                    };
                    let (expected, c) = self.pair(rating, opponent);
                    let evidence = evidence(rating, c, outcome.score(), expected);
                    sum.omega += evidence.omega;
                    sum.delta += evidence.delta;
                }
            }
            self.moved(rating, sum)
        });
        moved.chain(ratings.iter().skip(ranks.len()).copied()).collect()
    }

    /// Returns a rating as it is at the start of a match, after its strength may have moved.
    fn before(&self, rating: &WengLinRating) -> WengLinRating {
        if self.tau == 0.0 {
            return *rating;
        }
        let deviation = libm::sqrt(rating.deviation * rating.deviation + self.tau * self.tau);
        WengLinRating { deviation: deviation.min(DEVIATION_LIMIT), ..*rating }
    }

    /// Returns the expected score of the first, and the spread `c` of the difference of two performances.
    fn pair(&self, first: &WengLinRating, second: &WengLinRating) -> (f64, f64) {
        let variance = first.deviation * first.deviation + second.deviation * second.deviation;
        let c = libm::sqrt(variance + 2.0 * self.beta * self.beta);
        (1.0 / (1.0 + libm::exp((second.mean - first.mean) / c)), c)
    }

    fn moved(&self, rating: &WengLinRating, Evidence { omega, delta }: Evidence) -> WengLinRating {
        let shrunk = rating.deviation * libm::sqrt((1.0 - delta).max(self.kappa));
        WengLinRating {
            mean: (rating.mean + omega).clamp(-POINTS_LIMIT, POINTS_LIMIT),
            deviation: shrunk.max(DEVIATION_LEAST),
        }
    }
}

/// Steps 3 and 4 of the algorithm for one opponent.
fn evidence(rating: &WengLinRating, c: f64, score: f64, expected: f64) -> Evidence {
    let share = rating.deviation / c;
    let gamma = share;
    Evidence {
        omega: rating.deviation * share * (score - expected),
        delta: gamma * share * share * expected * (1.0 - expected),
    }
}

impl System for WengLin {
    type Rating = WengLinRating;

    fn settings_outside(&self) -> Vec<OutOfRange> {
        outside(&[
            ("initial_mean", self.initial_mean, -POINTS_LIMIT, POINTS_LIMIT),
            ("initial_deviation", self.initial_deviation, DEVIATION_LEAST, DEVIATION_LIMIT),
            ("beta", self.beta, DEVIATION_LEAST, DEVIATION_LIMIT),
            ("kappa", self.kappa, 1e-12, 1.0),
            ("tau", self.tau, 0.0, DEVIATION_LIMIT),
        ])
    }

    fn rating_outside(&self, rating: &WengLinRating) -> Vec<OutOfRange> {
        outside(&[
            ("mean", rating.mean, -POINTS_LIMIT, POINTS_LIMIT),
            ("deviation", rating.deviation, DEVIATION_LEAST, DEVIATION_LIMIT),
        ])
    }

    fn initial(&self) -> WengLinRating {
        WengLinRating { mean: self.initial_mean, deviation: self.initial_deviation }
    }

    fn points(&self, rating: &WengLinRating) -> f64 {
        rating.mean
    }

    fn deviation(&self, rating: &WengLinRating) -> Option<f64> {
        Some(rating.deviation)
    }

    fn expected(&self, first: &WengLinRating, second: &WengLinRating) -> f64 {
        self.pair(first, second).0
    }

    fn update(
        &self,
        first: &WengLinRating,
        second: &WengLinRating,
        outcome: Outcome,
    ) -> (WengLinRating, WengLinRating) {
        let (first, second) = (&self.before(first), &self.before(second));
        let (expected, c) = self.pair(first, second);
        let score = outcome.score();
        let other = evidence(second, c, 1.0 - score, 1.0 - expected);
        (self.moved(first, evidence(first, c, score, expected)), self.moved(second, other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_newcomers_move_as_worked_by_hand() {
        // c^2 = 2 (25/3)^2 + 2 (25/6)^2 = 173.61..; omega = (25/3)^2 / c / 2; delta = (s/c)^3 / 4.
        let system = WengLin::default();
        let after = system.update(&system.initial(), &system.initial(), Outcome::Win);
        assert!((after.0.mean - 27.635_231_383_473_65).abs() < 1e-12);
        assert!((after.1.mean - 22.364_768_616_526_35).abs() < 1e-12);
        assert!((after.0.deviation - 8.065_506_316_323_548).abs() < 1e-12);
        assert_eq!(after.0.deviation, after.1.deviation);
        let drawn = system.update(&system.initial(), &system.initial(), Outcome::Draw);
        assert_eq!(drawn.0.mean, 25.0);
    }

    #[test]
    fn what_is_wrong_with_settings_is_named() {
        let wrong = WengLin { beta: 0.0, kappa: 2.0, ..WengLin::default() };
        let names: Vec<_> = wrong.settings_outside().iter().map(|problem| problem.name).collect();
        assert_eq!(names, ["beta", "kappa"]);
        assert!(WengLin::default().settings_outside().is_empty());
    }

    #[test]
    fn a_rating_without_a_rank_stays() {
        let system = WengLin::default();
        let after = system.rank(&[system.initial(); 3], &[1, 2]);
        assert_eq!((after.len(), after[2]), (3, system.initial()));
    }

    prop_compose! {
        fn rating()(mean in -1e6..1e6f64, deviation in 1e-9..1e4f64) -> WengLinRating {
            WengLinRating { mean, deviation }
        }
    }

    proptest! {
        #[test]
        fn a_match_is_a_ranking_of_two(
            first in rating(),
            second in rating(),
            outcome in 0..3usize,
            tau in prop::option::of(0.0..1e4f64),
        ) {
            let system = WengLin { tau: tau.unwrap_or(0.0), ..WengLin::default() };
            let (outcome, ranks) =
                [(Outcome::Win, [1, 2]), (Outcome::Draw, [1, 1]), (Outcome::Loss, [2, 1])][outcome];
            let meeting = system.update(&first, &second, outcome);
            let ranked = system.rank(&[first, second], &ranks);
            prop_assert!((ranked[0].mean - meeting.0.mean).abs() <= 1e-9 * first.mean.abs().max(1.0));
            prop_assert!((ranked[1].mean - meeting.1.mean).abs() <= 1e-9 * second.mean.abs().max(1.0));
            prop_assert!(system.rating_outside(&meeting.0).is_empty(), "{meeting:?}");
            prop_assert!(system.rating_outside(&meeting.1).is_empty(), "{meeting:?}");
            prop_assert!(tau.is_some() || meeting.0.deviation <= first.deviation);
        }
    }
}
