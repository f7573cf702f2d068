//! A gate on a leaderboard: the least score, or value in a dimension, that each subject must have.

use std::str::FromStr;

use super::{Leaderboard, LeaderboardRow};
use crate::answers::UnrankedReason;
use crate::answers::basis::Estimate;

/// The value of an estimate that must reach the floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum On {
    /// The mean, or the official score by which subjects are ranked.
    #[default]
    Mean,
    /// The lower end of its interval.
    Low,
}

impl FromStr for On {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "mean" => Ok(Self::Mean),
            "low" => Ok(Self::Low),
            _ => Err(String::from("expected mean or low")),
        }
    }
}

/// The least that subjects must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Floor {
    /// The dimension or group; none for the score.
    pub dimension: Option<String>,
    /// The least value, in billionths.
    pub least: i64,
    /// The value that must reach it.
    pub on: On,
}

/// A subject that is below a floor, or has no value to compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Shortfall {
    /// The subject.
    pub subject: String,
    /// Its estimate; none where it has none.
    pub estimate: Option<Estimate>,
    /// True if it has a value, which is below the floor.
    pub is_below: bool,
}

impl Floor {
    /// Returns the subjects of a leaderboard that are below the floor or have no value to compare, in its order: all that it
    /// ranks or has no score of, or only `subjects`. One that has too few tasks for a rank is asked for only by its name.
    pub fn shortfalls(&self, board: &Leaderboard, subjects: &[String], scale: u32) -> Vec<Shortfall> {
        let scale = if self.dimension.is_none() && board.is_of_scores() { scale } else { 1 };
        let is_named = |subject: &String| subjects.contains(subject);
        let is_meant = |subject: &String| subjects.is_empty() || is_named(subject);
        let ranked = board.rows.iter().filter(|row| is_meant(&row.subject));
        let ranked = ranked.filter_map(|row| self.shortfall(&row.subject, self.estimate(row), scale));
        let unranked = board.unranked.iter().flatten();
        let without = unranked.filter(|it| it.why != UnrankedReason::TooFewTasks && is_meant(&it.subject));
        let mut without: Vec<&String> = without.map(|it| &it.subject).collect();
        let is_there =
            |name: &&String| board.rows.iter().any(|row| row.subject == **name) || without.contains(name);
        let more: Vec<&String> = subjects.iter().filter(|name| !is_there(name)).collect();
        without.extend(more);
        ranked.chain(without.into_iter().filter_map(|name| self.shortfall(name, None, scale))).collect()
    }

    /// Returns the estimate that must reach the floor.
    fn estimate(&self, row: &LeaderboardRow) -> Option<Estimate> {
        match &self.dimension {
            None => Some(row.score),
            Some(key) => row.dimensions.as_ref()?.get(key).copied().flatten(),
        }
    }

    /// Returns the estimate if it is below the floor, or has no value to compare. No end of an interval opens a gate that the
    /// score itself does not.
    fn shortfall(&self, subject: &str, estimate: Option<Estimate>, scale: u32) -> Option<Shortfall> {
        // Answers are rounded to billionths.
        let is_less = |value: f64| ((value / f64::from(scale) * 1e9).round() as i64) < self.least;
        let low = |it: &Estimate| it.low.filter(|_| self.on == On::Low);
        let is_below = estimate.is_some_and(|it| is_less(it.mean) || low(&it).is_some_and(is_less));
        let is_open = estimate.is_none_or(|it| self.on == On::Low && it.low.is_none());
        (is_below || is_open).then(|| Shortfall { subject: subject.to_owned(), estimate, is_below })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_reached_by_what_equals_it_and_not_by_what_is_not_there() {
        let estimate = |mean, low| Some(Estimate { mean, low, high: None, method: None, tasks: 3 });
        let below = |on, estimate: Option<Estimate>| {
            let floor = Floor { dimension: None, least: 800_000_000, on };
            floor.shortfall("a", estimate, 1).map(|it| it.is_below)
        };
        assert_eq!(below(On::Mean, estimate(0.8, None)), None);
        assert_eq!(below(On::Mean, estimate(0.799_999_999, None)), Some(true));
        assert_eq!(below(On::Low, estimate(0.9, Some(0.79))), Some(true));
        assert_eq!(below(On::Low, estimate(0.9, Some(0.8))), None);
        assert_eq!((below(On::Low, estimate(0.9, None)), below(On::Mean, None)), (Some(false), Some(false)));
    }
}
