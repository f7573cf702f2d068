//! The document of workflow runs.

use karat::card::CompiledCard;
use serde_json::{Value, json};

use super::{alike, published, record, records, refusal, value};
use crate::common::Folder;

/// A run of four steps with a budget of 0.05 TAO and a limit of ten seconds.
fn run() -> Value {
    json!({
        "run_id": "run", "miner_uid": 7, "output_quality": 0.9,
        "task": {"constraints": {"max_budget_tao": 0.05, "max_latency_seconds": 10}},
        "workflow_plan": {"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "d"}], "edges": []},
        "result": {"steps_completed": 4, "total_steps": 4, "actual_cost": 0.02, "actual_latency": 4,
            "actual_retries": 0, "timeouts": 0, "hard_failures": 0},
    })
}

/// Returns the run with other values at JSON pointers; missing members are made.
fn changed(changes: &[(&str, Value)]) -> Value {
    let mut run = run();
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        run.pointer_mut(parent).unwrap()[name] = value.clone();
    }
    run
}

/// The formulas of the document in plain doubles.
fn by_hand(run: &Value) -> f64 {
    let number = |pointer: &str| run.pointer(pointer).and_then(Value::as_f64).unwrap();
    let completion = number("/result/steps_completed") / 4.0;
    let success = number("/output_quality") * completion;
    let left = |used: f64, most: f64| if success > 0.7 { (1.0 - used / most).max(0.0) } else { 0.0 };
    let cost = left(number("/result/actual_cost"), 0.05);
    let latency = left(number("/result/actual_latency"), 10.0);
    let declared = run.pointer("/workflow_plan/error_handling").and_then(Value::as_object);
    let declared: f64 =
        declared.iter().flat_map(|it| it.values()).filter_map(|it| it["retry_count"].as_f64()).sum();
    let unplanned = (number("/result/actual_retries") - declared).max(0.0);
    let mishaps =
        unplanned * 0.10 + number("/result/timeouts") * 0.20 + number("/result/hard_failures") * 0.50;
    let reliability = (1.0 - mishaps).clamp(0.0, 1.0);
    0.50 * success + 0.25 * cost + 0.15 * latency + 0.10 * reliability
}

#[test]
fn a_score_is_what_the_formulas_give() {
    let handled = json!({"a": {"retry_count": 2, "timeout_seconds": 1}, "b": {"timeout_seconds": 1}});
    let mut runs = Vec::new();
    for quality in [0.0, 0.5, 0.71, 0.95, 1.0] {
        for (done, failures) in [(4, 0), (3, 0), (3, 1), (2, 2), (0, 0)] {
            for (cost, seconds) in [(0.0, 0.0), (0.02, 9.9), (0.05, 10.0), (0.4, 31.0)] {
                for (retries, timeouts) in [(0, 0), (2, 1), (5, 2), (14, 4)] {
                    runs.push(changed(&[
                        ("/run_id", json!(format!("run-{}", runs.len()))),
                        ("/output_quality", json!(quality)),
                        ("/result/steps_completed", json!(done)),
                        ("/result/hard_failures", json!(failures)),
                        ("/result/actual_cost", json!(cost)),
                        ("/result/actual_latency", json!(seconds)),
                        ("/result/actual_retries", json!(retries)),
                        // A timeout takes its time.
                        ("/result/timeouts", json!(if seconds > 0.0 { timeouts } else { 0 })),
                        ("/workflow_plan/error_handling", handled.clone()),
                    ]));
                }
            }
        }
    }
    let scored = records("workflow", &runs);
    for (run, record) in runs.iter().zip(&scored) {
        let score = published(record);
        assert!(
            (0.0..=1.0).contains(&score) && alike(score, by_hand(run)),
            "{run}\n{score} {}",
            by_hand(run)
        );
    }
    assert!(scored.iter().any(|record| published(record) > 0.99));
    assert!(scored.iter().any(|record| published(record) == 0.0));
}

