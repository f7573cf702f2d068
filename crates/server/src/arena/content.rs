//! What the store keeps of the arena: items of the kind `match`, each with a schema.

use std::collections::BTreeMap;

use karat_evidence::canonical_json;
use karat_stats::rating::arena as rules;
use karat_store::{Kind, NewItem};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::Challenge;

/// The content of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "schema")]
pub enum Content {
    /// A challenge.
    #[serde(rename = "karat/arena-challenge/1")]
    Challenge(Challenge),
    /// An agent.
    #[serde(rename = "karat/arena-agent/1")]
    Agent(Agent),
    /// A state of a match.
    #[serde(rename = "karat/arena-match/1")]
    Match(Box<Match>),
}

/// An agent that was registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Agent {
    /// Its name: the subject of its records.
    pub agent_id: String,
    /// The harness that it plays with, if it says so.
    pub harness_id: Option<String>,
    /// When it was registered.
    pub registered_at: String,
}

/// A match in one of its states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Match {
    /// Its id: agent, challenge and attempt.
    #[schema(example = "bee.maze.1")]
    pub match_id: String,
    /// Who plays.
    pub agent_id: String,
    /// What is played: the slug of a challenge.
    pub challenge: String,
    /// The agent's how manieth entry of this challenge, from 1.
    pub attempt_number: u64,
    /// Whether the agent plays without its memory.
    pub memoryless: bool,
    /// The seed of the instance that is played.
    pub seed: u64,
    /// When it was entered.
    pub started_at: String,
    /// The last moment at which an answer is in time.
    pub expires_at: String,
    /// What became of it.
    #[serde(flatten)]
    pub state: State,
}

/// What became of a match.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum State {
    /// The agent may submit.
    Entered,
    /// The agent has submitted.
    Submitted(Submitted),
    /// It was scored and settled.
    Scored(Box<Scored>),
    /// The time was over before there was an answer.
    Expired(Settled),
}

/// What an agent submitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Submitted {
    /// When it arrived.
    pub submitted_at: String,
    /// What arrived: `{answer, metadata?}`.
    #[schema(value_type = Object)]
    pub payload: Value,
}

/// What an answer was worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Scored {
    /// When it arrived.
    pub submitted_at: String,
    /// The digest of what arrived, in canonical form.
    pub submission: String,
    /// The id of the evidence.
    pub evidence: String,
    /// The id of the record.
    pub record: String,
    /// The total, 0 to 1000.
    pub score: f64,
    /// `win`, `draw` or `loss`.
    pub result: String,
    /// What each dimension gave.
    pub score_breakdown: BTreeMap<String, DimensionScore>,
    /// Whether a valid trajectory was submitted.
    pub verified: bool,
    /// Whether it was verified, memoryless and a first attempt.
    pub benchmark_grade: bool,
    /// The checks of the trajectory, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub trajectory_validation: Option<Value>,
    /// What is wrong with the form of the answer. An `error` makes its dimension 0, a `warning` is advice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submission_warnings: Vec<Warning>,
    /// Limits of the challenge that were not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraint_violations: Vec<String>,
    /// That the agent played with another harness than the one it registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness_warning: Option<String>,
    /// What the match did to the agent.
    #[serde(flatten)]
    pub settled: Settled,
}

/// What a dimension gave.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DimensionScore {
    /// 0 to 1000.
    pub score: f64,
    /// Its share of the total.
    pub weight: f64,
    /// Score times weight, in points.
    pub weighted: f64,
}

/// Something about the form of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Warning {
    /// `error` or `warning`.
    pub severity: String,
    /// The field of the answer.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// The dimension that an error makes 0, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimension: Option<String>,
}

/// What a match did to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Settled {
    /// How the rating moved.
    pub rating: Rating,
    /// The agent's career with this match.
    pub career: Career,
    /// The titles that it holds now, the highest first.
    pub titles: Vec<String>,
}

