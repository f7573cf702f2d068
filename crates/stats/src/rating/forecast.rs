//! The quality of expected scores as predictions.

use super::outcome::{Match, Outcome};

/// Expected scores this near to 0 and 1 count as this far away, so that one surprise does not cost infinitely much.
const LEAST: f64 = 1e-15;

/// The quality of predictions: lower losses are better. A draw counts as half a win and half a loss.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Forecast {
    /// Matches that were predicted.
    pub matches: usize,
    /// Mean of `-(s ln p + (1 - s) ln (1 - p))` for expected scores `p` and scores `s`, in nats; 0.693 is a coin.
    pub log_loss: f64,
    /// Mean of `(p - s)^2` (Brier 1950); 0.25 is a coin that meets no draw.
    pub brier: f64,
}

impl Forecast {
    /// Compares the expected score of the first competitor with the outcome, match by match in their order. All zero for
    /// no match.
    pub fn of(predictions: impl IntoIterator<Item = (f64, Outcome)>) -> Self {
        let mut sums = Self::default();
        for (expected, outcome) in predictions {
            let (score, p) = (outcome.score(), expected.clamp(LEAST, 1.0 - LEAST));
            sums.matches += 1;
            sums.log_loss -= score * libm::log(p) + (1.0 - score) * libm::log(1.0 - p);
            sums.brier += (expected - score) * (expected - score);
        }
        let count = sums.matches.max(1) as f64;
        Self { log_loss: sums.log_loss / count, brier: sums.brier / count, ..sums }
    }
}

/// Returns the mean score of the first competitors: the best prediction without names. One half for no match.
pub fn mean_score(matches: &[Match]) -> f64 {
    let halves: u64 = matches.iter().map(|found| (2.0 * found.outcome.score()) as u64).sum();
    if matches.is_empty() { 0.5 } else { halves as f64 / (2.0 * matches.len() as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certainty_pays_where_it_is_right_and_costs_where_it_is_wrong() {
        let right = Forecast::of([(1.0, Outcome::Win), (0.0, Outcome::Loss)]);
        assert!(right.log_loss < 1e-14 && right.brier == 0.0);
        let wrong = Forecast::of([(1.0, Outcome::Loss)]);
        assert!(wrong.log_loss.is_finite() && wrong.log_loss > 30.0 && wrong.brier == 1.0);
        assert_eq!(Forecast::of([]), Forecast::default());
        assert_eq!(mean_score(&[]), 0.5);
    }
}