#[test]
fn the_four_dimensions_have_their_names_and_weights() {
    let card = CompiledCard::released("workflow").unwrap();
    let found: Vec<(&str, f64)> =
        card.dimensions.iter().map(|it| (it.label.as_str(), it.weight.to_f64())).collect();
    let stated = [("Task Success", 0.5), ("Cost Efficiency", 0.25), ("Latency", 0.15), ("Reliability", 0.1)];
    assert_eq!(found, stated);
}

#[test]
fn cost_and_latency_count_above_seven_tenths_and_not_at_it() {
    for (quality, done, is_open) in [
        (0.7, 4, false),
        (0.700_000_01, 4, true),
        (0.69, 4, false),
        (0.933_333_333, 3, false),
        (0.95, 3, true),
        (0.95, 2, false),
    ] {
        let run = changed(&[("/output_quality", json!(quality)), ("/result/steps_completed", json!(done))]);
        let record = record("workflow", &run);
        let (cost, latency) = if is_open { (0.6, 0.6) } else { (0.0, 0.0) };
        assert_eq!(value(&record, "cost"), Some(cost), "{quality} x {done}/4");
        assert_eq!(value(&record, "latency"), Some(latency), "{quality} x {done}/4");
        assert_eq!(value(&record, "reliability"), Some(1.0));
    }
}

#[test]
fn what_is_spent_beyond_the_budget_leaves_nothing_and_no_less() {
    for (cost, seconds, left) in [(0.0, 0.0, 1.0), (0.0125, 2.5, 0.75), (0.05, 10.0, 0.0), (5.0, 1e6, 0.0)] {
        let run =
            changed(&[("/result/actual_cost", json!(cost)), ("/result/actual_latency", json!(seconds))]);
        let record = record("workflow", &run);
        assert_eq!((value(&record, "cost"), value(&record, "latency")), (Some(left), Some(left)), "{cost}");
    }
}

#[test]
fn declared_retries_are_free_and_the_others_cost_a_tenth() {
    let two_and_one = json!({"a": {"retry_count": 2}, "b": {"retry_count": 1}, "c": {}});
    for (handling, retries, reliability) in [
        (Some(&two_and_one), 3, 1.0),
        (Some(&two_and_one), 4, 0.9),
        (Some(&two_and_one), 0, 1.0),
        (None, 0, 1.0),
        (None, 2, 0.8),
        (None, 11, 0.0),
    ] {
        let mut run = changed(&[("/result/actual_retries", json!(retries))]);
        if let Some(handling) = handling {
            run["workflow_plan"]["error_handling"] = handling.clone();
        }
        assert_eq!(value(&record("workflow", &run), "reliability"), Some(reliability), "{run}");
    }
}

#[test]
fn retries_timeouts_and_hard_failures_are_those_of_the_log() {
    // One after the other: a step, how many tenths of a second it took, how it ended.
    let log = |attempts: &[(&str, u32, &str)]| {
        let mut clock = 0;
        let mut time = |tenths: u32| {
            clock += tenths;
            format!("2026-03-18T09:00:{:02}.{}Z", clock / 10, clock % 10)
        };
        let entry = |&(step, tenths, outcome): &(&str, u32, &str)| json!({"step": step, "start": time(0), "end": time(tenths), "cost": 0.001, "outcome": outcome});
        json!({"attempts": attempts.iter().map(entry).collect::<Vec<Value>>()})
    };
    let mut run = changed(&[(
        "/workflow_plan/error_handling",
        json!({"a": {"retry_count": 1, "timeout_seconds": 2}, "b": {"timeout_seconds": 2}}),
    )]);
    let scored = |run: &Value| {
        let record = record("workflow", run);
        ["actual_retries", "declared_retry_budget", "timeouts", "hard_failures"]
            .map(|fact| record["facts"][fact].as_f64().unwrap())
    };
    // `a` exceeds its limit once and succeeds on its declared retry; exactly the limit is not a timeout.
    let rest = [("c", 90, "success"), ("d", 10, "success")];
    let good = [("a", 25, "failed"), ("a", 10, "success"), ("b", 20, "success")];
    run["result"] = log(&[&good[..], &rest].concat());
    assert_eq!(scored(&run), [1.0, 1.0, 1.0, 0.0]);
    // It fails on its retry too: a hard failure.
    let bad = [("a", 10, "failed"), ("a", 10, "failed"), ("b", 10, "success")];
    run["result"] = log(&[&bad[..], &rest].concat());
    assert_eq!(scored(&run), [1.0, 1.0, 0.0, 1.0]);
}

