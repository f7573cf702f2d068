//! Numbers that a file states of itself, beside those of its items.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::{by_name, read};
use crate::{Input, Item, Options, import};

/// Returns `solved` of each item, the notes and the contradictions.
fn stated(name: &str, text: &str) -> (Vec<Option<f64>>, Vec<String>, Vec<String>) {
    let (_, items, summary) = read(name, text.as_bytes());
    (items.iter().map(|item| item["solved"].as_f64()).collect(), summary.notes, summary.contradictions)
}

fn inspect(values: &[Value], metrics: &Value, reducer: &str) -> String {
    let samples: Vec<Value> = values
        .iter()
        .enumerate()
        .map(|(at, value)| json!({"id": at / 2, "epoch": at % 2 + 1, "scores": {"judge": {"value": value}}}))
        .collect();
    json!({"eval": {"task": "t", "model": "m", "eval_id": "e", "created": "2026-01-01T00:00:00Z"},
        "results": {"scores": [{"name": "judge", "scorer": "judge", "reducer": reducer, "metrics": metrics}]},
        "samples": samples})
    .to_string()
}

#[test]
fn one_value_outside_of_0_to_1_says_that_none_of_the_score_is_a_share() {
    let none = json!({});
    for (values, scale) in [
        (vec![1.0, 3.0, 5.0, 4.0], Some("min = 1, max = 5")),
        (vec![85.0, 1.0, 0.0, 40.0], Some("min = 0, max = 100")),
        (vec![0.7, 34.2, 0.0], Some("min = 0, max = 100")),
        (vec![8.0, 10.0, 0.0], Some("min = 0, max = 10")),
        (vec![-1.0, 0.5, 1.0], Some("min = -1, max = 1")),
        (vec![1.0, 150.5], Some("min = 1, max = 150.5")),
        (vec![0.0, 1.0, 0.5, 0.25], None),
    ] {
        let json: Vec<Value> = values.iter().map(|value| json!(value)).collect();
        let (solved, notes, _) = stated("log.json", &inspect(&json, &none, "mean"));
        match scale {
            Some(scale) => {
                assert!(solved.iter().all(Option::is_none), "{values:?} {solved:?}");
                assert!(notes.len() == 1 && notes[0].contains(scale), "{values:?} {notes:?}");
            }
            None => assert_eq!((solved.into_iter().flatten().collect::<Vec<_>>(), notes.len()), (values, 0)),
        }
    }
    // A file that is read together with others has their scale.
    let [one, other] = [json!([1, 0]), json!([5, 2])].map(|values| {
        Input::memory("x.json", inspect(values.as_array().unwrap(), &none, "mean").into_bytes())
    });
    let mut scales = crate::Scales::default();
    [&one, &other].into_iter().for_each(|log| scales.add(log, by_name("inspect"), &Options::default()));
    let options = Options { scales: Some(std::sync::Arc::new(scales)), ..Options::default() };
    let mut items = Vec::new();
    let summary = import(&one, by_name("inspect"), &options, &mut |item: Item<'_>| {
        items.push(serde_json::from_slice::<Value>(item.json).unwrap());
        ControlFlow::Continue(())
    });
    assert!(items.iter().all(|item| item["solved"].is_null() && item["outcome"].is_null()), "{items:?}");
    assert_eq!((&items[0]["score_judge"], summary.unwrap().notes.len()), (&json!(1), 1));
}

