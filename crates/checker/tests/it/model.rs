//! The engine against the reference model (`reference/`), which was written from the guide alone: on random cases for every
//! card both must say the same, digit by digit.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::path::{Path, PathBuf};

use crate::common::reference::model;
use crate::common::{card, cards, facts, item, root};
use karat_core::evaluate::{Context, Scorer, Workspace};
use karat_core::number::Decimal;
use karat_core::timestamp::{Timestamp, WrittenTimestamp};
use serde_json::{Map, Value};

/// The member of the model's records that it words for itself.
const OWN: &str = "reason";

/// Collects the differences between `ours` and the model. All numbers of a record have at most 16 digits, so equal
/// doubles are equal decimals.
fn differences(at: &str, model: &Value, ours: &Value, found: &mut Vec<String>) {
    match (model, ours) {
        (Value::Object(model), Value::Object(ours)) => {
            for (key, value) in model.iter().filter(|(key, _)| key.as_str() != OWN) {
                differences(&format!("{at}.{key}"), value, ours.get(key).unwrap_or(&Value::Null), found);
            }
        }
        (Value::Array(model), Value::Array(ours)) if model.len() == ours.len() => {
            for (place, (model, ours)) in model.iter().zip(ours).enumerate() {
                differences(&format!("{at}[{place}]"), model, ours, found);
            }
        }
        (Value::Number(model), Value::Number(ours)) if model.as_f64() == ours.as_f64() => {}
        _ if model == ours => {}
        _ => found.push(format!("{at}: the model says {model}, the engine {ours}")),
    }
}

/// Returns the engine's answer to a case.
fn answer(scorer: &Scorer, work: &mut Workspace, case: &Value) -> Value {
    let given = case["facts"].as_object().unwrap();
    let facts = facts(scorer.card(), given);
    let overridden =
        case.get("override").and_then(Value::as_object).map(|weights| overridden(scorer, weights));
    let elapsed_seconds = case.get("elapsed_seconds").map(|seconds| seconds.as_i64().unwrap());
    let at = elapsed_seconds.map(Timestamp::from_seconds);
    let context = Context { as_of: at.map(|at| WrittenTimestamp { text: "", at }) };
    let mut item = item(&facts);
    item.context.time = Some(Timestamp::from_seconds(0));
    let scorer = overridden.as_ref().unwrap_or(scorer);
    match scorer.score(work, &item, &context) {
        Ok(record) => {
            let mut bytes = Vec::new();
            record.write(&mut bytes);
            serde_json::from_slice(&bytes).unwrap()
        }
        Err(_) => serde_json::json!({ "refused": "" }),
    }
}

fn overridden(scorer: &Scorer, weights: &Map<String, Value>) -> Scorer {
    let weights: Vec<(String, Decimal)> = weights
        .iter()
        .map(|(key, weight)| {
            let (decimal, exact) = Decimal::parse(&weight.to_string()).unwrap();
            assert!(exact, "{weight} has more than six places");
            (key.clone(), decimal)
        })
        .collect();
    scorer.with_override(&weights).unwrap()
}

fn compare(path: &Path, library: &Path, count: usize) {
    let scorer = Scorer::new(card(path, library)).unwrap();
    let mut work = Workspace::new(&scorer);
    let (path, library) = (path.to_str().unwrap(), library.to_str().unwrap());
    let count = count.to_string();
    let from = ["--cards", library, "--card", path];
    let cases = model(&[&["generate"], &from[..], &["--seed", "1", "--count", &count]].concat(), "");
    let cases: Vec<&str> = cases.lines().filter(|case| !has_fine_weight(case)).collect();
    let answers = model(&[&["score"], &from[..]].concat(), &cases.join("\n"));
    let mut wrong = Vec::new();
    let (mut compared, mut scored) = (0, 0);
    for (case, expected) in cases.iter().zip(answers.lines()) {
        let expected: Value = serde_json::from_str(expected).unwrap();
        let ours = answer(&scorer, &mut work, &serde_json::from_str(case).unwrap());
        let mut found = Vec::new();
        if expected.get("refused").is_some() != ours.get("refused").is_some() {
            found.push(format!("the model says {expected}, the engine {ours}"));
        } else {
            let expected = if expected.get("refused").is_some() { &Value::Null } else { &expected };
            if !expected.is_null() {
                differences("", expected, &ours, &mut found);
            }
        }
        compared += 1;
        scored += usize::from(expected["status"] == "scored");
        if !found.is_empty() {
            wrong.push(format!("{case}\n  {}", found.join("\n  ")));
        }
    }
    assert_eq!(compared, cases.len(), "{path}: the model gave another number of answers");
    assert!(
        wrong.is_empty(),
        "{path}: {} of {compared} cases differ\n{}",
        wrong.len(),
        wrong[..wrong.len().min(6)].join("\n")
    );
    assert!(scored * 10 > compared, "{path}: only {scored} of {compared} cases have a score");
}

/// Returns true for a weight of more than six places, which is refused where it is read, before it is an engine's
/// decimal.
fn has_fine_weight(case: &str) -> bool {
    let case: Value = serde_json::from_str(case).unwrap();
    let weights = case.get("override").and_then(Value::as_object);
    weights.into_iter().flatten().any(|(_, weight)| !Decimal::parse(&weight.to_string()).unwrap().1)
}

fn released(name: &str) -> PathBuf {
    root().join("scorecards").join(name)
}

#[test]
fn workflow() {
    compare(&released("workflow/1.0.0.toml"), &released(""), 2500);
    compare(&released("workflow/1.1.0.toml"), &released(""), 1000);
}

#[test]
fn arena() {
    for challenge in crate::common::files(&released("arena/challenges"), "toml") {
        compare(&challenge, &released(""), 1000);
    }
}

#[test]
fn trace() {
    compare(&released("trace/1.0.0.toml"), &released(""), 2500);
}

#[test]
fn trust() {
    compare(&released("trust/1.0.0.toml"), &released(""), 2500);
    compare(&released("trust/1.1.0.toml"), &released(""), 1000);
}

#[test]
fn cards_made_for_this() {
    let made: Vec<PathBuf> = crate::common::files(&cards(), "toml")
        .into_iter()
        .filter(|path| path.parent() == Some(&cards()))
        .collect();
    assert!(made.len() >= 8, "{made:?}");
    for path in made {
        compare(&path, &cards(), 2000);
    }
}
