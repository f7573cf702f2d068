use super::*;

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
