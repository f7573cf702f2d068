//! Evidence of every kind on its way to the graders.

use karat_evidence::{Problems, names};
use karat_graders::arena::Evaluator;
use karat_graders::trace::novelty::{Settings, VectorCache};
use karat_reader::{FactType, Graders, Kind, Reader, ReaderOptions};
use serde_json::{Value, json};

use super::{HALF_PAIRS, SCRIPTS, deep_texts, ends};

/// Makes a reader with all graders that need no file, for all facts that the kind can supply.
fn reader(kind: Kind) -> Reader {
    let mut wanted: Vec<(String, FactType)> =
        kind.vocabulary().iter().map(|fact| (fact.name.to_owned(), fact.fact_type)).collect();
    if kind == Kind::Facts {
        wanted = vec![("a".to_owned(), FactType::Number), ("b".to_owned(), FactType::Text)];
    }
    let tables = json!({"evaluator": {"correctness": [{"primitive": "fuzzy_string", "field": "q"}]}});
    let graders = Graders {
        evaluator: Some(Evaluator::from_json(&tables, &["correctness"]).unwrap()),
        cache: Some(VectorCache::new(Settings { dimension: 2, ..Settings::default() }).unwrap()),
        ..Graders::default()
    };
    Reader::new(kind, &wanted, ReaderOptions::default()).unwrap().with_graders(graders)
}

fn read(kind: Kind, text: &str) -> Result<(), Problems> {
    reader(kind).read(text.as_bytes()).map(|evidence| assert!(!evidence.item().subject.is_empty()))
}

const MEMBERS: [&str; 22] = [
    "subject", "id", "agent_id", "task", "reference", "workflow_plan", "result", "attempts", "final_output",
    "tests", "payload", "answer", "metadata", "replay_log", "ground_truth", "constraints", "scores",
    "dimensions", "steps", "outcome", "vector", "novelty",
];

#[test]
fn every_member_of_every_kind_is_deep() {
    for kind in Kind::ALL {
        for text in deep_texts() {
            ends(move || {
                assert!(read(kind, &text).is_err());
                for member in MEMBERS {
                    assert!(read(kind, &format!(r#"{{"subject":"s","{member}":{text}}}"#)).is_err());
                }
            });
        }
    }
}

#[test]
fn members_of_every_kind_are_long() {
    for kind in Kind::ALL {
        ends(move || {
            let long = "क".repeat(300_000);
            for member in ["subject", "result", "steps"] {
                for value in
                    [json!(long), json!([long]), json!({"text": long}), json!({long.as_str(): [1, {}]})]
                {
                    let text = json!({"subject": "s", member: value}).to_string();
                    if let Err(problems) = read(kind, &text) {
                        assert!(problems.to_string().len() < 100_000, "{kind:?} {member}");
                    }
                }
            }
        });
    }
}

#[test]
fn a_long_key_above_many_problems() {
    ends(|| {
        let entry = format!("{}\"z\":1", r#""retry_count":-1,"#.repeat(200));
        let text = format!(
            r#"{{"subject":"s","workflow_plan":{{"nodes":[{{"id":"a"}}],"error_handling":{{"{}":{{{entry}}}}}}}}}"#,
            "k".repeat(3_000_000)
        );
        let problems = read(Kind::WorkflowRun, &text).unwrap_err();
        assert!(problems.len() >= 200 && problems.to_string().len() < 100_000, "the key is cut in paths");
    });
}

#[test]
fn half_surrogate_pairs_in_every_place() {
    for kind in Kind::ALL {
        for half in HALF_PAIRS {
            for text in [
                half.to_owned(),
                format!(r#"{{"subject":{half}}}"#),
                format!(r#"{{"subject":"s",{half}:1}}"#),
                format!(r#"{{"subject":"s","steps":[{half}]}}"#),
            ] {
                assert!(read(kind, &text).is_err(), "{kind:?} {text}");
            }
        }
    }
}

#[test]
fn subjects_in_every_script() {
    for script in SCRIPTS.into_iter().filter(|script| !script.trim().is_empty()) {
        let read = read(Kind::Facts, &json!({"subject": script, "a": 1, "b": script}).to_string());
        match names::fault(script) {
            None => read.unwrap(),
            Some(fault) => assert!(read.unwrap_err().to_string().contains(fault.expected)),
        }
    }
}

/// Makes a run whose output has to be graded, and its output.
fn run(task_type: &str, reference: &Value, output: &str) -> String {
    json!({
        "run_id": "r", "task": {"task_type": task_type, "reference": reference,
            "constraints": {"max_budget_tao": 1, "max_latency_seconds": 1}},
        "workflow_plan": {"nodes": [{"id": "a"}]},
        "result": {"attempts": [{"step": "a", "outcome": "success", "cost": 0,
            "start": "2026-03-18T09:30:00Z", "end": "2026-03-18T09:30:01Z"}], "final_output": {"text": output}},
    })
    .to_string()
}

#[test]
fn outputs_that_are_graded_on_the_way() {
    for output in deep_texts().into_iter().chain(["क".repeat(1_000_000)]) {
        ends(move || {
            for (task_type, reference) in [
                ("rag", json!({"reference_answer": "one two", "tokenizer": "unicode"})),
                (
                    "agent",
                    json!({"goal_checklist": [{"type": "json_key", "text": "a"}, {"type": "regex", "pattern": "^(x+)+$"}]}),
                ),
                (
                    "data_transform",
                    json!({"expected_output": {"a": 1}, "schema": {"properties": {"a": {"$ref": "#"}}}}),
                ),
                ("?", json!({})),
            ] {
                // A text of more tokens than ROUGE takes is refused, anything else graded.
                match read(Kind::WorkflowRun, &run(task_type, &reference, &output)) {
                    Ok(()) => {}
                    Err(problems) => assert!(problems.to_string().len() < 2000, "{problems:.2000}"),
                }
            }
        });
    }
}

#[test]
fn traces_with_hostile_vectors() {
    let trace = |vector: Value| {
        json!({
            "@context": "https://openknowledgepulse.org/schema/v1", "@type": "ReasoningTrace", "id": "kp:trace:a",
            "metadata": {"created_at": "2026-03-18T09:00:00Z", "agent_id": "a", "task_domain": "x", "success": true,
                "quality_score": 0.5, "visibility": "network", "privacy_level": "aggregated"},
            "task": {"objective": "o"}, "steps": [{"step_id": 0, "type": "thought", "content": "c"}],
            "outcome": {"result_summary": "", "confidence": 1}, "vector": vector,
        })
        .to_string()
    };
    assert_eq!(read(Kind::ReasoningTrace, &trace(json!([1e-45, -3.4e38]))), Ok(()));
    for vector in [
        json!([]),
        json!([1]),
        json!([1e39, 1]),
        json!([null, 1]),
        json!(["NaN", 1]),
        json!([[1, 1]]),
        json!({"0": 1, "1": 1}),
        json!(vec![0.5; 1_000_000]),
    ] {
        let text = trace(vector);
        assert!(ends(move || read(Kind::ReasoningTrace, &text).is_err()));
    }
}
