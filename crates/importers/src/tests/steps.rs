//! Logs as reasoning traces: the steps, and that nothing is there which the log does not say.

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Items, Options, by_name, fixture, read_as};
use crate::requests::{Encoding, put_together, response, take_apart};
use crate::{IMPORTERS, Input, detect};
use karat_reader::{FactType, Kind, Reader, ReaderOptions};

fn options() -> Options {
    Options { items: Items::Traces, ..Options::default() }
}

#[test]
fn a_crash_is_a_failure_of_the_tool_and_only_its_next_call_a_recovery() {
    let log = r#"{"trajectory": [
      {"action": "python a.py", "observation": "Traceback (most recent call last)", "thought": " \n"},
      {"action": "open a.py", "observation": "", "thought": ""},
      {"action": "python a.py", "observation": "", "thought": ""}],
      "history": [{"role": "user", "is_demo": true, "content": "a demonstration"}, {"role": "user", "content": [{"type": "text", "text": "Mend it"}]}],
      "info": {"exit_status": "exit_cost"}}"#;
    let (items, _) = read_as("a.traj", log.as_bytes(), by_name("swe-agent"), &options()).unwrap();
    let kinds: Vec<&str> =
        items[0]["steps"].as_array().unwrap().iter().map(|step| step["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_call", "observation", "tool_call", "tool_call"]);
    assert_eq!(items[0]["task"]["objective"], "Mend it");
}

