//! Checks of a challenge before it is published.

use std::collections::BTreeMap;

use karat::engine;
use karat_evidence::grade::arena::{Evaluator, MatchOptions, grade_match};
use karat_evidence::{Kind as EvidenceKind, Problems, canonical_json};
use karat_stats::rating::arena::Arena as Rules;
use serde_json::json;

use crate::arena::{Challenge, Instance, NAME_MAX_BYTES, is_name};
use crate::cards::ScorerPool;
use crate::problem::{Code, Problem, ProblemPart};

/// The longest time limit: a day.
const TIME_LIMIT_MAX_SECONDS: u32 = 86_400;
/// The largest number of instances of a challenge.
const INSTANCES_MAX: usize = 1000;

/// Checks that matches of a challenge can be played, and scored by `pool`, of its scorecard.
///
/// # Errors
/// If something is wrong with it: the problem lists everything.
pub(super) fn check(challenge: &Challenge, pool: &ScorerPool) -> Result<(), Problem> {
    let mut parts = Vec::new();
    let mut refuse = |field: String, detail: String| {
        parts.push(ProblemPart { field: Some(field), detail, line: None, column: None });
    };
    for (field, name) in [("$.slug", &challenge.slug), ("$.category", &challenge.category)] {
        if !is_name(name) {
            let found = name.escape_debug();
            let expected = format!("3 to {NAME_MAX_BYTES} small letters, digits and hyphens");
            refuse(field.to_owned(), format!("found `{found}`, expected {expected}"));
        }
    }
    if challenge.title.trim().is_empty() {
        refuse(String::from("$.title"), String::from("found an empty text, expected the task in one line"));
    }
    let difficulties = Rules::default().difficulties;
    if difficulties.iter().all(|(name, _)| *name != challenge.difficulty) {
        let names: Vec<&str> = difficulties.iter().map(|(name, _)| name.as_str()).collect();
        let found = challenge.difficulty.escape_debug();
        refuse(
            String::from("$.difficulty"),
            format!("found `{found}`, expected one of {}", names.join(", ")),
        );
    }
    if !(1..=TIME_LIMIT_MAX_SECONDS).contains(&challenge.time_limit_seconds) {
        let found = challenge.time_limit_seconds;
        let detail = format!("found {found}, expected 1 to {TIME_LIMIT_MAX_SECONDS} seconds");
        refuse(String::from("$.time_limit_seconds"), detail);
    }
    if !(1..=INSTANCES_MAX).contains(&challenge.instances.len()) {
        let found = challenge.instances.len();
        refuse(String::from("$.instances"), format!("found {found}, expected 1 to {INSTANCES_MAX} of them"));
    }
    // An instance is rated once: the same one twice under two numbers would be rated twice.
    let mut seen = BTreeMap::new();
    for (place, instance) in challenge.instances.iter().enumerate() {
        let task = json!([instance.input, instance.workspace_files, instance.seed]);
        if let Some(first) = seen.insert(canonical_json(&task), place) {
            let detail =
                format!("found the same as instance {first}, expected another seed, input or workspace");
            refuse(format!("$.instances[{place}]"), detail);
        }
    }
    if challenge.blind.is_some() {
        refuse(String::from("$.blind"), String::from("found a value, expected none: the server sets it"));
    }
    let is_match = engine::kind(&pool.card).is_ok_and(|kind| kind == EvidenceKind::Match);
    match pool.card.evaluator().filter(|_| is_match && pool.card.scorer().is_ok()) {
        None => {
            let expected = "a scorecard of a challenge: of the family `arena`, with an `evaluator`";
            refuse(String::from("$.card"), format!("found `{}`, expected {expected}", pool.name()));
        }
        Some(evaluator) => {
            // Comparing an empty answer shows that the right one can be compared at all.
            for (place, instance) in challenge.instances.iter().enumerate() {
                let Err(problems) = probe(challenge, instance, evaluator) else { continue };
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

/// Checks that an answer to that instance can be compared at all.
fn probe(challenge: &Challenge, instance: &Instance, evaluator: &Evaluator) -> Result<(), Problems> {
    let moment = "2000-01-01T00:00:00Z";
    let parts = json!({
        "match_id": "probe",
        "agent_id": "probe",
        "started_at": moment,
        "submitted_at": moment,
        "time_limit_secs": challenge.time_limit_seconds,
        "attempt_number": 1,
        "memoryless": false,
        "constraints": challenge.constraints,
        "ground_truth": instance.ground_truth,
        "payload": {"answer": {}},
    });
    grade_match(&parts, evaluator, &MatchOptions::default(), None).map(|_| ())
}
