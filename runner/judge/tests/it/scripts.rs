//! Scripts of a challenge.

use std::collections::BTreeMap;

use karat_graders::execution::{Job, Limits, Task, TaskReport};
use serde_json::{Value, json};

use crate::support::*;

fn script(source: &str, answer: Value) -> Job {
    let mut job = job("", Vec::new());
    job.tasks = vec![Task::Script {
        file: "maze.py".to_owned(),
        source: source.to_owned(),
        dimensions: vec!["correctness".to_owned(), "speed".to_owned()],
        answer,
        truth: json!({"path": [1, 2, 3], "length": 10}),
        r#match: json!({"used_seconds": 30, "limit_seconds": 60}),
    }];
    job
}

fn scores(job: &Job) -> BTreeMap<String, f64> {
    match cranelift().judge(job).unwrap().results.as_slice() {
        [TaskReport::Script { scores, fuel }] if *fuel > 0 => scores.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_script_scores_with_the_primitives_of_karat() {
    let source = "
import karat
def evaluate(answer, truth, match):
    return {
        'correctness': 500 * karat.exact_match(answer['path'], truth['path'], deep=True)
            + 500 * karat.numeric_tolerance(answer['length'], truth['length'], tolerance=1),
        'speed': 1000 * karat.time_decay(match['used_seconds'], match['limit_seconds']),
    }
";
    let found = scores(&script(source, json!({"path": [1, 2, 3], "length": 13})));
    assert_eq!(found, BTreeMap::from([("correctness".to_owned(), 750.0), ("speed".to_owned(), 500.0)]));
    let all = "
from karat import *
import karat
def evaluate(answer, truth, match):
    values = [karat.exact_match('A', 'a'), karat.exact_match_ratio([1, 2], [1, 3]), karat.fuzzy_string('ab', 'ac'),
              karat.set_overlap([1, 2], [2, 1]), karat.coverage_ratio(7, 10), karat.api_call_efficiency(9, 3, 15)]
    assert values == [1.0, 0.5, 0.5, 1.0, 0.7, 0.5], values
    try:
        karat.numeric_tolerance(1, 'x')
    except ValueError as error:
        assert 'numeric_tolerance' in str(error)
    return {'correctness': 1, 'speed': 0.25}
";
    assert_eq!(scores(&script(all, json!(null)))["speed"], 0.25);
}

#[test]
fn a_script_that_is_wrong_is_refused_with_its_line() {
    let returning = |what: &str| format!("def evaluate(answer, truth, match):\n    return {what}\n");
    for (source, place, found) in [
        ("x = 1".to_owned(), "the whole file", "no function `evaluate`"),
        ("def evaluate(:".to_owned(), "line 1", "SyntaxError"),
        ("\n\n1 / 0".to_owned(), "line 3", "ZeroDivisionError"),
        (returning("answer['nothing']"), "line 2", "TypeError"),
        (returning("{}"), "`correctness` of what", "nothing"),
        (returning("{'correctness': 1000.0001, 'speed': 1}"), "`correctness` of what", "1000.0001"),
        (returning("{'correctness': -1e-9, 'speed': 1}"), "`correctness` of what", "-1e-9"),
        (returning("{'correctness': float('nan'), 'speed': 1}"), "the whole file", "no JSON form"),
        (returning("{'correctness': True, 'speed': 1}"), "`correctness` of what", "true"),
        (returning("{'correctness': 1, 'speed': 1, 'style': 1}"), "`style` of what", "a dimension that"),
        (returning("None"), "what `evaluate`", "no dictionary"),
        ("def evaluate(a, t, m):\n    while True: pass".to_owned(), "the whole file", "limit:fuel"),
        ("import os\ndef evaluate(a, t, m): os._exit(0)".to_owned(), "the whole file", "exit: 0"),
    ] {
        let faults = refused(&script(&source, json!(1)));
        assert!(
            faults[0].starts_with(&format!("maze.py, {place}")) && faults[0].contains(found),
            "{faults:?}"
        );
    }
}

#[test]
fn no_byte_of_an_answer_takes_a_script_more_than_an_answer_may_count_on() {
    let fuel = |answer: Value| {
        let mut job = Job { limits: Limits::default(), ..job("", Vec::new()) };
        job.tasks = vec![Task::Script {
            file: "judge.py".to_owned(),
            source: "def evaluate(answer, truth, match):\n    return {'style': 0}\n".to_owned(),
            dimensions: vec!["style".to_owned()],
            answer,
            truth: Value::Null,
            r#match: Value::Null,
        }];
        let [TaskReport::Script { fuel, .. }] = &cranelift().judge(&job).unwrap().results[..] else {
            panic!()
        };
        *fuel
    };
    let empty = fuel(json!([]));
    let many = |value: Value| Value::from(vec![value; 5_000]);
    // `evidence` has the most fuel for a byte, where larger answers are refused.
    for (name, answer, most) in [
        ("lists", many(json!([])), 2_000),
        ("objects", many(json!({})), 2_000),
        ("objects with a member", many(json!({"a": 1})), 2_000),
        ("keys", (0..5_000).map(|n| (format!("{n:x}"), json!(0))).collect(), 2_000),
        ("digits", many(json!(1)), 2_000),
        ("whole numbers", many(json!(i64::MAX)), 2_000),
        ("fractions", many(json!(0.1)), 2_000),
        ("small numbers", many(json!(1e-300)), 2_000),
        ("the smallest number", many(json!(5e-324)), 2_000),
        ("numbers of many digits", many(json!(1.234_567_890_123_456_7e-300)), 2_000),
        ("large numbers", many(json!(f64::MAX)), 2_000),
        ("empty texts", many(json!("")), 2_000),
        ("short texts", (0..5_000_u32).map(|n| format!("{n:x}")).collect(), 2_000),
        ("a text", json!("x".repeat(50_000)), 100),
        ("a text of wide letters", json!("\u{e9}\u{1f600}".repeat(10_000)), 100),
        ("control characters", json!("\u{1}".repeat(50_000)), 6 * 100),
        ("quotation marks", json!("\"".repeat(50_000)), 2 * 100),
    ] {
        let bytes = answer.as_str().map_or_else(|| answer.to_string().len(), str::len) as u64;
        let used = fuel(answer) - empty;
        assert!(used <= most * bytes, "{name}: {used} for {bytes} bytes, {} each", used / bytes);
    }
}
