//! What tasks stand for, and their lines of canonical JSON, `karat/task/1`. Shares are 0 to 1.

use karat_core::record::ENGINE_VERSION;
use karat_core::scorecard::{Scorecard, Standing};
use karat_core::timestamp::Timestamp;
use karat_standing::calibration::CalibrationRules;
use karat_standing::lifecycle::{Ahead, PeriodOutcome};
use karat_standing::stand::{Calibrated, Lived, Period, Rate, TaskStanding, TaskStandings};
use serde_json::{Value, json};

use super::json::items_digest;
use crate::board::json::share;
use crate::rows::Rows;
use crate::standing::written;

/// The schema of a line.
const SCHEMA: &str = "karat/task/1";

/// The tasks, and what they were made of and by.
pub struct Answer<'a> {
    /// The rule.
    pub card: &'a Scorecard,
    /// Its section.
    pub rules: &'a Standing,
    /// The scored items.
    pub rows: &'a Rows,
    /// What they make of their tasks.
    pub standings: &'a TaskStandings,
    /// The moment of the verdict.
    pub as_of: Timestamp,
    /// The confidence of intervals.
    pub level: f64,
}

/// The line of one task.
pub fn line(answer: &Answer<'_>, task: &TaskStanding) -> Value {
    let Answer { card, rules, rows, standings, as_of, .. } = answer;
    let results = task.results;
    let difficulty = rules.calibration.as_ref().zip(task.calibrated.as_ref());
    json!({
        "schema": SCHEMA,
        "engine": ENGINE_VERSION,
        "scorecard": {"id": card.id, "version": card.version, "digest": card.digest.to_string()},
        "as_of": as_of.to_string(),
        "task": task.task,
        "subjects": task.subjects,
        "items": {
            "given": task.items.len(), "attempts": results.attempts, "excluded": results.excluded,
            "undecided": results.undecided, "by_id": standings.by_id,
            "digest": items_digest(rows, &task.items).to_string(),
        },
        "completed": results.completed,
        "won": results.won,
        "drawn": results.drawn,
        "lost": results.lost(),
        "win_rate": rate(&task.won),
        "completion_rate": rate(&task.completed),
        "calibration": difficulty.map(|(rules, found)| calibration(rules, found)),
        "lifecycle": task.life.as_ref().map(lifecycle),
    })
}

fn rate(rate: &Rate) -> Value {
    let Some((value, interval)) = rate.of.share().zip(rate.interval.as_ref()) else { return Value::Null };
    json!({
        "value": share(value), "low": share(interval.low), "high": share(interval.high),
        "level": interval.level, "method": interval.method.name(),
    })
}

fn calibration(rules: &CalibrationRules, found: &Calibrated) -> Value {
    let changes: Vec<Value> = found
        .changes
        .iter()
        .map(|(at, difficulty)| json!({"time": written(*at), "difficulty": difficulty.name()}))
        .collect();
    json!({
        "difficulty": found.difficulty.map(|difficulty| difficulty.name()),
        "completed_min": rules.completed_min, "completed_missing": found.completed_missing,
        "changes": changes,
    })
}

fn lifecycle(found: &Lived) -> Value {
    let ahead = found.ahead.map(|Ahead { status, periods, is_solved }| {
        json!({"status": status.name(), "periods": periods, "by": if is_solved { "solved" } else { "failed" }})
    });
    json!({
        "status": found.life.status.name(),
        "solved_periods": found.life.solved_periods, "failed_periods": found.life.failed_periods,
        "periods": found.periods.iter().map(period).collect::<Vec<_>>(),
        "running": found.running.as_ref().map(period),
        "ahead": ahead,
    })
}

fn period(period: &Period) -> Value {
    let PeriodOutcome { scores, solved, failed, before, after } = period.outcome;
    json!({
        "start": written(period.start_seconds), "subjects": scores, "solved": solved, "failed": failed,
        "before": before.name(), "after": after.name(),
    })
}
