//! Evidence that is meant to hurt: very much of it, the same thing again and again, the ends of time.

use std::time::{Duration, Instant};

use karat_core::timestamp::Timestamp;

use super::*;

/// Grades evidence of very many items. Anything that compares all with all would take hours.
fn graded_in_time(evidence: &Value) -> AgentGrade {
    let text = evidence.to_string();
    let start = Instant::now();
    let evidence = AgentEvidence::from_json(text.as_bytes()).unwrap();
    let grade = grade(&evidence, &Options::at(at(AS_OF))).unwrap();
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    grade
}

/// 100,000 checks of all sorts, each twice: every one of a different task, family, group and class, or all of the same.
fn crowd(name: impl Fn(usize) -> String) -> Value {
    let categories = ["task", "harm", "benign", "attack", "claim", "out-of-scope", "policy", "skill"];
    let checks = (0..100_000).flat_map(|at| {
        let category = categories[at % categories.len()];
        let name = name(at);
        let class = if category == "task" { "chat" } else { &name };
        let members = json!({
            "task": name, "task_family": name, "group": name, "class": class, "passed": at % 3 != 0, "confidence": 0.5,
            "latency_seconds": at, "cost_usd": 1,
        });
        let check = check(at, category, members);
        [check.clone(), check]
    });
    let mut evidence = agent(checks.collect());
    evidence["task_classes"] =
        json!([{ "name": "chat", "latency_budget_seconds": 3, "cost_baseline_usd": 2 }]);
    evidence
}

#[test]
fn two_hundred_thousand_items_take_no_quadratic_time() {
    let apart = graded_in_time(&crowd(|at| format!("t{at}")));
    assert_eq!(apart.dimension("accuracy").unwrap().seen["checks"], 12_500);
    assert_eq!(reason(&apart, "reliability"), "not measured yet, 0 of 8 groups with enough trials");
    let alike = graded_in_time(&crowd(|_| "t".to_owned()));
    assert_eq!(reason(&alike, "accuracy"), "not measured yet, 1 of 10 tasks");
    assert_eq!(reason(&alike, "security"), "not measured yet, 1 of 3 classes of attack");
}

#[test]
fn a_hundred_thousand_wrong_names_are_told_in_time() {
    let row =
        |at: usize| json!({ "id": format!("v{at}"), "check": format!("x{at}"), "judge": "j", "score": 1 });
    let mut evidence = agent(many("task", 1000, 1000, &json!({ "method": "metric" })));
    evidence["verdicts"] = (0..100_000).map(row).collect();
    let start = Instant::now();
    let problems = AgentEvidence::from_json(evidence.to_string().as_bytes()).unwrap_err();
    assert_eq!(problems.len(), 100_000);
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn the_ends_of_time() {
    let evidence = read(&all_measured());
    // The first is before all evidence, the last is the end of the year 275760.
    for (moment, measured) in [(i64::MIN, 0), (0, 0), (8_640_000_000_000_000, 16), (i64::MAX, 16)] {
        let grade = grade(&evidence, &Options::at(Timestamp { milliseconds: moment })).unwrap();
        let count = grade.dimensions.iter().filter(|it| it.status == Status::Measured).count();
        assert_eq!(count, measured, "{moment}");
        let ages = grade.dimensions.iter().filter_map(|dimension| dimension.age_seconds);
        assert!(ages.into_iter().all(|age| age >= 0.0 && age.is_finite()));
        readings(&grade);
    }
    // No timestamp can be written that is later than the year 9999.
    let mut late = all_measured();
    late["evaluations"][0]["time"] = json!("+275760-09-13T00:00:00Z");
    assert!(AgentEvidence::from_json(late.to_string().as_bytes()).is_err());
    late["evaluations"][0]["time"] = json!("9999-12-31T23:59:59Z");
    assert_eq!(graded(&late).quarantined, json!([{ "kind": "evaluation", "id": "e1" }]));
}
