//! The facts of each kind of evidence, and what its reader refuses.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use insta::assert_snapshot;
use karat_core::facts::Fact;
use karat_core::timestamp::Timestamp;
use karat_reader::{FactType, Graders, Kind, Reader, ReaderOptions};

/// Returns everything an item gives, one line each; or its problems.
fn read(kind: Kind, text: &str) -> String {
    let wanted: Vec<_> =
        kind.vocabulary().iter().map(|spec| (spec.name.to_owned(), spec.fact_type)).collect();
    let mut reader = Reader::new(kind, &wanted, ReaderOptions::default()).unwrap();
    let mut lines = Vec::new();
    match reader.read(text.as_bytes()) {
        Err(problems) => lines.extend(problems.iter().map(ToString::to_string)),
        Ok(evidence) => {
            let item = evidence.item();
            lines.push(format!("subject {}, id {}", item.subject, item.id));
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
    lines.join("\n")
}

const RUN: &str = r#"{
  "run_id": "run-1", "miner_uid": 7,
  "task": {"task_id": "t-1", "task_type": "code", "constraints": {"max_budget_tao": 0.05, "max_latency_seconds": 10}},
  "workflow_plan": {
    "nodes": [{"id": "a", "subnet": "sn1", "action": "go"}, {"id": "b"}, {"id": "c"}],
    "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}, {"from": "a", "to": "c"}],
    "error_handling": {"a": {"retry_count": 2, "timeout_seconds": 1.5}, "b": {"retry_count": 1}}
  },
  "output_quality": 0.875,
  "result": {"steps_completed": 3, "actual_cost": 0.0072, "actual_latency": 4.1, "retries": {"a": 0, "b": 3},
             "timeouts": 1, "hard_failures": 0, "budget_aborted": false, "mood": "good"}
}"#;

#[test]
fn a_workflow_run() {
    assert_snapshot!(read(Kind::WorkflowRun, RUN), @r"
    subject 7, id run-1
    output_quality = 0.875
    steps_completed = 3
    steps_total = 3
    actual_tao = 0.0072
    max_budget_tao = 0.05
    actual_seconds = 4.1
    max_latency_seconds = 10
    actual_retries = 3
    declared_retry_budget = 3
    timeouts = 1
    hard_failures = 0
    budget_aborted = false
    unknown: $.result.mood (1)
    ");
}

#[test]
fn a_workflow_run_without_a_plan() {
    let run = r#"{"subject": "flow", "constraints": {"max_budget_tao": 0}, "output_quality": 1,
        "result": {"steps_completed": 0, "total_steps": 4, "actual_retries": 2, "actual_cost": null}}"#;
    assert_snapshot!(read(Kind::WorkflowRun, run), @r"
    subject flow, id sha256:e610ca5de99b76f788b89797179394add3472cb149e084c5b28e88f897ca88f5
    output_quality = 1
    steps_completed = 0
    steps_total = 4
    max_budget_tao = 0
    actual_retries = 2
    declared_retry_budget = 0
    note: $.constraints.max_budget_tao: a limit of 0 cannot be met
    ");
}

/// Makes a log of two steps, the first of which is tried twice, beside these members of the result.
fn logged(beside: &str) -> String {
    let log = r#"[
        {"step": "a", "start": "2026-01-01T01:00:00+01:00", "end": "2026-01-01T00:00:02Z", "cost": 0.002, "outcome": "failed"},
        {"step": "a", "start": "2026-01-01T00:00:02Z", "end": "2026-01-01T00:00:03Z", "cost": 0.002, "outcome": "success"},
        {"step": "b", "start": "2026-01-01T00:00:03Z", "end": "2026-01-01T00:00:04.1Z", "cost": 0.001, "outcome": "success", "host": 1}]"#;
    let plan = r#"{"nodes": [{"id": "a"}, {"id": "b"}], "error_handling": {"a": {"timeout_seconds": 1.5}}}"#;
    let result = format!(r#"{{{beside}"attempts": {log}}}"#);
    format!(r#"{{"subject": "flow", "workflow_plan": {plan}, "output_quality": 1, "result": {result}}}"#)
}

#[test]
fn a_workflow_run_by_its_log() {
    assert_snapshot!(read(Kind::WorkflowRun, &logged("")), @r"
    subject flow, id sha256:f1fec53ed845edc295fd535dc900565e2f025624390633a254009b40b11d43a1
    output_quality = 1
    steps_completed = 2
    steps_total = 2
    actual_tao = 0.005
    actual_seconds = 4.1
    actual_retries = 1
    declared_retry_budget = 0
    timeouts = 1
    hard_failures = 0
    budget_aborted = false
    unknown: $.result.attempts[*].host (1)
    ");
    let agrees =
        r#""steps_completed": 2, "actual_cost": 0.005, "actual_latency": 4.1, "retries": {"a": 1}, "#;
    assert_eq!(
        read(Kind::WorkflowRun, &logged(agrees)).lines().skip(1).collect::<Vec<_>>(),
        read(Kind::WorkflowRun, &logged("")).lines().skip(1).collect::<Vec<_>>()
    );
    let differs = r#""steps_completed": 1, "actual_cost": 0.003, "retries": {"a": 0}, "timeouts": 0, "budget_aborted": true, "#;
    assert_snapshot!(read(Kind::WorkflowRun, &logged(differs)), @r"
    $.result.steps_completed: found 1, where the log counts 2, expected the total of the log; correct the one that is wrong, or leave the total out (line 1, column 179)
    $.result.actual_cost: found 0.003, where the log adds up to 0.005, expected the total of the log; correct the one that is wrong, or leave the total out (line 1, column 197)
    $.result.retries: found 0, where the log counts 1, expected the total of the log; correct the one that is wrong, or leave the total out (line 1, column 215)
    $.result.timeouts: found 0, where the log counts 1, expected the total of the log; correct the one that is wrong, or leave the total out (line 1, column 237)
    $.result.budget_aborted: found `true`, where the log completes every step, expected the total of the log; correct the one that is wrong, or leave the total out (line 1, column 258)
    unknown: $.result.attempts[*].host (1)
    ");
    let without_plan =
        r#"{"subject": "flow", "output_quality": 1, "result": {"total_steps": 1, "attempts": []}}"#;
    assert_snapshot!(read(Kind::WorkflowRun, without_plan), @"$.result.attempts: found a log without a plan, expected the `workflow_plan` that the attempts belong to; add `workflow_plan` to the item (line 1, column 83)");
    let faulty = logged("").replace("\"success\"", "\"done\"");
    assert_snapshot!(read(Kind::WorkflowRun, &faulty), @r"
    $.result.attempts[1].outcome: found the text `done`, expected `success`, `failed`, `timeout`, `budget_abort` or `unresolved_reference` (line 3, column 113)
    $.result.attempts[2].outcome: found the text `done`, expected `success`, `failed`, `timeout`, `budget_abort` or `unresolved_reference` (line 4, column 115)
    unknown: $.result.attempts[*].host (1)
    ");
}

#[test]
fn a_workflow_run_tells_all_its_problems_at_once() {
    let run = r#"{"subject": "flow",
        "task": {"constraints": {"max_budget_tao": -1, "max_latency_seconds": 5}},
        "constraints": {"max_latency_seconds": 6},
        "workflow_plan": {"nodes": [{"id": "a"}, {"id": "b"}], "error_handling": {"z": {"retry_count": 1.5}}},
        "output_quality": 1.5,
        "result": {"steps_completed": 5, "total_steps": 4, "actual_latency": "3", "retries": {"a": 1, "zz": 2},
                   "actual_retries": 4, "timeouts": -1, "budget_aborted": "true"}}"#;
    assert_snapshot!(read(Kind::WorkflowRun, run), @r"
    $.task.constraints.max_budget_tao: found `-1`, expected a number not below 0 (line 2, column 52)
    $.constraints.max_latency_seconds: found `6`, and `5` in the item's other constraints, expected one limit; give the constraints once (line 3, column 48)
    $.workflow_plan.error_handling.z.retry_count: found `1.5`, expected a whole number not below 0 (line 4, column 104)
    $.output_quality: found `1.5`, expected a number from 0 to 1 (line 5, column 27)
    $.result.steps_completed: found 5 steps done of 4, expected at most as many as there are (line 6, column 39)
    $.result.total_steps: found 4 steps, where the plan has 2, expected the number of steps of the plan; leave one of them out (line 6, column 57)
    $.result.actual_latency: found the text `3`, expected a number not below 0; write the number without quotes (line 6, column 78)
    $.result.retries.zz: found retries of `zz`, expected the id of a step of the plan (line 6, column 109)
    $.result.actual_retries: found 4 retries, where `retries` adds up to 3, expected one number of retries; leave one of them out (line 7, column 38)
    $.result.timeouts: found `-1`, expected a whole number not below 0 (line 7, column 53)
    $.result.budget_aborted: found the text `true`, expected `true` or `false`; write it without quotes (line 7, column 75)
    ");
    assert_snapshot!(read(Kind::WorkflowRun, r#"{"subject": "flow"}"#), @r"
    $.result: found nothing, expected an object with `steps_completed`; add `result` (line 1, column 1)
    $.output_quality: found nothing, expected a number from 0 to 1, or what it can be graded from: `task_type`, `reference` and `result.final_output`; add `output_quality` (line 1, column 1)
    ");
}

#[test]
fn a_plan_must_be_a_graph_without_cycles() {
    let run = |plan: &str| {
        read(
            Kind::WorkflowRun,
            &format!(
                r#"{{"subject": "flow", "workflow_plan": {plan}, "output_quality": 1, "result": {{"steps_completed": 0}}}}"#
            ),
        )
    };
    assert_snapshot!(run(r#"{"nodes": [{"id": "fetch"}, {"id": " "}, {"id": "fetch"}, {}, 5],
        "edges": [{"from": "fetch", "to": "fetsh"}, {"from": "fetch", "to": "fetch"}, {"from": "fetch"}, 6]}"#), @r"
    $.workflow_plan.nodes[1].id: found the text ` `, expected a text that is not blank (line 1, column 73)
    $.workflow_plan.nodes[2].id: found the id `fetch` a second time, expected a different id for each step (line 1, column 86)
    $.workflow_plan.nodes[3].id: found nothing, expected a text that is not blank; add `id` (line 1, column 96)
    $.workflow_plan.nodes[4]: found `5`, expected an object (line 1, column 100)
    $.workflow_plan.edges[0].to: found `fetsh`, expected the id of a step of the plan; did you mean `fetch`? (line 2, column 43)
    $.workflow_plan.edges[1]: found an edge from a step to itself, expected an edge between two steps; remove it (line 2, column 53)
    $.workflow_plan.edges[2].to: found nothing, expected the id of a step; add `to` (line 2, column 87)
    $.workflow_plan.edges[3]: found `6`, expected an object (line 2, column 106)
    ");
    assert_snapshot!(run(r#"{"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "d"}, {"id": "e"}],
        "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}, {"from": "c", "to": "d"}, {"from": "d", "to": "b"},
                  {"from": "d", "to": "e"}]}"#), @"$.workflow_plan.edges: found the cycle `b` -> `c` -> `d` -> `b`, expected steps that never wait for themselves; remove one edge of the cycle (line 2, column 18)");
    assert_snapshot!(run(r#"{"nodes": []}"#), @"$.workflow_plan.nodes: found no steps, expected at least one step; give the plan a step (line 1, column 48)");
}

const MATCH: &str = r#"{
  "match_id": "m-1", "agent_id": "agent-9", "challenge": "cipher-relay", "score": 823,
  "score_breakdown": {
    "correctness": {"score": 900, "weight": 0.5, "weighted": 450},
    "speed": {"score": 780, "weight": 0.2, "weighted": 156},
    "methodology": 690, "completeness": {"score": null}, "token_efficiency": 12, "electron_push": 5
  },
  "started_at": "2026-03-18T09:30:00.000Z", "submitted_at": "2026-03-18T11:31:00.2509+02:00", "time_limit_secs": 300,
  "verified": true, "memoryless": false, "attempt_number": 1,
  "constraints": {"tokenBudget": 10000, "max_llm_calls": 20, "allowedTools": ["read"]},
  "trajectory": {"total_input_tokens": 3000, "total_output_tokens": 1000, "total_llm_calls": 5, "total_tool_calls": 0},
  "submission_warnings": [
    {"severity": "warning", "field": "notes", "message": "long"},
    {"severity": "error", "field": "answer", "message": "not a list", "dimension": "methodology"},
    {"severity": "error", "field": "answer", "message": "?", "dimension": "electron_push"}
  ]
}"#;

#[test]
fn a_match() {
    assert_snapshot!(read(Kind::Match, MATCH), @r"
    subject agent-9, id m-1
    correctness_score = 900
    methodology_score = 0
    speed_score = 780
    time_used_seconds = 60.25
    time_limit_seconds = 300
    verified = true
    memoryless = false
    attempt_number = 1
    total_tokens = 4000
    llm_calls = 5
    tool_calls = 0
    token_budget = 10000
    max_llm_calls = 20
    limits_llm_calls = true
    limits_tool_calls = false
    speed_refused = false
    token_efficiency_refused = false
    call_efficiency_refused = false
    warning: $.submission_warnings[2]: an error about `electron_push`, which has no score here
    note: $.submission_warnings[1]: an error of the submission makes `methodology` 0
    unknown: $.score_breakdown.electron_push (1)
    ");
}

#[test]
fn a_match_of_a_custom_scorer() {
    let outcome = r#"{"id": "m-2", "agent": "a", "score_breakdown": {"correctness": 700, "speed": 600, "total": 1300},
        "max_score": 1000, "time_used_secs": 12.5}"#;
    assert_snapshot!(read(Kind::Match, outcome), @r"
    subject a, id m-2
    correctness_score = 700
    speed_score = 600
    time_used_seconds = 12.5
    limits_llm_calls = false
    limits_tool_calls = false
    speed_refused = false
    token_efficiency_refused = false
    call_efficiency_refused = false
    note: $.score_breakdown: the total 1300 is capped at 1000
    ");
}

#[test]
fn an_error_of_the_submission_refuses_computed_dimensions_too() {
    let outcome = r#"{"id": "m-3", "agent": "a", "scores": {"correctness": 700, "speed": 600}, "submission_warnings": [
        {"severity": "error", "dimension": "speed"}, {"severity": "error", "dimension": "call_efficiency"}]}"#;
    assert_snapshot!(read(Kind::Match, outcome), @r"
    subject a, id m-3
    correctness_score = 700
    speed_score = 0
    limits_llm_calls = false
    limits_tool_calls = false
    speed_refused = true
    token_efficiency_refused = false
    call_efficiency_refused = true
    note: $.submission_warnings[0]: an error of the submission makes `speed` 0
    note: $.submission_warnings[1]: an error of the submission makes `call_efficiency` 0
    ");
}

#[test]
fn an_expired_match_is_refused_and_the_last_instant_is_not() {
    let outcome = |used: &str| {
        let text = r#"{"id": "m-4", "agent": "a", "scores": {"correctness": 700}, "time_limit_secs": 600, "time_used_secs": "#;
        read(Kind::Match, &format!("{text}{used}}}"))
    };
    assert!(outcome("600").contains("time_used_seconds = 600"));
    assert_snapshot!(outcome("600.5"), @"$.time_used_secs: found 600.5 s of 600 s: the match has expired, expected a match within its time limit; leave it out: expired matches have no score (line 1, column 103)");
}

#[test]
fn a_match_tells_all_its_problems_at_once() {
    let outcome = r#"{"agent": "", "scores": {"correctness": 1000.5, "speed": -1, "analysis": "900"},
        "started_at": "2026-03-18 09:30", "submitted_at": "2026-03-18T09:30:00Z", "attempt_number": 0,
        "verified": 1, "constraints": {"tokenBudget": 0, "maxLlmCalls": 3, "max_llm_calls": 4},
        "trajectory": {"total_input_tokens": 1.5, "total_llm_calls": -2},
        "submission_warnings": [{"severity": "fatal"}, {"field": 1}, "careful"]}"#;
    assert_snapshot!(read(Kind::Match, outcome), @r"
    $.agent: found an empty text, expected a name, or a whole number; a name is not blank (line 1, column 11)
    $.scores.correctness: found `1000.5`, expected a score from 0 to 1000 (line 1, column 41)
    $.scores.speed: found `-1`, expected a score from 0 to 1000 (line 1, column 58)
    $.scores.analysis: found the text `900`, expected a score from 0 to 1000; write the number without quotes (line 1, column 74)
    $.started_at: found the text `2026-03-18 09:30`, expected an RFC 3339 timestamp such as `2026-01-31T12:00:00Z`; put a capital `T` between date and time (line 2, column 23)
    $.attempt_number: found `0`, expected a whole number above 0 (line 2, column 101)
    $.verified: found `1`, expected `true` or `false` (line 3, column 21)
    $.constraints.tokenBudget: found `0`, expected a whole number above 0 (line 3, column 55)
    $.constraints.max_llm_calls: found the limit a second time, expected each limit once; keep one of the two spellings (line 3, column 93)
    $.trajectory.total_input_tokens: found `1.5`, expected a whole number not below 0 (line 4, column 46)
    $.trajectory.total_llm_calls: found `-2`, expected a whole number not below 0 (line 4, column 70)
    $.submission_warnings[0].severity: found the text `fatal`, expected `error` or `warning` (line 5, column 46)
    $.submission_warnings[1].severity: found nothing, expected `error` or `warning`; add `severity` (line 5, column 56)
    $.submission_warnings[1].field: found `1`, expected a text (line 5, column 66)
    $.submission_warnings[2]: found the text `careful`, expected an object (line 5, column 70)
    ");
    let outcome = r#"{"agent": "a", "scores": {}, "score_breakdown": {"speed": {}}, "time_used_secs": 61,
        "started_at": "2026-03-18T09:30:00Z", "submitted_at": "2026-03-18T09:31:00Z"}"#;
    assert_snapshot!(read(Kind::Match, outcome), @r"
    $.scores: found `scores` beside `score_breakdown`, expected one of them; leave one of them out (line 1, column 26)
    $.time_used_secs: found 61 s, where the two moments are 60 s apart, expected one duration; leave one of them out (line 1, column 82)
    ");
    let outcome = r#"{"agent": "a",
        "started_at": "2026-03-18T09:30:00Z", "submitted_at": "2026-03-18T09:30:00+02:00"}"#;
    assert_snapshot!(read(Kind::Match, outcome), @r"
    $.scores: found nothing, expected the score of each dimension, or a `score_breakdown`; add `scores` (line 1, column 1)
    $.submitted_at: found the text `2026-03-18T09:30:00+02:00`, expected a moment not before `started_at` (line 2, column 63)
    ");
}

/// The example of the scoring document, with a moment in place of the clock.
const TRACE: &str = r#"{
  "@context": "https://knowledgepulse.dev/schema/v1", "@type": "ReasoningTrace", "id": "kp:trace:finance-demo-001",
  "metadata": {"created_at": "2026-03-14T00:20:00.000Z", "task_domain": "finance", "success": true, "quality_score": 0,
               "visibility": "network", "privacy_level": "aggregated"},
  "task": {"objective": "Analyze TSMC Q4 earnings report"},
  "steps": [
    {"step_id": 0, "type": "thought", "content": "Extracting revenue and margin data"},
    {"step_id": 1, "type": "tool_call", "tool": {"name": "financial_data_api"}, "input": {"ticker": "TSM"}},
    {"step_id": 2, "type": "observation", "content": "Revenue: $26.3B, up 14.3% YoY", "mood": "good"},
    {"step_id": 3, "type": "tool_call", "tool": {"name": "comparison_tool"}, "input": {"metric": "gross_margin"}},
    {"step_id": 4, "type": "observation", "content": "Gross margin 57.9%, above industry average"}
  ],
  "outcome": {"result_summary": "Strong quarterly performance driven by AI chip demand", "confidence": 0.92}
}"#;

#[test]
fn a_reasoning_trace() {
    assert_snapshot!(read(Kind::ReasoningTrace, TRACE), @r#"
    subject kp:trace:finance-demo-001, id kp:trace:finance-demo-001
    step_count = 5
    step_type_count = 3
    thought_count = 1
    tool_step_count = 2
    unique_tool_count = 2
    error_recovery_count = 0
    success = true
    confidence = 0.92
    task_domain = "finance"
    unknown: $.steps[*].mood (1)
    "#);
    let mut reader = Reader::new(Kind::ReasoningTrace, &[], ReaderOptions::default()).unwrap();
    let by_agent = TRACE.replace("\"success\"", "\"agent_id\": \"kp:agent:x\", \"success\"");
    assert_eq!(reader.read(by_agent.as_bytes()).unwrap().item().subject, "kp:agent:x");
}

#[test]
fn a_reasoning_trace_counts_tools_by_name_alone() {
    let steps = r#"[
        {"step_id": 0, "type": "tool_call", "tool": {"name": "grep", "mcp_server": "one"}},
        {"step_id": 0, "type": "thought", "tool": {"name": "grep", "mcp_server": "two"}},
        {"step_id": 0, "type": "error_recovery", "tool": {"name": "Grep"}},
        {"step_id": 0, "type": "observation", "tool": {"name": ""}, "latency_ms": 0.5},
        {"step_id": 7, "type": "tool_call"}
    ]"#;
    let (before, rest) = TRACE.split_once("\"steps\": ").unwrap();
    let (_, after) = rest.split_once("],\n").unwrap();
    let trace = format!("{before}\"novelty\": 0.25, \"steps\": {steps},\n{after}");
    assert_snapshot!(read(Kind::ReasoningTrace, &trace), @r#"
    subject kp:trace:finance-demo-001, id kp:trace:finance-demo-001
    step_count = 5
    step_type_count = 4
    thought_count = 1
    tool_step_count = 4
    unique_tool_count = 3
    error_recovery_count = 1
    success = true
    confidence = 0.92
    novelty = 0.25
    task_domain = "finance"
    warning: $.novelty: the novelty is the trace's own word: nothing compared it with earlier traces, 0.25
    "#);
}

#[test]
fn a_reasoning_trace_is_strict() {
    let trace = r#"{"@context": "https://example.org", "@type": "reasoningtrace", "id": "trace:1",
        "metadata": {"created_at": "2026-03-14T00:20:00+00:00", "task_domain": "", "success": 1, "quality_score": 2,
                     "visibility": "public", "privacy_level": null},
        "task": {"objective": ""},
        "steps": [{"step_id": -1, "type": "think", "content": null, "tool": null},
                  {"step_id": 0.5, "type": "tool_cal", "tool": {}, "latency_ms": -1}, {"tool": {"name": 1}}, []],
        "outcome": {"confidence": 1.01}, "novelty": -0.5,
        "knowledge_graph_delta": {"entities": [{"name": 1}]}}"#;
    assert_snapshot!(read(Kind::ReasoningTrace, trace), @r"
    $.@context: found the text `https://example.org`, expected `https://knowledgepulse.dev/schema/v1` or `https://openknowledgepulse.org/schema/v1` (line 1, column 14)
    $.@type: found the text `reasoningtrace`, expected `ReasoningTrace`; did you mean `ReasoningTrace`? (line 1, column 46)
    $.id: found the text `trace:1`, expected an id that begins with `kp:trace:` (line 1, column 70)
    $.metadata.created_at: found the text `2026-03-14T00:20:00+00:00`, expected an RFC 3339 timestamp in UTC such as `2026-01-31T12:00:00Z`; give the time in UTC, with `Z` at the end (line 2, column 36)
    $.metadata.success: found `1`, expected `true` or `false` (line 2, column 95)
    $.metadata.quality_score: found `2`, expected a number from 0 to 1 (line 2, column 115)
    $.metadata.visibility: found the text `public`, expected `private`, `org` or `network` (line 3, column 36)
    $.metadata.privacy_level: found `null`, expected `aggregated`, `federated` or `private` (line 3, column 63)
    $.task.objective: found an empty text, expected what the task was (line 4, column 31)
    $.steps[0].step_id: found `-1`, expected a whole number not below 0 (line 5, column 31)
    $.steps[0].type: found the text `think`, expected `thought`, `tool_call`, `observation` or `error_recovery` (line 5, column 43)
    $.steps[0].content: found `null`, expected a text (line 5, column 63)
    $.steps[0].tool: found `null`, expected an object (line 5, column 77)
    $.steps[1].step_id: found `0.5`, expected a whole number not below 0 (line 6, column 31)
    $.steps[1].type: found the text `tool_cal`, expected `thought`, `tool_call`, `observation` or `error_recovery`; did you mean `tool_call`? (line 6, column 44)
    $.steps[1].tool.name: found nothing, expected the name of the tool; add `name` (line 6, column 64)
    $.steps[1].latency_ms: found `-1`, expected a number not below 0 (line 6, column 82)
    $.steps[2].step_id: found nothing, expected a whole number not below 0; add `step_id` (line 6, column 87)
    $.steps[2].type: found nothing, expected the type of the step; add `type` (line 6, column 87)
    $.steps[2].tool.name: found `1`, expected a text (line 6, column 105)
    $.steps[3]: found an array, expected an object (line 6, column 110)
    $.outcome.result_summary: found nothing, expected a text, which may be empty; add `result_summary` (line 7, column 20)
    $.outcome.confidence: found `1.01`, expected a number from 0 to 1 (line 7, column 35)
    $.novelty: found `-0.5`, expected a number from 0 to 1 (line 7, column 53)
    $.knowledge_graph_delta.relationships: found nothing, expected an array; add `relationships` (line 8, column 34)
    $.knowledge_graph_delta.entities[0].type: found nothing, expected a text; add `type` (line 8, column 48)
    $.knowledge_graph_delta.entities[0].name: found `1`, expected a text (line 8, column 57)
    ");
    assert_snapshot!(read(Kind::ReasoningTrace, r#"{"steps": []}"#), @r"
    $.@context: found nothing, expected the schema's address; add `@context` (line 1, column 1)
    $.@type: found nothing, expected `ReasoningTrace`; add `@type` (line 1, column 1)
    $.id: found nothing, expected an id that begins with `kp:trace:`; add `id` (line 1, column 1)
    $.metadata: found nothing, expected an object; add `metadata` (line 1, column 1)
    $.task: found nothing, expected an object with the `objective`; add `task` (line 1, column 1)
    $.outcome: found nothing, expected an object with the `confidence`; add `outcome` (line 1, column 1)
    $.steps: found no steps, expected at least one step; a trace without steps has nothing to score (line 1, column 11)
    ");
}

#[test]
fn agent_dimensions() {
    let agent = r#"{"agent_id": "a-1", "critical_incident_open": true, "not_applicable": ["teamwork"],
        "dimensions": {"accuracy": 0.9, "reliability": {"score": 0.5, "age_seconds": 604800, "samples": 3},
                       "bond": "not-applicable", "safety": null, "teamwork": null, "latency": {"score": null}}}"#;
    let told = read(Kind::AgentDimensions, agent);
    let without: Vec<&str> = told.lines().filter(|line| !line.ends_with("_applies = true")).collect();
    assert_snapshot!(without.join("\n"), @r"
    subject a-1, id sha256:814db3f2d7f8f6da08ccdb4d79f305b8b488bd76ad493b4d17435e0005e58d74
    accuracy = 0.9
    reliability = 0.5
    reliability_age_seconds = 604800
    bond_applies = false
    teamwork_applies = false
    critical_incident_open = true
    unknown: $.dimensions[*].samples (1)
    ");
    assert_eq!(told.lines().filter(|line| line.ends_with("_applies = true")).count(), 14);
}

#[test]
fn agent_dimensions_tell_all_their_problems_at_once() {
    let agent = r#"{"agent_id": "a-1", "not_applicable": ["accuracy", "friendliness", 3], "critical_incident_open": "no",
        "dimensions": {"accuracy": 0.9, "relibility": 1, "safety": 85, "bond": "n/a", "latency": {"age_seconds": -1},
                       "colour": null}}"#;
    assert_snapshot!(read(Kind::AgentDimensions, agent), @r#"
    $.not_applicable[0]: found a dimension that has a score, expected either a score or not applicable; remove one of them (line 1, column 40)
    $.not_applicable[1]: found `friendliness`, expected one of the sixteen dimensions (line 1, column 52)
    $.not_applicable[2]: found `3`, expected a text (line 1, column 68)
    $.critical_incident_open: found the text `no`, expected `true` or `false` (line 1, column 98)
    $.dimensions.relibility: found `relibility`, expected one of the sixteen dimensions; did you mean `reliability`? (line 2, column 55)
    $.dimensions.safety: found `85`, expected a number from 0 to 1 (line 2, column 68)
    $.dimensions.bond: found the text `n/a`, expected a number from 0 to 1, `null` or "not-applicable" (line 2, column 80)
    $.dimensions.latency.score: found nothing, expected a number from 0 to 1, or `null` where it was not measured; add `score` (line 2, column 98)
    $.dimensions.latency.age_seconds: found `-1`, expected a number not below 0 (line 2, column 114)
    $.dimensions.colour: found `colour`, expected one of the sixteen dimensions (line 3, column 34)
    "#);
    assert_snapshot!(read(Kind::AgentDimensions, "{}"), @"$.dimensions: found nothing, expected an object of dimensions; add `dimensions` (line 1, column 1)");
}

#[test]
fn a_count_beyond_what_a_double_holds_is_called_too_large() {
    let run = r#"{"id": "r", "output_quality": 1, "result": {"steps_completed": 1, "total_steps": 1e18}}"#;
    assert_snapshot!(read(Kind::WorkflowRun, run), @"$.result.total_steps: found `1e18`, expected a count below 2^53 (line 1, column 82)");
}

#[test]
fn evidence_of_an_agent() {
    let agent = r#"{"agent_id": "bot-7", "id": "may", "declarations": null,
        "bond": {"deposits": [{"id": "b", "time": "2026-05-01T00:00:00Z", "amount_usd": 500, "withdrawn_at": "2026-05-02T00:00:00+02:00"}]},
        "incidents": [{"id": "i", "time": "2026-04-01T00:00:00Z", "severity": "critical", "confirmed": true}],
        "collaborations": [{"id": "w", "time": "2026-05-01T00:00:00Z", "counterparty": "x", "handoffs": 1,
                            "handoffs_accepted": 1, "commitments": 0, "commitments_on_time": 0}]}"#;
    assert_snapshot!(read(Kind::AgentEvidence, agent), @r"
    subject bot-7, id may
    critical_incident_recent = true
    critical_incident_open = true
    high_incident_open = false
    bond_applies = true
    bond_stake_usd = 0
    bond_lock_days = 0
    bond_staked_usd = 500
    bond_slashed_usd = 0
    memoryQuality_applies = false
    teamwork_applies = true
    bond_age_seconds = 0
    note: $: accuracy: not measured yet, 0 of 10 tasks
    note: $: reliability: not measured yet, 0 of 8 groups with enough trials
    note: $: safety: not measured yet, 0 of 20 adversarial checks
    note: $: selfAudit: not measured yet, 0 of 20 forecasts of different tasks
    note: $: security: not measured yet, 0 of 30 probes
    note: $: latency: not measured yet, 0 of 30 response times with a budget
    note: $: scopeHonesty: not measured yet, 0 of 10 tests of claims; not measured yet, 0 of 10 probes out of scope
    note: $: costEfficiency: not measured yet, 0 of 20 tasks with a cost and a baseline
    note: $: evalRigor: not measured yet, 0 of 1 evaluations with checks
    note: $: teamwork: not measured yet, 1 of 5 collaborations
    note: $: modelCompliance: not measured yet, 0 of 5 checks of the use policy
    note: $: runtimeCompliance: not measured yet, 0 of 10 samples of the configuration
    note: $: harnessStability: not measured yet, 0 of 1 suites with enough runs
    note: $: skillMastery: not measured, no skill is declared
    ");
}

#[test]
fn evidence_of_an_agent_that_cannot_be_right() {
    assert_snapshot!(read(Kind::AgentEvidence, r#"{"agent_id": "a", "agent_id": "b"}"#), @"$.agent_id: found the key a second time, expected each key once; keep the one that is meant (line 1, column 31)");
    assert_snapshot!(read(Kind::AgentEvidence, r#"{"incidents": []}"#), @"$.agent_id: found nothing, expected a value (line 1, column 17)");
    let agent = r#"{"agent_id": " ",
        "task_classes": [{"name": "chat"}, {"name": "chat", "cost_baseline_usd": -1}],
        "memory": {"retrievals": [{"id": "l", "time": "2026-05-01T00:00:00Z", "retrieved": 1, "relevant": 2,
                                   "relevant_retrieved": 2}]}}"#;
    assert_snapshot!(read(Kind::AgentEvidence, agent), @r"
    $.agent_id: found a text without letters, expected a name (line 1, column 14)
    $.task_classes[1].name: found `chat` of another item, expected its own id; a correction is a separate item (line 2, column 53)
    $.task_classes[1].cost_baseline_usd: found `-1`, expected a number above 0 (line 2, column 82)
    $.memory.retrievals[0].relevant_retrieved: found 2 of 1, expected a count of at most 1 (line 4, column 58)
    ");
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
        let seen: serde_json::Value = serde_json::from_str(evidence.item().grading.unwrap()).unwrap();
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
