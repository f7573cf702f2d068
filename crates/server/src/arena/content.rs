//! The stored form of the arena: items of the kind `match`, each with a schema.

use karat::answers::arena::Settled;
use karat::record::MatchAnswer;
use karat_evidence::canonical_json;
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

/// A registered agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Agent {
    /// The name: the subject of its records.
    pub agent_id: String,
    /// The harness that it plays with, if it gave one.
    pub harness_id: Option<String>,
    /// The time of registration.
    pub registered_at: String,
}

/// A match in one state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Match {
    /// The id: agent, challenge and attempt.
    #[schema(example = "bee.maze.1")]
    pub match_id: String,
    /// The agent that plays.
    pub agent_id: String,
    /// The slug of the challenge.
    pub challenge: String,
    /// The number of this entry among the agent's entries of the challenge, from 1.
    pub attempt_number: u64,
    /// True if the agent plays without its memory.
    pub memoryless: bool,
    /// The seed of the instance.
    pub seed: u64,
    /// The time of entry.
    pub started_at: String,
    /// The last time at which an answer is accepted.
    pub expires_at: String,
    /// The state of the match.
    #[serde(flatten)]
    pub state: State,
}

/// The state of a match.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "state", rename_all = "kebab-case")]
#[schema(as = MatchState)]
pub enum State {
    /// The agent may submit.
    Entered,
    /// The agent has submitted.
    Submitted(Submitted),
    /// It was scored and settled.
    Scored(Box<Scored>),
    /// The time limit passed before an answer came.
    Expired(Settled),
}

/// The submission of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = MatchSubmitted)]
pub struct Submitted {
    /// The time at which it arrived.
    pub submitted_at: String,
    /// The content: `{answer, metadata?}`.
    #[schema(value_type = BTreeMap<String, Value>)]
    pub payload: Value,
}

/// The result of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = MatchScored)]
pub struct Scored {
    /// The time at which the answer arrived.
    pub submitted_at: String,
    /// The digest of the submission, in canonical form.
    pub submission: String,
    /// The id of the evidence.
    pub evidence: String,
    /// The id of the record.
    pub record: String,
    /// The total, the result of each dimension and the findings on the submission, as in the record.
    #[serde(flatten)]
    pub answer: MatchAnswer,
    /// `win`, `draw` or `loss`.
    pub result: String,
    /// True if a valid trajectory was submitted.
    pub verified: bool,
    /// True if it was verified, memoryless and a first attempt.
    pub benchmark_grade: bool,
    /// The checks of the trajectory, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trajectory_validation: Option<Value>,
    /// The effect of the match on the agent.
    #[serde(flatten)]
    pub settled: Settled,
}

impl Content {
    /// Reads the content of an item.
    ///
    /// # Errors
    /// If it is not an item of the arena.
    pub fn parse(content: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(content).map_err(|error| error.to_string())
    }

    /// Returns the item that stores it.
    ///
    /// # Errors
    /// If it has no canonical JSON. Content made here always has: texts are keys, numbers are finite.
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
            sender: None,
            content,
        })
    }
}

impl Match {
    /// Returns the id of the item with this state.
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

    /// Returns the same match in another state.
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

    /// Returns the effect on the agent, if the match is over.
    #[must_use]
    pub fn settled(&self) -> Option<&Settled> {
        match &self.state {
            State::Scored(scored) => Some(&scored.settled),
            State::Expired(settled) => Some(settled),
            State::Entered | State::Submitted(_) => None,
        }
    }
}

impl Scored {
    /// Returns the total, 0 to 1000.
    #[must_use]
    pub fn score(&self) -> f64 {
        self.answer.score.unwrap_or(0.0)
    }
}

impl State {
    /// Returns the name as written.
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
