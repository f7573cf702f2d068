//! The drift of the mean of a pool over a run of matches.

use super::system::System;

/// The mean of the pool before and after: a bonus, a floor, rounding and unequal factors let it move, and then points
/// of one month are not points of another.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Drift {
    /// Competitors, newcomers included.
    pub competitors: usize,
    /// Mean points before the matches; a newcomer counts with the rating it started from.
    pub mean_before: f64,
    /// Mean points after them.
    pub mean_after: f64,
}

impl Drift {
    /// Returns the drift between two lists of ratings of the same competitors, summed in their order. All zero for none.
    pub fn between<S: System>(system: &S, before: &[S::Rating], after: &[S::Rating]) -> Self {
        let competitors = before.len().min(after.len());
        let mean = |ratings: &[S::Rating]| {
            let sum: f64 = ratings.iter().take(competitors).map(|rating| system.points(rating)).sum();
            sum / competitors.max(1) as f64
        };
        Self { competitors, mean_before: mean(before), mean_after: mean(after) }
    }

    /// Returns the points by which the mean moved.
    pub fn points(&self) -> f64 {
        self.mean_after - self.mean_before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rating::{Elo, Match, Outcome, rate};

    #[test]
    fn equal_factors_keep_the_mean_and_unequal_ones_do_not() {
        let elo = Elo::default();
        let before = [elo.initial(); 2];
        let win = Match { first: 0, second: 1, outcome: Outcome::Win };
        let mut after = before;
        rate(&elo, &mut after, &[win; 5]).unwrap();
        assert!(Drift::between(&elo, &before, &after).points().abs() < 1e-9);

        let arena = Elo::ARENA;
        let mut before = [arena.initial(); 2];
        before[0].matches = 30;
        let mut after = before;
        rate(&arena, &mut after, &[win]).unwrap();
        let drift = Drift::between(&arena, &before, &after);
        assert_eq!((drift.competitors, drift.points()), (2, -4.0), "the winner gains 8, the loser pays 16");
        assert_eq!(Drift::between(&arena, &[], &[]), Drift::default());
    }
}