/// Spans of a trace: a request, an agent, two calls, a tool that fails and is called again.
fn spans() -> Vec<Value> {
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let span = |id: u64, parent: u64, start: u64, name: &str, attributes: Vec<Value>| {
        let parent = if parent == 0 { String::new() } else { format!("{parent:016x}") };
        json!({"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": format!("{id:016x}"), "parentSpanId": parent, "name": name,
            "startTimeUnixNano": (1_767_225_600_000_000_000 + start * 1_000_000_000).to_string(),
            "endTimeUnixNano": (1_767_225_601_000_000_000 + start * 1_000_000_000).to_string(), "attributes": attributes})
    };
    let chat = |said: &str| {
        let said = json!([{"role": "assistant", "parts": [{"type": "text", "content": said}]}]).to_string();
        vec![
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.request.model", "m"),
            text("gen_ai.output.messages", &said),
        ]
    };
    let tool = |given: &str| {
        vec![
            text("gen_ai.operation.name", "execute_tool"),
            text("gen_ai.tool.name", "search"),
            text("gen_ai.tool.call.arguments", given),
            text("gen_ai.tool.call.result", "found"),
        ]
    };
    let agent = vec![text("gen_ai.operation.name", "invoke_agent"), text("gen_ai.agent.name", "scout")];
    let mut first = chat("I search.");
    let asked = json!([{"role": "system", "parts": []}, {"role": "user", "parts": [{"type": "text", "content": "Find it"}]}]);
    first.push(text("gen_ai.input.messages", &asked.to_string()));
    let mut failed = span(4, 2, 3, "execute_tool search", tool(r#"{"q": 1}"#));
    failed["status"] = json!({"code": 2});
    vec![
        span(1, 0, 0, "POST /run", vec![text("http.method", "POST")]),
        span(2, 1, 1, "invoke_agent scout", agent),
        span(3, 2, 2, "chat m", first),
        failed,
        span(5, 2, 4, "execute_tool search", tool(r#"{"q": 2}"#)),
        span(6, 2, 5, "chat m", chat("Here it is.")),
    ]
}

fn otlp(spans: &[Value]) -> String {
    let service = json!([{"key": "service.name", "value": {"stringValue": "shop"}}]);
    json!({"resourceSpans": [{"resource": {"attributes": service}, "scopeSpans": [{"spans": spans}]}]})
        .to_string()
}

#[test]
fn a_list_of_messages_is_a_trajectory_by_its_name_alone() {
    let log = fixture("mini-swe-agent/steps-of-version-1/x.traj.json");
    assert_eq!(detect(&Input::memory("chat.json", log)).unwrap(), None);
}

#[test]
fn a_log_without_steps_says_so() {
    let report = br#"<testsuite name="unit"><testcase name="adds" time="0.5"/></testsuite>"#;
    let refused = read_as("a.xml", report, by_name("junit"), &options()).unwrap_err().to_string();
    assert_snapshot!(refused, @"a.xml: found a JUnit report, expected a log with the steps of an agent; it has runs, for cards of facts");
    for format in IMPORTERS {
        let read = read_as("a", b"", format, &options());
        let is_of_kind = read.is_err_and(|it| it.expected == "a log with the steps of an agent");
        assert_eq!(is_of_kind, !format.has_traces, "{format}");
    }
}

#[test]
fn what_is_not_in_a_log_is_missing() {
    let names = ["step_count", "success", "confidence", "novelty", "task_domain", "unique_tool_count"];
    let all = Kind::ReasoningTrace.vocabulary();
    let wanted: Vec<(String, FactType)> = names
        .iter()
        .map(|name| {
            let spec = all.iter().find(|spec| spec.name == *name).unwrap();
            (spec.name.to_owned(), spec.fact_type)
        })
        .collect();
    let mut reader = Reader::new(Kind::ReasoningTrace, &wanted, ReaderOptions::default()).unwrap();
    for (name, log, known) in [
        ("a.traj", fixture("swe-agent/steps/fix-17.traj"), [true, false, false, false, false, true]),
        ("airline.json", fixture("tau-bench/steps/airline.json"), [true, true, false, false, false, true]),
    ] {
        let format = detect(&Input::memory(name, log.as_slice())).unwrap().unwrap();
        let (items, _) = read_as(name, &log, format, &options()).unwrap();
        let text = items[0].to_string();
        let evidence = reader.read(text.as_bytes()).unwrap();
        let found: Vec<bool> = evidence
            .item()
            .facts
            .iter()
            .map(|fact| !matches!(fact, karat_core::facts::Fact::Missing))
            .collect();
        assert_eq!(found, known, "{name}");
        assert!(evidence.item().grading.unwrap_or_default().contains("\"source\""), "{name}");
        // The same without its source is held to the whole schema.
        let mut bare = items[0].clone();
        bare.as_object_mut().unwrap().remove("source");
        let problems = reader.read(bare.to_string().as_bytes()).unwrap_err().to_string();
        assert!(problems.contains("confidence"), "{problems}");
    }
}

#[test]
fn a_request_with_spans_that_have_no_id_is_taken_in_part() {
    let mut all = spans();
    all[1]["traceId"] = json!("0");
    all[2]["spanId"] = json!("0000000000000000");
    let taken = take_apart(otlp(&all).as_bytes(), Encoding::Json, 1 << 20).unwrap().unwrap();
    assert_eq!((taken.refused, taken.parts.len(), taken.parts[0].spans), (2, 1, 4));
    assert!(taken.reason.unwrap().contains("a trace id that is not 16 bytes"));
    for (encoding, body) in [
        (Encoding::Json, &b"{"[..]),
        (Encoding::Json, b"[1"),
        (Encoding::Protobuf, b"\x0a\xff\xff\xff\xff\x0f"),
    ] {
        take_apart(body, encoding, 1 << 20).unwrap_err();
    }
    // Nothing is a request without spans.
    assert_eq!(take_apart(b"", Encoding::Protobuf, 1 << 20).unwrap().unwrap().parts, []);
    // Larger than allowed, packed or not; one byte less is not.
    let padded = |length: usize| [b"{}".as_slice(), &vec![b' '; length - 2]].concat();
    for (length, is_taken) in [(1 << 20, true), ((1 << 20) + 1, false)] {
        for body in [padded(length), super::packed::gzip(&padded(length))] {
            assert_eq!(take_apart(&body, Encoding::Json, 1 << 20).unwrap().is_some(), is_taken);
        }
    }
    assert_eq!(response(Encoding::Json, 0, ""), b"{}");
    assert_eq!(response(Encoding::Protobuf, 0, ""), b"");
    assert_eq!(
        response(Encoding::Json, 2, "no"),
        br#"{"partialSuccess":{"errorMessage":"no","rejectedSpans":"2"}}"#
    );
    assert_eq!(response(Encoding::Protobuf, 2, "no"), b"\x0a\x06\x08\x02\x12\x02no");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn spans_give_one_trace_in_any_order(order in Just((0..6usize).collect::<Vec<_>>()).prop_shuffle()) {
        let of = |spans: &[Value]| {
            let (mut items, _) = read_as("spans.json", otlp(spans).as_bytes(), by_name("otlp"), &options()).unwrap();
            items[0]["source"] = Value::Null;
            items
        };
        let mut all = spans();
        // Two spans that claim to be of an item.
        for at in [2, 4] {
            let claim = json!({"key": "karat.id", "value": {"stringValue": format!("run-{at}")}});
            all[at]["attributes"].as_array_mut().unwrap().push(claim);
        }
        let shuffled: Vec<Value> = order.iter().map(|at| all[*at].clone()).collect();
        prop_assert_eq!(of(&shuffled), of(&all));
    }

    #[test]
    fn spans_in_any_requests_are_one_trace(order in Just((0..6usize).collect::<Vec<_>>()).prop_shuffle(), cuts in prop::collection::vec(1usize..5, 1..4), again in 0usize..3) {
        let all = spans();
        let mut left: Vec<Value> = order.iter().map(|at| all[*at].clone()).collect();
        let mut texts = Vec::new();
        for cut in cuts {
            let rest = left.split_off(cut.min(left.len()));
            texts.push(left);
            left = rest;
        }
        texts.push(left);
        // An exporter sends again what it is not sure of.
        texts.extend(texts.get(again).cloned());
        let parts: Vec<Vec<u8>> = texts
            .iter()
            .filter(|spans| !spans.is_empty())
            .map(|spans| take_apart(otlp(spans).as_bytes(), Encoding::Json, 1 << 20).unwrap().unwrap().parts.remove(0).text)
            .collect();
        let together = put_together(parts.iter().map(Vec::as_slice)).unwrap();
        let whole = take_apart(otlp(&all).as_bytes(), Encoding::Json, 1 << 20).unwrap().unwrap();
        prop_assert_eq!(&whole.parts[0].text, &together);
        let of = |text: &[u8]| {
            let (mut items, _) = read_as("spans.json", text, by_name("otlp"), &options()).unwrap();
            items[0]["source"] = Value::Null;
            items
        };
        prop_assert_eq!(of(&together), of(otlp(&all).as_bytes()));
    }

    #[test]
    fn any_step_is_evidence(texts in prop::collection::vec(("\\PC{0,8}", ".{0,200}", 0usize..60_000), 1..8)) {
        let turns: Vec<Value> = texts.iter().map(|(tool, text, times)| {
            json!({"thought": text, "action": tool, "observation": "x\u{e9}".repeat(*times)})
        }).collect();
        let log = json!({"trajectory": turns, "history": [], "info": {"exit_status": "submitted"}}).to_string();
        let (items, _) = read_as("a.traj", log.as_bytes(), by_name("swe-agent"), &options()).unwrap();
        for item in items {
            prop_assert!(item.to_string().len() < 16 << 20);
        }
    }
}
