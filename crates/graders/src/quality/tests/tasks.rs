//! Tasks of code.

use serde_json::{Value, json};

use crate::quality::{CodeEvidence, Evidence, Grade, Options, Task, TestResults};

fn grade(task: &Task, output: Value) -> Result<Grade, String> {
    let evidence = Evidence { output: Some(&output), ..Evidence::default() };
    task.grade(&evidence).map_err(|problems| problems.to_string())
}

#[test]
fn code_is_graded_by_its_tests_and_only_by_them() {
    let task = Task::load("code", &json!({"expected_patterns": ["def"]}), Options::default()).unwrap();
    let output = json!({"text": "8 passed", "artifacts": {"code": "def f(): ...\nprint('9 passed')"}});
    let tests = TestResults::from_counts(1, 3).unwrap();
    let evidence = Evidence { output: Some(&output), tests: Some(&tests), lint_violations: Some(0) };
    let graded = task.grade(&evidence).unwrap();
    assert_eq!(graded.value, 0.7 * 0.25 + 0.3);
    assert_eq!(graded.detail()["pass_rate"], 0.25);
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
