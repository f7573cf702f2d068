//! Tests of the selection: counted items, their weights and ages.

use super::*;

#[test]
fn the_same_task_again_and_again_counts_once() {
    let mut checks = many("task", 10, 5, &json!({}));
    let before = graded(&agent(checks.clone()));
    checks.extend((0..1000).map(|at| {
        let mut again = check(at, "task", json!({ "task": "t0", "passed": true }));
        again["id"] = json!(format!("again-{at}"));
        again
    }));
    let after = graded(&agent(checks));
    assert_eq!(number(&before, "accuracy_task_mean"), 0.5);
    assert_eq!(number(&after, "accuracy_task_mean"), 0.5);
}

#[test]
fn a_family_of_easy_tasks_is_cut_to_its_share() {
    let mut checks = many("task", 7, 0, &json!({}));
    checks.extend((7..100).map(|at| check(at, "task", json!({ "task_family": "easy", "passed": true }))));
    let grade = graded(&agent(checks));
    near(&grade, "accuracy_task_mean", 0.3);
    let seen = &grade.dimension("accuracy").unwrap().seen["estimate"];
    assert_eq!(seen["cut_families"], json!(["easy"]));
    assert_eq!(seen["family_share"], json!(0.3));
}

#[test]
fn weights_are_those_of_severity_difficulty_method_and_independence() {
    let mut checks = many("task", 10, 0, &json!({ "severity": "info" }));
    let told = graded(&agent(checks.clone()));
    assert_eq!(reason(&told, "accuracy"), "not measured yet, 0 of 10 tasks", "what is told is not counted");
    // 9 x 1 fail; one of 5 x 1.5 x 0.5 = 3.75 passes, which is more than 30 % only without the cap: 3.75 / 12.75 = 0.294.
    checks = many("task", 9, 0, &json!({}));
    let heavy =
        json!({ "severity": "critical", "difficulty": "hard", "method": "heuristic", "passed": true });
    checks.push(check(9, "task", heavy));
    near(&graded(&agent(checks.clone())), "accuracy_task_mean", 3.75 / 12.75);
    let mut own = agent(checks.split_off(9));
    own["evaluations"][0]["runner"]["independence"] = json!("self");
    own["evaluations"][0]["id"] = json!("e2");
    let mut both = agent(checks);
    both["evaluations"].as_array_mut().unwrap().push(own["evaluations"][0].clone());
    near(&graded(&both), "accuracy_task_mean", 3.75 * 0.4 / (9.0 + 3.75 * 0.4));
}

#[test]
fn the_age_is_that_of_a_whole_minimum() {
    let mut checks = many("task", 10, 10, &json!({ "time": "2026-01-18T00:00:00Z" }));
    checks.push(check(10, "task", json!({ "passed": true, "time": "2026-05-17T00:00:00Z" })));
    let grade = graded(&agent(checks));
    // One fresh check does not make the other nine fresh: 120 days.
    assert_eq!(grade.dimension("accuracy").unwrap().age_seconds, Some(120.0 * 86_400.0));
}

#[test]
fn what_is_older_than_the_window_counts_only_where_it_must() {
    let old = json!({ "time": "2024-05-18T00:00:00Z" });
    let mut checks = many("task", 15, 15, &old);
    let alone = graded(&agent(checks.clone()));
    assert_eq!(number(&alone, "accuracy_task_mean"), 1.0);
    let seen = &alone.dimension("accuracy").unwrap().seen;
    assert_eq!((&seen["checks"], &seen["is_beyond_window"]), (&json!(10), &json!(true)));
    // Ten fresh ones are enough: the old ones leave the mean.
    checks.extend((20..30).map(|at| check(at, "task", json!({ "passed": false }))));
    assert_eq!(number(&graded(&agent(checks)), "accuracy_task_mean"), 0.0);
}

#[test]
fn the_future_is_set_aside() {
    let mut checks = many("task", 10, 10, &json!({ "time": "2026-05-18T00:04:00Z" }));
    checks.extend(
        (10..20).map(|at| check(at, "task", json!({ "passed": false, "time": "2026-05-18T00:06:00Z" }))),
    );
    let grade = graded(&agent(checks));
    assert_eq!(number(&grade, "accuracy_task_mean"), 1.0);
    assert_eq!(
        grade.dimension("accuracy").unwrap().age_seconds,
        Some(0.0),
        "a clock may be ahead by minutes"
    );
    assert_eq!(grade.quarantined.as_array().unwrap().len(), 10);
    assert_eq!(grade.quarantined[0], json!({ "kind": "check", "id": "task-10" }));
}

