//! Items that contradict themselves: refused where that is impossible, suspected where it is hardly true.
//!
//! Each row of a table changes one good item. What makes an item impossible is refused at a place, with what was found; what is
//! only suspicious is read, and the record will say it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use karat_core::facts::Fact;
use karat_graders::arena::Challenge;
use karat_reader::{Graders, Kind, Reader, ReaderOptions};
use serde_json::{Value, json};

/// The facts of an item by name, and what is suspected.
type Read = (Vec<(String, Value)>, Vec<String>);

/// Reads an item: its facts and what is suspected, or what is refused.
fn read(kind: Kind, graders: Graders, item: &Value) -> Result<Read, String> {
    let wanted: Vec<_> =
        kind.vocabulary().iter().map(|spec| (spec.name.to_owned(), spec.fact_type)).collect();
    let mut reader = Reader::new(kind, &wanted, ReaderOptions::default()).unwrap().with_graders(graders);
    let text = item.to_string();
    let evidence = reader.read(text.as_bytes()).map_err(|problems| problems.to_string())?;
    let item = evidence.item();
    let fact = |fact: &Fact<'_>| match fact {
        Fact::Missing => Value::Null,
        Fact::Number(number) => json!(number),
        Fact::Flag(flag) => json!(flag),
        Fact::Text(text) => json!(text),
    };
    let facts = wanted.into_iter().zip(item.facts).map(|((name, _), value)| (name, fact(value)));
    Ok((facts.collect(), item.suspicions.to_vec()))
}

/// Returns the item with the values at these JSON pointers put in place; the last part may be new.
fn changed(item: &Value, changes: &[(&str, Value)]) -> Value {
    let mut item = item.clone();
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        match item.pointer_mut(parent).unwrap() {
            Value::Array(elements) => elements[name.parse::<usize>().unwrap()] = value.clone(),
            parent => parent[name] = value.clone(),
        }
    }
    item
}

/// Four of four steps, one of which declares a time limit and two retries.
fn run() -> Value {
    json!({
        "run_id": "run-1", "output_quality": 1,
        "task": {"constraints": {"max_budget_tao": 1, "max_latency_seconds": 10}},
        "workflow_plan": {
            "nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "d"}],
            "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}, {"from": "c", "to": "d"}],
            "error_handling": {"a": {"retry_count": 2, "timeout_seconds": 1}},
        },
        "result": {"steps_completed": 4, "actual_cost": 0.1, "actual_latency": 1, "actual_retries": 1,
            "timeouts": 1, "hard_failures": 0, "budget_aborted": false, "final_output": {"text": "x"}},
    })
}

fn read_run(changes: &[(&str, Value)]) -> Result<Read, String> {
    read(Kind::WorkflowRun, Graders::default(), &changed(&run(), changes))
}

/// Returns the steps completed and in total.
fn steps(changes: &[(&str, Value)]) -> [Value; 2] {
    let (facts, _) = read_run(changes).unwrap();
    ["steps_completed", "steps_total"]
        .map(|wanted| facts.iter().find(|(name, _)| name == wanted).unwrap().1.clone())
}

