//! Every field that a kind of evidence knows, with a value of every type that is not its own: refused, never ignored.
//!
//! A good item of each kind has all fields that its reader names, which the first test makes sure of. The second puts a
//! value of each wrong type in every place of it, one at a time, and asks for a refusal at that place with what was expected.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use karat_reader::{FactType, Graders, Kind, Reader, ReaderOptions};
use serde_json::{Value, json};

/// A good item, and where in it anything may stand.
struct Sample {
    kind: Kind,
    item: Value,
    /// JSON paths, `[*]` for any element, below which every value is understood: what is there is not read.
    open: &'static [&'static str],
    /// Paths that may also hold a value of the named types.
    also: &'static [(&'static str, &'static [&'static str])],
}

fn run(task: Value, result: Value) -> Value {
    json!({
        "run_id": "run-1", "subject": "s", "agent_id": "a", "miner_uid": 7, "time": "2026-03-18T09:30:00Z",
        "task_id": "t", "outcome": "succeeded", "output_quality": 1, "description": "d", "quality_criteria": {"x": 1},
        "available_tools": {"sn1": 1}, "routing_policy": {"default": 1}, "send_block": 5, "scoring_version": "1.0.0",
        "total_estimated_cost": 0.1, "total_estimated_latency": 1, "confidence": 0.5, "reasoning": "r",
        "miner_hotkey": "h", "constraints": {"max_budget_tao": 1, "max_latency_seconds": 10, "allowed_subnets": ["sn1"]},
        "task": task, "result": result,
        "workflow_plan": {
            "nodes": [
                {"id": "a", "subnet": "sn1", "action": "go", "params": {"x": 1}, "estimated_cost": 0.1, "estimated_latency": 1},
                {"id": "b", "subnet": "sn1", "action": "go"},
            ],
            "edges": [{"from": "a", "to": "b"}],
            "error_handling": {"a": {"retry_count": 1, "timeout_seconds": 5}},
        },
    })
}

fn totals() -> Value {
    json!({
        "steps_completed": 2, "total_steps": 2, "actual_cost": 0.1, "actual_latency": 1, "retries": {"a": 1},
        "actual_retries": 1, "timeouts": 0, "hard_failures": 0, "unplanned_retries": 0, "budget_aborted": false,
        "tests": {"passed": 1, "failed": 0}, "lint_violations": 0,
        "final_output": {"text": "x", "artifacts": {"code": "y", "metadata": {"z": 1}}},
    })
}

/// A match with every field.
const MATCH: &str = r#"{
    "match_id": "m", "id": "m", "agent_id": "a", "agent": "a", "subject": "a", "challenge": "c",
    "challenge_slug": "c", "challenge_id": "c", "outcome": "succeeded", "score": 1, "result": "loss",
    "score_breakdown": {"correctness": {"score": 1, "weight": 0.5, "weighted": 0.5, "max": 1000, "note": "n"},
        "token_efficiency": 5, "total": 6},
    "max_score": 1000, "submission_warnings": [
        {"severity": "error", "dimension": "correctness", "field": "f", "message": "m"}],
    "started_at": "2026-03-18T09:30:00Z", "submitted_at": "2026-03-18T09:31:00Z",
    "completed_at": "2026-03-18T09:31:00Z", "expires_at": "2026-03-18T09:40:00Z", "time_used_secs": 60,
    "time_limit_secs": 600, "verified": true, "memoryless": true, "attempt_number": 1, "seed": 4,
    "verified_by": "checked", "memoryless_by": "harness", "memoryless_claimed": true, "match_nonce": "n",
    "status": "completed", "objective": "o", "submission": {"x": 1}, "score_details": {"x": 1},
    "constraint_violations": ["v"], "harness_warning": "w", "harness_id": "h",
    "trajectory_validation": {"valid": true, "checks": {"non_empty": true, "timestamps_in_bounds": true,
        "tool_replay_consistent": true}, "chained": true, "times_in_order": true, "durations_possible": true,
        "tokens_counted": true, "non_empty": true, "failed_checks": [], "warnings": ["x"],
        "unknown_files": []},
    "execution": {"runtime": "python", "limits": {"fuel": 1000000, "memory_mib": 64, "output_kib": 1}, "seed": 0,
        "files": {"a.toml": "sha256:0"}, "submission": "sha256:1",
        "judge": {"engine": "e 1", "runtime": "python", "runtime_digest": "sha256:2", "version": "1"},
        "tasks": [{"kind": "cases", "file": "a.toml", "value": 0.5, "passed": 1, "cases": [
            {"name": "n", "value": 1, "verdict": "pass", "reason": "r", "fuel": 7, "near_limit": true}]},
            {"kind": "script", "file": "s.py", "scores": {"correctness": 500}, "fuel": 3}]},
    "evaluation_log": {"x": 1}, "elo_before": 1000, "elo_after": 1016, "elo_change": 16,
    "opponent_elo": 1000, "title": "t", "flavour_text": "f", "reflect_url": "u",
    "constraints": {"tokenBudget": 10, "maxToolCalls": 5, "maxLlmCalls": 5, "allowedTools": ["read"],
        "allowedModels": ["m"], "networkAccess": true, "maxCostUsd": 1},
    "trajectory": {"total_input_tokens": 1, "total_output_tokens": 1, "total_llm_calls": 1,
        "total_tool_calls": 1, "replay_log": [{"x": 1}]}
}"#;

