//! Ways in which other implementations of the same scores can be fooled, each with a test that shows that karat cannot.
//!
//! Most are shown beside the code. Of workflows (`grade/workflow`, `grade/quality`):
//!
//! - a program that prints "8 passed": `a_line_that_says_n_passed_is_not_believed`, `tap_that_contradicts_its_plan_is_refused`,
//!   `a_report_that_claims_more_than_it_lists_is_refused`
//! - code that no test ran, or that kills the runner, is worth a half: `no_test_at_all_is_an_error_and_not_a_half`,
//!   `errors_and_missing_tests_count_as_failed_and_skipped_ones_do_not`
//! - criteria that every text meets, as their text is empty or is in another field:
//!   `what_no_text_can_fail_is_refused_when_the_task_is_loaded`, `value_stands_for_text`; a checklist without criteria is worth
//!   a half: `bad_tasks_are_refused`
//! - keys in capitals that no output has: `a_json_key_stands_at_the_top_of_an_object_exactly`; patterns without end:
//!   `patterns_built_to_explode`
//! - `"1"` for 1, `true` for 1, surplus keys for nothing: `structure_is_compared_and_not_text`,
//!   `values_are_equal_by_value_and_kind`, `partial_credit_is_given_only_where_it_is_asked_for`; the last of two equal keys:
//!   `a_key_twice_is_refused_at_any_depth`
//! - an identical text in another script is worth nothing:
//!   `other_scripts_score_nothing_with_the_reference_and_fully_with_unicode`
//! - retries and timeouts that are never counted: `unplanned_retries_are_those_beyond_the_sum_of_the_declared`,
//!   `a_success_beyond_the_limit_is_a_timeout_too_and_attempts_count_each`; a million free ones: `rules_beyond_the_graph`
//! - failed attempts for nothing: `failed_attempts_cost_and_steps_at_the_same_time_take_it_once`; more steps done than there
//!   are, negative costs: `totals_that_cannot_be_are_refused`; totals that the log does not have:
//!   `totals_that_differ_are_refused_with_both_numbers`
//! - references that have a value by luck: `a_reference_needs_a_path_of_edges`
//!
//! Of matches (`grade/arena`):
//!
//! - one easy field for full marks, all dimensions alike: `an_easy_answer_alone_does_not_earn_full_marks`
//! - nothing where nothing, 0 or a list was expected: `what_cannot_be_compared_scores_nothing_and_is_told`; one object for any
//!   other: `one_object_does_not_stand_for_another`
//! - one tool call for full efficiency: `one_tool_call_earns_no_efficiency`, `a_single_tool_call_earns_no_efficiency`;
//!   efficiency without a valid log: `unverified_is_nothing`, `dimensions_without_a_meaning_are_refused`; claimed tokens:
//!   `what_the_agent_claims_counts_for_nothing`
//! - a script that fails, and another scorer in its place: `a_failed_script_has_no_scores`; a submission that prints
//!   its own result: `the_last_result_counts_and_others_are_told`
//! - errors of form without effect: `an_error_of_form_makes_its_dimension_zero`; limits that are not checked:
//!   `what_goes_beyond_a_limit_is_named`
//! - files that were read under another name, or not as they are: `files_are_compared`
//! - benchmark grade with memory: `benchmark_grade_needs_all_three`; points by rounding: `parts_are_not_rounded`,
//!   `the_total_is_capped_and_tells_its_parts`
//!
//! Of traces and trust (`grade/trace`, `grade/trust`):
//!
//! - novelty above 1, by vectors that point away, of another length, or of no numbers:
//!   `what_points_away_is_new_but_not_newer_than_new`, `a_vector_of_another_length_is_an_error_and_no_nonsense`,
//!   `vectors_in_evidence_are_checked_number_by_number`; a trace compared with itself:
//!   `a_trace_scored_twice_does_not_lower_its_own_novelty`; a zero vector in the cache:
//!   `what_has_no_direction_or_no_vector_is_half_new_and_not_stored`
//! - invented identities: `trusting_somebody_beforehand_gives_invented_identities_nothing`; trust that depends on where one
//!   began: `the_published_stop_shows_where_the_walk_began_and_the_settled_one_does_not`; votes on oneself:
//!   `a_vote_on_oneself_makes_one_known_and_nothing_else`
//! - agreement taken for approval: `a_unanimous_rejection_does_not_pass`; one judge many times:
//!   `kin_and_clones_do_not_make_a_quorum`; one judge who moves the rest: `one_adversary_cannot_move_the_panel`

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use karat_core::facts::Fact;
use karat_graders::arena::{Evaluator, MatchOptions, grade_match, replay_log};
use karat_graders::quality::{Evidence, Options, Task, TestResults, code};
use karat_graders::trace::novelty::{Settings, VectorCache};
use karat_graders::workflow::{Budget, Plan, PlanRules, dry_run, warm_up};
use karat_reader::{FactType, Graders, Kind, Reader, ReaderOptions};
use serde_json::{Value, json};

