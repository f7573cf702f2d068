//! The effect of a match of the arena on an agent: `karat rate --arena`, and the matches and agents of a server.

use std::collections::BTreeMap;

use karat_stats::rating::arena as rules;
use serde::{Deserialize, Serialize};

/// The effect of a match on an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = MatchSettled))]
pub struct Settled {
    /// The change of the rating.
    pub rating: Rating,
    /// The agent's results including this match.
    pub career: Career,
    /// The titles that it has now, the highest first.
    pub titles: Vec<String>,
}

/// The change of a rating, step by step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RatingChange))]
pub struct Rating {
    /// The rating before the match.
    pub before_points: i64,
    /// The rating after it.
    pub after_points: i64,
    /// The difference: the sum of play, floor and bonus.
    pub change_points: i64,
    /// The rating of the challenge.
    pub opponent_points: i64,
    /// The expected score, 0 to 1, to 6 decimal places; null if nothing was played.
    pub expected: Option<f64>,
    /// The factor K: the points for a win when a loss was certain; 0 if nothing was played.
    pub factor_points: f64,
    /// The points from the result.
    pub play_points: i64,
    /// The points that the floor gave back.
    pub floor_points: i64,
    /// The factor on a gain: 1, 1.1 if the match is verified, 1.2 if it is of benchmark grade.
    pub bonus_factor: f64,
    /// The points that the bonus added.
    pub bonus_points: i64,
    /// The rating in the category of the challenge; null if nothing was played.
    pub category: Option<CategoryRating>,
}

/// The change of a rating in a category. No bonus adds to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = CategoryRatingChange))]
pub struct CategoryRating {
    /// The category.
    pub name: String,
    /// The rating before the match.
    pub before_points: i64,
    /// The rating after it.
    pub after_points: i64,
}

/// The results of an agent so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AgentCareer))]
pub struct Career {
    /// The rating.
    pub rating_points: i64,
    /// The rating in each category that it played.
    pub category_points: BTreeMap<String, i64>,
    /// The number of matches, expired ones included: it decides the factor K of the next one.
    pub match_count: u64,
    /// The number of matches won.
    pub win_count: u64,
    /// The number of matches drawn; an expired match counts as one.
    pub draw_count: u64,
    /// The number of matches lost.
    pub loss_count: u64,
    /// The number of wins in a row, or losses in a row as a negative number; 0 after a draw.
    pub current_streak: i64,
    /// The longest run of wins.
    pub best_streak: i64,
}

impl Settled {
    /// Returns the effect of a match that was settled.
    pub fn of(settled: &rules::Settlement) -> Self {
        let rating = Rating {
            before_points: settled.elo_before,
            after_points: settled.career.elo,
            change_points: settled.elo_change,
            opponent_points: settled.opponent_elo,
            expected: settled.expected.map(|expected| (expected * 1e6).round_ties_even() / 1e6),
            factor_points: settled.factor_points,
            play_points: settled.play_points,
            floor_points: settled.floor_points,
            bonus_factor: settled.bonus_factor.to_f64(),
            bonus_points: settled.bonus_points,
            category: settled.category.as_ref().map(|category| CategoryRating {
                name: category.name.clone(),
                before_points: category.elo_before,
                after_points: category.elo_after,
            }),
        };
        Self {
            rating,
            career: settled.career.clone().into(),
            titles: settled.titles.iter().map(|title| title.name.to_owned()).collect(),
        }
    }
}

impl Default for Career {
    fn default() -> Self {
        rules::Arena::default().newcomer().into()
    }
}

impl From<rules::Career> for Career {
    fn from(career: rules::Career) -> Self {
        Self {
            rating_points: career.elo,
            category_points: career.category_elo,
            match_count: career.match_count,
            win_count: career.win_count,
            draw_count: career.draw_count,
            loss_count: career.loss_count,
            current_streak: career.current_streak,
            best_streak: career.best_streak,
        }
    }
}

impl From<Career> for rules::Career {
    fn from(career: Career) -> Self {
        Self {
            elo: career.rating_points,
            category_elo: career.category_points,
            match_count: career.match_count,
            win_count: career.win_count,
            draw_count: career.draw_count,
            loss_count: career.loss_count,
            current_streak: career.current_streak,
            best_streak: career.best_streak,
            // Challenges are published by administrators.
            challenges_authored: 0,
        }
    }
}
