//! Trajectories and spans.

use serde_json::json;

use super::{Options, by_name, fixture, read, read_as};

#[test]
fn endings_and_subjects_of_swe_agent() {
    let log = |status: &str| {
        format!(
            r#"{{"environment": "main", "trajectory": [{{"action": "ls", "observation": "a", "thought": "t"}}, {{"action": "submit", "observation": ""}}], "history": [], "info": {{"exit_status": {status}, "submission": "diff", "model_stats": {{"instance_cost": 0.5, "tokens_sent": 100, "tokens_received": 20, "api_calls": 3}}}}}}"#
        )
    };
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
}

#[test]
fn a_score_of_langfuse_can_be_asked_for() {
    let log = fixture("langfuse/scores/x.json");
    let wanted = Options {
        score: Some(String::from("correctness")),
        subject: Some(String::from("bot")),
        ..Options::default()
    };
    let (items, _) = read_as("x.json", &log, by_name("langfuse"), &wanted).unwrap();
    assert_eq!((&items[0]["solved"], &items[0]["subject"]), (&json!(1), &json!("bot")));
}

#[test]
fn the_sums_of_a_trajectory_in_atif_come_before_those_of_its_steps() {
    let log = String::from_utf8(fixture("atif/metrics/t.json")).unwrap();
    let sums = r#"{"final_metrics": {"total_prompt_tokens": 400, "total_completion_tokens": 30, "total_cost_usd": 0.5}, "#;
    let (_, items, _) = read("t.json", log.replacen('{', sums, 1).as_bytes());
    assert_eq!((&items[0]["tokens"], &items[0]["cost_usd"]), (&json!(430), &json!(0.5)));
}

#[test]
fn endings_of_harbor() {
    let log = |rest: &str| {
        format!(
            r#"{{"id": "u-1", "task_name": "hello", "trial_name": "hello__1", "agent_info": {{"name": "claude-code", "version": "1", "model_info": {{"name": "m", "provider": "p"}}}},
            "agent_result": {{"n_input_tokens": 100, "n_cache_tokens": 50, "n_output_tokens": 10, "cost_usd": 0.25}}, "started_at": "2026-01-01T00:00:00.000000Z", "finished_at": "2026-01-01T00:02:00Z",
            "agent_execution": {{"started_at": "2026-01-01T00:00:10.5", "finished_at": "2026-01-01T00:01:10.5"}}, {rest}}}"#
        )
    };
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
}

#[test]
fn spans_of_tempo_and_of_several_requests_are_the_same() {
    let log = String::from_utf8(fixture("otlp/agent-with-calls/t.json")).unwrap();
    let (_, items, _) = read("t.json", log.as_bytes());
    // Tempo, and several requests on several lines, are the same spans.
    let tempo = log.replace("resourceSpans", "batches").replace("scopeSpans", "instrumentationLibrarySpans");
    let lines = log.clone() + "\n" + &log.replace("\"aa\"", "\"cc\"").replace("\"bb\"", "\"dd\"") + "\n";
    for (text, count) in [(tempo, 1), (lines, 2)] {
        let (format, others, _) = read("t.json", text.as_bytes());
        assert_eq!((format, others.len()), (by_name("otlp"), count));
        for name in ["tokens", "seconds", "calls", "errors", "subject", "time"] {
            assert_eq!(others[0][name], items[0][name], "{name}");
        }
    }
    let twice = log.replace("\"spanId\": \"4\"", "\"spanId\": \"5\"");
    let (_, _, summary) = read("t.json", twice.as_bytes());
    assert_eq!(summary.left_out["a span with the id of one before that says something else"], 1);
}

#[test]
fn spans_one_by_one_may_be_a_list() {
    let lines = String::from_utf8(fixture("openinference/lines/t.jsonl")).unwrap();
    let (_, of_lines, _) = read("t.jsonl", lines.as_bytes());
    let list = format!("[{}]", lines.trim_end().replace('\n', ", "));
    let (_, of_list, _) = read("t.json", list.as_bytes());
    assert_eq!(of_lines[0]["tokens"], of_list[0]["tokens"]);
}
