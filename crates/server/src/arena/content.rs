//! The stored form of the arena: items of the kind `match`, each with a schema.

use karat::answers::Voucher;
use karat::answers::arena::Settled;
use karat::record::MatchAnswer;

use super::{Challenge, Draw, Drawn};
use crate::basics::*;
use crate::content::{Place, Stored};
use crate::signers::{Harness, Signer as _};

/// The content of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "schema")]
#[expect(clippy::large_enum_variant, reason = "a content is taken apart as soon as it is read")]
pub enum Content {
    #[serde(rename = "karat/arena-challenge/1")]
    Challenge(Challenge),
    #[serde(rename = "karat/arena-agent/1")]
    Agent(StoredAgent),
    #[serde(rename = "karat/arena-match/1")]
    Match(Box<StoredMatch>),
    #[serde(rename = "karat/arena-harness/1")]
    Harness(Harness),
}

/// An agent with what only the log has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredAgent {
    #[serde(flatten)]
    pub agent: Agent,
    /// The draw for its first match; none if it was registered before there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_draw: Option<Draw>,
}

/// A state of a match with what only the log has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredMatch {
    #[serde(flatten)]
    pub game: Match,
    /// The draw of an open match, which is secret until it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_draw: Option<Draw>,
    /// The draw for the next match of the agent, once this one is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_draw: Option<Draw>,
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
    /// True if the agent said at the entry that it plays without its memory: a claim, which moves nothing.
    pub memoryless: bool,
    /// The seed of the instance.
    pub seed: u64,
    /// The time of entry.
    pub started_at: String,
    /// The last time at which an answer is accepted.
    pub expires_at: String,
    /// The text that the first step of the log must carry as `prev`, 32 hexadecimal digits; not in matches from before there
    /// were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_nonce: Option<String>,
    /// The draw of the instance; not in matches from before it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<Drawn>,
    /// The commitment to the draw for the next match of the agent, once this one is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_commitment: Option<String>,
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
    /// The agent has submitted in time, and the answer waits for its verdict.
    Submitted(Submitted),
    /// It was scored and settled.
    Scored(Box<Scored>),
    /// The time limit passed before an answer came.
    Expired(Settled),
    /// It ended without a verdict on the answer, and changed nothing.
    Void(Voided),
}

/// The end of a match that has no verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = MatchVoided)]
pub struct Voided {
    /// The time at which the answer arrived.
    pub submitted_at: String,
    /// The time at which the match ended.
    pub voided_at: String,
    /// The cause: `challenge` if a fault of it was found, `operator` if an administrator ended it.
    pub cause: VoidCause,
}

/// The cause of the end of a match without a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VoidCause {
    /// A fault of the challenge was found when the answer was judged.
    Challenge,
    /// An administrator ended it.
    Operator,
}

/// The submission of an agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = MatchSubmitted)]
pub struct Submitted {
    /// The time at which it arrived.
    pub submitted_at: String,
    /// The content: `{answer, metadata?}`. It is in the log, and is not shown.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(ignore)]
    pub payload: Value,
    /// Random digits that the server adds: without them, a short answer could be found from the digest in the log. Only the
    /// agent gets them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub blind: Option<String>,
}

/// The result of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = MatchScored)]
pub struct Scored {
    /// The time at which the answer arrived.
    pub submitted_at: String,
    /// The digest of `{"blind", "payload"}` in canonical form, where `payload` is the submission and only the agent has `blind`;
    /// of the submission alone in matches from before there were blinds.
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
    /// The voucher: `checked` (the server: the log was made for this match) or `harness` (its signature); null if it is
    /// not verified, and in matches from before the server checked more than the document asks for.
    #[serde(default)]
    pub verified_by: Option<Voucher>,
    /// The signed word of a harness about the memory of the agent: true if it played without; null if none signed. This alone counts.
    #[serde(default)]
    pub harness_memoryless: Option<bool>,
    /// True if it was verified, memoryless by a harness, and a first attempt.
    pub benchmark_grade: bool,
    /// The checks of the trajectory, if there was one, with the first of the findings; the evidence has those that are `left_out`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trajectory_validation: Option<Value>,
    /// The account of what was executed, if the challenge runs code: the judge, and verdict, fuel and reason of the first cases; the
    /// record has those that are `left_out`. It never has what was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Value>,
    /// The effect of the match on the agent.
    #[serde(flatten)]
    pub settled: Settled,
}

impl Stored for Content {
    const KIND: Kind = Kind::Match;

    fn place(&self) -> Place {
        match self {
            Self::Challenge(it) => Place { id: format!("challenge/{}", it.slug), ..Place::default() },
            Self::Agent(StoredAgent { agent, .. }) => Place {
                id: format!("agent/{}", agent.agent_id),
                subject: Some(agent.agent_id.clone()),
                ..Place::default()
            },
            Self::Match(stored) => Place {
                id: stored.game.item_id(),
                subject: Some(stored.game.agent_id.clone()),
                replaces: stored.game.replaced_id(),
                ..Place::default()
            },
            Self::Harness(harness) => harness.place(),
        }
    }
}

impl Match {
    pub(crate) fn item_id(&self) -> String {
        let entered = format!("match/{}", self.match_id);
        match &self.state {
            State::Entered => entered,
            state => format!("{entered}/{}", state.name()),
        }
    }

    fn replaced_id(&self) -> Option<String> {
        let entered = format!("match/{}", self.match_id);
        match self.state {
            State::Entered => None,
            State::Submitted(_) | State::Expired(_) => Some(entered),
            State::Scored(_) | State::Void(_) => Some(format!("{entered}/submitted")),
        }
    }

    /// Returns the same match in another state.
    pub(crate) fn in_state(&self, state: State) -> Self {
        Self { next_commitment: None, state, ..self.clone() }
    }

    /// Returns the same match once it is over: its draw is revealed, and there is one for the next.
    pub fn ended(&self, state: State, open: Option<Draw>, next: Draw) -> StoredMatch {
        let mut game = self.in_state(state);
        if let Some((drawn, open)) = game.draw.as_mut().zip(open) {
            drawn.draw = Some(open.digits());
        }
        game.next_commitment = Some(next.commitment(&game.agent_id));
        StoredMatch { game, open_draw: None, next_draw: Some(next) }
    }

    /// Returns the number of its instance, from 1, of a challenge that has `count`. Before instances were drawn, attempts played
    /// them in their order, and after the last one the first again.
    pub fn instance(&self, count: u32) -> Option<u32> {
        match &self.draw {
            Some(drawn) => Some(drawn.instance),
            None => {
                let place = self.attempt_number.saturating_sub(1).checked_rem(u64::from(count))?;
                u32::try_from(place).ok()?.checked_add(1)
            }
        }
    }

    /// Returns the effect on the agent, if the match is over.
    pub fn settled(&self) -> Option<&Settled> {
        match &self.state {
            State::Scored(scored) => Some(&scored.settled),
            State::Expired(settled) => Some(settled),
            State::Entered | State::Submitted(_) | State::Void(_) => None,
        }
    }
}

impl Scored {
    /// Returns the total, 0 to 1000.
    pub fn score(&self) -> f64 {
        self.answer.score.unwrap_or(0.0)
    }
}

impl State {
    /// Returns the name as written.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Entered => "entered",
            Self::Submitted(_) => "submitted",
            Self::Scored(_) => "scored",
            Self::Expired(_) => "expired",
            Self::Void(_) => "void",
        }
    }
}
