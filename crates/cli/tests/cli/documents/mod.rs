//! Sentences of the documents of the four systems, shown through the program. `docs/coverage.md` names these
//! tests, and the first test here reads it.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

mod arena;
mod coverage;
mod trace;
mod trust;
mod workflow;

use serde_json::Value;

use crate::common::Folder;

/// Scores items by a card, and returns their records in order.
fn records(card: &str, items: &[Value]) -> Vec<Value> {
    let folder = Folder::new();
    let lines: Vec<String> = items.iter().map(Value::to_string).collect();
    folder.write("items.jsonl", &lines.join("\n"));
    let run = folder.karat(&["score", "-c", card, "items.jsonl"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let records: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), items.len());
    records
}

/// Scores one item.
fn record(card: &str, item: &Value) -> Value {
    records(card, std::slice::from_ref(item)).remove(0)
}

/// Returns why an item is refused.
fn refusal(card: &str, item: &Value) -> String {
    let folder = Folder::new();
    folder.write("item.json", &item.to_string());
    let run = folder.karat(&["score", "-c", card, "item.json"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{}", run.stderr);
    run.stderr
}

/// Returns the published score of a record.
fn published(record: &Value) -> f64 {
    record["score"]["published"].as_f64().unwrap()
}

/// Returns the value of a dimension of a record; none if it was not measured.
fn value(record: &Value, key: &str) -> Option<f64> {
    let all = record["dimensions"].as_array().unwrap();
    all.iter().find(|dimension| dimension["key"] == key).unwrap()["reading"].as_f64()
}

/// Returns whether two numbers are the same on the grid of a billionth.
fn alike(one: f64, other: f64) -> bool {
    (one - other).abs() < 2e-9
}