#[test]
fn a_mean_that_a_file_states_is_that_of_its_items_or_both_are_told() {
    let values = |list: &[&str]| list.iter().map(|it| json!(it)).collect::<Vec<_>>();
    let accuracy = |value: f64| json!({"accuracy": {"value": value}, "stderr": {"value": 9}});
    for (list, metrics, reducer, expected) in [
        (&["C", "I", "C", "C"][..], accuracy(0.75), "mean", None),
        (
            &["C", "I", "C", "C"],
            accuracy(1.0),
            "max",
            Some("gives 0.75 over 2: its attempts at a sample are reduced by `max`"),
        ),
        // The third is not known, and the log counts it as a failure.
        (
            &["C", "C", "what"],
            accuracy(0.6666666666666666),
            "mean",
            Some("give 1 over 1: 1 without a verdict are failures there"),
        ),
        (&["C", "I"], accuracy(0.25), "mean", Some("give 0.5 over 1, and does not say why")),
        (&["C", "I"], json!({"mean": {"value": 0.5}}), "mean", None),
    ] {
        let (_, notes, contradictions) = stated("log.json", &inspect(&values(list), &metrics, reducer));
        match expected {
            Some(words) => assert!(
                contradictions.len() == 1
                    && notes.contains(&contradictions[0])
                    && contradictions[0]
                        .ends_with(words.trim_start_matches("gives ").trim_start_matches("give ")),
                "{list:?} {contradictions:?}"
            ),
            None => assert_eq!(contradictions, [""; 0], "{list:?}"),
        }
    }
    // Of what was made invalid there is a score and no verdict.
    let log = inspect(&values(&["C", "C", "I", "I"]), &accuracy(0.5), "mean");
    let log = log.replacen("{\"epoch\"", "{\"invalidation\":{\"author\":\"x\"},\"epoch\"", 2);
    let (_, _, contradictions) = stated("log.json", &log);
    assert!(
        contradictions[0].ends_with("give 0 over 1: 2 of its scores are of samples without a verdict here")
    );
    // On other scales, too.
    let (_, _, contradictions) =
        stated("log.json", &inspect(&[json!(1), json!(4)], &json!({"mean": {"value": 2.5}}), "mean"));
    assert_eq!(contradictions, [""; 0]);
}

#[test]
fn counts_that_a_file_states_are_compared_with_what_it_lists() {
    let bench = json!({"total_instances": 3, "resolved_instances": 2, "submitted_ids": ["a", "b"], "resolved_ids": ["a"], "unresolved_ids": ["b"]});
    let simulation = |task: u32, trial: u32| json!({"task_id": task.to_string(), "trial": trial, "reward_info": {"reward": 1.0}, "id": format!("{task}{trial}")});
    let tau = |trials: u32, list: Vec<Value>| json!({"info": {"num_trials": trials, "agent_info": {"llm": "m"}, "environment_info": {"domain_name": "d"}}, "tasks": [{"id": "0"}, {"id": "1"}], "simulations": list});
    let trial = |task: &str, resolved: Value, mode: &str| json!({"id": task, "trial_name": task, "task_id": task, "is_resolved": resolved, "failure_mode": mode});
    let terminal = |accuracy: f64| json!({"results": [trial("a", json!(true), "unset"), trial("b", json!(null), "parse_error")], "accuracy": accuracy});
    let all = vec![simulation(0, 0), simulation(0, 1), simulation(1, 0), simulation(1, 1)];
    for (name, text, expected) in [
        ("m.r.json", bench.clone(), Some("states 2 as `resolved_instances`, and lists 1")),
        ("tau.json", tau(2, all.clone()), None),
        (
            "tau.json",
            tau(2, all[1..].to_vec()),
            Some("states 4 as the number of simulations (2 tasks by 2 trials), and lists 3"),
        ),
        (
            "tau.json",
            tau(2, vec![simulation(0, 0), simulation(0, 0), simulation(1, 0), simulation(1, 1)]),
            Some("has 1 simulations of the same task and trial as another"),
        ),
        (
            "results.json",
            terminal(0.5),
            Some("its items give 1 over the 1 of 2 with a verdict: the others are failures there"),
        ),
        ("results.json", terminal(1.0), None),
    ] {
        let (_, _, contradictions) = stated(name, &text.to_string());
        match expected {
            Some(words) => {
                assert!(contradictions.len() == 1 && contradictions[0].contains(words), "{contradictions:?}")
            }
            None => assert_eq!(contradictions, [""; 0], "{name}"),
        }
    }
    for (fields, solved, is_told) in [
        ("pass_rate_2: 31.1\n  pass_num_2: 70\n  test_cases: 225", 0.311, false),
        ("pass_rate_2: 31.1\n  pass_num_2: 70\n  test_cases: 100", 0.311, true),
        ("pass_rate_2: 0.6\n  pass_num_2: 135\n  test_cases: 225", 0.6, false),
        ("pass_rate_2: 60.0\n  pass_num_2: 135\n  test_cases: 225", 0.6, false),
    ] {
        let text = format!("- dirname: d\n  model: m\n  edit_format: whole\n  {fields}\n");
        let (found, _, contradictions) = stated("board.yml", &text);
        assert_eq!((found, contradictions.len()), (vec![Some(solved)], usize::from(is_told)), "{fields}");
    }
}
