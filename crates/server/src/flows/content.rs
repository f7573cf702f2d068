//! The stored form of workflows: items of the kind `workflow`, each with a schema.

use karat_core::number::{Score, UNITS_PER_ONE};
use karat_evidence::ids::joined;

use super::{Phase, milliseconds};
use crate::arena::Draw;
use crate::basics::*;
use crate::content::{Place, Stored};
use crate::signers::{Recorder, Signer as _};

/// The content of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "schema")]
pub enum Content {
    #[serde(rename = "karat/workflow-recorder/1")]
    Recorder(Recorder),
    #[serde(rename = "karat/workflow-task/1")]
    Task(Box<StoredTask>),
    #[serde(rename = "karat/workflow-plan/1")]
    Plan(Box<StoredPlan>),
    #[serde(rename = "karat/workflow-delivery/1")]
    Delivery(Delivery),
    #[serde(rename = "karat/workflow-verdict/1")]
    Verdict(Box<Verdict>),
}

/// A task, as anyone may see it at any time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = WorkflowTask)]
pub struct Task {
    /// The id, which is the `task_id` of the task.
    #[schema(example = "ferry-7")]
    pub task_id: String,
    /// The scorecard, `id@version`.
    pub card: String,
    /// The time at which it was posted.
    pub posted_at: String,
    /// The last time at which a plan is accepted. From then on, plans, task and draw are public.
    pub plans_until: String,
    /// The last time at which a recording is accepted.
    pub recordings_until: String,
    /// The number of recordings of a plan that a verdict needs.
    pub recordings: u32,
    /// The number of recorders that are drawn for each plan.
    pub recorders: u32,
    /// The recorders from which they are drawn, by id.
    pub may_record: Vec<String>,
    /// The most retries that a step may declare.
    pub retries_max: u64,
    /// The SHA-256 of `karat/workflow-draw/1`, the task and the draw, each with a line feed.
    #[schema(example = "sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945")]
    pub commitment: String,
}

/// A task with what is secret at first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredTask {
    #[serde(flatten)]
    pub task: Task,
    /// The task as `karat run` reads it, with the reference.
    pub content: Value,
    /// The bytes that decide, with each plan, who records it.
    pub draw: Draw,
    /// Random digits: without them, a reference that is easily guessed could be found from the digest in the log.
    pub blind: String,
}

/// A plan, without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = WorkflowPlan)]
pub struct Plan {
    /// The id of the task.
    pub task_id: String,
    /// The name of its author.
    pub miner: String,
    /// The time at which it arrived.
    pub submitted_at: String,
    /// The digest of the plan with all that its author said with it, as in recordings of it.
    pub plan_digest: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredPlan {
    #[serde(flatten)]
    pub plan: Plan,
    /// The plan as `karat run` reads it, with the name of its author.
    pub content: Value,
    /// Random digits: without them, a short plan could be found from the digest in the log, before the plans are public.
    pub blind: String,
}

/// A recording of a plan that a recorder has delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    pub task_id: String,
    pub miner: String,
    pub recorder: String,
    pub recording: String,
    pub note: String,
    pub delivered_at: String,
}

/// The verdict on a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = WorkflowVerdict)]
pub struct Verdict {
    /// The id of the task.
    pub task_id: String,
    /// The author of the plan.
    pub miner: String,
    /// The time of the verdict.
    pub decided_at: String,
    /// All recordings by score, the lowest first; of the same score by digest.
    pub recordings: Vec<Scored>,
    /// The result.
    #[serde(flatten)]
    pub state: VerdictState,
}

/// A recording that was replayed and scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = ScoredRecording)]
pub struct Scored {
    /// The recorder that signed it.
    pub recorder: String,
    /// Its digest.
    pub recording: String,
    /// Its score, 0 to 1, as `exact` in a record; null if its run has none.
    #[serde(with = "exact_or_null")]
    #[schema(value_type = Option<f64>)]
    pub score: Option<Score>,
}

/// The result of a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
#[schema(as = WorkflowVerdictState)]
pub enum VerdictState {
    /// One recording counts.
    Scored {
        /// The digest of the recording that counts: the median by score.
        counted: String,
        /// Its score, 0 to 1.
        #[serde(with = "exact")]
        #[schema(value_type = f64)]
        score: Score,
        /// The id of the evidence.
        evidence: String,
        /// The id of the record.
        record: String,
    },
    /// None counts, and the plan has no score; that is not a score of 0.
    NoVerdict {
        /// The reason.
        reason: String,
    },
}

impl Task {
    /// Returns its phase at a moment.
    pub(crate) fn phase(&self, now: Timestamp) -> Phase {
        if now.milliseconds <= milliseconds(&self.plans_until) {
            Phase::Plans
        } else if now.milliseconds <= milliseconds(&self.recordings_until) {
            Phase::Recordings
        } else {
            Phase::Over
        }
    }
}

impl Stored for Content {
    const KIND: Kind = Kind::Workflow;

    fn place(&self) -> Place {
        let of = |id, miner: &str, sources| Place {
            id,
            subject: Some(miner.to_owned()),
            sources,
            ..Place::default()
        };
        match self {
            Self::Recorder(recorder) => recorder.place(),
            Self::Task(task) => Place { id: joined(["task", &task.task.task_id]), ..Place::default() },
            Self::Plan(stored) => {
                let plan = &stored.plan;
                of(plan_id(&plan.task_id, &plan.miner), &plan.miner, Vec::new())
            }
            Self::Delivery(it) => {
                let id = joined(["delivery", &it.task_id, &it.miner, &it.recorder]);
                of(id, &it.miner, Digest::parse(&it.recording).into_iter().collect())
            }
            Self::Verdict(it) => {
                let recordings = it.recordings.iter().filter_map(|it| Digest::parse(&it.recording));
                of(joined(["verdict", &it.task_id, &it.miner]), &it.miner, recordings.collect())
            }
        }
    }
}

/// Scores as numbers of JSON. They have 15 decimals, which a double keeps: what is read is what was written, to the last.
mod exact {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::{Score, UNITS_PER_ONE};

    pub(super) fn serialize<S: Serializer>(score: &Score, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(score.to_f64())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Score, D::Error> {
        f64::deserialize(from).map(read)
    }

    pub(super) fn read(number: f64) -> Score {
        Score::from_units((number * UNITS_PER_ONE as f64).round() as i64)
    }
}

mod exact_or_null {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::Score;

    pub(super) fn serialize<S: Serializer>(score: &Option<Score>, to: S) -> Result<S::Ok, S::Error> {
        score.map(Score::to_f64).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Score>, D::Error> {
        Ok(Option::<f64>::deserialize(from)?.map(super::exact::read))
    }
}

pub(crate) fn plan_id(task: &str, miner: &str) -> String {
    joined(["plan", task, miner])
}

#[cfg(test)]
mod tests {
    use karat_evidence::canonical_json;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_score_is_read_as_it_was_written(units in 0..=UNITS_PER_ONE) {
            let score = Score::from_units(units);
            let scored = Scored { recorder: "r".into(), recording: "sha256:0".into(), score: Some(score) };
            let text = canonical_json(&serde_json::to_value(&scored).unwrap());
            prop_assert_eq!(&serde_json::from_str::<Scored>(&text).unwrap(), &scored);
            let state = VerdictState::Scored {
                counted: "c".into(),
                score,
                evidence: "e".into(),
                record: "r".into(),
            };
            let text = canonical_json(&serde_json::to_value(&state).unwrap());
            prop_assert_eq!(serde_json::from_str::<VerdictState>(&text).unwrap(), state);
        }
    }
}
