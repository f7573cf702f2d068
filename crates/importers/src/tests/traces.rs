//! Trajectories and spans.

use insta::assert_snapshot;
use serde_json::json;

use super::{Options, read, read_as, refused, told};
use crate::Format;

#[test]
fn trajectories_of_swe_agent() {
    let log = |status: &str| {
        format!(
            r#"{{"environment": "main", "trajectory": [{{"action": "ls", "observation": "a", "thought": "t"}}, {{"action": "submit", "observation": ""}}], "history": [], "info": {{"exit_status": {status}, "submission": "diff", "model_stats": {{"instance_cost": 0.5, "tokens_sent": 100, "tokens_received": 20, "api_calls": 3}}}}}}"#
        )
    };
    assert_snapshot!(told("django__django-1.traj", log("\"submitted\"").as_bytes()), @r#"
    swe-agent
    $.info  {"calls":3,"cost_usd":0.5,"exit_status":"submitted","id":"swe-agent/django__django-1","steps":2,"subject":"swe-agent","task":"django__django-1","tokens":120}
    1 no time of the run
    1 whether a submission solves the task: `submitted` does not say so
    "#);
    for (status, outcome) in [
        ("\"submitted (exit_cost)\"", json!("stopped")),
        ("\"exit_cost\"", json!("stopped")),
        ("\"exit_context\"", json!("stopped")),
        ("\"exit_command_timeout\"", json!("stopped")),
        ("\"exit_forfeit\"", json!("refused")),
        ("\"exit_error\"", json!("no-verdict")),
        ("\"exit_api\"", json!("no-verdict")),
        ("\"submitted\"", json!(null)),
    ] {
        let (_, items, _) = read("a.traj", log(status).as_bytes());
        assert_eq!((&items[0]["outcome"], &items[0]["solved"]), (&outcome, &json!(null)), "{status}");
    }
    let old = "t/gpt4__dev__default__t-0.00__p-0.95__c-3.00__install-1/django__django-1.traj";
    let of = |name: &str, log: &str| read(name, log.as_bytes()).1[0]["subject"].clone();
    assert_eq!(of(old, &log("\"submitted\"")), json!("gpt4"));
    assert_eq!(of(&old.replace("gpt4", "human"), &log("\"submitted\"")), json!("swe-agent"));
    let settings = r#"{"agent": {"model": {"name": "org/m-2"}}}"#;
    let new = log("\"submitted\"").replacen('{', &format!("{{\"replay_config\": {},", json!(settings)), 1);
    assert_eq!(of(old, &new), json!("org/m-2"));
    assert_eq!(of("default__m-2__t-0.00___lite/x.traj", &log("\"submitted\"")), json!("swe-agent"));
    assert_snapshot!(refused("a.traj", log("null").as_bytes()), @"a.traj: $.info: found no `exit_status`, expected how the run ended; the run may still be going on, or the file be of an older version");
}

#[test]
fn trajectories_of_mini_swe_agent() {
    let log = r#"{"info": {"model_stats": {"instance_cost": 0.0, "api_calls": 2}, "config": {"model": {"model_name": "org/m"}}, "mini_version": "2.4.6", "exit_status": "LimitsExceeded", "submission": ""},
      "messages": [{"role": "system", "content": "s"}, {"role": "assistant", "content": null, "extra": {"timestamp": 1795334577.750652}}, {"role": "exit", "content": "", "extra": {"timestamp": 1795334580.3}}], "trajectory_format": "mini-swe-agent-1.1"}"#;
    assert_snapshot!(told("x.traj.json", log.as_bytes()), @r#"
    mini-swe-agent
    $.info  {"calls":2,"exit_status":"LimitsExceeded","id":"org/m/x","outcome":"stopped","seconds_after_first_answer":2.549,"steps":1,"subject":"org/m","task":"x","time":"2026-11-22T08:02:57.750Z"}
    1 a cost of 0, which means that it is not known
    1 the time that the run took: the log does not say when it began
    1 whether the task was solved: the run ended before a submission
    "#);
}

#[test]
fn traces_of_langfuse() {
    let log = r#"{"trace": {"id": "t1", "projectId": "p", "name": "Agent run", "timestamp": "2026-06-11T14:01:32.598Z", "latency": 2.19, "scores": [
       {"name": "correctness", "value": 0, "timestamp": "2026-06-11T14:02:00Z", "observationId": null},
       {"name": "correctness", "value": 1, "timestamp": "2026-06-11T14:03:00Z", "observationId": null},
       {"name": "tone", "value": null, "stringValue": "kind", "observationId": null},
       {"name": "of a step", "value": 1, "observationId": "o1"}]},
      "observations": [
       {"id": "o0", "traceId": "t1", "type": "AGENT", "level": "DEFAULT", "usageDetails": {}, "totalCost": 0},
       {"id": "o1", "traceId": "t1", "type": "GENERATION", "level": "ERROR", "usageDetails": {"input": 10, "output": 2, "total": 12}, "totalCost": 0.001},
       {"id": "o2", "traceId": "t1", "type": "GENERATION", "level": "DEFAULT", "usageDetails": {"input": 10, "output": 2}, "totalCost": 0.002}]}"#;
    assert_snapshot!(told("x.json", log.as_bytes()), @r#"
    langfuse
    $.trace  {"cost_usd":0.003,"errors":1,"id":"t1","score_correctness":1,"score_tone":"kind","seconds":2.19,"subject":"Agent run","time":"2026-06-11T14:01:32.598Z","tokens":24}
    1 the task of a trace: it names none
    1 whether the task was solved: no score says so (--score NAME names one)
    "#);
    let wanted = Options {
        score: Some(String::from("correctness")),
        subject: Some(String::from("bot")),
        ..Options::default()
    };
    let (items, _) = read_as("x.json", log.as_bytes(), Format::Langfuse, &wanted).unwrap();
    assert_eq!((&items[0]["solved"], &items[0]["subject"]), (&json!(1), &json!("bot")));
}

