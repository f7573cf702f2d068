//! Reports and paths, sound and hostile.

use serde_json::json;

use super::*;
use crate::arena::CaseFile;

const FILE: &str = "
    function = 'f'
    [[case]]
    name = 'empty graph'
    args = []
    expect = 1
    [[case]]
    name = 'one way'
    args = []
    expect = 1
    [[case]]
    name = 'as a program'
    stdin = ''
    expect_stdout = ''
    [[case]]
    name = 'no way'
    args = []
    expect = 1
";

#[test]
fn paths_stay_below_their_folder() {
    for good in ["a.py", "hidden/route.cases.toml", "a-b_c/d.0.py"] {
        assert_eq!(check_path(good), Ok(()), "{good}");
    }
    let long = "a".repeat(201);
    for bad in [
        "",
        "/a",
        "a/",
        "a//b",
        "..",
        "a/../b",
        ".hidden",
        "./a",
        "a\\b",
        "C:a",
        "a b",
        "ä",
        "a\0",
        long.as_str(),
    ] {
        assert!(check_path(bad).is_err(), "{bad}");
    }
}

fn job() -> Job {
    Job {
        runtime: "python".into(),
        runtime_digest: None,
        files: BTreeMap::new(),
        limits: Limits::default(),
        seed: 0,
        tasks: vec![
            Task::Cases { file: "a.toml".into(), cases: CaseFile::parse(FILE).unwrap().cases().to_vec() },
            Task::Suite { file: "b.py".into(), source: String::new() },
            Task::Script {
                file: "c.py".into(),
                source: String::new(),
                dimensions: vec!["precision".into(), "correctness".into()],
                answer: json!({}),
                truth: json!({}),
                r#match: json!({}),
            },
        ],
    }
}

fn digest() -> String {
    Digest::of(b"").to_string()
}

fn report() -> Value {
    let case = |name: &str| json!({"name": name, "value": 1.0, "verdict": "pass", "fuel": 7});
    json!({
        "judge": {"engine": "e 1", "runtime": "python", "runtime_digest": digest(), "version": "1"},
        "results": [
            {"kind": "cases", "cases": [case("empty graph"), case("one way"), case("as a program"), case("no way")]},
            {"kind": "suite", "cases": [case("b.Tests.test_a"), case("b.Tests.test_b")]},
            {"kind": "script", "scores": {"correctness": 1000.0, "precision": 0.0}, "fuel": 9},
        ],
    })
}

fn checked(report: Value) -> Result<Report, String> {
    serde_json::from_value::<Report>(report).map_err(|error| error.to_string())?.checked(&job())
}

#[test]
fn a_report_that_breaks_its_word_is_none() {
    assert!(checked(report()).is_ok());
    let changes: &[(&str, Value)] = &[
        ("/results", json!([])),
        ("/results/0", json!({"kind": "suite", "cases": []})),
        ("/results/0/cases", json!([])),
        ("/results/0/cases/0/name", json!("one way")),
        ("/results/0/cases/1", json!({"name": "one way", "value": 1.5, "verdict": "pass", "fuel": 7})),
        ("/results/0/cases/0/value", json!(-0.5)),
        ("/results/0/cases/0/value", json!(0.5)),
        ("/results/0/cases/0/verdict", json!("partial")),
        ("/results/0/cases/0/verdict", json!("fail")),
        ("/results/0/cases/0/verdict", json!("skipped")),
        ("/results/0/cases/0/fuel", json!(u64::MAX)),
        ("/results/1/cases/1/name", json!("b.Tests.test_a")),
        ("/results/1/cases/1/name", json!(" ")),
        ("/results/1/cases/1/name", json!("a\u{1b}[2J")),
        (
            "/results/1/cases",
            json!(vec![json!({"name": "n", "value": 1.0, "verdict": "pass", "fuel": 7}); 1001]),
        ),
        ("/results/2/scores/correctness", json!(1000.0001)),
        ("/results/2/scores/correctness", json!(-0.1)),
        ("/results/2/scores", json!({"correctness": 1.0})),
        ("/results/2/scores", json!({"correctness": 1.0, "precision": 1.0, "speed": 1.0})),
        ("/results/2/scores", json!({})),
        ("/judge/runtime", json!("ruby")),
        ("/judge/runtime_digest", json!("sha256:1")),
        ("/judge/engine", json!("")),
    ];
    for (place, value) in changes {
        let mut changed = report();
        *changed.pointer_mut(place).unwrap() = value.clone();
        assert!(checked(changed).is_err(), "{place} {value}");
    }
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut changed: Report = serde_json::from_value(report()).unwrap();
        let TaskReport::Cases { cases } = &mut changed.results[0] else { panic!("{changed:?}") };
        cases[0].value = value;
        assert!(changed.checked(&job()).is_err(), "{value}");
        let mut changed: Report = serde_json::from_value(report()).unwrap();
        let TaskReport::Script { scores, .. } = &mut changed.results[2] else { panic!("{changed:?}") };
        scores.insert("correctness".into(), value);
        assert!(changed.checked(&job()).is_err(), "{value}");
    }
    let pinned = Job { runtime_digest: Some(format!("sha256:{}", "0".repeat(64))), ..job() };
    assert!(serde_json::from_value::<Report>(report()).unwrap().checked(&pinned).is_err());
}

#[test]
fn a_reason_is_one_line_that_ends() {
    let mut long = report();
    let case = long.pointer_mut("/results/0/cases/0").unwrap();
    *case = json!({"name": "empty graph", "value": 0.0, "verdict": "fail", "fuel": 7,
        "reason": format!("a\n\u{1b}[31m{}", "x".repeat(1 << 20))});
    let report = checked(long).unwrap();
    let TaskReport::Cases { cases } = &report.results[0] else { panic!("{report:?}") };
    let reason = cases[0].reason.as_deref().unwrap();
    assert_eq!(reason.chars().count(), 200);
    assert!(!reason.contains(['\n', '\u{1b}']), "{reason}");
}
