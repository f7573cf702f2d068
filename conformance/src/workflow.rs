//! Workflow runs: the composite of one run and its parts.

use serde_json::{Map, Value};

use crate::given::Given;
use crate::judge::{Judge, number, reading};

/// The names of the measurements of a run in the cases, and in the card. Retries come with the declared ones already
/// subtracted, so nothing is declared.
const FACTS: [(&str, &str); 10] = [
    ("output_quality", "output_quality"),
    ("steps_completed", "steps_completed"),
    ("total_steps", "steps_total"),
    ("actual_tao", "actual_tao"),
    ("max_budget_tao", "max_budget_tao"),
    ("actual_seconds", "actual_seconds"),
    ("max_latency_seconds", "max_latency_seconds"),
    ("unplanned_retries", "actual_retries"),
    ("timeouts", "timeouts"),
    ("hard_failures", "hard_failures"),
];

/// `workflow.score`: the score of a run, its readings, and the share of steps completed.
pub fn score(workflow: &mut Judge, given: &Given<'_>) -> Result<Value, String> {
    let mut facts = vec![("declared_retry_budget", Some(0.0))];
    for (name, fact) in FACTS {
        facts.push((fact, given.member(name)?.optional_number()?));
    }
    let mut output = workflow.score_facts(&facts, |record| {
        let mut output = Map::new();
        for dimension in &record.dimensions {
            output.insert(format!("s_{}", dimension.key), reading(dimension));
        }
        output.insert("score".into(), crate::judge::score(record.score));
        output.insert("status".into(), record.status.name().into());
        output
    })?;
    let ratio = workflow.engine.value_of_let("completion_ratio");
    output.insert("completion_ratio".into(), ratio.map_or(Value::Null, number));
    Ok(Value::Object(output))
}
