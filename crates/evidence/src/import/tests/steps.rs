//! Logs as reasoning traces: the steps, and that nothing is there which the log does not say.

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Items, Options, read_as};
use crate::import::requests::{Encoding, put_together, response, take_apart};
use crate::import::{Format, Input, detect};
use crate::{FactType, Kind, Reader, ReaderOptions};

fn options() -> Options {
    Options { items: Items::Traces, ..Options::default() }
}

/// Returns a log as traces: for each step its type, tool and text, then everything else; then what was left out.
fn told(name: &str, log: &str) -> String {
    let format = detect(&Input::memory(name, log.as_bytes())).unwrap().expect("a known format");
    let (items, summary) = read_as(name, log.as_bytes(), format, &options()).unwrap();
    let mut lines = vec![format.name().to_owned()];
    for mut item in items {
        let source = item["source"].take();
        assert_eq!((&source["format"], &source["file"]), (&format.name().into(), &name.into()));
        assert!(source["digest"].as_str().unwrap().starts_with("sha256:"));
        let steps = item["steps"].take();
        for member in ["@context", "@type", "source", "steps"] {
            item.as_object_mut().unwrap().remove(member);
        }
        lines.push(format!("{}  {item}", source["place"].as_str().unwrap()));
        for (number, step) in steps.as_array().unwrap().iter().enumerate() {
            assert_eq!(step["step_id"], number);
            let parts = [&step["type"], &step["tool"]["name"], &step["input"], &step["content"]];
            let parts: Vec<String> =
                parts.iter().filter(|part| !part.is_null()).map(|part| part.to_string()).collect();
            lines.push(format!("  {}", parts.join(" ")));
        }
    }
    lines.extend(summary.left_out.iter().map(|(reason, count)| format!("{count} {reason}")));
    lines.join("\n")
}

const SWE: &str = include_str!("../../../../../examples/import/fix-17.traj");

#[test]
fn swe_agent() {
    assert_snapshot!(told("fix-17.traj", SWE), @r#"
    swe-agent
    $.info  {"id":"kp:trace:swe-agent/fix-17","metadata":{"agent_id":"swe-agent"},"outcome":{"result_summary":"exit status: submitted"},"task":{"id":"fix-17","objective":"Prices lose their second digit. Mend it."}}
      "thought" "First I run the test that fails."
      "tool_call" "pytest" {"command":"pytest -q tests/test_price.py"}
      "observation" "E   assert 19.9 == 19.99\n1 failed"
      "thought" "The price is cut to one digit."
      "tool_call" "edit" {"command":"edit 12:12\n    return round(price, 1\nend_of_edit"}
      "observation" "Your proposed edit has introduced new syntax error(s)."
      "thought" "A bracket is missing."
      "error_recovery" "edit" {"command":"edit 12:12\n    return round(price, 2)\nend_of_edit"}
      "observation" "File updated."
      "thought" "Now it passes."
      "tool_call" "submit" {"command":"submit"}
    1 `confidence` of a trace: the log has none
    1 `success` of a trace: the log does not say it
    1 no time of the run
    "#);
}

#[test]
fn a_crash_is_a_failure_of_the_tool_and_only_its_next_call_a_recovery() {
    let log = r#"{"trajectory": [
      {"action": "python a.py", "observation": "Traceback (most recent call last)", "thought": " \n"},
      {"action": "open a.py", "observation": "", "thought": ""},
      {"action": "python a.py", "observation": "", "thought": ""}],
      "history": [{"role": "user", "is_demo": true, "content": "a demonstration"}, {"role": "user", "content": [{"type": "text", "text": "Mend it"}]}],
      "info": {"exit_status": "exit_cost"}}"#;
    let (items, _) = read_as("a.traj", log.as_bytes(), Format::SweAgent, &options()).unwrap();
    let kinds: Vec<&str> =
        items[0]["steps"].as_array().unwrap().iter().map(|step| step["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_call", "observation", "tool_call", "tool_call"]);
    assert_eq!(items[0]["task"]["objective"], "Mend it");
}

const MINI: &str = r#"{"info": {"model_stats": {"instance_cost": 0.5, "api_calls": 2}, "config": {"model": {"model_name": "org/m"}}, "exit_status": "Submitted"},
  "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "Fix it"},
  {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "bash", "arguments": "{\"command\": \"ls\"}"}}], "extra": {"actions": [{"command": "ls"}]}},
  {"role": "tool", "content": "no such file", "extra": {"returncode": 2}},
  {"role": "assistant", "content": "again", "extra": {"actions": [{"command": "ls ."}]}},
  {"role": "tool", "content": "a.py", "extra": {"returncode": 0}},
  {"role": "exit", "content": "diff"}], "trajectory_format": "mini-swe-agent-1.1"}"#;

