//! What fills a server so that every page has something to show: the examples of the repository, as they would be sent.

use serde_json::{Map, Value};

/// The scorecards to publish.
pub const CARDS: [&str; 2] = [
    include_str!("../../../../examples/cards/task-run.toml"),
    include_str!("../../../../examples/cards/support-agent.toml"),
];

/// The evidence to send: a scorecard, and items as JSON lines.
pub fn batches() -> Vec<(&'static str, String)> {
    let lines = |parts: &[&str]| parts.concat();
    let whole = |parts: &[&str]| parts.iter().map(|part| one_line(part)).collect::<String>();
    vec![
        ("task-run@1.0.0", of_table(include_str!("../../../../examples/leaderboard/runs.csv"))),
        (
            "support-agent@1.0.0",
            lines(&[include_str!("../../../../examples/standing/agents.jsonl"), HOSTILE]),
        ),
        (
            "trust@1.0.0",
            lines(&[
                include_str!("../../../../examples/trust/coverage.jsonl"),
                include_str!("../../../../examples/trust/security.jsonl"),
                include_str!("../../../../examples/trust/teamwork.jsonl"),
            ]),
        ),
        (
            "workflow@1.0.0",
            lines(&[include_str!("../../../../examples/workflow/retries.jsonl")])
                + &whole(&[
                    include_str!("../../../../examples/workflow/worked-example.json"),
                    include_str!("../../../../examples/workflow/closed-gate.json"),
                    include_str!("../../../../examples/workflow/partial-dag.json"),
                ]),
        ),
        (
            "trace@1.0.0",
            whole(&[
                include_str!("../../../../examples/trace/error-recovery.json"),
                include_str!("../../../../examples/trace/one-tool.json"),
                include_str!("../../../../examples/trace/single-thought.json"),
                include_str!("../../../../examples/trace/same-trace-medical.json"),
            ]),
        ),
    ]
}

/// Names that must stay text wherever they stand.
const HOSTILE: &str = concat!(
    r#"{"subject":"<script>alert(1)</script>","id":"\"><img src=x onerror=alert(1)>","task":"</title><svg onload=alert(1)>","#,
    r#""time":"2026-03-01T09:00:00Z","outcome":"succeeded","accuracy":0.5,"safety":0.5,"patience":0.5,"incident_open":false}"#,
    "\n",
    r#"{"subject":"a/b?c#d %2F ../..","id":"javascript:alert(1)","task":"a\u202eb","time":"2026-03-01T09:00:00Z","#,
    r#""outcome":"failed","accuracy":0.4,"incident_open":true}"#,
    "\n",
    r#"{"subject":"a-name-that-is-so-long-that-no-column-of-any-table-has-room-for-it-and-that-has-no-blank-to-break-at-either","#,
    r#""id":"long-1","task":"billing","time":"2026-03-02T09:00:00Z","outcome":"succeeded","accuracy":0.8,"safety":0.9,"patience":0.7,"incident_open":false}"#,
    "\n",
);

/// A document as one line.
fn one_line(text: &str) -> String {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    format!("{value}\n")
}

/// A table as JSON lines: what reads as a number is one.
fn of_table(text: &str) -> String {
    let mut lines = text.lines();
    let heads: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let object = |line: &str| {
        let cell = |text: &str| text.parse::<f64>().map_or_else(|_| Value::from(text), Value::from);
        let members = heads.iter().zip(line.split(',')).filter(|(_, text)| !text.is_empty());
        let object: Map<String, Value> =
            members.map(|(head, text)| ((*head).to_owned(), cell(text))).collect();
        format!("{}\n", Value::Object(object))
    };
    lines.map(object).collect()
}
