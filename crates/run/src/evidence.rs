//! The evidence of a run: what a score reads, with the log of every attempt.

use karat_core::timestamp::Timestamp;
use karat_evidence::canonical_json;
use serde_json::{Value, json};

use crate::engine::{Course, Event};
use crate::job::{Job, tao};
use crate::recording::Recording;

/// Returns the item of evidence of a run, as one line of canonical JSON. Its id is the digest of the recording.
pub(crate) fn evidence(job: &Job, course: &Course, recording: &Recording) -> String {
    let started = recording.started_microseconds();
    let moment = |microseconds: u64| moment(started.saturating_add(microseconds));
    let mut end = 0;
    let attempts: Vec<Value> = course
        .events
        .iter()
        .map(|event| match event {
            Event::Attempt(attempt) => {
                end = end.max(attempt.end_microseconds());
                json!({
                    "step": attempt.step,
                    "attempt": attempt.number,
                    "start": moment(attempt.start_microseconds),
                    "end": moment(attempt.end_microseconds()),
                    "cost": tao(attempt.cost_nano_tao),
                    "outcome": attempt.outcome.name(),
                })
            }
            Event::Unresolved { step, .. } => {
                json!({"step": step, "attempt": 1, "outcome": "unresolved_reference"})
            }
            Event::BudgetAbort { step, number } => {
                json!({"step": step, "attempt": number, "outcome": "budget_abort"})
            }
        })
        .collect();
    let mut members = job.members().clone();
    members.insert("id".to_owned(), recording.digest().to_string().into());
    members.insert("time".to_owned(), moment(end).into());
    if course.is_stopped {
        members.insert("outcome".to_owned(), "stopped".into());
    }
    let output = course.final_output.clone().unwrap_or_default();
    let is_aborted = course.events.iter().any(|event| matches!(event, Event::BudgetAbort { .. }));
    let result = json!({"attempts": attempts, "budget_aborted": is_aborted, "final_output": output});
    members.insert("result".to_owned(), result);
    canonical_json(&Value::Object(members))
}

/// Returns a moment in RFC 3339 with microseconds.
fn moment(microseconds: u64) -> String {
    const SECOND: u64 = 1_000_000;
    let (seconds, rest) = (microseconds / SECOND, microseconds % SECOND);
    // Both fit: a moment is at most 2^53 microseconds.
    let text = Timestamp { milliseconds: (seconds * 1000) as i64 }.to_string();
    let whole = text.split(['.', 'Z']).next().unwrap_or_default();
    format!("{whole}.{rest:06}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_keep_their_microseconds() {
        assert_eq!(moment(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(moment(1_773_826_200_000_042), "2026-03-18T09:30:00.000042Z");
    }
}