#[test]
fn three_of_four_steps_are_three_quarters_and_one_step_is_not_the_task() {
    let three = changed(&[("/result/steps_completed", json!(3)), ("/result/hard_failures", json!(1))]);
    assert_eq!(value(&record("workflow", &three), "success"), Some(0.675));
    // The plan has a single step, all of it done; the task has four.
    let mut single = changed(&[
        ("/workflow_plan", json!({"nodes": [{"id": "a"}], "edges": []})),
        ("/result/steps_completed", json!(1)),
        ("/result/total_steps", json!(1)),
    ]);
    assert_eq!(value(&record("workflow", &single), "success"), Some(0.9));
    single["task"]["steps"] = json!(4);
    assert_eq!(value(&record("workflow", &single), "success"), Some(0.225));
    let most = changed(&[("/result/steps_completed", json!(5))]);
    assert!(refusal("workflow", &most).contains("steps_completed"));
}

/// Returns the standings of miners, each with a score of every run, oldest first.
fn standings(miners: &[(&str, Vec<f64>)]) -> Vec<Value> {
    let folder = Folder::new();
    let mut lines = String::new();
    for (miner, qualities) in miners {
        for (at, quality) in qualities.iter().enumerate() {
            let mut run = changed(&[("/output_quality", json!(quality)), ("/subject", json!(miner))]);
            run["run_id"] = json!(format!("{miner}-{at}"));
            run["time"] = json!(format!("2026-03-{:02}T{:02}:00:00Z", 1 + at / 24, at % 24));
            run["task"]["task_id"] = json!(format!("task-{at}"));
            run.as_object_mut().unwrap().remove("miner_uid");
            lines.push_str(&format!("{run}\n"));
        }
    }
    folder.write("runs.jsonl", &lines);
    let run = folder.line("standing --json -c workflow --as-of 2026-04-01T00:00:00Z runs.jsonl");
    assert_eq!(run.status, 0, "{}", run.stderr);
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_last_hundred_tasks_count_alike_and_earlier_ones_not_at_all() {
    // Below the gate the score is half the quality and a tenth.
    let qualities: Vec<f64> =
        (0..130).map(|at| if at < 30 { 0.7 } else { f64::from(at % 5) / 10.0 }).collect();
    let mean = qualities[30..].iter().map(|quality| 0.5 * quality + 0.1).sum::<f64>() / 100.0;
    let found = standings(&[("miner", qualities.clone())]);
    let score = found[0]["score"]["value"].as_f64().unwrap();
    assert!(alike(score, mean), "{score} {mean}");
    // The order within the window changes nothing: no run weighs more because it is newer.
    let mut turned = qualities;
    turned[30..].reverse();
    assert_eq!(standings(&[("miner", turned)])[0]["score"], found[0]["score"]);
}

#[test]
fn no_miner_has_more_than_fifteen_percent_of_the_weight() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let miners: Vec<(&str, Vec<f64>)> =
        names.iter().map(|name| (*name, vec![if *name == "a" { 1.0 } else { 0.1 }; 20])).collect();
    let found = standings(&miners);
    let shares: Vec<f64> = found.iter().filter_map(|it| it["share"]["share"].as_f64()).collect();
    assert_eq!(shares.len(), 8, "{}", found[0]);
    let largest = shares.iter().copied().fold(0.0, f64::max);
    assert!(alike(largest, 0.15), "{shares:?}");
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{shares:?}");
}