/// A plan of one step for a task of many completes one of many.
#[test]
fn the_steps_of_a_task_are_those_that_count() {
    let short = |task: Value| {
        let mut changes = vec![
            ("/workflow_plan", json!({"nodes": [{"id": "b"}]})),
            ("/result/steps_completed", json!(1)),
            ("/result/timeouts", json!(0)),
        ];
        changes.extend(task.as_object().unwrap().iter().map(|(name, value)| match name.as_str() {
            "steps" => ("/task/steps", value.clone()),
            _ => ("/task/reference_plan", value.clone()),
        }));
        steps(&changes)
    };
    let plan = json!({"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "edges": [{"from": "a", "to": "c"}]});
    assert_eq!(short(json!({})), [json!(1.0), json!(1.0)]);
    assert_eq!(short(json!({"steps": 4})), [json!(1.0), json!(4.0)]);
    assert_eq!(short(json!({"steps": ["a", "b", "c"]})), [json!(1.0), json!(3.0)]);
    assert_eq!(short(json!({"steps": ["a", "c"]})), [json!(0.0), json!(2.0)]);
    assert_eq!(short(json!({"reference_plan": plan})), [json!(1.0), json!(3.0)]);
    assert_eq!(short(json!({"reference_plan": plan, "steps": 3})), [json!(1.0), json!(3.0)]);
    // A longer plan has more to complete, and steps that the task does not name earn nothing.
    assert_eq!(steps(&[("/task/steps", json!(2))]), [json!(4.0), json!(4.0)]);
    assert_eq!(steps(&[("/task/steps", json!(["a", "b"]))]), [json!(2.0), json!(2.0)]);
    assert_eq!(steps(&[("/task/steps", json!(["x"])), ("/result/steps_completed", json!(0))])[0], json!(0.0));
}

/// The log says which steps were completed; a number of them does not.
#[test]
fn steps_by_name_need_to_know_which_were_completed() {
    let some = ("/result/steps_completed", json!(3));
    let named = ("/task/steps", json!(["a", "d"]));
    let refused = read_run(&[some.clone(), named.clone()]).unwrap_err();
    assert!(refused.starts_with("$.result.steps_completed: found 3 of 4 steps, and not which"), "{refused}");
    let logged = json!({"attempts": [{"step": "a", "outcome": "success"}, {"step": "b", "outcome": "success"},
        {"step": "c", "outcome": "success"}, {"step": "d", "outcome": "failed"}]});
    assert_eq!(steps(&[named.clone(), ("/result", logged)]), [json!(1.0), json!(2.0)]);
    let planless = [named, ("/workflow_plan", Value::Null), ("/result/total_steps", json!(4))];
    let refused = read_run(&planless).unwrap_err();
    assert!(refused.starts_with("$.task.steps: found steps by name, and no plan"), "{refused}");
}

#[test]
fn steps_of_a_task_that_cannot_be_are_refused() {
    let plan = json!({"nodes": [{"id": "a"}]});
    for (changes, problem) in [
        (&[("/task/steps", json!(0))][..], "$.task.steps: found `0`"),
        (&[("/task/steps", json!([]))], "$.task.steps: found no steps"),
        (&[("/task/steps", json!(["a", "a"]))], "$.task.steps[1]: found the id `a` a second time"),
        (&[("/task/steps", json!(["a", 1]))], "$.task.steps[1]: found `1`"),
        (&[("/task/steps", json!("four"))], "$.task.steps: found the text `four`"),
        (&[("/task/reference_plan", json!({"nodes": []}))], "$.task.reference_plan.nodes: found no steps"),
        (
            &[("/task/reference_plan", plan.clone()), ("/task/steps", json!(2))],
            "$.task.steps: found other steps than in the task's other statement",
        ),
        (&[("/task/reference_plan", plan), ("/task/steps", json!(["b"]))], "$.task.steps: found other steps"),
    ] {
        let refused = read_run(changes).unwrap_err();
        assert!(refused.starts_with(problem), "{changes:?}: {refused}");
    }
}

/// The challenge of the documented example.
fn challenge() -> Graders {
    let weights = [("correctness", 0.5), ("speed", 0.2), ("methodology", 0.15), ("completeness", 0.15)];
    let challenge = Challenge {
        id: "log-forensics".to_owned(),
        name: "log-forensics@1.0.0".to_owned(),
        weights: weights.map(|(key, weight)| (key.to_owned(), weight)).into(),
    };
    Graders { challenge: Some(challenge), ..Graders::default() }
}

/// The documented example, with the times that its speed takes.
fn played() -> Value {
    json!({
        "match_id": "m-1", "agent_id": "a", "challenge": "log-forensics", "score": 823, "result": "win",
        "score_breakdown": {
            "correctness": {"score": 900, "weight": 0.5, "weighted": 450},
            "speed": {"score": 780, "weight": 0.2, "weighted": 156},
            "methodology": {"score": 690, "weight": 0.15, "weighted": 103.5},
            "completeness": {"score": 760, "weight": 0.15, "weighted": 114},
        },
        "started_at": "2026-03-18T09:30:00Z", "submitted_at": "2026-03-18T09:31:06Z", "time_limit_secs": 300,
        "expires_at": "2026-03-18T09:35:00Z", "status": "completed", "verified": true, "memoryless": false,
        "attempt_number": 1, "trajectory_validation": {"valid": true, "checks": {"non_empty": true}},
        "trajectory": {"total_input_tokens": 100, "total_output_tokens": 10, "total_llm_calls": 1},
        "submission_warnings": [],
    })
}

fn read_match(changes: &[(&str, Value)]) -> Result<Read, String> {
    read(Kind::Match, challenge(), &changed(&played(), changes))
}

/// An error about a dimension makes it 0, also where the arena has added it up: both totals can be meant.
#[test]
fn a_refused_dimension_may_be_in_the_total_or_not() {
    let error = ("/submission_warnings", json!([{"severity": "error", "dimension": "correctness"}]));
    for score in [823, 373] {
        read_match(&[error.clone(), ("/score", json!(score)), ("/result", Value::Null)]).unwrap();
    }
    assert!(read_match(&[error, ("/score", json!(300)), ("/result", Value::Null)]).is_err());
}

/// Without a card of a challenge there is nothing to hold a match against, but itself.
#[test]
fn a_match_without_a_challenge_is_read_as_it_is() {
    let item = changed(&played(), &[("/challenge", json!("other")), ("/score", json!(1))]);
    assert!(read(Kind::Match, Graders::default(), &item).is_ok());
}