#[test]
fn trajectories_in_atif() {
    let log = r#"{"schema_version": "ATIF-v1.7", "session_id": "s1", "agent": {"name": "terminus", "version": "2", "model_name": "m"}, "steps": [
      {"step_id": 1, "timestamp": "2026-01-05T00:00:01Z", "source": "user", "message": "m"},
      {"step_id": 2, "timestamp": "2026-01-05T00:00:04.5Z", "source": "agent", "message": "m", "metrics": {"prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 50, "cost_usd": 0.01}},
      {"step_id": 3, "timestamp": "2026-01-05T00:00:06Z", "source": "agent", "message": "m", "metrics": {"prompt_tokens": 200, "completion_tokens": 10}}]}"#;
    assert_snapshot!(told("t.json", log.as_bytes()), @r#"
    atif
    $  {"id":"s1","seconds":5,"steps":2,"subject":"terminus (m)","time":"2026-01-05T00:00:01Z","tokens":320}
    1 the task: a trajectory names none
    1 whether the task was solved: a trajectory does not say so
    "#);
    let summed = log.replacen("{\"schema", "{\"final_metrics\": {\"total_prompt_tokens\": 400, \"total_completion_tokens\": 30, \"total_cost_usd\": 0.5}, \"schema", 1);
    let (_, items, _) = read("t.json", summed.as_bytes());
    assert_eq!((&items[0]["tokens"], &items[0]["cost_usd"]), (&json!(430), &json!(0.5)));
}

#[test]
fn trials_of_harbor() {
    let log = |rest: &str| {
        format!(
            r#"{{"id": "u-1", "task_name": "hello", "trial_name": "hello__1", "agent_info": {{"name": "claude-code", "version": "1", "model_info": {{"name": "m", "provider": "p"}}}},
            "agent_result": {{"n_input_tokens": 100, "n_cache_tokens": 50, "n_output_tokens": 10, "cost_usd": 0.25}}, "started_at": "2026-01-01T00:00:00.000000Z", "finished_at": "2026-01-01T00:02:00Z",
            "agent_execution": {{"started_at": "2026-01-01T00:00:10.5", "finished_at": "2026-01-01T00:01:10.5"}}, {rest}}}"#
        )
    };
    let solved = log(r#""verifier_result": {"rewards": {"reward": 1.0}}, "exception_info": null"#);
    assert_snapshot!(told("trial/result.json", solved.as_bytes()), @r#"
    harbor
    $  {"cost_usd":0.25,"id":"u-1","outcome":"succeeded","seconds":60,"solved":1,"subject":"claude-code (m)","task":"hello","time":"2026-01-01T00:00:00Z","tokens":110}
    "#);
    for (rest, outcome, reward) in [
        (r#""verifier_result": {"rewards": {"reward": 0.0}}"#, "failed", json!(0)),
        (r#""verifier_result": {"rewards": {"reward": 0.5}}"#, "failed", json!(0.5)),
        (r#""verifier_result": null"#, "no-verdict", json!(null)),
        (
            r#""verifier_result": {"rewards": {"reward": 0.0}}, "exception_info": {"exception_type": "AgentTimeoutError"}"#,
            "stopped",
            json!(0),
        ),
        (
            r#""verifier_result": {"rewards": {"reward": 0.0}}, "exception_info": {"exception_type": "EnvironmentStartError"}"#,
            "no-verdict",
            json!(null),
        ),
        (r#""verifier_result": {"rewards": {"a": 1, "b": 0}}"#, "no-verdict", json!(null)),
    ] {
        let (_, items, _) = read("result.json", log(rest).as_bytes());
        assert_eq!((&items[0]["outcome"], &items[0]["solved"]), (&json!(outcome), &reward), "{rest}");
    }
    let old = r#"{"id": "r", "results": [
      {"id": "1", "trial_name": "t.1-of-2", "task_id": "t", "is_resolved": true, "failure_mode": "unset", "total_input_tokens": 0, "total_output_tokens": 0},
      {"id": "2", "trial_name": "t.2-of-2", "task_id": "t", "is_resolved": null, "failure_mode": "unset"},
      {"id": "3", "trial_name": "u.1-of-2", "task_id": "u", "is_resolved": false, "failure_mode": "agent_timeout"},
      {"id": "4", "trial_name": "u.2-of-2", "task_id": "u", "is_resolved": false, "failure_mode": "unknown_agent_error"}]}"#;
    assert_snapshot!(told("run-1/results.json", old.as_bytes()), @r#"
    harbor
    $.results[0]  {"id":"run-1/t.1-of-2","outcome":"succeeded","solved":1,"subject":"run-1","task":"t"}
    $.results[1]  {"id":"run-1/t.2-of-2","outcome":"no-verdict","subject":"run-1","task":"t"}
    $.results[2]  {"id":"run-1/u.1-of-2","outcome":"stopped","solved":0,"subject":"run-1","task":"u"}
    $.results[3]  {"id":"run-1/u.2-of-2","outcome":"no-verdict","subject":"run-1","task":"u"}
    1 a number of tokens of 0, which means that it is not known
    1 no result of a trial: it has no verdict
    1 the result of a trial that the program broke off
    "#);
}

/// Spans of one trace: an agent, a call in both vocabularies within each other, a tool that failed, another call.
fn otlp() -> String {
    let span = |id: &str, parent: &str, name: &str, from: u64, to: u64, rest: &str| {
        format!(
            r#"{{"traceId": "aa", "spanId": "{id}", "parentSpanId": "{parent}", "name": "{name}", "startTimeUnixNano": "{}", "endTimeUnixNano": "{}", {rest}}}"#,
            1_767_225_600_000_000_000 + from * 1_000_000,
            1_767_225_600_000_000_000 + to * 1_000_000
        )
    };
    let text =
        |key: &str, value: &str| format!(r#"{{"key": "{key}", "value": {{"stringValue": "{value}"}}}}"#);
    let whole = |key: &str, value: u64| format!(r#"{{"key": "{key}", "value": {{"intValue": "{value}"}}}}"#);
    let list = |attributes: &[String]| format!(r#""attributes": [{}]"#, attributes.join(","));
    let spans = [
        span(
            "3",
            "2",
            "openai.chat",
            11,
            90,
            &list(&[
                text("gen_ai.system", "openai"),
                whole("gen_ai.usage.prompt_tokens", 100),
                whole("gen_ai.usage.completion_tokens", 10),
                text("gen_ai.request.model", "m"),
            ]),
        ),
        span(
            "2",
            "1",
            "call_llm",
            10,
            100,
            &list(&[
                text("gen_ai.operation.name", "chat"),
                whole("gen_ai.usage.input_tokens", 100),
                whole("gen_ai.usage.output_tokens", 10),
            ]),
        ),
        span(
            "4",
            "1",
            "execute_tool",
            100,
            150,
            &format!(
                "{}, \"status\": {{\"code\": 2, \"message\": \"no\"}}",
                list(&[text("gen_ai.operation.name", "execute_tool")])
            ),
        ),
        span(
            "5",
            "1",
            "chat",
            150,
            180,
            &list(&[
                text("gen_ai.operation.name", "chat"),
                whole("gen_ai.usage.input_tokens", 200),
                whole("gen_ai.usage.output_tokens", 20),
            ]),
        ),
        span(
            "1",
            "",
            "invoke_agent",
            0,
            200,
            &list(&[
                text("gen_ai.operation.name", "invoke_agent"),
                text("gen_ai.agent.name", "coder"),
                whole("gen_ai.usage.input_tokens", 300),
            ]),
        ),
    ];
    let noise = r#"{"traceId": "bb", "spanId": "9", "name": "GET", "startTimeUnixNano": "1", "endTimeUnixNano": "2"}"#;
    format!(
        r#"{{"resourceSpans": [{{"resource": {{"attributes": [{}]}}, "scopeSpans": [{{"scope": {{}}, "spans": [{}, {noise}]}}]}}]}}"#,
        text("service.name", "svc"),
        spans.join(", ")
    )
}

#[test]
fn spans_of_opentelemetry() {
    assert_snapshot!(told("t.json", otlp().as_bytes()), @r#"
    otlp
    $.resourceSpans[0].scopeSpans[0].spans[0]  {"calls":2,"errors":1,"id":"aa","seconds":0.2,"subject":"coder","time":"2026-01-01T00:00:00Z","tokens":330,"tool_calls":1}
    1 a trace without a span of a model or an agent
    1 the task: a trace names none
    1 whether the task was solved: a trace does not say so
    "#);
    let (_, items, _) = read("t.json", otlp().as_bytes());
    // Tempo, and several requests on several lines, are the same spans.
    let tempo =
        otlp().replace("resourceSpans", "batches").replace("scopeSpans", "instrumentationLibrarySpans");
    let lines = otlp() + "\n" + &otlp().replace("\"aa\"", "\"cc\"").replace("\"bb\"", "\"dd\"") + "\n";
    for (text, count) in [(tempo, 1), (lines, 2)] {
        let (format, others, _) = read("t.json", text.as_bytes());
        assert_eq!((format, others.len()), (Format::Otlp, count));
        for name in ["tokens", "seconds", "calls", "errors", "subject", "time"] {
            assert_eq!(others[0][name], items[0][name], "{name}");
        }
    }
    let twice = otlp().replace("\"spanId\": \"4\"", "\"spanId\": \"5\"");
    let (_, _, summary) = read("t.json", twice.as_bytes());
    assert_eq!(summary.left_out["a span with the id of one before that says something else"], 1);
}

#[test]
fn spans_in_protobuf() {
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2];
        let mut length = bytes.len();
        while length > 127 {
            out.push((length & 127) as u8 | 128);
            length >>= 7;
        }
        out.push(length as u8);
        [&out, bytes].concat()
    }
    let fixed = |number: u8, value: u64| [&[number << 3 | 1][..], &value.to_le_bytes()].concat();
    let text = |key: &str, value: &str| {
        field(9, &[field(1, key.as_bytes()), field(2, &field(1, value.as_bytes()))].concat())
    };
    let whole =
        |key: &str, value: u8| field(9, &[field(1, key.as_bytes()), field(2, &[3 << 3, value])].concat());
    let span = [
        field(1, &[0xaa; 16]),
        field(2, &[1; 8]),
        field(5, b"chat"),
        fixed(7, 1_767_225_600_000_000_000),
        fixed(8, 1_767_225_601_500_000_000),
        text("gen_ai.operation.name", "chat"),
        whole("gen_ai.usage.input_tokens", 100),
        whole("gen_ai.usage.output_tokens", 20),
        text("gen_ai.request.model", "m"),
    ];
    let request = field(1, &field(2, &field(2, &span.concat())));
    assert_snapshot!(told("t.pb", &request), @r#"
    otlp
    span 1  {"calls":1,"errors":0,"id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","seconds":1.5,"subject":"chat","time":"2026-01-01T00:00:00Z","tokens":120,"tool_calls":0}
    1 the task: a trace names none
    1 whether the task was solved: a trace does not say so
    "#);
    let error = refused("t.pb", &request[..request.len() - 3]);
    assert!(error.contains("expected a request of OTLP in protobuf"), "{error}");
}

#[test]
fn spans_of_jaeger() {
    let log = r#"{"data": [{"traceID": "aa", "spans": [
       {"traceID": "aa", "spanID": "2", "operationName": "chat", "references": [{"refType": "CHILD_OF", "traceID": "aa", "spanID": "1"}], "startTime": 1771237881000000, "duration": 500000, "tags": [{"key": "gen_ai.operation.name", "type": "string", "value": "chat"}, {"key": "gen_ai.usage.input_tokens", "type": "int64", "value": 7}], "processID": "p1"},
       {"traceID": "aa", "spanID": "1", "operationName": "run", "references": [], "startTime": 1771237880000000, "duration": 2145605, "tags": [{"key": "error", "type": "bool", "value": true}], "processID": "p1"}],
      "processes": {"p1": {"serviceName": "k8s_agent", "tags": []}}, "warnings": null}], "total": 0}"#;
    assert_snapshot!(told("t.json", log.as_bytes()), @r#"
    jaeger
    $.data[0].spans[0]  {"calls":1,"errors":1,"id":"aa","seconds":2.145605,"subject":"k8s_agent","time":"2026-02-16T10:31:20Z","tokens":7,"tool_calls":0}
    1 the task: a trace names none
    1 whether the task was solved: a trace does not say so
    "#);
}

#[test]
fn spans_one_by_one() {
    let lines = concat!(
        r#"{"name": "llm", "context": {"trace_id": "0xaa", "span_id": "0x2"}, "parent_id": "0x1", "start_time": "2026-01-01T00:00:00.5Z", "end_time": "2026-01-01T00:00:01Z", "status": {"status_code": "UNSET"}, "attributes": {"openinference.span.kind": "LLM", "llm.token_count.prompt": 9, "llm.token_count.completion": 1, "llm.cost.total": 0.002}}"#,
        "\n",
        r#"{"name": "run", "context": {"trace_id": "0xaa", "span_id": "0x1"}, "parent_id": null, "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:02Z", "status": {"status_code": "ERROR"}, "attributes": {"openinference.span.kind": "AGENT", "agent.name": "bot"}}"#,
        "\n",
    );
    assert_snapshot!(told("t.jsonl", lines.as_bytes()), @r#"
    openinference
    line 1  {"calls":1,"cost_usd":0.002,"errors":1,"id":"aa","seconds":2,"subject":"bot","time":"2026-01-01T00:00:00Z","tokens":10,"tool_calls":0}
    1 the task: a trace names none
    1 whether the task was solved: a trace does not say so
    "#);
    let (_, of_lines, _) = read("t.jsonl", lines.as_bytes());
    let list = format!("[{}]", lines.trim_end().replace('\n', ", "));
    let (_, of_list, _) = read("t.json", list.as_bytes());
    assert_eq!(of_lines[0]["tokens"], of_list[0]["tokens"]);
    // One span, over several lines and with nested attributes, as the specification shows it.
    let nested = "{\n \"name\": \"llm\",\n \"context\": {\"trace_id\": \"t\", \"span_id\": \"s\"},\n \"parent_id\": null, \"start_time\": \"2024-01-11T16:45:18.519427-07:00\", \"end_time\": \"2024-01-11T16:45:19.159145-07:00\", \"status_code\": \"OK\",\n \"attributes\": {\"openinference.span.kind\": \"LLM\", \"llm\": {\"token_count\": {\"total\": 273}}}\n}";
    assert_snapshot!(told("t.json", nested.as_bytes()), @r#"
    openinference
    $  {"calls":1,"errors":0,"id":"t","seconds":0.639718,"subject":"llm","time":"2024-01-11T23:45:18.519Z","tokens":273,"tool_calls":0}
    1 the task: a trace names none
    1 whether the task was solved: a trace does not say so
    "#);
}
