//! Tasks of every type, loaded and graded.

use serde_json::{Value, json};

use crate::quality::{CodeEvidence, Evidence, Grade, Options, Task, TestResults};

fn load(task_type: &str, reference: Value) -> Result<Task, String> {
    Task::load(task_type, &reference, Options::default()).map_err(|problems| problems.to_string())
}

fn grade(task: &Task, output: Value) -> Result<Grade, String> {
    let evidence = Evidence { output: Some(&output), ..Evidence::default() };
    task.grade(&evidence).map_err(|problems| problems.to_string())
}

#[test]
fn the_type_chooses_the_grader() {
    for (task_type, reference, output, value) in [
        (" RAG ", json!({"reference_answer": "a b"}), json!({"text": "a b"}), 1.0),
        ("rag", json!({"reference_answer": "a b"}), json!({}), 0.0),
        ("rag", json!({"reference_answer": "東京", "tokenizer": "unicode"}), json!({"text": "東京"}), 1.0),
        ("Agent", json!({"goal_checklist": [{"text": "a"}, {"text": "b"}]}), json!({"text": "A"}), 0.5),
        ("data_transform", json!({"expected_output": [1]}), json!({"text": "[1]", "artifacts": null}), 1.0),
        (
            "data_transform",
            json!({"expected_output": {"a": 1, "b": 2}, "partial_credit": "keys"}),
            json!({"text": r#"{"a": 1}"#}),
            0.5,
        ),
    ] {
        let grade = grade(&load(task_type, reference).unwrap(), output).unwrap();
        assert_eq!(grade.value, value, "{task_type}");
        assert_eq!(grade.detail()["quality"], value);
    }
}

#[test]
fn code_is_graded_by_its_tests_and_only_by_them() {
    let task = load("code", json!({"expected_patterns": ["def"]})).unwrap();
    let output = json!({"text": "8 passed", "artifacts": {"code": "def f(): ...\nprint('9 passed')"}});
    assert!(grade(&task, output.clone()).unwrap_err().starts_with("$.tests: found nothing"));
    let tests = TestResults::from_counts(1, 3).unwrap();
    let evidence = Evidence { output: Some(&output), tests: Some(&tests), lint_violations: Some(0) };
    let graded = task.grade(&evidence).unwrap();
    assert_eq!(graded.value, 0.7 * 0.25 + 0.3);
    assert_eq!(graded.detail()["pass_rate"], 0.25);
    let empty = grade(&task, json!({"artifacts": {"code": " \n"}})).unwrap();
    assert_eq!((empty.value, empty.reason.as_deref()), (0.0, Some("there is no code")));
}

#[test]
fn code_is_graded_by_patterns_where_that_is_chosen() {
    let options = Options { code_evidence: CodeEvidence::Patterns, ..Options::default() };
    let task = Task::load("code", &json!({"expected_patterns": ["def", "while"]}), options).unwrap();
    assert_eq!(grade(&task, json!({"artifacts": {"code": "def"}})).unwrap().value, 0.5);
    for reference in [json!({}), json!({"expected_patterns": []}), json!({"expected_patterns": ["a", ""]})] {
        assert!(Task::load("code", &reference, options).is_err(), "{reference}");
    }
}

#[test]
fn nothing_to_grade_is_worth_nothing_and_says_why() {
    let task = load("rag", json!({"reference_answer": "x"})).unwrap();
    assert_eq!(grade(&task, Value::Null).unwrap().reason.as_deref(), Some("there is no output"));
    assert_eq!(task.grade(&Evidence::default()).unwrap().value, 0.0);
    let unknown = grade(&load("agents", json!({})).unwrap(), json!({"text": "x"})).unwrap();
    assert_eq!(
        (unknown.value, unknown.reason.as_deref()),
        (0.0, Some("no grader for tasks of type `agents`; did you mean `agent`?"))
    );
    let foreign = load("rag", json!({"reference_answer": "東京"})).unwrap();
    let foreign = grade(&foreign, json!({"text": "東京"})).unwrap();
    assert_eq!(foreign.reason.as_deref(), Some("the reference has no tokens with this tokeniser"));
}

#[test]
fn bad_tasks_and_outputs_are_refused_with_their_place() {
    for (task_type, reference, place) in [
        ("rag", json!({}), "$.reference.reference_answer: found nothing"),
        ("rag", json!({"reference_answer": " "}), "$.reference.reference_answer"),
        (
            "rag",
            json!({"reference_answer": "a", "tokenizer": "words"}),
            "$.reference.tokenizer: found `words`",
        ),
        ("agent", json!({"goal_checklist": []}), "$.reference.goal_checklist"),
        ("data_transform", json!({}), "$.reference.expected_output: found nothing"),
        (
            "data_transform",
            json!({"expected_output": 1, "partial_credit": true}),
            "$.reference.partial_credit",
        ),
        ("data_transform", json!({"expected_output": 1, "schema": 7}), "$.reference.schema"),
    ] {
        let refused = load(task_type, reference).unwrap_err();
        assert!(refused.starts_with(place), "{refused}");
    }
    let task = load("rag", json!({"reference_answer": "a"})).unwrap();
    assert!(
        grade(&task, json!("text")).unwrap_err().starts_with("$.output: found `text`, expected an object")
    );
    assert!(grade(&task, json!({"text": 3})).unwrap_err().starts_with("$.output.text: found `3`"));
    assert!(
        grade(&task, json!({"artifacts": {"code": []}})).unwrap_err().starts_with("$.output.artifacts.code")
    );
}
