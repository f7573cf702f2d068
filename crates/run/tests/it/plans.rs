//! Plans that cannot be run.

use karat_run::Job;
use serde_json::{Value, json};

fn task() -> Value {
    json!({"task_id": "t", "task_type": "agent", "reference": {"goal_checklist": [{"text": "done"}]},
        "constraints": {"max_budget_tao": 1, "max_latency_seconds": 30}})
}

fn node(id: &str, subnet: &str, params: Value) -> Value {
    json!({"id": id, "subnet": subnet, "action": "do", "params": params})
}

#[test]
fn plans_that_cannot_be_run_are_refused_with_their_places() {
    let refused = |plan: Value, task: Value, subject: Option<&str>| {
        let refusal =
            Job::new(plan.to_string().as_bytes(), task.to_string().as_bytes(), subject, Some(3)).unwrap_err();
        let faults = refusal.faults.iter().map(ToString::to_string);
        let all = [refusal.plan.to_string(), refusal.task.to_string()].into_iter().chain(faults);
        all.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    };
    let many: Vec<Value> = (0..11).map(|at| node(&at.to_string(), "s", json!({}))).collect();
    insta::assert_snapshot!(refused(json!({"nodes": many}), task(), Some("m")), @"$.nodes: found 11 steps, expected at most 10 (line 1, column 10)");
    let odd = json!({
        "nodes": [node("a", "sn9", json!("${ghost.output.text} ${b.output.text}")), {"id": "b\u{1b}[2J", "subnet": "sn1"},
            node("a", "sn1", json!({}))],
        "edges": [{"from": "a", "to": "b\u{1b}[2J"}, {"from": "b\u{1b}[2J", "to": "a"}],
        "error_handling": {"a": {"retry_count": 1000000}},
    });
    let mut bad_task = task();
    bad_task["constraints"] = json!({"max_budget_tao": "much", "allowed_subnets": ["sn1"]});
    let text = refused(odd, bad_task, Some("m"));
    assert!(!text.contains('\u{1b}'));
    insta::assert_snapshot!(text, @r"
    $.edges: found the cycle `a` -> `b�[2J` -> `a`, expected steps that never wait for themselves; remove one edge of the cycle (line 1, column 10)
    $.error_handling.a.retry_count: found 1000000 retries, expected at most 3 (line 1, column 111)
    $.nodes[0].params: found `${ghost.output.text}`, a step that the plan does not have, expected a step from which edges lead here (line 1, column 163)
    $.nodes[0].params: found `${b.output.text}`, a step that the plan does not have, expected a step from which edges lead here (line 1, column 163)
    $.nodes[1].action: found nothing, expected what the step does; add `action` (line 1, column 219)
    $.nodes[2].id: found the id `a` a second time, expected a different id for each step (line 1, column 274)
    $.constraints.max_budget_tao: found the text `much`, expected a number not below 0 (line 1, column 60)
    ");
    let plan = json!({"nodes": [node("a", "s", json!({}))]});
    insta::assert_snapshot!(refused(plan.clone(), task(), None), @"nothing says whose plan it is; add `subject`, `agent_id` or `miner_uid` beside `workflow_plan`, or name the subject");
    insta::assert_snapshot!(refused(json!({"subject": "x", "task_id": "u", "workflow_plan": plan}), task(), Some("y")), @r#"
    the plan is of `x`, and `y` was named; leave the name out
    the plan is for the task `"u"`, and the task is `"t"`; give the task that the plan answers
    "#);
    insta::assert_snapshot!(refused(plan, task(), Some("a\u{202e}b")), @"the subject `a�b`: expected a name without control and format characters, and others that are not drawn; leave out U+202E");
}

/// Two plans with one digest would be one to a recording.
#[test]
fn a_number_that_no_double_holds_is_refused_wherever_it_stands() {
    let refused = |text: String, of_task: bool| {
        let plan = json!({"nodes": [node("a", "s", json!({}))]}).to_string();
        let (plan, task) = if of_task { (plan, text) } else { (text, task().to_string()) };
        Job::new(plan.as_bytes(), task.as_bytes(), Some("m"), Some(3))
            .map(|_| ())
            .map_err(|refusal| if of_task { refusal.task.to_string() } else { refusal.plan.to_string() })
    };
    let mut plan =
        json!({"nodes": [node("a", "s", json!({"order": ["id"]}))], "odd": 0, "description": "id"});
    plan["nodes"][0]["odd"] = json!("id");
    let whole = json!({"workflow_plan": plan});
    let mut task = task();
    task["reference"]["more"] = json!({"id": "id"});
    for (item, place, of_task) in [
        (&plan, "$.nodes[0].params.order[0]", false),
        (&plan, "$.nodes[0].odd", false),
        (&whole, "$.workflow_plan.nodes[0].params.order[0]", false),
        (&task, "$.reference.more.id", true),
    ] {
        let with = |number: &str| {
            item.to_string()
                .replace("\"id\"]", &format!("{number}]"))
                .replace("\"id\"}", &format!("{number}}}"))
                .replace("\"odd\":\"id\"", &format!("\"odd\":{number}"))
        };
        for number in ["9007199254740993", "1795794098088241123", "18446744073709551616"] {
            let said = refused(with(number), of_task).unwrap_err();
            assert!(said.contains(&format!("{place}: found `{number}`")), "{said}");
        }
        for number in ["9007199254740992", "1795794098088241200", "1e20", "100000000000000000000", "1.0"] {
            assert_eq!(refused(with(number), of_task), Ok(()), "{number}");
        }
    }
    let twice =
        r#"{"nodes": [{"id": "a", "subnet": "s", "action": "x", "params": {"b": {"n": 1, "n": 2}}}]}"#;
    assert!(
        refused(twice.to_owned(), false)
            .unwrap_err()
            .contains("$.nodes[0].params.b.n: found the key a second time")
    );
}

#[test]
fn a_subnet_without_an_executor_is_named_before_anything_runs() {
    let plan = json!({"nodes": [node("a", "SN1", json!({})), node("b", "sn2", json!({}))]}).to_string();
    let job = Job::new(plan.as_bytes(), task().to_string().as_bytes(), Some("m"), Some(3)).unwrap().0;
    let faults: Vec<String> = job.missing(&["sn1".to_owned()]).iter().map(ToString::to_string).collect();
    assert_eq!(faults, ["no executor for the subnet `sn2` of the step `b`; there is `sn1`"]);
}
