//! Challenges: a task, its time limit and the right answers.

use std::collections::BTreeMap;

use karat::engine;
use karat_evidence::Kind as EvidenceKind;
use karat_stats::rating::arena::Arena as Rules;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{NAME_MAX_BYTES, is_name, judge};
use crate::cards::Rule;
use crate::problem::{Code, Problem, ProblemPart};

/// The longest time limit: a day.
const TIME_LIMIT_MAX_SECONDS: u32 = 86_400;
/// The largest number of instances of a challenge.
const INSTANCES_MAX: usize = 1000;

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
    /// The instances, 1 to 1000: the first attempt of an agent plays the first one, and after the last the first comes
    /// again.
    pub instances: Vec<Instance>,
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
    /// The right answer. It is never shown: the log has its digest, evidence has the scores.
    pub ground_truth: Value,
}

impl Challenge {
    /// Returns the instance of an attempt, counted from 1.
    #[must_use]
    pub fn instance(&self, attempt_number: u64) -> Option<&Instance> {
        let count = u64::try_from(self.instances.len()).ok().filter(|count| *count > 0)?;
        let place = attempt_number.saturating_sub(1) % count;
        self.instances.get(usize::try_from(place).ok()?)
    }

    /// Checks that matches of it can be played and scored by `rule`, its scorecard.
    ///
    /// # Errors
    /// If something is wrong with it: the problem lists everything.
    pub fn check(&self, rule: &Rule) -> Result<(), Problem> {
        let mut parts = Vec::new();
        let mut refuse = |field: String, detail: String| {
            parts.push(ProblemPart { field: Some(field), detail, line: None, column: None });
        };
        for (field, name) in [("$.slug", &self.slug), ("$.category", &self.category)] {
            if !is_name(name) {
                let found = name.escape_debug();
                let expected = format!("3 to {NAME_MAX_BYTES} small letters, digits and hyphens");
                refuse(field.to_owned(), format!("found `{found}`, expected {expected}"));
            }
        }
        if self.title.trim().is_empty() {
            refuse(
                String::from("$.title"),
                String::from("found an empty text, expected the task in one line"),
            );
        }
        let difficulties = Rules::default().difficulties;
        if difficulties.iter().all(|(name, _)| *name != self.difficulty) {
            let names: Vec<&str> = difficulties.iter().map(|(name, _)| name.as_str()).collect();
            let found = self.difficulty.escape_debug();
            refuse(
                String::from("$.difficulty"),
                format!("found `{found}`, expected one of {}", names.join(", ")),
            );
        }
        if !(1..=TIME_LIMIT_MAX_SECONDS).contains(&self.time_limit_seconds) {
            let found = self.time_limit_seconds;
            let detail = format!("found {found}, expected 1 to {TIME_LIMIT_MAX_SECONDS} seconds");
            refuse(String::from("$.time_limit_seconds"), detail);
        }
        if !(1..=INSTANCES_MAX).contains(&self.instances.len()) {
            let found = self.instances.len();
            refuse(
                String::from("$.instances"),
                format!("found {found}, expected 1 to {INSTANCES_MAX} of them"),
            );
        }
        if self.blind.is_some() {
            refuse(String::from("$.blind"), String::from("found a value, expected none: the server sets it"));
        }
        let is_match = engine::kind(&rule.card).is_ok_and(|kind| kind == EvidenceKind::Match);
        match rule.card.evaluator().filter(|_| is_match && rule.card.scorer().is_ok()) {
            None => {
                let expected = "a scorecard of a challenge: of the family `arena`, with an `evaluator`";
                refuse(String::from("$.card"), format!("found `{}`, expected {expected}", rule.name()));
            }
            Some(evaluator) => {
                // Comparing an empty answer shows that the right one can be compared at all.
                for (place, instance) in self.instances.iter().enumerate() {
                    let Err(problems) = judge::probe(self, instance, evaluator) else { continue };
                    for problem in problems.iter() {
                        let inner = problem.path.strip_prefix("$.").unwrap_or(&problem.path);
                        let field = match inner.starts_with("constraints") {
                            true => format!("$.{inner}"),
                            false => format!("$.instances[{place}].{inner}"),
                        };
                        refuse(field, format!("found {}, expected {}", problem.found, problem.expected));
                    }
                }
            }
        }
        let Some(first) = parts.first() else { return Ok(()) };
        let (field, detail) = (first.field.clone().unwrap_or_default(), first.detail.clone());
        parts.truncate(100);
        Err(Problem::new(Code::BadRequest, detail).at(field).with_parts(parts))
    }

    /// Returns true if it is the same apart from the part that the server adds.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Self { blind: other.blind.clone(), ..self.clone() } == *other
    }
}
