//! The answer to [`Stress`]: how much a ranking depends on its scorecard, and on single tasks.

use serde::Deserialize;

use super::answer::{invalid, refused, settings};
use super::{Draws, Items, Sure};
use crate::answers::leaderboard::Leaderboard;
use crate::answers::stress::Stress as StressAnswer;
use crate::error::Error;
use crate::leaderboard::stress::{CONCENTRATION, Stress as Found};
use crate::leaderboard::{By, Ranking, Settings};
use crate::rows::Rows;

/// Other weights, other means, fewer dimensions and fewer tasks.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip))]
pub struct Stress {
    /// The scorecard: a released id or a file
    #[cfg_attr(feature = "cli", arg(value_name = "CARD", required = true))]
    pub card: Option<String>,
    /// Closeness of random weights: at 20, one of five equal weights becomes 13 to 28 %
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = CONCENTRATION, value_parser = concentration))]
    pub concentration: f64,
    /// The items
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub items: Items,
    /// The random weights
    #[serde(skip)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub weights: Draws,
    /// The confidence
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub sure: Sure,
}

impl Default for Stress {
    fn default() -> Self {
        Self {
            card: None,
            concentration: CONCENTRATION,
            items: Items::default(),
            weights: Draws::default(),
            sure: Sure::default(),
        }
    }
}

/// Reads a concentration.
///
/// # Errors
/// If it is not above 0.
pub fn concentration(text: &str) -> Result<f64, String> {
    let found = text.parse::<f64>().ok().filter(|found| *found > 0.0 && found.is_finite());
    found.ok_or_else(|| String::from("expected a number above 0, such as 20"))
}

/// The answer, and the ranking that was tested.
#[derive(Debug)]
pub struct Stressed {
    /// The answer.
    pub answer: StressAnswer,
    ranking: Ranking,
    settings: Settings,
}

impl Stress {
    /// Tests the ranks by score.
    ///
    /// # Errors
    /// If several scorecards scored the items, there are fewer than two subjects, or the items are too few.
    pub fn answer(&self, rows: &Rows) -> Result<Stressed, Error> {
        let Draws { draws, seed } = self.weights;
        let settings = Settings { draws, seed, ..settings(&self.sure, By::Score, rows) };
        let items: Vec<usize> = (0..rows.rows.len()).collect();
        let refused = |error| refused(&error, rows);
        let ranking = Ranking::new(rows, &items, None, &settings).map_err(refused)?;
        let card = rows.only_card().ok_or_else(|| {
            invalid("the items are scored by several scorecards, each with its own weights")
                .hint("give the records of one challenge alone")
        })?;
        if ranking.leaderboard.rows.len() < 2 {
            return Err(invalid("there is one subject, and no rank that could change")
                .hint("give the items of two subjects or more"));
        }
        let found =
            Found::new(rows, &items, &ranking, card, self.concentration, &settings).map_err(refused)?;
        let answer = StressAnswer::new(rows, &found, self.concentration, &settings);
        Ok(Stressed { answer, ranking, settings })
    }
}

impl Stressed {
    /// Returns the leaderboard whose ranks were tested.
    pub fn leaderboard(&self, rows: &Rows) -> Leaderboard {
        Leaderboard::of_ranking(rows, &self.ranking, &self.settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_concentration_is_above_0() {
        assert_eq!(concentration("20"), Ok(20.0));
        for wrong in ["0", "-1", "NaN", "much"] {
            assert!(concentration(wrong).is_err(), "{wrong}");
        }
    }
}
