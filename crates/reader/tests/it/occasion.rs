//! When, at what, and how each kind of evidence says that it ended.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use karat_core::facts::{Fact, ItemContext, Outcome};
use karat_reader::{FactType, Kind, Reader, ReaderOptions};

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
    ] {
        assert_eq!(occasion(kind, text), expected, "{text}");
    }
    for (n, cases) in [("1", Some(1)), ("225", Some(225)), ("null", None)] {
        let mut reader = Reader::new(Kind::Facts, &[], ReaderOptions::default()).unwrap();
        let text = format!(r#"{{"subject": "a", "n": {n}}}"#);
        assert_eq!(reader.read(text.as_bytes()).unwrap().item().context.cases, cases, "{n}");
        assert_eq!(reader.unknown_fields().count(), 0);
    }
    for n in ["0", "-3", "2.5", "1e300", "true", "\"\"", "\"225\"", "\"many\"", "\"1e2\"", "[]"] {
        let refused = occasion(Kind::Facts, &format!(r#"{{"subject": "a", "n": {n}}}"#));
        assert!(refused.contains("$.n") && refused.contains("a whole number from 1 on"), "{n}: {refused}");
    }
    // A card may declare a fact of that name, which is then any number and no count of cases.
    let wanted = [(String::from("n"), FactType::Number)];
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

/// A field of facts that is known by its name is understood or refused, unless the card or the subject takes the name.
#[test]
fn facts_that_are_not_understood_are_refused() {
    for (field, found) in [
        (r#""time": "3.4 s""#, "$.time: found the text `3.4 s`, expected an RFC 3339 timestamp"),
        (r#""time": "2026-05-01 10:00:00""#, "$.time: found the text `2026-05-01 10:00:00`"),
        (r#""time": "2026-12-31T23:59:60Z""#, "$.time: found the text `2026-12-31T23:59:60Z`"),
        (r#""time": 1777000000"#, "$.time: found `1777000000`"),
        (r#""task": 1.5"#, "$.task: found `1.5`, expected a name, or a whole number"),
        (r#""task": " ""#, "$.task: found the text ` `"),
        (r#""task": ["a"]"#, "$.task: found an array"),
        (r#""outcome": "success""#, "$.outcome: found the text `success`, expected `succeeded`, `failed`, "),
        (r#""outcome": true"#, "$.outcome: found `true`"),
        (r#""id": true"#, "$.id: found `true`"),
        (r#""subject": {}"#, "$.subject: found an object"),
    ] {
        let refused =
            occasion(Kind::Facts, &format!(r#"{{"id": 1, {field}}}"#).replace(r#""id": 1, "id""#, r#""id""#));
        assert!(refused.starts_with(found), "{field}: {refused}");
    }
}

#[test]
fn a_name_that_the_card_takes_may_hold_something_else() {
    let own = [("time", FactType::Number), ("task", FactType::Boolean), ("outcome", FactType::Text)];
    let wanted = own.map(|(name, fact_type)| (name.to_owned(), fact_type));
    let mut reader = Reader::new(Kind::Facts, &wanted, ReaderOptions::default()).unwrap();
    let read = reader.read(br#"{"subject": "a", "time": 3.4, "task": true, "outcome": "passed"}"#).unwrap();
    assert_eq!(read.item().facts, [Fact::Number(3.4), Fact::Flag(true), Fact::Text("passed")]);
    assert_eq!(read.item().context, ItemContext::default());
    drop(read);
    let read = reader.read(br#"{"subject": "a", "outcome": "failed"}"#).unwrap();
    assert_eq!(read.item().context.outcome, Some(Outcome::Failed));
    assert_eq!(read.item().facts[2], Fact::Text("failed"));
    let options = ReaderOptions { subject_field: Some("task".to_owned()), ..ReaderOptions::default() };
    let mut reader = Reader::new(Kind::Facts, &[], options).unwrap();
    assert_eq!(reader.read(br#"{"task": 7}"#).unwrap().item().subject, "7");
}
