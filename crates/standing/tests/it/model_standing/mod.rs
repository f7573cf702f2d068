//! Standings, ratings and estimates against the reference model (`reference/`), which was written from the documents: on
//! random cases both must say the same.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

mod estimates;
mod folds;
mod ratings;
#[path = "../../../../checker/tests/it/common/reference.rs"]
mod reference;
mod standings;

use std::collections::BTreeMap;

use reference::model;
use serde_json::Value;

/// Cases that must be there: the model answers this many at 100 percent.
const FEWEST: usize = 3_700;

/// Returns the engine's answer, and how far a number that is not whole may be from the model's.
///
/// Sums and products of a few doubles keep fifteen digits. Points of Elo go through a power of two libraries and may be
/// a million; the ends of an exact interval are found by iteration.
fn answer(name: &str, given: &Value) -> (Value, f64) {
    let exact = |value| (value, 0.0);
    match name {
        "window" => exact(standings::window(given)),
        "fold" => exact(folds::fold(given)),
        "rolling" => exact(standings::rolling(given)),
        "decay_points" => exact(standings::decay_points(given)),
        "decay_composite" => exact(standings::decay_composite(given)),
        "decay_dimensions" => exact(standings::decay_dimensions(given)),
        "shares" => exact(standings::share_out(given)),
        "whole_shares" => exact(standings::whole(given)),
        "sixteen_bit_shares" => exact(standings::sixteen_bit(given)),
        "tier" => exact(standings::tier_of(given)),
        "trust_tier" => exact(standings::trust_tier(given)),
        "gate" => exact(standings::gate(given)),
        "elo" | "season" => (ratings::elo(given), 1e-9),
        "ranked_season" => (ratings::ranked_season(given), 1e-9),
        "bradley_terry" => (ratings::bradley_terry(given), 1e-10),
        "arena" => (ratings::arena(given), 1e-12),
        "trials" => (estimates::trials(given), 1e-13),
        "best_of_k" => (estimates::best_of_k(given), 1e-11),
        "attempts" => exact(estimates::attempts(given)),
        "intervals" => (estimates::intervals(given), 1e-11),
        "mcnemar" => (estimates::mcnemar(given), 1e-12),
        // The ends of means and their bounds are rounded to billionths, those of comparisons are whole ones.
        "means" => (estimates::means(given), 2e-9),
        "comparisons" => (estimates::comparisons(given), 2e-9),
        "boards" => exact(estimates::boards(given)),
        "ranks" => exact(estimates::ranks_of(given)),
        _ => panic!("the model has a function `{name}` that is not compared"),
    }
}

/// Collects the differences between `ours` and the model.
fn differences(at: &str, model: &Value, ours: &Value, tolerance: f64, found: &mut Vec<String>) {
    match (model, ours) {
        (Value::Object(model), Value::Object(ours)) if model.len() == ours.len() => {
            for (key, value) in model {
                let ours = ours.get(key).unwrap_or(&Value::Null);
                differences(&format!("{at}.{key}"), value, ours, tolerance, found);
            }
        }
        (Value::Array(model), Value::Array(ours)) if model.len() == ours.len() => {
            for (place, (model, ours)) in model.iter().zip(ours).enumerate() {
                differences(&format!("{at}[{place}]"), model, ours, tolerance, found);
            }
        }
        (Value::Number(model), Value::Number(ours))
            if model.is_f64() && (model.as_f64().unwrap() - ours.as_f64().unwrap()).abs() <= tolerance => {}
        _ if model == ours => {}
        _ => found.push(format!("{at}: the model says {model}, the engine {ours}")),
    }
}

#[test]
fn standings_ratings_and_estimates() {
    let cases = model(&["standing", "--seed", "1"], "");
    let mut wrong = Vec::new();
    let mut compared = BTreeMap::new();
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let name = case["fn"].as_str().unwrap();
        let (ours, tolerance) = answer(name, &case["input"]);
        let mut found = Vec::new();
        differences("", &case["expected"], &ours, tolerance, &mut found);
        if !found.is_empty() {
            wrong.push(format!("{name} {}\n  {}", case["input"], found.join("\n  ")));
        }
        *compared.entry(name.to_owned()).or_insert(0usize) += 1;
    }
    let total: usize = compared.values().sum();
    assert!(
        wrong.is_empty(),
        "{} of {total} cases differ\n{}",
        wrong.len(),
        wrong[..wrong.len().min(6)].join("\n")
    );
    assert!(total >= FEWEST && compared.len() >= 20, "{compared:?}");
}