fn samples() -> Vec<Sample> {
    const RUN_OPEN: &[&str] = &[
        "$.quality_criteria.", "$.available_tools.", "$.routing_policy.", "$.task.quality_criteria.",
        "$.task.available_tools.", "$.task.routing_policy.", "$.workflow_plan.nodes[*].params",
        "$.task.reference_plan.nodes[*].params", "$.result.final_output.artifacts.metadata.",
        "$.task.reference.",
    ];
    const RUN_ALSO: &[(&str, &[&str])] = &[("$.miner_uid", &["text"])];
    let task = json!({
        "task_type": "rag", "reference": {"reference_answer": "x"}, "steps": 2, "description": "d",
        "constraints": {"max_budget_tao": 1}, "status": "active", "type": "synthetic", "quality_criteria": {"x": 1},
        "available_tools": {"x": 1}, "routing_policy": {"x": 1}, "reference_plan": {"nodes": [{"id": "a"}, {"id": "b"}]},
    });
    let log = json!({"attempts": [
        {"step": "a", "attempt": 1, "start": "2026-03-18T09:30:00Z", "end": "2026-03-18T09:30:01Z", "cost": 0.1,
         "outcome": "success"},
        {"step": "b", "outcome": "success"},
    ]});
    let code = json!({"task_type": "code", "reference": {}});
    let mut ungraded = run(json!({"steps": ["a", "b"]}), totals());
    ungraded["id"] = json!("run-2");
    ungraded["task_id"] = Value::Null;
    ungraded["task"]["task_id"] = json!("t");
    ungraded["task_type"] = json!("odd");
    vec![
        Sample { kind: Kind::WorkflowRun, item: run(task, totals()), open: RUN_OPEN, also: RUN_ALSO },
        Sample { kind: Kind::WorkflowRun, item: run(json!({}), log), open: RUN_OPEN, also: RUN_ALSO },
        Sample { kind: Kind::WorkflowRun, item: run(code, totals()), open: RUN_OPEN, also: RUN_ALSO },
        Sample { kind: Kind::WorkflowRun, item: ungraded, open: RUN_OPEN, also: RUN_ALSO },
        Sample {
            kind: Kind::Match,
            item: MATCH.parse().unwrap(),
            open: &[
                "$.submission", "$.score_details.", "$.evaluation_log.", "$.trajectory.replay_log[*]",
                "$.trajectory_validation.warnings[*]",
            ],
            also: &[
                // A score, or an object with one.
                ("$.score_breakdown.correctness", &["number"]),
            ],
        },
        Sample {
            kind: Kind::Match,
            item: json!({"agent_id": "a", "scores": {"correctness": 1},
                "constraints": {"token_budget": 10, "max_tool_calls": 5, "max_llm_calls": 5, "allowed_tools": ["read"],
                    "allowed_models": ["m"], "network_access": true, "max_cost_usd": 1},
                "execution": {"unfit": "u"}}),
            open: &[],
            also: &[],
        },
        Sample {
            kind: Kind::Match,
            item: json!({"agent_id": "a", "scores": {}, "outcome": "no-verdict", "execution": {"no_verdict": "n"}}),
            open: &[],
            also: &[],
        },
        Sample {
            kind: Kind::ReasoningTrace,
            item: json!({
                "@context": "https://openknowledgepulse.org/schema/v1", "@type": "ReasoningTrace", "id": "kp:trace:1",
                "metadata": {"created_at": "2026-03-18T09:00:00Z", "task_domain": "x", "success": true, "quality_score": 1,
                    "visibility": "network", "privacy_level": "aggregated", "agent_id": "a", "framework": "f",
                    "validated_by": ["v"]},
                "task": {"objective": "o", "input_schema": {"x": 1}},
                "steps": [{"step_id": 0, "type": "thought", "content": "c", "output_summary": "s",
                    "tool": {"name": "n", "mcp_server": "m"}, "input": {"x": 1}, "latency_ms": 5}],
                "outcome": {"result_summary": "", "confidence": 1}, "vector": [1, 2], "novelty": 0.5, "source_skill": "s",
                "knowledge_graph_delta": {"entities": [{"name": "n", "type": "t"}],
                    "relationships": [{"fact": "f", "valid_from": "v"}]},
            }),
            open: &["$.task.input_schema.", "$.steps[*].input."],
            also: &[],
        },
        Sample {
            kind: Kind::AgentDimensions,
            item: json!({
                "agent_id": "a", "subject": "a", "id": "i", "time": "2026-03-18T09:00:00Z",
                "dimensions": {"accuracy": {"score": 1, "age_seconds": 5}, "safety": 1}, "not_applicable": ["bond"],
                "critical_incident_open": false,
            }),
            open: &[],
            also: &[("$.dimensions.accuracy", &["number"]), ("$.dimensions.safety", &["object"])],
        },
        Sample { kind: Kind::AgentEvidence, item: example("trust/agent.json"), open: &[], also: &[] },
        Sample {
            kind: Kind::Facts,
            item: json!({"subject": "s", "id": "i", "time": "2026-03-18T09:00:00Z", "task": "t", "outcome": "failed",
                "solved": 1, "escalated": true, "domain": "d"}),
            open: &[],
            also: &[],
        },
    ]
}

