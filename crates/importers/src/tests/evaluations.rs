//! Results of evaluations of OpenTelemetry: in events of spans and in log records, of the same file or of another.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Options, Summary, by_name, read, read_as};
use crate::{Evaluations, Input};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// A result: its name, moment, value and whether a label says it.
#[derive(Debug, Clone, Copy)]
struct Judged {
    name: &'static str,
    time: u64,
    value: u8,
    is_label: bool,
    is_record: bool,
}

fn judged() -> impl Strategy<Value = Judged> {
    (prop::sample::select(vec!["solved", "tone"]), 1..1000u64, 0..=1u8, any::<bool>(), any::<bool>())
        .prop_map(|(name, time, value, is_label, is_record)| Judged {
            name,
            time,
            value,
            is_label,
            is_record,
        })
}

fn attributes(judged: &Judged) -> Value {
    let value = match judged.is_label {
        true => {
            json!({"key": "gen_ai.evaluation.score.label", "value": {"stringValue": if judged.value == 1 { "pass" } else { "Fail" }}})
        }
        false => json!({"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": judged.value}}),
    };
    json!([{"key": "gen_ai.evaluation.name", "value": {"stringValue": judged.name}}, value])
}

/// Returns a request with a span and those results that are its events.
fn spans(all: &[Judged]) -> Value {
    let event = |it: &Judged| json!({"name": "gen_ai.evaluation.result", "timeUnixNano": it.time.to_string(), "attributes": attributes(it)});
    let events: Vec<Value> = all.iter().filter(|it| !it.is_record).map(event).collect();
    json!({"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": TRACE, "spanId": "b7ad6b7169203331", "name": "chat",
        "startTimeUnixNano": "1", "endTimeUnixNano": "2", "events": events,
        "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}]}]}]}]})
}

/// Returns a request with those that are records, the name of the event in either place.
fn records(all: &[Judged]) -> Value {
    let record = |it: &Judged| {
        let mut record = json!({"timeUnixNano": it.time.to_string(), "traceId": TRACE.to_uppercase(), "spanId": "b7ad6b7169203331", "attributes": attributes(it)});
        match it.time % 2 {
            0 => record["eventName"] = json!("gen_ai.evaluation.result"),
            _ => record["attributes"]
                .as_array_mut()
                .unwrap()
                .push(json!({"key": "event.name", "value": {"stringValue": "gen_ai.evaluation.result"}})),
        }
        record
    };
    let records: Vec<Value> = all.iter().filter(|it| it.is_record).map(record).collect();
    json!({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]})
}

fn told(text: &str, options: &Options) -> (Vec<Value>, Summary) {
    read_as("t.json", text.as_bytes(), by_name("otlp"), options).unwrap()
}

proptest! {
    #[test]
    fn the_latest_result_of_a_name_counts_wherever_it_is_written(all in prop::collection::vec(judged(), 1..8)) {
        let mut all = all;
        all.sort_by_key(|it| (it.name, it.time));
        all.dedup_by_key(|it| (it.name, it.time));
        let latest = |name: &str| all.iter().rfind(|it| it.name == name).map(|it| json!(it.value));
        let other: Vec<Judged> = all.iter().rev().copied().collect();
        // In one file, a request on each line; and in two files.
        let lines = format!("{}\n{}\n", spans(&all), records(&all));
        let turned = format!("{}\n{}\n", records(&other), spans(&other));
        let mut elsewhere = Evaluations::default();
        elsewhere.add(&Input::memory("logs.json", records(&other).to_string().into_bytes())).unwrap();
        let beside = Options { evaluations: Some(Arc::new(elsewhere)), ..Options::default() };
        for (text, options) in [(lines, Options::default()), (turned, Options::default()), (spans(&all).to_string(), beside)] {
            let (items, summary) = told(&text, &options);
            prop_assert_eq!(items.len(), 1);
            prop_assert_eq!(items[0].get("solved").cloned(), latest("solved"));
            prop_assert_eq!(items[0].get("score_tone").cloned(), latest("tone"));
            let names = ["solved", "tone"].iter().filter(|name| latest(name).is_some()).count();
            let earlier = summary.left_out.get("the result of an evaluation with the name of a later one");
            prop_assert_eq!(earlier.copied().unwrap_or_default(), (all.len() - names) as u64);
        }
    }
}

#[test]
fn a_label_that_is_no_verdict_and_a_failed_evaluation_have_no_value() {
    for (about, solved) in [
        (json!([("score.label", "passed")]), json!(1)),
        (json!([("score.label", "incorrect")]), json!(0)),
        (json!([("score.label", "good")]), json!(null)),
        (json!([("error.type", "timeout")]), json!(null)),
    ] {
        let mut request =
            spans(&[Judged { name: "solved", time: 3, value: 0, is_label: true, is_record: false }]);
        let about: Vec<(String, String)> = serde_json::from_value(about).unwrap();
        let event =
            &mut request["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["events"][0]["attributes"][1];
        *event =
            json!({"key": format!("gen_ai.evaluation.{}", about[0].0), "value": {"stringValue": about[0].1}});
        let (_, items, summary) = read("t.json", request.to_string().as_bytes());
        assert_eq!(items[0]["solved"], solved, "{about:?}");
        assert_eq!(
            summary.left_out.keys().any(|it| it.contains("without a number, or a label")),
            solved.is_null()
        );
    }
}

#[test]
fn records_alone_say_that_their_spans_are_missing() {
    let result = Judged { name: "solved", time: 3, value: 1, is_label: false, is_record: true };
    let (format, items, summary) = read("logs.json", records(&[result]).to_string().as_bytes());
    assert_eq!((format.name, items.len()), ("otlp", 0));
    assert!(summary.notes[0].contains("give the file of their spans, too"), "{summary:?}");
    let other =
        json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "hello"}}]}]}]});
    let (_, _, summary) = read("logs.json", other.to_string().as_bytes());
    assert_eq!(summary.left_out.keys().next().unwrap(), "a log record without the result of an evaluation");
}

#[test]
fn spans_of_jaeger_and_of_a_console_have_events_of_evaluations_too() {
    let console = json!({"name": "chat", "context": {"trace_id": TRACE, "span_id": "b7ad6b7169203331"},
        "start_time": "2026-03-01T00:00:00Z", "end_time": "2026-03-01T00:00:01Z",
        "attributes": {"gen_ai.operation.name": "chat"},
        "events": [{"name": "gen_ai.evaluation.result", "timestamp": "2026-03-01T00:00:01.000000Z",
            "attributes": {"gen_ai.evaluation.name": "solved", "gen_ai.evaluation.score.value": 1.0}}]});
    let field = |key: &str, value: Value| json!({"key": key, "value": value});
    let jaeger = json!({"data": [{"traceID": TRACE, "processes": {}, "spans": [{"traceID": TRACE, "spanID": "b7ad6b7169203331",
        "operationName": "chat", "startTime": 1, "duration": 1, "tags": [field("gen_ai.operation.name", json!("chat"))],
        "logs": [{"timestamp": 2, "fields": [field("event", json!("gen_ai.evaluation.result")),
            field("gen_ai.evaluation.name", json!("solved")), field("gen_ai.evaluation.score.label", json!("pass"))]}]}]}]});
    for (name, text) in [("openinference", console), ("jaeger", jaeger)] {
        let (format, items, _) = read("t.json", text.to_string().as_bytes());
        assert_eq!((format.name, &items[0]["solved"]), (name, &json!(1)));
    }
}