#[test]
fn a_withdrawn_evaluation_counts_and_is_told() {
    let mut evidence = agent(many("task", 10, 0, &json!({})));
    evidence["evaluations"][0]["withdrawn"] = json!(true);
    let grade = graded(&evidence);
    assert_eq!(number(&grade, "accuracy_task_mean"), 0.0);
    assert_eq!(grade.withdrawn, json!(["e1"]));
}

#[test]
fn one_class_alone_neither_refreshes_security_nor_takes_it_away() {
    let mut checks = in_classes("attack", 30, 30);
    checks.iter_mut().for_each(|check| check["time"] = json!("2024-05-18T00:00:00Z"));
    let fresh = (30..60).map(|at| check(at, "attack", json!({ "class": "one", "passed": true })));
    checks.extend(fresh);
    let grade = graded(&agent(checks));
    let security = grade.dimension("security").unwrap();
    assert_eq!(security.status, Status::Measured, "{}", security.reason);
    assert_eq!(security.age_seconds, Some(730.0 * 86_400.0));
    assert_eq!(security.seen["attacks"]["is_beyond_window"], true);
    assert_eq!(security.seen["classes"].as_object().unwrap().len(), 3);
}

#[test]
fn a_missing_control_is_not_forgiven_by_waiting() {
    let mut checks = in_classes("attack", 30, 30);
    let control = |at: usize, time: &str, passed: bool| {
        check(at, "control", json!({ "class": "audit-logging", "time": time, "passed": passed }))
    };
    checks.push(control(0, "2020-01-01T00:00:00Z", false));
    assert_eq!(reading(&graded(&agent(checks.clone())), "security"), Some(0.0));
    checks.push(control(1, "2021-01-01T00:00:00Z", true));
    assert!(reading(&graded(&agent(checks)), "security").unwrap() > 0.8);
}

#[test]
fn what_applied_once_applies_for_good() {
    let mut evidence = all_measured();
    evidence["memory"]["records"] = json!([]);
    evidence["collaborations"] = json!([]);
    evidence["declarations"][0]["is_in_swarm"] = json!(true);
    let before = graded(&evidence);
    let later = json!({ "id": "d2", "time": "2026-05-17T00:00:00Z" });
    evidence["declarations"].as_array_mut().unwrap().push(later);
    let after = graded(&evidence);
    assert_eq!(reading(&after, "memoryQuality"), Some(0.0));
    assert_eq!(after.dimension("teamwork").unwrap().status, Status::NotMeasured);
    assert_eq!(reading(&after, "skillMastery"), reading(&before, "skillMastery"));
    evidence["declarations"] = json!([]);
    let never = graded(&evidence);
    for key in ["memoryQuality", "teamwork"] {
        assert_eq!(never.dimension(key).unwrap().status, Status::NotApplicable);
    }
}

#[test]
fn a_task_that_is_easy_to_foretell_or_cheap_counts_once() {
    let mut checks = many("task", 20, 10, &json!({ "confidence": 0.5, "class": "chat", "cost_usd": 1 }));
    let classes = json!([{ "name": "chat", "cost_baseline_usd": 1 }]);
    let mut evidence = agent(checks.clone());
    evidence["task_classes"] = classes.clone();
    let before = graded(&evidence);
    checks.extend((0..1000).map(|at| {
        let mut again =
            check(at, "task", json!({ "confidence": 1, "passed": true, "class": "chat", "cost_usd": 0 }));
        (again["id"], again["task"]) = (json!(format!("again-{at}")), json!("t0"));
        again
    }));
    evidence = agent(checks);
    evidence["task_classes"] = classes;
    let after = graded(&evidence);
    // The most there is to gain or lose is what one task of twenty can do.
    for key in ["selfAudit", "costEfficiency"] {
        let gain = reading(&after, key).unwrap() - reading(&before, key).unwrap();
        assert!(gain.abs() < 0.09, "{key}: {gain}");
    }
    near(&after, "cost_usd", 19.0 + 1.0 / 1001.0);
    near(&after, "success_share", 0.5);
    near(&after, "brier_score", (19.0 * 0.25 + 0.25 / 1001.0) / 20.0);
}
