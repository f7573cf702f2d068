//! The answer to [`Stress`]: how much a ranking depends on its scorecard, and on single tasks.

use serde::Deserialize;

use super::Draws;
use super::about::About;
use super::answer::{invalid, refused, settings};
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
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct Stress {
    /// Closeness of random weights: at 20, one of five equal weights becomes 13 to 28 %
    #[serde(deserialize_with = "super::number")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = CONCENTRATION, value_parser = concentration))]
    pub concentration: f64,
    /// The random weights
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    #[cfg_attr(feature = "schema", param(ignore))]
    pub weights: Draws,
    /// Scorecard, items and confidence
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    #[cfg_attr(feature = "schema", param(ignore))]
    pub about: About,
}

impl Default for Stress {
    fn default() -> Self {
        Self { concentration: CONCENTRATION, weights: Draws::default(), about: About::default() }
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

impl Stress {
    /// Returns the fields whose values the items must keep: none.
    pub fn kept(&self) -> Vec<String> {
        Vec::new()
    }

    /// Refuses settings that no flag takes.
    ///
    /// # Errors
    /// If there is one.
    pub fn check(&self) -> Result<(), Error> {
        let given = self.concentration;
        concentration(&given.to_string())
            .map_err(|why| invalid(format!("`concentration` is `{given}`: {why}")))?;
        self.weights.check()?;
        self.about.check()
    }

    /// Tests the ranks by score.
    ///
    /// # Errors
    /// If several scorecards scored the items, there are fewer than two subjects, or the items are too few.
    pub fn answer(&self, rows: &Rows) -> Result<StressAnswer, Error> {
        let Draws { draws, seed } = self.weights;
        let settings = Settings { draws, seed, ..settings(&self.about.sure, By::Score, rows) };
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
        Ok(StressAnswer::new(rows, &found, self.concentration, &settings))
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
