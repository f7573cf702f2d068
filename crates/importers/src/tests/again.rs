//! Things that logs have several times: attempts that are tried again, logs of the same task, and names that mean several things.

use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Options, by_name, read, read_as};
use crate::{Importer, Input, Item, Retries, import};

const VERDICTS: [(&str, &str); 4] = [
    ("", "succeeded"),
    ("<failure/>", "failed"),
    ("<error/>", "no-verdict"),
    ("<skipped/>", "not-applicable"),
];

proptest! {
    #[test]
    fn an_attempt_that_pytest_tries_again_is_no_success(
        tests in prop::collection::vec((0usize..4, 0usize..4), 1..12), turns in any::<bool>(), parts in 0usize..9
    ) {
        // Each test, after the attempts that failed: of one test after the other, or by turns, as several workers write them.
        let case = |name: usize, inner: &str| format!("<testcase classname=\"m\" name=\"t{name}\" time=\"0\">{inner}</testcase>");
        let mut cases: Vec<(usize, String)> = Vec::new();
        for (name, (again, verdict)) in tests.iter().enumerate() {
            let attempts = (0..*again).map(|_| "").chain([VERDICTS[*verdict].0]);
            cases.extend(attempts.enumerate().map(|(turn, inner)| (turn, case(name, inner))));
        }
        if turns {
            cases.sort_by_key(|(turn, _)| *turn);
        }
        let cases: String = cases.into_iter().map(|(_, case)| case).collect();
        // Later versions name the root, and count the parts of a test that they do not list.
        let root = if parts > 0 { " name=\"pytest tests\"" } else { "" };
        let count = tests.len() + parts;
        let report = format!("<testsuites{root}><testsuite name=\"pytest\" tests=\"{count}\">{cases}</testsuite></testsuites>");
        let (_, items, summary) = read("r.xml", report.as_bytes());
        let mut found: Vec<(String, String)> = items
            .iter()
            .map(|item| (item["task"].as_str().unwrap().to_owned(), item["outcome"].as_str().unwrap().to_owned()))
            .collect();
        let expected = |(name, (_, verdict)): (usize, &(usize, usize))| (format!("m.t{name}"), VERDICTS[*verdict].1.to_owned());
        let mut expected: Vec<(String, String)> = tests.iter().enumerate().map(expected).collect();
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected);
        let again: usize = tests.iter().map(|(again, _)| again).sum();
        let told = summary.left_out.iter().find(|(reason, _)| reason.contains("tried again"));
        prop_assert_eq!(told.map_or(0, |(_, count)| *count as usize), again);
    }
}

#[test]
fn equal_names_in_several_suites_are_several_tests() {
    let report = r#"<testsuites>
      <testsuite name="adder"><testcase name="works" classname="test"/><testcase name="own" classname="test"/></testsuite>
      <testsuite name="parser"><testcase name="works" classname="test"><failure/></testcase>
        <testsuite name="inner"><testcase name="works" classname="test"/></testsuite></testsuite>
      <testsuite name="adder"><testcase name="works" classname="test"><failure/></testcase></testsuite>
    </testsuites>"#;
    let (_, items, _) = read("r.xml", report.as_bytes());
    let tasks: Vec<&str> = items.iter().map(|item| item["task"].as_str().unwrap()).collect();
    assert_eq!(
        tasks,
        [
            "adder > test.works", "test.own", "parser > test.works", "parser > inner > test.works",
            "adder > test.works"
        ]
    );
}

/// Returns of each log of Inspect that is read with the others the tasks of its items by subject, and the notes.
fn together(logs: &[(&str, String)]) -> Vec<(Vec<String>, Vec<String>)> {
    let input = |(name, log): &(&str, String)| Input::memory(*name, log.clone().into_bytes());
    let inputs: Vec<_> = logs.iter().map(|log| (input(log), by_name("inspect"))).collect();
    let retries = Some(Arc::new(Retries::new(&inputs)));
    let options = Options { retries, ..Options::default() };
    let read = |(log, importer): &(Input, &'static Importer)| {
        let mut items = Vec::new();
        let summary = import(log, importer, &options, &mut |item: Item<'_>| {
            let item: Value = serde_json::from_slice(item.json).unwrap();
            items.push(format!("{} {} {}", item["subject"], item["task"], item["outcome"]).replace('"', ""));
            ControlFlow::Continue(())
        });
        (items, summary.unwrap().notes)
    };
    inputs.iter().map(read).collect()
}

