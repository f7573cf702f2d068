use insta::assert_snapshot;

use super::*;

fn read_by(rules: &PlanRules, text: &str) -> String {
    match Plan::from_json(text.as_bytes(), rules) {
        Ok((plan, notes)) => {
            let tiers =
                plan.tiers().map(|tier| tier.map(|step| step.id.as_str()).collect::<Vec<_>>().join(" "));
            let mut lines = vec![tiers.collect::<Vec<_>>().join(" | ")];
            lines.extend(notes.iter().map(|note| format!("note: {note}")));
            lines.join("\n")
        }
        Err(problems) => problems.to_string(),
    }
}

fn read_plan(text: &str) -> String {
    read_by(&PlanRules::default(), text)
}

#[test]
fn tiers_are_sorted_by_code_point() {
    let nodes =
        r#"[{"id": "s2"}, {"id": "a"}, {"id": "_"}, {"id": "A"}, {"id": "s10"}, {"id": "ä"}, {"id": " a"}]"#;
    assert_eq!(read_plan(&format!(r#"{{"nodes": {nodes}}}"#)), " a A _ a s10 s2 ä");
    let edges = r#"[{"from": "s2", "to": "s10"}, {"from": "a", "to": "s10"}, {"from": "s10", "to": "_"}]"#;
    assert_eq!(read_plan(&format!(r#"{{"nodes": {nodes}, "edges": {edges}}}"#)), " a A a s2 ä | s10 | _");
}

#[test]
fn what_a_step_declares_is_kept() {
    let text = r#"{
        "nodes": [{"id": "b", "subnet": "sn1", "action": "x", "estimated_cost": 0.002, "estimated_latency": 1,
                   "params": {"p": ["${a.output.text}", {"q": "${a.output.artifacts.code}"}], "${a.output.key}": 1}},
                  {"id": "a", "subnet": null, "error": 1}],
        "edges": [{"from": "a", "to": "b"}],
        "error_handling": {"b": {"retry_count": 2, "timeout_seconds": 1.5}, "a": {}, "z": {"retry_count": 3}}}"#;
    let (plan, notes) = Plan::from_json(text.as_bytes(), &PlanRules::default()).unwrap();
    let [a, b] = plan.steps() else { panic!("{plan:?}") };
    assert_eq!((a.id.as_str(), a.subnet.as_deref(), a.declared_retries), ("a", None, 0));
    assert_eq!((b.subnet.as_deref(), b.estimated_cost_tao), (Some("sn1"), Some(0.002)));
    assert_eq!((b.declared_retries, b.timeout_seconds), (2, Some(1.5)));
    let references: Vec<_> = b.references.iter().map(Reference::text).collect();
    assert_eq!(references, ["${a.output.text}", "${a.output.artifacts.code}"]);
    assert_eq!(plan.declared_retry_budget(), 5, "those of unknown steps count");
    assert_eq!(notes.len(), 1);
    assert!(notes[0].to_string().starts_with("$.error_handling.z: the plan has no step `z`"));
}

#[test]
fn every_fault_is_told_at_once() {
    assert_snapshot!(read_plan(r#"{"nodes": [{"id": "a"}, {"id": ""}, {"id": "a"}, {"id": 5}, {}, [],
        {"id": "b", "estimated_cost": -1, "params": "${b.output.text} ${c.output.text} ${ghost.output.text}"}, {"id": "c"}],
        "edges": [{"from": "a", "to": "x"}, {"from": "a", "to": "a"}, {"to": "a"}, {"from": 1, "to": "a"}],
        "error_handling": {"a": {"retry_count": -1}, "b": {"retry_count": 1.5}, "c": {"timeout_seconds": "5"}}}"#), @r"
    $.nodes[1].id: found an empty text, expected a text that is not blank (line 1, column 32)
    $.nodes[2].id: found the id `a` a second time, expected a different id for each step (line 1, column 44)
    $.nodes[3].id: found `5`, expected a text that is not blank (line 1, column 57)
    $.nodes[4].id: found nothing, expected a text that is not blank; add `id` (line 1, column 61)
    $.nodes[5]: found an array, expected an object (line 1, column 65)
    $.nodes[6].estimated_cost: found `-1`, expected a number not below 0 (line 2, column 39)
    $.nodes[6].params: found `${b.output.text}`, the step itself, expected a step from which edges lead here (line 2, column 53)
    $.nodes[6].params: found `${ghost.output.text}`, a step that the plan does not have, expected a step from which edges lead here (line 2, column 53)
    $.nodes[6].params: found `${c.output.text}`, a step that does not lie upstream, expected a step from which edges lead here; add an edge from `c` to `b` (line 2, column 53)
    $.edges[0].to: found `x`, expected the id of a step of the plan; did you mean `a`? (line 3, column 39)
    $.edges[1]: found an edge from a step to itself, expected an edge between two steps; remove it (line 3, column 45)
    $.edges[2].from: found nothing, expected the id of a step; add `from` (line 3, column 71)
    $.edges[3].from: found `1`, expected a text (line 3, column 93)
    $.error_handling.a.retry_count: found `-1`, expected a whole number not below 0 (line 4, column 49)
    $.error_handling.b.retry_count: found `1.5`, expected a whole number not below 0 (line 4, column 75)
    $.error_handling.c.timeout_seconds: found the text `5`, expected a number not below 0; write the number without quotes (line 4, column 106)
    ");
    assert_snapshot!(read_plan("{}"), @"$.nodes: found nothing, expected an array of at least one step; add `nodes` (line 1, column 1)");
    assert_snapshot!(read_plan(r#"{"nodes": [], "edges": {}}"#), @r"
    $.nodes: found no steps, expected at least one step; give the plan a step (line 1, column 11)
    $.edges: found an object, expected an array (line 1, column 24)
    ");
    assert_snapshot!(read_plan("[]"), @"$: found an array, expected an object (line 1, column 1)");
    assert_snapshot!(read_plan(r#"{"nodes": [{"id": "a", "id": "b"}]}"#), @"$.nodes[0].id: found the key a second time, expected each key once; keep the one that is meant (line 1, column 30)");
}

#[test]
fn cycles_are_named_node_by_node() {
    let nodes = r#"[{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "d"}, {"id": "e"}]"#;
    let edges = r#"[{"from": "d", "to": "c"}, {"from": "c", "to": "e"}, {"from": "e", "to": "d"}, {"from": "a", "to": "b"},
                    {"from": "b", "to": "a"}]"#;
    assert_snapshot!(read_plan(&format!(r#"{{"nodes": {nodes}, "edges": {edges}}}"#)), @r"
    $.edges: found the cycle `a` -> `b` -> `a`, expected steps that never wait for themselves; remove one edge of the cycle (line 1, column 87)
    $.edges: found the cycle `c` -> `e` -> `d` -> `c`, expected steps that never wait for themselves; remove one edge of the cycle (line 1, column 87)
    ");
}

#[test]
fn what_is_hardly_meant_gets_a_note() {
    assert_snapshot!(read_plan(r#"{"nodes": [{"id": "a-1"}, {"id": "b", "params": ["${a-1.output.text}", "${HOME}"]}],
        "edges": [{"from": "a-1", "to": "b"}, {"from": "a-1", "to": "b"}]}"#), @r"
    a-1 | b
    note: $.nodes[1].params[0]: `${a-1.output.text}` is not a reference and stays as it is: ids of letters, digits and `_` can be referred to
    note: $.edges[1]: this edge has been given before
    ");
}

#[test]
fn a_reference_needs_a_path_of_edges() {
    let plan = |edges: &str| {
        format!(
            r#"{{"nodes": [{{"id": "a"}}, {{"id": "b"}}, {{"id": "c", "params": "${{a.output.text}}"}}], "edges": [{edges}]}}"#
        )
    };
    let indirect = plan(r#"{"from": "a", "to": "b"}, {"from": "b", "to": "c"}"#);
    assert_eq!(read_plan(&indirect), "a | b | c");
    assert_snapshot!(read_plan(&plan(r#"{"from": "b", "to": "c"}"#)), @"$.nodes[2].params: found `${a.output.text}`, a step that does not lie upstream, expected a step from which edges lead here; add an edge from `a` to `c` (line 1, column 60)");
    assert_snapshot!(read_plan(&plan(r#"{"from": "c", "to": "a"}"#)), @"$.nodes[2].params: found `${a.output.text}`, a step that does not lie upstream, expected a step from which edges lead here; add an edge from `a` to `c` (line 1, column 60)");
    let lenient = PlanRules { references: References::Noted, ..PlanRules::default() };
    assert_snapshot!(read_by(&lenient, &plan(r#"{"from": "b", "to": "c"}"#)), @r"
    a b | c
    note: $.nodes[2].params: `${a.output.text}` refers to a step that does not lie upstream: the step may fail
    ");
    let itself = r#"{"nodes": [{"id": "a", "params": "${a.output.text}"}]}"#;
    assert_snapshot!(read_by(&lenient, itself), @r"
    a
    note: $.nodes[0].params: `${a.output.text}` refers to the step itself: the step may fail
    ");
}

#[test]
fn rules_beyond_the_graph() {
    let text = r#"{"nodes": [{"id": "a", "subnet": "sn1", "action": "x"}, {"id": "b", "subnet": "SN4", "action": ""},
        {"id": "c", "subnet": "sn44"}, {"id": "d"}], "error_handling": {"a": {"retry_count": 1000000}}}"#;
    let rules = PlanRules {
        steps_max: Some(3),
        declared_retries_max: Some(10),
        subnet_and_action_required: true,
        allowed_subnets: Some(vec!["sn1".to_owned(), "sn4".to_owned()]),
        ..PlanRules::default()
    };
    assert_snapshot!(read_by(&rules, text), @r"
    $.nodes: found 4 steps, expected at most 3 (line 1, column 11)
    $.nodes[1].action: found an empty text, expected a text that is not blank (line 1, column 96)
    $.nodes[2].action: found nothing, expected what the step does; add `action` (line 2, column 9)
    $.nodes[2].subnet: found `sn44`, expected one of the allowed subnets; did you mean `sn4`? (line 2, column 31)
    $.nodes[3].action: found nothing, expected what the step does; add `action` (line 2, column 40)
    $.nodes[3].subnet: found nothing, expected who carries out the step; add `subnet` (line 2, column 40)
    $.error_handling.a.retry_count: found 1000000 retries, expected at most 10 (line 2, column 94)
    ");
    assert_snapshot!(read_plan(text), @r"
    a b c d
    note: $.error_handling.a.retry_count: 1000000 declared retries are more than a step needs, and all of them are free
    ");
    let allowed = PlanRules { allowed_subnets: rules.allowed_subnets, ..PlanRules::default() };
    assert_snapshot!(read_by(&allowed, r#"{"nodes": [{"id": "b", "subnet": "SN4"}]}"#), @r"
    b
    note: $.nodes[0].subnet: `SN4` is taken as `sn4`
    ");
}

#[test]
fn references_that_nobody_asks_for_are_not_looked_for() {
    let rules = PlanRules { references: References::Unread, ..PlanRules::default() };
    let text = br#"{"nodes": [{"id": "a", "params": "${ghost.output.text} ${a-1.output.text}"}]}"#;
    let (plan, notes) = Plan::from_json(text, &rules).unwrap();
    assert!(plan.steps()[0].references.is_empty() && notes.is_empty());
}
