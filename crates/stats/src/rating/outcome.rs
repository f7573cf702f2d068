//! Outcomes of matches, and a match between two competitors of a list.

use alloc::string::String;
use core::str::FromStr;

karat_core::words! {
    /// The end of a match, seen from the first competitor.
    pub enum Outcome {
        /// The first competitor won.
        Win = "win",
        /// Neither won.
        Draw = "draw",
        /// The second competitor won.
        Loss = "loss",
    }
}

impl Outcome {
    /// Returns what the first competitor scored: 1, 0.5 or 0.
    pub const fn score(self) -> f64 {
        match self {
            Self::Win => 1.0,
            Self::Draw => 0.5,
            Self::Loss => 0.0,
        }
    }

    /// Returns the same match seen from the other side.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Win => Self::Loss,
            Self::Draw => Self::Draw,
            Self::Loss => Self::Win,
        }
    }
}

/// A text that names no outcome. A match without a result (cancelled, void) is not rated: leave it out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not a result, expected `win`, `draw` or `loss`; leave out a match without a result")]
pub struct UnknownOutcome {
    /// The text.
    pub found: String,
}

impl FromStr for Outcome {
    type Err = UnknownOutcome;

    /// Reads `win`, `draw` or `loss`, in these letters.
    ///
    /// ```
    /// use karat_stats::rating::Outcome;
    /// assert_eq!("draw".parse(), Ok(Outcome::Draw));
    /// assert!("Win".parse::<Outcome>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::from_name(text).ok_or_else(|| UnknownOutcome { found: String::from(text) })
    }
}

/// A match between two competitors, by their indices in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// Place of the first competitor, from 0.
    pub first: u32,
    /// Place of the second competitor, from 0.
    pub second: u32,
    /// The outcome, seen from the first.
    pub outcome: Outcome,
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn the_other_side_scores_the_rest() {
        for outcome in [Outcome::Win, Outcome::Draw, Outcome::Loss] {
            assert_eq!(outcome.score() + outcome.opposite().score(), 1.0);
            assert_eq!(outcome.name().parse(), Ok(outcome));
        }
    }

    #[test]
    fn an_unknown_result_is_named() {
        let error = "abandoned".parse::<Outcome>().unwrap_err();
        assert!(error.to_string().starts_with("`abandoned` is not a result, expected `win`"), "{error}");
    }
}
