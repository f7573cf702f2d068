//! Each item of `items.json`: what its reader gives, or why it is refused.
//!
//! `KARAT_WRITE_FIXTURES=1 cargo test -p karat-reader --test it items::` writes `told` again; read the difference.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use karat_core::facts::{Fact, ItemContext, Outcome};
use karat_core::timestamp::Timestamp;
use karat_reader::{FactType, Graders, Kind, Reader, ReaderOptions};
use serde_json::{Value, json};

/// Returns everything an item gives, one line each; or its problems.
fn told(kind: Kind, text: &str) -> Vec<String> {
    let own = [("solved", FactType::Number), ("escalated", FactType::Boolean), ("domain", FactType::Text)];
    let mut wanted: Vec<_> =
        kind.vocabulary().iter().map(|spec| (spec.name.to_owned(), spec.fact_type)).collect();
    if kind == Kind::Facts {
        wanted.extend(own.map(|(name, fact_type)| (name.to_owned(), fact_type)));
    }
    let mut reader = Reader::new(kind, &wanted, ReaderOptions::default()).unwrap();
    let mut lines = Vec::new();
    match reader.read(text.as_bytes()) {
        Err(problems) => lines.extend(problems.iter().map(ToString::to_string)),
        Ok(evidence) => {
            let item = evidence.item();
            lines.push(format!("subject {}, id {}", item.subject, item.id));
            let ItemContext { time, task, outcome, cases, .. } = item.context;
            lines.extend(time.map(|time| format!("at {time}")));
            lines.extend(task.map(|task| format!("task {task}")));
            lines.extend(outcome.map(|outcome| format!("outcome {}", Outcome::name(outcome))));
            lines.extend(cases.map(|cases| format!("cases {cases}")));
            for ((name, _), fact) in wanted.iter().zip(item.facts) {
                match fact {
                    Fact::Missing => {}
                    Fact::Number(number) => lines.push(format!("{name} = {number}")),
                    Fact::Flag(flag) => lines.push(format!("{name} = {flag}")),
                    Fact::Text(text) => lines.push(format!("{name} = {text:?}")),
                }
            }
            lines.extend(item.suspicions.iter().map(|suspicion| format!("warning: {suspicion}")));
            lines.extend(evidence.notes().iter().map(|note| format!("note: {note}")));
        }
    }
    lines.extend(reader.unknown_fields().map(|(path, count)| format!("unknown: {path} ({count})")));
    lines
}

#[test]
fn each_item_gives_what_is_told_of_it() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/items.json");
    let mut rows: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for row in rows.as_array_mut().unwrap() {
        let text = |name: &str| row[name].as_str().unwrap();
        let found = json!(told(Kind::from_name(text("kind")).unwrap(), text("item")));
        if row["told"] != found {
            wrong.push(format!("{}: {found:#}", text("name")));
            row["told"] = found;
        }
    }
    if std::env::var_os("KARAT_WRITE_FIXTURES").is_some() {
        fs::write(&path, format!("{rows:#}\n")).unwrap();
    } else {
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[test]
fn the_moment_of_a_verdict_is_given_or_that_of_the_newest_item() {
    let agent = br#"{"agent_id": "a", "incidents": [
        {"id": "i", "time": "2026-04-01T00:00:00Z", "severity": "high", "confirmed": true, "closed_at": "2026-04-03T06:00:00+02:00"}]}"#;
    let graded = |text: &[u8], as_of: Option<&str>| {
        let as_of = as_of.map(|text| Timestamp::parse(text).unwrap());
        let wanted = [("high_incident_open".to_owned(), FactType::Boolean)];
        let reader = Reader::new(Kind::AgentEvidence, &wanted, ReaderOptions::default()).unwrap();
        let mut reader = reader.with_graders(Graders { as_of, ..Graders::default() });
        let evidence = reader.read(text).unwrap();
        let seen: Value = serde_json::from_str(evidence.item().grading.unwrap()).unwrap();
        (evidence.item().facts[0] == Fact::Flag(true), seen["evidence"].to_string())
    };
    let seen = |as_of: &str, quarantined: &str| {
        format!(r#"{{"as_of":{as_of},"quarantined":[{quarantined}],"withdrawn":[]}}"#)
    };
    assert_eq!(graded(agent, None), (false, seen("\"2026-04-03T04:00:00Z\"", "")));
    assert_eq!(graded(agent, Some("2026-04-02T00:00:00Z")), (true, seen("\"2026-04-02T00:00:00Z\"", "")));
    let early = seen("\"2026-03-01T00:00:00Z\"", r#"{"id":"i","kind":"incident"}"#);
    assert_eq!(graded(agent, Some("2026-03-01T00:00:00Z")), (false, early));
    assert_eq!(graded(br#"{"agent_id": "a"}"#, None).1, seen("null", ""));
}
