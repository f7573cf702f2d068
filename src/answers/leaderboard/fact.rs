//! The fact that a leaderboard ranks by, in place of a score.

use serde::{Deserialize, Serialize};

use super::{Leaderboard, LeaderboardRow};
use crate::estimate::Writing;
use crate::rows::FactScale;
use crate::text::short;

/// The fact that is ranked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RankedFact {
    /// Its name.
    pub name: String,
    /// Its unit, if the scorecard states one.
    pub unit: Option<String>,
    /// True if the lowest is the best.
    pub lower_is_better: bool,
}

impl FactScale {
    /// Writes the values of a leaderboard in the unit of the fact.
    pub(crate) fn write(&self, board: &mut Leaderboard) {
        let estimates = board.rows.iter_mut().flat_map(|row| [Some(&mut row.score), row.mean.as_mut()]);
        for score in estimates.flatten() {
            score.mean = self.value(score.mean);
            let ends = score.low.zip(score.high).map(|(low, high)| (self.value(low), self.value(high)));
            score.low = ends.map(|(one, other)| one.min(other));
            score.high = ends.map(|(one, other)| one.max(other));
        }
        let size = |share: f64| (self.value(share) - self.value(0.0)).abs();
        board.settles.iter_mut().for_each(|it| it.turn(size));
        // Outcomes do not change a fact.
        board.other_outcomes = None;
        board.fact = Some(RankedFact {
            name: self.name.clone(),
            unit: self.unit.clone(),
            lower_is_better: self.lower_is_better,
        });
    }
}

impl Leaderboard {
    /// Returns the format of the values that are ranked, on a scale that ends at `max`.
    pub fn writing(&self, max: u32) -> Writing {
        match (&self.fact, self.is_of_scores()) {
            (Some(_), _) => {
                let largest = self.rows.iter().map(|row| row.score.mean.abs()).fold(0.0, f64::max);
                Writing::of_size(largest)
            }
            (None, true) => Writing::points(max),
            (None, false) => Writing::shares(),
        }
    }

    /// Returns what follows a number that is ranked, on a scale that ends at `max`: ` points`, the unit of a fact, or nothing.
    pub fn unit(&self, max: u32) -> String {
        match &self.fact {
            Some(fact) => fact.unit.as_ref().map_or_else(String::new, |unit| format!(" {}", short(unit))),
            None if self.is_of_scores() && max > 1 => String::from(" points"),
            None => String::new(),
        }
    }
}

impl LeaderboardRow {
    /// Returns the value in a column that was asked for.
    pub fn column(&self, key: &str) -> Option<f64> {
        self.columns.get(key).copied().flatten()
    }
}