fn example(name: &str) -> Value {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn reader(kind: Kind) -> Reader {
    let own = [("solved", FactType::Number), ("escalated", FactType::Boolean), ("domain", FactType::Text)];
    let wanted: Vec<_> = match kind {
        Kind::Facts => own.map(|(name, fact_type)| (name.to_owned(), fact_type)).into(),
        _ => kind.vocabulary().iter().map(|spec| (spec.name.to_owned(), spec.fact_type)).collect(),
    };
    Reader::new(kind, &wanted, ReaderOptions::default()).unwrap().with_graders(Graders::default())
}

/// Returns the JSON pointer and the path of every value within `value`, containers before what they hold.
fn places(value: &Value, pointer: &str, path: &str, found: &mut Vec<(String, String)>) {
    let mut visit = |key: &str, path: String, value: &Value| {
        let pointer = format!("{pointer}/{key}");
        found.push((pointer.clone(), path.clone()));
        places(value, &pointer, &path, found);
    };
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let plain = key.chars().all(|c| c.is_alphanumeric() || "_@".contains(c));
                visit(key, if plain { format!("{path}.{key}") } else { format!("{path}[\"{key}\"]") }, value);
            }
        }
        Value::Array(elements) => {
            // What one element of a list may hold, the others may.
            for (at, value) in elements.iter().enumerate().take(2) {
                visit(&at.to_string(), format!("{path}[{at}]"), value);
            }
        }
        _ => {}
    }
}

