//! A gate on a leaderboard: the least score, or value in a dimension, that each subject must have.

use super::{Leaderboard, LeaderboardRow};
use crate::answers::basis::Estimate;

/// The value of an estimate that must reach the floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// The mean, or the official score by which subjects are ranked.
    Mean,
    /// The lower end of its interval.
    Low,
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
    /// Returns the subjects of a leaderboard that are below the floor or have no value to compare, in its order:
    /// those with a rank, or only `subjects`, of which one without a rank has no value.
    #[must_use]
    pub fn shortfalls(&self, board: &Leaderboard, subjects: &[String]) -> Vec<Shortfall> {
        let is_meant = |subject: &str| subjects.is_empty() || subjects.iter().any(|name| name == subject);
        let ranked = board.rows.iter().filter(|row| is_meant(&row.subject));
        let ranked = ranked.filter_map(|row| self.shortfall(&row.subject, self.estimate(row)));
        let unranked = subjects.iter().filter(|name| board.rows.iter().all(|row| row.subject != **name));
        ranked.chain(unranked.filter_map(|name| self.shortfall(name, None))).collect()
    }

    fn estimate(&self, row: &LeaderboardRow) -> Option<Estimate> {
        match (&self.dimension, self.on) {
            // The interval that a leaderboard shows beside an official score is that of the mean of runs.
            (None, On::Low) => row.runs.or_else(|| row.official.is_none().then_some(row.score)),
            (None, On::Mean) => Some(row.score),
            (Some(key), _) => row.dimensions.as_ref()?.get(key).copied().flatten(),
        }
    }

    fn shortfall(&self, subject: &str, estimate: Option<Estimate>) -> Option<Shortfall> {
        let value = estimate.and_then(|estimate| match self.on {
            On::Mean => Some(estimate.mean),
            On::Low => estimate.low,
        });
        // Answers are rounded to billionths.
        let is_below = value.map(|value| ((value * 1e9).round() as i64) < self.least);
        let found = |is_below| Shortfall { subject: subject.to_owned(), estimate, is_below };
        match is_below {
            Some(false) => None,
            Some(true) => Some(found(true)),
            None => Some(found(false)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_reached_by_what_equals_it_and_not_by_what_is_not_there() {
        let estimate = |mean, low| Some(Estimate { mean, low, high: None, method: None, tasks: 3 });
        let below = |on, estimate| {
            let floor = Floor { dimension: None, least: 800_000_000, on };
            floor.shortfall("a", estimate).map(|it| it.is_below)
        };
        assert_eq!(below(On::Mean, estimate(0.8, None)), None);
        assert_eq!(below(On::Mean, estimate(0.799_999_999, None)), Some(true));
        assert_eq!(below(On::Low, estimate(0.9, Some(0.79))), Some(true));
        assert_eq!(below(On::Low, estimate(0.9, Some(0.8))), None);
        assert_eq!((below(On::Low, estimate(0.9, None)), below(On::Mean, None)), (Some(false), Some(false)));
    }
}
