//! A run that the budget stopped, which the document of workflows does not speak of.

use serde_json::{Value, json};

use super::{record, value};
use crate::common::example;

/// Returns points and cost of a run; no points where the score is withheld.
fn scored(card: &str, item: &Value) -> (Option<f64>, Option<f64>) {
    let record = record(card, item);
    (record["score"]["published"].as_f64(), value(&record, "cost"))
}

/// The log says that the budget stopped the run, the harness, the totals, or nothing. To leave it out earns nothing.
#[test]
fn a_run_that_the_budget_stopped_gets_no_points_for_cost_under_1_1_0() {
    let by_log: Value = serde_json::from_str(&example("workflow/budget-stopped.json")).unwrap();
    let change = |item: &Value, made: &dyn Fn(&mut Value)| {
        let mut item = item.clone();
        made(&mut item["result"]);
        item
    };
    let totals = |more: Value| {
        let mut result = json!({"steps_completed": 3, "actual_cost": 0.0075, "actual_latency": 2.5, "actual_retries": 0,
            "timeouts": 0, "hard_failures": 0});
        result.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        change(&by_log, &|of_run| *of_run = result.clone())
    };
    let without = |of_run: &mut Value| drop(of_run.as_object_mut().unwrap().remove("budget_aborted"));
    let unmentioned = |of_run: &mut Value| {
        without(of_run);
        of_run["attempts"].as_array_mut().unwrap().pop();
    };
    let stopped = (Some(0.587_5), Some(0.0));
    let withheld = (None, None);
    for (case, item, expected) in [
        ("log and harness say it", by_log.clone(), stopped),
        ("the log says it", change(&by_log, &without), stopped),
        ("nobody says what became of the last step", change(&by_log, &unmentioned), withheld),
        ("the harness says it", totals(json!({"budget_aborted": true})), stopped),
        ("the harness denies it", totals(json!({"budget_aborted": false})), (Some(0.8), Some(0.85))),
        ("the harness is silent", totals(json!({})), withheld),
        ("each step was done or failed", totals(json!({"hard_failures": 1})), (Some(0.75), Some(0.85))),
        ("all was done", totals(json!({"steps_completed": 4})), (Some(0.925), Some(0.85))),
    ] {
        assert_eq!(scored("workflow@1.1.0", &item), expected, "{case}");
        // The document's card does not ask.
        let points = if case.starts_with("each") {
            0.75
        } else if case.starts_with("all") {
            0.925
        } else {
            0.8
        };
        assert_eq!(scored("workflow", &item), (Some(points), Some(0.85)), "{case}");
    }
    assert_eq!(record("workflow", &by_log)["scorecard"]["version"], "1.0.0", "an id alone is the document's");
}

#[test]
fn all_other_runs_have_the_same_score_under_both_cards() {
    for name in ["worked-example.json", "partial-dag.json", "closed-gate.json", "retries.jsonl"] {
        let text = example(&format!("workflow/{name}"));
        let items = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        for item in items {
            let item = item.unwrap();
            let [one, other] = ["workflow@1.0.0", "workflow@1.1.0"].map(|card| scored(card, &item));
            assert_eq!(one, other, "{name}");
            assert!(one.0.is_some(), "{name}");
        }
    }
}