#[test]
fn mini_swe_agent() {
    assert_snapshot!(told("x.traj.json", MINI), @r#"
    mini-swe-agent
    $.info  {"id":"kp:trace:org/m/x","metadata":{"agent_id":"org/m"},"outcome":{"result_summary":"exit status: Submitted"},"task":{"id":"x","objective":"Fix it"}}
      "tool_call" "bash" {"command":"ls"}
      "observation" "no such file"
      "thought" "again"
      "error_recovery" "bash" {"command":"ls ."}
      "observation" "a.py"
    1 `confidence` of a trace: the log has none
    1 `success` of a trace: the log does not say it
    1 no time of the run
    "#);
    let first = r#"[{"role": "system", "content": "s"}, {"role": "user", "content": "Fix it"},
      {"role": "assistant", "content": "look:\n\n```mswea_bash_command\ncat a\n```"},
      {"role": "user", "content": "<returncode>1</returncode>\n<output>\n</output>"},
      {"role": "assistant", "content": "so\n\n```bash\nls\n```"}]"#;
    assert_snapshot!(told("x.traj.json", first), @r#"
    mini-swe-agent
    $  {"id":"kp:trace:mini-swe-agent/x","metadata":{"agent_id":"mini-swe-agent"},"task":{"id":"x","objective":"Fix it"}}
      "thought" "look:\n\n```mswea_bash_command\ncat a\n```"
      "tool_call" "bash" {"command":"cat a"}
      "observation" "<returncode>1</returncode>\n<output>\n</output>"
      "thought" "so\n\n```bash\nls\n```"
      "error_recovery" "bash" {"command":"ls"}
    1 `confidence` of a trace: the log has none
    1 `success` of a trace: the log does not say it
    1 how the run ended, cost and model: version 1 wrote only messages
    1 no time of the run
    "#);
    // Other lists of messages are no trajectories.
    assert_eq!(detect(&Input::memory("chat.json", first.as_bytes())).unwrap(), None);
}

const TAU: &str = r#"[{"task_id": 4, "trial": 1, "reward": 1.0, "info": {"task": {"instruction": " Book a seat "}}, "traj": [
  {"role": "system", "content": "The current time is 2024-05-15 15:00:00 EST."}, {"role": "user", "content": "A seat, please"},
  {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "book", "arguments": "{\"seat\": 1}"}}]},
  {"role": "tool", "content": "Error: sold out"},
  {"role": "assistant", "content": "Another one", "tool_calls": [{"function": {"name": "book", "arguments": "{\"seat\": 2}"}}]},
  {"role": "tool", "content": "{}"}]},
  {"task_id": 4, "trial": 2, "reward": 0.0, "info": {"error": "timed out"}, "traj": []}]"#;

#[test]
fn tau_bench() {
    assert_snapshot!(told("airline.json", TAU), @r#"
    tau-bench
    $[0]  {"id":"kp:trace:airline/4/1","metadata":{"agent_id":"airline","success":true},"outcome":{"result_summary":"reward 1.0"},"task":{"id":"4","objective":"Book a seat"}}
      "observation" "A seat, please"
      "tool_call" "book" {"seat":1}
      "observation" "Error: sold out"
      "thought" "Another one"
      "error_recovery" "book" {"seat":2}
      "observation" "{}"
    1 `confidence` of a trace: the log has none
    1 a run without a step of an agent
    1 the reward of 0 of a run that ended in an error of the program
    "#);
}

#[test]
fn tau2() {
    let log = r#"{"info": {"agent_info": {"llm": "m"}, "environment_info": {"domain_name": "retail"}}, "simulations": [{"id": "s1", "task_id": "7", "trial": 0,
      "start_time": "2026-01-01T00:00:00Z", "duration": 3.5, "termination_reason": "user_stop", "reward_info": {"reward": 0.0}, "messages": [
      {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "Cancel it"},
      {"role": "assistant", "content": null, "tool_calls": [{"name": "cancel", "arguments": {"id": 1}, "requestor": "assistant"}]},
      {"role": "tool", "content": "not found", "error": true, "requestor": "assistant"},
      {"role": "user", "content": null, "tool_calls": [{"name": "look", "arguments": {}, "requestor": "user"}]},
      {"role": "tool", "content": "seen", "requestor": "user"},
      {"role": "assistant", "content": null, "tool_calls": [{"name": "cancel", "arguments": {"id": 2}}]}]}]}"#;
    assert_snapshot!(told("results.json", log), @r#"
    tau2
    $.simulations[0]  {"id":"kp:trace:s1","metadata":{"agent_id":"m","created_at":"2026-01-01T00:00:00Z","success":false},"outcome":{"result_summary":"ended by user_stop"},"task":{"id":"retail/7"}}
      "thought" "Hello"
      "observation" "Cancel it"
      "tool_call" "cancel" {"id":1}
      "observation" "not found"
      "error_recovery" "cancel" {"id":2}
    1 `confidence` of a trace: the log has none
    "#);
}