fn log_of(created: &str, task: &str, samples: &[String]) -> String {
    format!(
        r#"{{"eval": {{"task": "t", "model": "m", "eval_id": "{created}", "task_id": "{task}", "created": "{created}"}}, "samples": [{}]}}"#,
        samples.join(",")
    )
}

fn sample(id: u32, value: &str) -> String {
    format!(r#"{{"id": {id}, "epoch": 1, "scores": {{"s": {{"value": "{value}"}}}}}}"#)
}

fn broken(id: u32) -> String {
    format!(r#"{{"id": {id}, "epoch": 1, "error": {{"message": "x"}}}}"#)
}

#[test]
fn of_tries_at_one_task_the_newest_that_was_finished_counts_for_each_sample() {
    let (old, new) = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z");
    for (first, second, expected) in [
        // The retry has again what was finished, or only the rest, or nothing, or it broke where the first did not.
        (
            vec![sample(1, "C"), broken(2)],
            vec![sample(1, "C"), sample(2, "I")],
            ([""; 0].to_vec(), vec!["t/1 succeeded", "t/2 failed"]),
        ),
        (vec![sample(1, "C"), broken(2)], vec![sample(2, "I")], (vec!["t/1 succeeded"], vec!["t/2 failed"])),
        (vec![sample(1, "C"), sample(2, "I")], vec![], (vec!["t/1 succeeded", "t/2 failed"], vec![])),
        (vec![sample(1, "C")], vec![broken(1)], (vec!["t/1 succeeded"], vec![])),
        (vec![broken(1)], vec![broken(1)], (vec![], vec!["t/1 no-verdict"])),
    ] {
        let logs = [("first.json", log_of(old, "a", &first)), ("retry.json", log_of(new, "a", &second))];
        let items = |list: &[&str]| list.iter().map(|item| format!("m {item}")).collect::<Vec<_>>();
        let found: Vec<Vec<String>> = together(&logs).into_iter().map(|(items, _)| items).collect();
        assert_eq!(found, [items(&expected.0), items(&expected.1)], "{first:?} {second:?}");
    }
    let logs = [
        ("first.json", log_of(old, "a", &[sample(1, "C")])),
        ("retry.json", log_of(new, "a", &[sample(1, "C")])),
    ];
    let told = "1 samples of `first.json` were tried again in `retry.json`, which counts";
    assert_eq!(together(&logs)[0].1, [told]);
    // Of two of the same moment neither is the later one.
    let twins =
        [("a.json", log_of(old, "a", &[sample(1, "C")])), ("b.json", log_of(old, "a", &[sample(1, "I")]))];
    assert_eq!(together(&twins).iter().map(|(items, _)| items.len()).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn separate_evaluations_are_named_and_other_settings_are_other_subjects() {
    let [main, other] = ["a", "b"].map(|task| log_of("2026-01-01T00:00:00Z", task, &[sample(1, "C")]));
    let found = together(&[("main.json", main.clone()), ("pr.json", other.clone())]);
    for (_, notes) in &found {
        assert!(
            notes[0].starts_with("`main.json` and `pr.json` are separate evaluations of `t` by `m`"),
            "{notes:?}"
        );
    }
    let set = |log: &str, effort: &str| {
        log.replace(
            r#""task": "t","#,
            &format!(
                r#""task": "t", "model_generate_config": {{"reasoning_effort": "{effort}", "top_p": 1}},"#
            ),
        )
    };
    let found = together(&[("low.json", set(&main, "low")), ("high.json", set(&other, "high"))]);
    let items: Vec<&String> = found.iter().flat_map(|(items, _)| items).collect();
    assert_eq!(items, ["m (reasoning_effort=low) t/1 succeeded", "m (reasoning_effort=high) t/1 succeeded"]);
    assert!(found.iter().all(|(_, notes)| notes.is_empty()), "{found:?}");
}

#[test]
fn models_of_lm_eval_are_called_as_the_tool_calls_them() {
    let folder = tempfile::tempdir().unwrap();
    let row = r#"{"doc_id": 0, "doc_hash": "x", "filter": "none", "metrics": ["acc"], "acc": 1.0}"#;
    let read = |moment: &str, results: Value| {
        std::fs::write(folder.path().join(format!("results_{moment}.json")), results.to_string()).unwrap();
        let path = folder.path().join(format!("samples_t_{moment}.jsonl"));
        std::fs::write(&path, row).unwrap();
        let mut found = None;
        let mut take = |item: Item<'_>| {
            found = serde_json::from_slice::<Value>(item.json).ok();
            ControlFlow::Continue(())
        };
        import(&Input::file(path), by_name("lm-eval"), &Options::default(), &mut take).unwrap();
        let item = found.unwrap();
        (item["subject"].as_str().unwrap().to_owned(), item["id"].as_str().unwrap().to_owned())
    };
    let arguments = "pretrained=acme/base,peft=acme/lora";
    let (subject, first) = read(
        "2026-01-01T00-00-00.1",
        json!({"model_name": "acme/lora", "config": {"model_args": arguments}}),
    );
    assert_eq!(subject, "acme/lora");
    let (_, second) = read(
        "2026-01-02T00-00-00.1",
        json!({"model_name": "acme/lora", "config": {"model_args": arguments}}),
    );
    assert_ne!(first, second, "two runs are two attempts");
    let revision = |value: &str| {
        let arguments = json!({"pretrained": "acme/base", "revision": value});
        read("2026-01-03T00-00-00.1", json!({"model_name": "acme/base", "config": {"model_args": arguments}}))
            .0
    };
    assert_eq!([revision("main"), revision("step9")], ["acme/base", "acme/base@step9"]);
}

#[test]
fn tests_of_promptfoo_with_other_assertions_are_others() {
    let row = |id: &str, index: u32, asserted: Value| {
        json!({"id": id, "promptIdx": 0, "testIdx": index, "provider": "p", "success": true, "score": 1, "vars": {"x": "hello"},
               "testCase": {"vars": {"x": "hello"}, "assert": asserted}})
    };
    let asserted = |value: &str| json!([{"type": "equals", "value": value}]);
    let rows = [
        row("u1", 0, asserted("hello")),
        row("u2", 1, asserted("nope")),
        row("u3", 2, asserted("hello")),
        row("", 3, json!([])),
    ];
    let text = json!({"evalId": "e", "results": {"results": rows}}).to_string();
    let (_, items, _) = read("out.json", text.as_bytes());
    let tasks: Vec<&Value> = items.iter().map(|item| &item["task"]).collect();
    assert!(tasks[0] == tasks[2] && tasks[0] != tasks[1] && tasks[3] == "{\"x\":\"hello\"}", "{tasks:?}");
    let ids: Vec<&Value> = items.iter().map(|item| &item["id"]).collect();
    assert_eq!(ids, ["u1", "u2", "u3", "e/3/0"]);
}

#[test]
fn what_the_agent_did_itself_is_its_own() {
    let log = |status: &str| {
        json!({"trajectory": [], "environment": "e", "info": {"exit_status": status}}).to_string()
    };
    let outcome = |status: &str| {
        let log = log(status);
        let (items, _) =
            read_as("a.traj", log.as_bytes(), by_name("swe-agent"), &Options::default()).unwrap();
        items[0]["outcome"].clone()
    };
    for (status, expected) in [
        ("exit_format", "stopped"),
        ("exit_command", "stopped"),
        ("RepeatedFormatError", "stopped"),
        ("submitted (exit_cost)", "stopped"),
        ("submitted (exit_api)", "no-verdict"),
        ("submitted (exit_environment_error)", "no-verdict"),
        ("exit_api", "no-verdict"),
    ] {
        assert_eq!(outcome(status), expected, "{status}");
    }
}

#[test]
fn answers_of_the_interface_for_responses_are_steps() {
    let messages = json!([
        {"role": "user", "content": "fix it"},
        {"object": "response", "output": [{"type": "message", "content": [{"type": "output_text", "text": "I look"}]}],
         "extra": {"actions": [{"command": "ls"}], "timestamp": 1.0}},
        {"type": "function_call_output", "output": "a.py", "extra": {"returncode": 0}},
    ]);
    let log = json!({"trajectory_format": "mini-swe-agent-1.1", "messages": messages,
        "info": {"exit_status": "Submitted", "config": {"model": {"model_name": "m"}}}});
    let (_, items, _) = read("x.traj.json", log.to_string().as_bytes());
    assert_eq!(items[0]["steps"], 1);
    let traces = Options { items: crate::Items::Traces, ..Options::default() };
    let (items, _) =
        read_as("x.traj.json", log.to_string().as_bytes(), by_name("mini-swe-agent"), &traces).unwrap();
    let steps: Vec<&Value> = items[0]["steps"].as_array().unwrap().iter().map(|step| &step["type"]).collect();
    assert_eq!(steps, ["thought", "tool_call", "observation"]);
}

#[test]
fn siblings_of_one_session_are_two_trajectories_and_those_within_are_told() {
    let log = |id: &str, more: &str| {
        format!(
            r#"{{"schema_version": "ATIF-v1.7", "session_id": "s", "trajectory_id": "{id}", "agent": {{"name": "a", "version": "1"}}, "steps": []{more}}}"#
        )
    };
    let of = |text: String| read("trajectory.json", text.as_bytes());
    let ids = ["one", "two"].map(|id| of(log(id, "")).1[0]["id"].clone());
    assert_eq!(ids, ["one", "two"]);
    let within =
        r#", "subagent_trajectories": [{"trajectory_id": "x", "steps": [{"step_id": 1}]}, {"steps": []}]"#;
    let (_, items, summary) = of(log("root", within));
    assert_eq!(items.len(), 1);
    let told = summary.left_out.iter().find(|(reason, _)| reason.contains("subagent"));
    assert_eq!(told.map(|(_, count)| *count), Some(2));
}

#[test]
fn spans_that_a_console_prints_are_those_of_lines() {
    let span = |id: &str, more: Value| {
        let mut span = json!({"name": "chat", "context": {"trace_id": "0x1", "span_id": id}, "parent_id": null,
            "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z", "attributes": {
            "openinference.span.kind": "LLM"}, "resource": {"attributes": {"service.name": "unknown_service:python"}}});
        span["attributes"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        span
    };
    let counted =
        json!({"llm.token_count.prompt": 10, "llm.token_count.completion": 5, "llm.model_name": "m"});
    let spans = [span("0xa", counted.clone()), span("0xb", counted.clone())];
    let lines = spans.each_ref().map(Value::to_string).join("\n");
    let pretty = spans.each_ref().map(|span| serde_json::to_string_pretty(span).unwrap());
    let facts = |text: &str| {
        let (_, mut items, _) = read("spans.json", text.as_bytes());
        items.iter_mut().for_each(|item| drop(item.as_object_mut().unwrap().remove("source")));
        items
    };
    let expected = facts(&lines);
    assert_eq!((expected.len(), &expected[0]["tokens"]), (1, &json!(30)));
    assert!(!expected[0]["subject"].as_str().unwrap().starts_with("unknown_service"), "{expected:?}");
    assert_eq!(facts(&pretty.join("\n")), expected);
    assert_eq!(facts(&pretty.join("\n\n").replace('\n', "\r\n")), expected);
    // Tokens of some calls do not add up to those of all.
    let some = [span("0xa", counted), span("0xb", json!({"llm.model_name": "m"}))];
    let some = some.each_ref().map(Value::to_string).join("\n");
    assert_eq!((&facts(&some)[0]["tokens"], &facts(&some)[0]["calls"]), (&json!(null), &json!(2)));
}