/// Returns a path with `[*]` for any element.
fn any_element(path: &str) -> String {
    let mut out = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('[') {
        let (index, after) = after.split_once(']').unwrap();
        let index = if index.starts_with('"') { index } else { "*" };
        out.push_str(&format!("{before}[{index}]"));
        rest = after;
    }
    out + rest
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "flag",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// One value of each type, none of which any field takes for its own but one of that type.
fn wrong_values() -> [Value; 5] {
    [json!(true), json!(12.5), json!("?"), json!([true]), json!({"?": true})]
}

#[test]
fn a_value_of_a_wrong_type_is_refused_where_it_stands() {
    let mut tried = 0;
    let mut passed = Vec::new();
    for Sample { kind, item, open, also } in samples() {
        let good = item.to_string();
        if let Err(problems) = reader(kind).read(good.as_bytes()) {
            panic!("{}: {problems}", kind.name());
        }
        let mut found = Vec::new();
        places(&item, "", "$", &mut found);
        for (pointer, path) in found {
            let general = any_element(&path);
            if open.iter().any(|open| general.starts_with(open)) {
                continue;
            }
            let own = type_name(item.pointer(&pointer).unwrap());
            let others = also.iter().find(|(at, _)| *at == general).map_or(&[][..], |(_, others)| others);
            for wrong in wrong_values() {
                let name = type_name(&wrong);
                if name == own || others.contains(&name) {
                    continue;
                }
                let mut bad = item.clone();
                *bad.pointer_mut(&pointer).unwrap() = wrong.clone();
                let text = bad.to_string();
                tried += 1;
                match reader(kind).read(text.as_bytes()) {
                    Ok(_) => passed.push(format!("{} {path} = {wrong}", kind.name())),
                    Err(problems) => {
                        let at = problems.iter().find(|problem| problem.path.starts_with(&path));
                        if !at.is_some_and(|at| !at.found.is_empty() && !at.expected.is_empty()) {
                            passed.push(format!("{} {path} = {wrong}, elsewhere: {problems}", kind.name()));
                        }
                    }
                }
            }
        }
    }
    assert_eq!(passed, [""; 0]);
    assert!(tried > 1000, "{tried}");
}

#[test]
fn a_good_item_shows_its_kind() {
    for Sample { kind, item, .. } in samples() {
        let shown = (kind != Kind::Facts).then_some(kind);
        assert_eq!(Kind::of_item(item.to_string().as_bytes()), shown, "{item}");
    }
}

/// The readers name their fields as `"field" =>`; a good item has each of them, so that the other test tries it.
#[test]
fn the_samples_have_every_field_that_a_reader_names() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (kind, files) in [
        (
            Kind::WorkflowRun,
            &[
                "reader/src/kinds/workflow_run.rs", "reader/src/kinds/workflow_output.rs",
                "graders/src/workflow/attempts.rs", "graders/src/workflow/plan/read.rs",
            ][..],
        ),
        (Kind::Match, &["reader/src/kinds/arena_match.rs", "reader/src/kinds/match_claims.rs"]),
        (Kind::ReasoningTrace, &["reader/src/kinds/reasoning_trace.rs"]),
        (Kind::AgentDimensions, &["reader/src/kinds/agent_dimensions.rs"]),
    ] {
        let items: Vec<_> = samples().into_iter().filter(|sample| sample.kind == kind).collect();
        let texts: String = items.iter().map(|sample| sample.item.to_string()).collect();
        let mut named = 0;
        for file in files {
            let source = std::fs::read_to_string(folder.join(file)).unwrap();
            let mut in_members = false;
            for line in source.lines().map(str::trim) {
                in_members =
                    (in_members || line.contains("match member.key()")) && line != "_ => return false,";
                in_members &= !line.starts_with("_ =>");
                let is_arm = line.starts_with('"') || line.starts_with("| \"");
                if !in_members || !is_arm {
                    continue;
                }
                let arm = line.split("=>").next().unwrap();
                let names = arm.split('"').skip(1).step_by(2);
                for name in names.filter(|name| name.chars().all(|c| c.is_alphanumeric() || "_@".contains(c)))
                {
                    named += 1;
                    assert!(texts.contains(&format!("\"{name}\":")), "{file}: no sample has `{name}`");
                }
            }
        }
        assert!(named >= 5, "{}: {named}", kind.name());
    }
}