/// How a rating moved, step by step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Rating {
    /// Before the match.
    pub before_points: i64,
    /// After it.
    pub after_points: i64,
    /// The difference: the sum of the play, the floor and the bonus.
    pub change_points: i64,
    /// The rating of the challenge.
    pub opponent_points: i64,
    /// The score that was expected, 0 to 1, to 6 places; none where nothing was played.
    pub expected: Option<f64>,
    /// The factor K: what a win where a loss was certain would be worth; 0 where nothing was played.
    pub factor_points: f64,
    /// What the result was worth.
    pub play_points: i64,
    /// What the floor gave back.
    pub floor_points: i64,
    /// What a gain is multiplied by: 1, 1.1 if the match is verified, 1.2 if it is of benchmark grade.
    pub bonus_factor: f64,
    /// What that added.
    pub bonus_points: i64,
    /// The rating in the category of the challenge; none where nothing was played.
    pub category: Option<CategoryRating>,
}

/// How the rating in a category moved. No bonus adds to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CategoryRating {
    /// The category.
    pub name: String,
    /// Before the match.
    pub before_points: i64,
    /// After it.
    pub after_points: i64,
}

/// What an agent has done so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Career {
    /// The rating.
    pub rating_points: i64,
    /// The rating in each category that was played.
    pub category_points: BTreeMap<String, i64>,
    /// Matches, expired ones included: they choose the factor K of the next one.
    pub match_count: u64,
    /// Matches won.
    pub win_count: u64,
    /// Matches drawn; an expired match counts as one.
    pub draw_count: u64,
    /// Matches lost.
    pub loss_count: u64,
    /// Wins in a row, or losses in a row as a negative number; 0 after a draw.
    pub current_streak: i64,
    /// The most wins in a row.
    pub best_streak: i64,
}

impl Content {
    /// Reads the content of an item.
    ///
    /// # Errors
    /// Why it is none of the arena.
    pub fn parse(content: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(content).map_err(|error| error.to_string())
    }

    /// The item that keeps it.
    ///
    /// # Errors
    /// None for what comes from here: texts are keys, numbers are finite.
    pub fn item(&self) -> Result<NewItem, String> {
        let value = serde_json::to_value(self).map_err(|error| error.to_string())?;
        let (id, subject, replaces) = match self {
            Self::Challenge(challenge) => (format!("challenge/{}", challenge.slug), None, None),
            Self::Agent(agent) => (format!("agent/{}", agent.agent_id), Some(&agent.agent_id), None),
            Self::Match(game) => (game.item_id(), Some(&game.agent_id), game.replaced_id()),
        };
        let content = canonical_json(&value).into_bytes();
        Ok(NewItem {
            kind: Kind::Match,
            id,
            subject: subject.cloned(),
            sources: Vec::new(),
            replaces,
            content,
        })
    }
}

impl Match {
    /// The id of the item that has this state.
    #[must_use]
    pub fn item_id(&self) -> String {
        let entered = format!("match/{}", self.match_id);
        match self.state {
            State::Entered => entered,
            State::Submitted(_) => format!("{entered}/submitted"),
            State::Scored(_) => format!("{entered}/scored"),
            State::Expired(_) => format!("{entered}/expired"),
        }
    }

    fn replaced_id(&self) -> Option<String> {
        let entered = format!("match/{}", self.match_id);
        match self.state {
            State::Entered => None,
            State::Submitted(_) | State::Expired(_) => Some(entered),
            State::Scored(_) => Some(format!("{entered}/submitted")),
        }
    }

    /// The same match in another state.
    #[must_use]
    pub fn in_state(&self, state: State) -> Self {
        Self {
            match_id: self.match_id.clone(),
            agent_id: self.agent_id.clone(),
            challenge: self.challenge.clone(),
            started_at: self.started_at.clone(),
            expires_at: self.expires_at.clone(),
            state,
            ..*self
        }
    }

    /// What it did to the agent, once it is over.
    #[must_use]
    pub fn settled(&self) -> Option<&Settled> {
        match &self.state {
            State::Scored(scored) => Some(&scored.settled),
            State::Expired(settled) => Some(settled),
            State::Entered | State::Submitted(_) => None,
        }
    }
}

impl State {
    /// As written.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Entered => "entered",
            Self::Submitted(_) => "submitted",
            Self::Scored(_) => "scored",
            Self::Expired(_) => "expired",
        }
    }
}

impl Career {
    /// The same with a match that ended so without moving the rating.
    #[must_use]
    pub fn drawn(&self) -> Self {
        Self {
            match_count: self.match_count.saturating_add(1),
            draw_count: self.draw_count.saturating_add(1),
            current_streak: 0,
            ..self.clone()
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