#[test]
fn atif() {
    let log = r#"{"schema_version": "ATIF-v1.7", "session_id": "s1", "agent": {"name": "terminus", "version": "2", "model_name": "m"}, "steps": [
      {"step_id": 1, "timestamp": "2026-01-05T00:00:01Z", "source": "user", "message": "What time is it in Tokyo?"},
      {"step_id": 2, "timestamp": "2026-01-05T00:00:02+01:00", "source": "agent", "message": "Let me check.", "reasoning_content": "A clock is needed.",
       "tool_calls": [{"tool_call_id": "c1", "function_name": "clock", "arguments": {"zone": "Asia/Tokyo"}}], "observation": {"results": [{"source_call_id": "c1", "content": "15:30"}]}},
      {"step_id": 3, "source": "system", "message": "ignored"},
      {"step_id": 4, "source": "user", "message": "Thanks"}, {"step_id": 5, "source": "agent", "message": [{"type": "text", "text": "Half past three."}]}]}"#;
    assert_snapshot!(told("t.json", log), @r#"
    atif
    $  {"id":"kp:trace:s1","metadata":{"agent_id":"terminus (m)","created_at":"2026-01-05T00:00:01Z"},"task":{"objective":"What time is it in Tokyo?"}}
      "thought" "A clock is needed."
      "thought" "Let me check."
      "tool_call" "clock" {"zone":"Asia/Tokyo"}
      "observation" "15:30"
      "observation" "Thanks"
      "thought" "Half past three."
    1 `confidence` of a trace: the log has none
    1 `success` of a trace: the log does not say it
    1 the task: a trajectory names none
    "#);
}