/// Makes a run whose output is worth 0.5.
fn run(claimed: Option<f64>) -> Value {
    json!({
        "run_id": "r", "output_quality": claimed,
        "task": {"task_type": "agent", "reference": {"goal_checklist": [{"text": "one"}, {"text": "two"}]},
            "constraints": {"max_budget_tao": 1, "max_latency_seconds": 1}},
        "workflow_plan": {"nodes": [{"id": "a"}]},
        "result": {"steps_completed": 1, "actual_cost": 0, "actual_latency": 0, "actual_retries": 0, "timeouts": 0,
            "hard_failures": 0, "budget_aborted": false, "final_output": {"text": "one"}},
    })
}

fn fact(kind: Kind, name: &str, graders: Graders, item: &Value) -> Result<Option<f64>, String> {
    let wanted = [(name.to_owned(), FactType::Number)];
    let mut reader = Reader::new(kind, &wanted, ReaderOptions::default()).unwrap().with_graders(graders);
    let text = item.to_string();
    let evidence = reader.read(text.as_bytes()).map_err(|problems| problems.to_string())?;
    match evidence.item().facts {
        [Fact::Number(number)] => Ok(Some(*number)),
        _ => Ok(None),
    }
}

/// Upstream: the registry stores and shows the `quality_score` that its client sends.
#[test]
fn a_claimed_quality_is_not_believed() {
    let quality = |claimed| fact(Kind::WorkflowRun, "output_quality", Graders::default(), &run(claimed));
    assert_eq!(quality(None), Ok(Some(0.5)));
    assert!(quality(Some(1.0)).unwrap_err().contains("`output_quality` out"));
}

/// Upstream: what a client says about its trace is served. The exact copy of an earlier trace has no novelty, whatever
/// it claims.
#[test]
fn a_claimed_novelty_is_not_believed_where_one_can_be_computed() {
    let mut cache = VectorCache::new(Settings { dimension: 2, ..Settings::default() }).unwrap();
    let moment = karat_core::timestamp::Timestamp { milliseconds: 0 };
    cache.insert("kp:trace:earlier", &[3.0, 4.0], moment).unwrap();
    let trace = json!({
        "@context": "https://openknowledgepulse.org/schema/v1", "@type": "ReasoningTrace", "id": "kp:trace:later",
        "metadata": {"created_at": "2026-03-18T09:00:00Z", "task_domain": "x", "success": true, "quality_score": 1,
            "visibility": "network", "privacy_level": "aggregated"},
        "task": {"objective": "o"}, "steps": [{"step_id": 0, "type": "thought"}],
        "outcome": {"result_summary": "", "confidence": 1}, "vector": [6, 8], "novelty": 1,
    });
    let graders = Graders { cache: Some(cache), ..Graders::default() };
    assert_eq!(fact(Kind::ReasoningTrace, "novelty", graders, &trace), Ok(Some(0.0)));
}

/// Upstream: a linter that is not installed prints nothing, and without a line there is no violation.
#[test]
fn a_linter_that_did_not_run_is_no_clean_bill() {
    let tests = TestResults::from_counts(7, 1).unwrap();
    assert!(code(tests, None).unwrap_err().to_string().contains("$.lint_violations"));
}

/// Upstream: `"artifacts": null` stops the grader, for a task of any type.
#[test]
fn an_output_without_artifacts_does_not_stop_the_grader() {
    let output = json!({"text": "one", "artifacts": null});
    let evidence = Evidence { output: Some(&output), ..Evidence::default() };
    let grade = |task_type: &str, reference: Value| {
        Task::load(task_type, &reference, Options::default()).unwrap().grade(&evidence).unwrap()
    };
    assert_eq!(grade("agent", json!({"goal_checklist": [{"text": "one"}]})).value, 1.0);
    let code = grade("code", json!({}));
    assert_eq!((code.value, code.reason.as_deref()), (0.0, Some("there is no code")));
}

/// Upstream: no expected output is worth a half for any output, and an unknown type of task would be another grader's.
#[test]
fn a_task_without_what_it_expects_is_refused() {
    for (task_type, reference) in [
        ("data_transform", json!({})),
        ("data_transform", json!({"expected_output": null})),
        ("data_transform", json!({"expected_output": " "})),
        ("rag", json!({"reference_answer": ""})),
        ("agent", json!({"goal_checklist": []})),
        ("agent", json!({})),
    ] {
        assert!(Task::load(task_type, &reference, Options::default()).is_err(), "{task_type} {reference}");
    }
}

fn plan(text: &Value) -> Plan {
    Plan::from_json(text.to_string().as_bytes(), &PlanRules::default()).unwrap().0
}

