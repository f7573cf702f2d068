use proptest::prelude::*;

use super::*;
use crate::workflow::{PlanRules, References};

fn plan(text: &str) -> Plan {
    let rules = PlanRules { references: References::Noted, ..PlanRules::default() };
    Plan::from_json(text.as_bytes(), &rules).unwrap().0
}

fn log(plan: &Plan, text: &str) -> Log {
    Log::from_json(text.as_bytes(), plan).unwrap().0
}

/// Returns a log in which the steps are retried as often as said and then succeed.
fn retried(retries: &[(&str, usize)]) -> String {
    let records = retries.iter().flat_map(|(step, retries)| {
        let failed = format!(r#"{{"step": "{step}", "outcome": "failed"}}"#);
        let success = format!(r#"{{"step": "{step}", "outcome": "success"}}"#);
        std::iter::repeat_n(failed, *retries).chain([success])
    });
    format!("[{}]", records.collect::<Vec<_>>().join(","))
}

/// The run has one budget of declared retries, so a step may use what another one left.
#[test]
fn unplanned_retries_are_those_beyond_the_sum_of_the_declared() {
    let nodes = r#""nodes": [{"id": "a"}, {"id": "b"}]"#;
    let both = r#"{"a": {"retry_count": 2}, "b": {"retry_count": 1}}"#;
    for (declared, made, unplanned) in [
        (both, [("a", 2), ("b", 1)], 0),
        (both, [("a", 0), ("b", 3)], 0),
        (both, [("a", 4), ("b", 1)], 2),
        ("{}", [("a", 1), ("b", 0)], 1),
        (r#"{"a": {"retry_count": 2}}"#, [("a", 1), ("b", 2)], 1),
    ] {
        let plan = plan(&format!(r#"{{{nodes}, "error_handling": {declared}}}"#));
        let run = account(&plan, &log(&plan, &retried(&made)), None);
        assert_eq!(run.unplanned_retries, unplanned, "{declared} {made:?}");
        assert_eq!((run.steps_completed, run.hard_failures), (2, 0));
    }
}

#[test]
fn a_last_attempt_that_times_out_is_a_timeout_and_a_hard_failure() {
    let plan =
        plan(r#"{"nodes": [{"id": "a"}, {"id": "b"}], "error_handling": {"a": {"timeout_seconds": 2}}}"#);
    let run = account(&plan, &log(&plan, r#"[{"step": "a", "outcome": "timeout"}]"#), None);
    assert_eq!((run.timeouts, run.hard_failures), (Some(1), 1));
    assert_eq!(run.steps[1].state, StepState::NotRun);
    // A step without a declared limit cannot time out.
    let run = account(&plan, &log(&plan, r#"[{"step": "b", "outcome": "timeout"}]"#), None);
    assert_eq!((run.timeouts, run.hard_failures), (Some(0), 1));
}

#[test]
fn a_success_beyond_the_limit_is_a_timeout_too_and_attempts_count_each() {
    let plan = plan(
        r#"{"nodes": [{"id": "a"}], "error_handling": {"a": {"timeout_seconds": 2, "retry_count": 1}}}"#,
    );
    let run = account(
        &plan,
        &log(
            &plan,
            r#"[
            {"step": "a", "start": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:00:02.001Z", "outcome": "failed"},
            {"step": "a", "start": "2026-01-01T05:30:03+05:30", "end": "2025-12-31T19:00:06-05:00", "outcome": "success"}]"#,
        ),
        None,
    );
    assert_eq!((run.timeouts, run.hard_failures, run.unplanned_retries), (Some(2), 0, 0));
    assert_eq!(run.actual_seconds, Some(6.0));
}

#[test]
fn failed_attempts_cost_and_steps_at_the_same_time_take_it_once() {
    let plan = plan(r#"{"nodes": [{"id": "a"}, {"id": "b"}]}"#);
    let run = account(
        &plan,
        &log(
            &plan,
            r#"[
            {"step": "b", "start": "2026-01-01T00:00:01Z", "end": "2026-01-01T00:00:04Z", "cost": 0.5, "outcome": "failed"},
            {"step": "a", "start": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:00:03Z", "cost": 0.25, "outcome": "success"}]"#,
        ),
        None,
    );
    assert_eq!((run.actual_tao, run.actual_seconds), (Some(0.75), Some(4.0)));
    assert_eq!(run.seen.known_tao_without_success, 0.5);
}

#[test]
fn giving_up_with_retries_left_is_no_hard_failure() {
    let plan = plan(r#"{"nodes": [{"id": "a"}], "error_handling": {"a": {"retry_count": 2}}}"#);
    let states = |text: &str| {
        let run = account(&plan, &log(&plan, text), None);
        (run.steps[0].state, run.hard_failures)
    };
    let failed = r#"{"step": "a", "outcome": "failed"}"#;
    assert_eq!(states(&format!("[{failed}]")), (StepState::FailedWithRetriesLeft, 0));
    assert_eq!(states(&format!("[{failed},{failed},{failed}]")), (StepState::Failed, 1));
    let abort = r#"{"step": "a", "outcome": "budget_abort"}"#;
    assert_eq!(states(&format!("[{failed},{abort}]")), (StepState::BudgetAborted, 0));
}

#[test]
fn what_refers_to_a_failure_fails_hard_unless_the_budget_stopped_the_run() {
    let plan = plan(
        r#"{"nodes": [{"id": "a"}, {"id": "b", "params": "${a.output.text}"}, {"id": "c", "params": "${b.output.text}"},
            {"id": "d", "params": "${ghost.output.text}"}, {"id": "e"}, {"id": "f", "params": "${e.output.text}"}],
        "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}, {"from": "a", "to": "e"}, {"from": "e", "to": "f"}]}"#,
    );
    let failed = log(&plan, r#"[{"step": "a", "outcome": "failed"}]"#);
    let run = account(&plan, &failed, None);
    let states: Vec<_> = run.steps.iter().map(|step| serde_json::to_value(step.state).unwrap()).collect();
    assert_eq!(
        states,
        [
            "failed",
            "unresolved_reference",
            "unresolved_reference",
            "unresolved_reference",
            "not_run",
            "not_run"
        ]
    );
    assert_eq!((run.hard_failures, run.actual_retries, run.seen.attempts), (4, 0, 1));

    let stopped = account(&plan, &failed, Some(true));
    assert_eq!((stopped.hard_failures, stopped.budget_aborted), (1, true));
    let log = log(&plan, r#"[{"step": "a", "outcome": "failed"}, {"step": "d", "outcome": "budget_abort"}]"#);
    let stopped = account(&plan, &log, None);
    assert_eq!((stopped.hard_failures, stopped.budget_aborted), (1, true));
}

#[test]
fn an_empty_log_is_a_run_in_which_nothing_was_done() {
    let plan = plan(r#"{"nodes": [{"id": "a"}]}"#);
    let run = account(&plan, &Log::default(), None);
    assert_eq!((run.steps_completed, run.steps_total, run.actual_tao), (0, 1, Some(0.0)));
    assert_eq!((run.actual_seconds, run.timeouts, run.hard_failures), (None, Some(0), 0));
}

#[test]
fn the_detail_names_what_failed_and_what_was_not_seen() {
    let plan = plan(r#"{"nodes": [{"id": "a"}, {"id": "b"}], "error_handling": {"b": {"retry_count": 1}}}"#);
    let text = r#"[{"step": "a", "outcome": "failed", "cost": 0.5}, {"step": "b", "outcome": "success",
        "start": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:00:00.25Z"}]"#;
    let detail = serde_json::to_value(account(&plan, &log(&plan, text), None)).unwrap();
    let detail = serde_json::to_string_pretty(&detail).unwrap();
    insta::assert_snapshot!(detail, @r#"
    {
      "actual_retries": 0,
      "actual_seconds": null,
      "actual_tao": null,
      "budget_aborted": false,
      "declared_retry_budget": 1,
      "hard_failures": 1,
      "seen": {
        "attempts": 2,
        "attempts_perhaps_timed_out": 0,
        "attempts_without_cost": 1,
        "attempts_without_moments": 1,
        "certain_timeouts": 0,
        "known_seconds": 0.25,
        "known_tao": 0.5,
        "known_tao_without_success": 0.5
      },
      "steps": [
        {
          "attempts": 1,
          "declared_retries": 0,
          "id": "a",
          "known_tao": 0.5,
          "retries": 0,
          "state": "failed",
          "timeouts": 0
        },
        {
          "attempts": 1,
          "declared_retries": 1,
          "id": "b",
          "known_tao": 0.0,
          "retries": 0,
          "state": "completed",
          "timeouts": 0
        }
      ],
      "steps_completed": 1,
      "steps_total": 2,
      "timeouts": 0,
      "unplanned_retries": 0
    }
    "#);
}

#[test]
fn a_hundred_thousand_attempts_in_reverse() {
    let plan = plan(r#"{"nodes": [{"id": "a"}]}"#);
    let record = |number| {
        let outcome = if number == 100_000 { "success" } else { "failed" };
        format!(r#"{{"step":"a","attempt":{number},"outcome":"{outcome}"}}"#)
    };
    let records: Vec<_> = (1..=100_000).rev().map(record).collect();
    let run = account(&plan, &log(&plan, &format!("[{}]", records.join(","))), None);
    assert_eq!((run.steps_completed, run.unplanned_retries), (1, 99_999));
}

proptest! {
    /// The result of a run does not depend on the order of its records.
    #[test]
    fn the_order_of_the_records_does_not_matter(
        retries in (0usize..4, 0usize..4),
        costs in prop::collection::vec(0u32..1000, 8),
        order in Just((0..8usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let plan = plan(r#"{"nodes": [{"id": "a"}, {"id": "b"}], "error_handling": {"a": {"retry_count": 1}}}"#);
        let mut records = Vec::new();
        for (step, retries) in [("a", retries.0), ("b", retries.1)] {
            for number in 0..=retries {
                let outcome = if number == retries { "success" } else { "failed" };
                let cost = f64::from(costs[records.len()]) / 1000.0;
                records.push(format!(
                    r#"{{"step": "{step}", "attempt": {}, "outcome": "{outcome}", "cost": {cost}}}"#,
                    number + 1
                ));
            }
        }
        let sorted = account(&plan, &log(&plan, &format!("[{}]", records.join(","))), None);
        let shuffled: Vec<_> = order.iter().filter_map(|&at| records.get(at).cloned()).collect();
        let shuffled = account(&plan, &log(&plan, &format!("[{}]", shuffled.join(","))), None);
        prop_assert_eq!(&sorted, &shuffled);
        prop_assert_eq!(sorted.actual_retries, (retries.0 + retries.1) as u64);
        prop_assert_eq!(sorted.unplanned_retries, sorted.actual_retries.saturating_sub(1));
    }
}
