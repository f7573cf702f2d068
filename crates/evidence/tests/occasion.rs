//! When, at what, and how each kind of evidence says that it ended.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use karat_core::facts::{ItemContext, Outcome};
use karat_evidence::{Kind, Reader, ReaderOptions};

const RUN: &str = r#"{"id": 1, "task": {"task_id": "t-1"}, "output_quality": 1, "result": {"steps_completed": 1, "total_steps": 1}}"#;

/// Returns when, at what, and how an item ended, or its problems.
fn occasion(kind: Kind, text: &str) -> String {
    let mut reader = Reader::new(kind, &[], ReaderOptions::default()).unwrap();
    let read = match reader.read(text.as_bytes()) {
        Err(problems) => problems.to_string(),
        Ok(evidence) => {
            let ItemContext { time, task, outcome, .. } = evidence.item().context;
            let time = time.map(|time| time.to_string());
            format!("{time:?} {task:?} {:?}", outcome.map(Outcome::name))
        }
    };
    let unknown = reader.unknown_fields().map(|(path, _)| format!(" unknown {path}"));
    std::iter::once(read).chain(unknown).collect()
}

#[test]
fn when_at_what_and_how_it_ended() {
    let result = r#""output_quality": 1, "result": {"steps_completed": 1, "total_steps": 1}"#;
    let none = "None None None";
    for (kind, text, expected) in [
        (Kind::WorkflowRun, RUN, r#"None Some("t-1") None"#),
        (
            Kind::WorkflowRun,
            &format!(
                r#"{{"id": 1, "time": "2026-03-18T10:30:00+01:00", "task_id": 9, "outcome": "stopped", {result}}}"#
            ),
            r#"Some("2026-03-18T09:30:00Z") Some("9") Some("stopped")"#,
        ),
        (
            Kind::Match,
            r#"{"agent_id": "a", "match_id": "m", "challenge_id": "c-7", "challenge_slug": "log-forensics",
                "submitted_at": "2026-03-18T09:30:00.250Z", "outcome": "refused", "scores": {"correctness": 1}}"#,
            r#"Some("2026-03-18T09:30:00.250Z") Some("log-forensics") Some("refused")"#,
        ),
        (
            Kind::Facts,
            r#"{"subject": "a", "time": "2026-03-18T09:30:00Z", "task": 17, "outcome": "no-verdict"}"#,
            r#"Some("2026-03-18T09:30:00Z") Some("17") Some("no-verdict")"#,
        ),
        (Kind::Facts, r#"{"subject": "a", "time": null, "task": null, "outcome": null}"#, none),
        (
            Kind::Facts,
            r#"{"subject": "a", "time": "3.4 s", "task": 1.5, "outcome": "passed"}"#,
            "None None None unknown $.outcome unknown $.task unknown $.time",
        ),
    ] {
        assert_eq!(occasion(kind, text), expected, "{text}");
    }
    for (n, cases) in [("1", Some(1)), ("225", Some(225)), ("\"225\"", Some(225)), ("null", None)] {
        let mut reader = Reader::new(Kind::Facts, &[], ReaderOptions::default()).unwrap();
        let text = format!(r#"{{"subject": "a", "n": {n}}}"#);
        assert_eq!(reader.read(text.as_bytes()).unwrap().item().context.cases, cases, "{n}");
        assert_eq!(reader.unknown_fields().count(), 0);
    }
    for n in ["0", "-3", "2.5", "1e300", "true", "\"\"", "\"many\"", "\"1e2\"", "[]"] {
        let refused = occasion(Kind::Facts, &format!(r#"{{"subject": "a", "n": {n}}}"#));
        assert!(refused.contains("$.n") && refused.contains("a whole number from 1 on"), "{n}: {refused}");
    }
    // A card may declare a fact of that name, which is then any number and no count of cases.
    let wanted = [(String::from("n"), karat_evidence::FactType::Number)];
    let mut reader = Reader::new(Kind::Facts, &wanted, ReaderOptions::default()).unwrap();
    let evidence = reader.read(br#"{"subject": "a", "n": 2.5}"#).unwrap();
    assert_eq!((evidence.item().context.cases, evidence.item().facts.len()), (None, 1));
    let refused = occasion(
        Kind::WorkflowRun,
        &format!(r#"{{"id": 1, "time": "today", "outcome": "passed", {result}}}"#),
    );
    assert!(refused.contains("$.time") && refused.contains("$.outcome"), "{refused}");
    let twice = r#"{"id": 1, "task_id": "a", "task": {"task_id": "b"}, "output_quality": 1, "result": {"steps_completed": 1, "total_steps": 1}}"#;
    assert!(occasion(Kind::WorkflowRun, twice).contains("task_id"), "{}", occasion(Kind::WorkflowRun, twice));
}