/// Upstream: a plan that estimates its cost as 0 is taken to have said 0.01, and may spend half as much again.
#[test]
fn an_estimate_of_nothing_buys_nothing() {
    let budget = Budget { max_budget_tao: Some(1.0), total_estimated_cost_tao: Some(0.0) };
    let run = dry_run(&plan(&json!({"nodes": [{"id": "a"}]})), &budget);
    assert_eq!((run.steps_completed, run.budget_aborted), (0, true));
}

/// Upstream: a step that does not fit the budget is left out, cheaper ones behind it go on, and the run counts as one that
/// was not stopped.
#[test]
fn nothing_goes_on_behind_the_budget() {
    let plan = plan(&json!({"nodes": [
        {"id": "a", "estimated_cost": 0.4}, {"id": "b", "estimated_cost": 0.7}, {"id": "c", "estimated_cost": 0.1}]}));
    let run = dry_run(&plan, &Budget { max_budget_tao: Some(1.0), total_estimated_cost_tao: None });
    assert_eq!((run.steps_completed, run.actual_tao, run.budget_aborted), (2, 0.4 + 0.7, true));
}

/// Upstream: the scaled score is what is stored, so a newcomer's early scores lower his mean long after the warm-up.
#[test]
fn a_warm_up_keeps_the_score_that_was_earned() {
    let scaled = warm_up(0.8, 5, 10, 100).unwrap();
    assert_eq!((scaled.raw_score, scaled.score), (0.8, 0.2));
}

fn evaluator() -> Evaluator {
    let tables = json!({"evaluator": {"correctness": [{"primitive": "exact_match", "field": "q"}]}});
    Evaluator::from_json(&tables, &["correctness"]).unwrap()
}

fn played(steps: &Value) -> Value {
    json!({
        "match_id": "m", "agent_id": "a", "started_at": "2026-03-18T09:30:00Z",
        "submitted_at": "2026-03-18T09:31:00Z", "time_limit_secs": 60, "attempt_number": 1, "memoryless": true,
        "constraints": {"maxToolCalls": 1, "maxLlmCalls": 5}, "ground_truth": {"q": 1},
        "workspace_files": {"a.txt": "the text"},
        "payload": {"answer": {"q": 1, "metadata": {"tool_call_count": 0}},
            "metadata": {"tool_call_count": 0, "token_count": 0, "replay_log": steps}},
    })
}

fn call(output: &str) -> Value {
    json!({"type": "tool_call", "ts": "2026-03-18T09:30:10Z", "tool": "read", "input": "a.txt", "output": output,
           "duration_ms": 1})
}

/// Upstream: a challenge without a scorer gives points for the mere presence of keys, and for forty characters of reasoning.
#[test]
fn a_challenge_without_an_evaluator_scores_nothing() {
    for tables in [json!({}), json!({"evaluator": {"correctness": []}})] {
        assert!(Evaluator::from_json(&tables, &["correctness"]).is_err(), "{tables}");
    }
    let refused = fact(Kind::Match, "correctness_score", Graders::default(), &played(&json!([])));
    assert!(refused.unwrap_err().contains("an `evaluator`"));
}

/// Upstream: the number of tool calls is looked for where no submission has it, and else that of model calls is taken for it.
#[test]
fn tool_calls_are_counted_in_the_log() {
    let parts = played(&json!([call("the text"), call("the text"), call("the text")]));
    let grade = grade_match(&parts, &evaluator(), &MatchOptions::default(), None).unwrap();
    assert_eq!(grade.usage.as_ref().and_then(|usage| usage.tool_calls), Some(3));
    assert_eq!(grade.constraint_violations[0].message, "maxToolCalls: 3 tool calls, allowed are 1");
    assert_eq!(grade.efficiency.call_efficiency.value, 0.0);
}

/// Upstream: the check of what was read is there, but the submitter is not asked for it, since the files are not passed on.
#[test]
fn what_was_read_is_checked_in_every_match() {
    let grade = |output: &str| {
        grade_match(&played(&json!([call(output)])), &evaluator(), &MatchOptions::default(), None).unwrap()
    };
    assert!(grade("the text").trajectory.unwrap().tool_replay_consistent);
    let made_up = grade("made up").trajectory.unwrap();
    assert!(!made_up.tool_replay_consistent);
    assert!(made_up.warnings[0].message.contains("`a.txt`"));
}

/// Upstream: a negative number of tokens is one, and gives more efficiency than there is.
#[test]
fn negative_tokens_are_no_tokens() {
    for tokens in [json!(-1_000_000), json!(0.5), json!("0"), json!(null), json!(1e300)] {
        let log = json!([{"type": "llm_call", "ts": "2026-03-18T09:30:10Z", "model": "m", "input_tokens": tokens,
                          "output_tokens": 0, "duration_ms": 1}]);
        assert!(replay_log(&log).is_err(), "{tokens}");
    }
}
