//! Challenges: a task, its time limit and the right answers.

use karat_evidence::Problems;
use karat_graders::arena::Evaluator;
use serde_json::Map;

use super::Match;
use crate::basics::*;

/// A task for agents. It never changes: an improved one gets a new name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Challenge {
    /// The name: 3 to 40 small letters, digits and hyphens.
    #[schema(example = "maze")]
    pub slug: String,
    /// The task in one line.
    pub title: String,
    /// The task in full, for the agent.
    #[serde(default)]
    pub briefing: String,
    /// The scorecard, `id@version`: one of the kind `match` with an evaluator.
    pub card: String,
    /// The category; agents have a rating in each.
    #[schema(example = "reasoning")]
    pub category: String,
    /// `newcomer`, `contender`, `veteran` or `legendary`: the rating of the challenge as an opponent.
    #[schema(value_type = karat::answers::Difficulty, example = "contender")]
    pub difficulty: String,
    /// The time limit of a match in seconds, 1 to 86,400.
    #[schema(minimum = 1, maximum = 86_400)]
    pub time_limit_seconds: u32,
    /// `tokenBudget`, `maxLlmCalls`, `maxToolCalls`, `allowedTools`, `allowedModels`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Map<String, Value>>,
    /// The instances, 1 to 1000. Each match draws one of those that its agent has not played yet; an agent that has played all
    /// plays no more.
    pub instances: Vec<Instance>,
    /// The files that the scorecard names, of a challenge that runs code: hidden cases, suites and scripts by the path that the card
    /// has, each with the digest that it has there. They are never shown.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// An answer that is right, of a challenge that runs code: it must pass every case before the challenge is published. It is
    /// never shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<BTreeMap<String, Value>>)]
    pub reference: Option<Value>,
    /// An instance for practice: shown to all with its right answer, and never drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub practice: Option<Instance>,
    /// True if an instance is drawn for one agent only, so that there is nothing to learn from the matches of others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub single_use: bool,
    /// Random digits that the server adds: without them, answers that are easily guessed could be found from the digest
    /// in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub blind: Option<String>,
}

/// One play of a challenge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ChallengeInstance)]
pub struct Instance {
    /// The seed from which it was generated, so that it can be generated again.
    #[serde(default)]
    pub seed: u64,
    /// The input that the agent gets.
    #[serde(default)]
    pub input: Value,
    /// The files that the agent may read: path and text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub workspace_files: BTreeMap<String, String>,
    /// The right answer. That of an instance that is drawn is never shown: the log has its digest, evidence has the scores.
    pub ground_truth: Value,
}

impl Challenge {
    pub fn count(&self) -> u32 {
        u32::try_from(self.instances.len()).unwrap_or(u32::MAX)
    }

    /// Returns the instance that a match is played at.
    pub fn instance(&self, game: &Match) -> Option<&Instance> {
        let place = game.instance(self.count())?.checked_sub(1)?;
        self.instances.get(usize::try_from(place).ok()?)
    }

    /// Returns the evaluator of its scorecard with its files.
    pub fn with_files(&self, evaluator: &Evaluator) -> Result<Evaluator, Problems> {
        evaluator.with_files(&|path| {
            let text = self.files.get(path).ok_or_else(|| format!("`files` has no `{path}`"))?;
            Ok(text.clone().into_bytes())
        })
    }

    /// Returns what the inputs of all instances share, as JSON Schema: their type, and the members that each has. What only one
    /// instance has would tell of it before the clock starts, so a challenge of one instance has none.
    pub fn input_schema(&self) -> Value {
        let [first, rest @ ..] = self.instances.as_slice() else { return Value::Null };
        let shared = |of: &dyn Fn(&Instance) -> Option<&'static str>| {
            of(first).filter(|name| !rest.is_empty() && rest.iter().all(|it| of(it) == Some(name)))
        };
        let Some(kind) = shared(&|it| Some(type_of(&it.input))) else { return Value::Null };
        let names = first.input.as_object().into_iter().flat_map(Map::keys);
        let in_all = names.filter(|name| rest.iter().all(|it| it.input.get(name).is_some()));
        let schema = |name: &String| match shared(&|it| it.input.get(name).map(type_of)) {
            Some(kind) => json!({ "type": kind }),
            None => json!({}),
        };
        let properties: Map<String, Value> = in_all.map(|name| (name.clone(), schema(name))).collect();
        match properties.is_empty() {
            true => json!({ "type": kind }),
            false => json!({ "type": kind, "properties": properties }),
        }
    }

    /// Returns the paths of the files that all instances have; none for a challenge of one.
    pub fn shared_files(&self) -> Vec<String> {
        let [first, rest @ ..] = self.instances.as_slice() else { return Vec::new() };
        let names = first.workspace_files.keys().filter(|_| !rest.is_empty());
        names.filter(|name| rest.iter().all(|it| it.workspace_files.contains_key(*name))).cloned().collect()
    }

    /// Returns true if it is the same apart from the part that the server adds.
    pub fn is_same(&self, other: &Self) -> bool {
        Self { blind: other.blind.clone(), ..self.clone() } == *other
    }
}

/// Returns the type of a value, as JSON Schema names it.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
