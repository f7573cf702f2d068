//! Sentences of the documents of the four systems, shown through the program. `docs/coverage.md` names these
//! tests, and the first test here reads it.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

mod cards;
mod coverage;
mod trace;
mod workflow;

use serde_json::Value;

use crate::common::Folder;

/// Scores one item by a card.
fn record(card: &str, item: &Value) -> Value {
    let folder = Folder::new();
    folder.write("item.json", &item.to_string());
    let run = folder.karat(&["score", "-c", card, "item.json"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
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