#[test]
fn langfuse() {
    let log = r#"{"trace": {"id": "t1", "projectId": "p", "name": "Agent run", "timestamp": "2026-06-11T14:01:32.598Z", "input": {"messages": [{"role": "user", "content": "Trending?"}]}, "scores": []},
      "observations": [
       {"id": "o3", "traceId": "t1", "type": "GENERATION", "startTime": "2026-06-11T14:01:35Z", "parentObservationId": "o0", "name": "chat", "output": {"choices": [{"message": {"role": "assistant", "content": "Cats."}}]}},
       {"id": "o2", "traceId": "t1", "type": "TOOL", "startTime": "2026-06-11T14:01:34Z", "parentObservationId": "o0", "name": "search", "level": "ERROR", "input": "{\"q\": \"now\"}", "output": "no answer"},
       {"id": "o4", "traceId": "t1", "type": "TOOL", "startTime": "2026-06-11T14:01:34.5Z", "parentObservationId": "o0", "name": "search", "input": {"q": "again"}, "output": [{"title": "x"}]},
       {"id": "o1", "traceId": "t1", "type": "GENERATION", "startTime": "2026-06-11T14:01:33Z", "parentObservationId": "o0", "name": "outer", "output": "the same call"},
       {"id": "o1b", "traceId": "t1", "type": "GENERATION", "startTime": "2026-06-11T14:01:33.1Z", "parentObservationId": "o1", "name": "inner", "output": "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"tool_call\", \"content\": \"not said\"}, {\"type\": \"text\", \"content\": \"I search.\"}]}]"},
       {"id": "o0", "traceId": "t1", "type": "AGENT", "startTime": "2026-06-11T14:01:32.598Z", "name": "Agent run", "output": "Cats."}]}"#;
    assert_snapshot!(told("x.json", log), @r#"
    langfuse
    $.trace  {"id":"kp:trace:t1","metadata":{"agent_id":"Agent run","created_at":"2026-06-11T14:01:32.598Z"},"task":{"objective":"Trending?"}}
      "thought" "I search."
      "tool_call" "search" {"q":"now"}
      "observation" "no answer"
      "error_recovery" "search" {"q":"again"}
      "observation" "[{\"title\":\"x\"}]"
      "thought" "Cats."
    1 `confidence` of a trace: the log has none
    1 `success` of a trace: the log does not say it
    1 the task of a trace: it names none
    1 whether the task was solved: no score says so (--score NAME names one)
    "#);
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
fn spans_of_opentelemetry() {
    assert_snapshot!(told("spans.json", &otlp(&spans())), @r#"
    otlp
    $.resourceSpans[0].scopeSpans[0].spans[0]  {"id":"kp:trace:0af7651916cd43dd8448eb211c80319c","metadata":{"agent_id":"scout","created_at":"2026-01-01T00:00:00Z"},"task":{"objective":"Find it"}}
      "thought" "I search."
      "tool_call" "search" {"q":1}
      "observation" "found"
      "error_recovery" "search" {"q":2}
      "observation" "found"
      "thought" "Here it is."
    1 `confidence` of a trace: the log has none
    1 `success` of a trace: the log does not say it
    1 the task: a trace names none
    "#);
}

#[test]
fn spans_of_openinference() {
    let span = |id: u8, parent: &str, attributes: Value| {
        json!({"name": "step", "context": {"trace_id": "t1", "span_id": format!("s{id}")}, "parent_id": parent,
            "start_time": format!("2026-01-01T00:00:0{id}Z"), "end_time": format!("2026-01-01T00:00:0{id}.5Z"), "status_code": "OK", "attributes": attributes})
        .to_string()
    };
    let lines = [
        span(
            3,
            "s1",
            json!({"openinference.span.kind": "LLM", "llm.output_messages.0.message.content": "23 times 87 is 2001."}),
        ),
        span(
            2,
            "s1",
            json!({"openinference.span.kind": "TOOL", "tool.name": "multiply", "input.value": "{\"a\": 23}", "output.value": "2001"}),
        ),
        span(1, "", json!({"openinference.span.kind": "CHAIN", "input.value": "what is 23 times 87"})),
    ];
    assert_snapshot!(told("spans.jsonl", &lines.join("\n")), @r#"
    openinference
    line 1  {"id":"kp:trace:t1","metadata":{"agent_id":"step","created_at":"2026-01-01T00:00:01Z"},"task":{"objective":"what is 23 times 87"}}
      "tool_call" "multiply" {"a":23}
      "observation" "2001"
      "thought" "23 times 87 is 2001."
    1 `confidence` of a trace: the log has none
    1 `success` of a trace: the log does not say it
    1 the task: a trace names none
    "#);
}

#[test]
fn a_log_without_steps_says_so() {
    let report = br#"<testsuite name="unit"><testcase name="adds" time="0.5"/></testsuite>"#;
    let refused = read_as("a.xml", report, Format::JUnit, &options()).unwrap_err().to_string();
    assert_snapshot!(refused, @"a.xml: found a JUnit report, expected a log with the steps of an agent; it has runs, for cards of facts");
    for format in Format::ALL {
        let read = read_as("a", b"", format, &options());
        let is_of_kind = read.is_err_and(|it| it.expected == "a log with the steps of an agent");
        assert_eq!(is_of_kind, !format.has_traces(), "{format}");
    }
}

/// Facts that a log lacks are missing in its traces, and no others are.
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
        ("a.traj", SWE, [true, false, false, false, false, true]),
        ("airline.json", TAU, [true, true, false, false, false, true]),
    ] {
        let format = detect(&Input::memory(name, log.as_bytes())).unwrap().unwrap();
        let (items, _) = read_as(name, log.as_bytes(), format, &options()).unwrap();
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
    /// The order in which spans come changes nothing but the place.
    #[test]
    fn spans_give_one_trace_in_any_order(order in Just((0..6usize).collect::<Vec<_>>()).prop_shuffle()) {
        let of = |spans: &[Value]| {
            let (mut items, _) = read_as("spans.json", otlp(spans).as_bytes(), Format::Otlp, &options()).unwrap();
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

    /// However spans are split over requests, and in whatever order these come, they are put together to the same bytes, which
    /// give the same item as one file.
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
            let (mut items, _) = read_as("spans.json", text, Format::Otlp, &options()).unwrap();
            items[0]["source"] = Value::Null;
            items
        };
        prop_assert_eq!(of(&together), of(otlp(&all).as_bytes()));
    }

    /// Any texts make an item that is evidence, within the size of one.
    #[test]
    fn any_step_is_evidence(texts in prop::collection::vec(("\\PC{0,8}", ".{0,200}", 0usize..60_000), 1..8)) {
        let turns: Vec<Value> = texts.iter().map(|(tool, text, times)| {
            json!({"thought": text, "action": tool, "observation": "x\u{e9}".repeat(*times)})
        }).collect();
        let log = json!({"trajectory": turns, "history": [], "info": {"exit_status": "submitted"}}).to_string();
        let (items, _) = read_as("a.traj", log.as_bytes(), Format::SweAgent, &options()).unwrap();
        for item in items {
            prop_assert!(item.to_string().len() < 16 << 20);
        }
    }
}
