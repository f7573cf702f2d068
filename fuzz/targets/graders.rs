//! Any JSON is what a grader of workflows, outputs or matches takes, and is graded from 0 to 1, twice alike, or refused with what
//! is wrong.

use std::collections::BTreeMap;

use karat_evidence::Problems;
use karat_graders::arena::{Attempt, Evaluator, MatchOptions, grade_match, parse_evaluator_output};
use karat_graders::quality::{CodeEvidence, Evidence, Options, Task, TestResults};
use karat_graders::workflow::{
    Budget, Log, Plan, PlanRules, References, StepResult, Totals, dry_run, resolve, settle,
};
use serde_json::{Value, json};

/// Panics if an input breaks the promise.
pub fn check(bytes: &[u8]) {
    let Ok(input) = serde_json::from_slice::<Value>(bytes) else { return };
    let grade = match input["grader"].as_str() {
        Some("run") => run,
        Some("resolve") => resolved,
        Some("output") => output,
        Some("evaluator") => evaluation,
        Some("match") => played,
        _ => printed,
    };
    let (graded, again) = (grade(&input), grade(&input));
    assert_eq!(graded, again, "graded twice");
    if let Err(problems) = graded {
        assert!(!problems.is_empty() && !problems.to_string().is_empty(), "refused without a word");
    }
}

/// A value that a grade has.
fn is_share(value: f64) {
    assert!((0.0..=1.0).contains(&value), "{value}");
}

fn run(input: &Value) -> Result<Value, Problems> {
    let rules = PlanRules { references: References::Noted, ..PlanRules::default() };
    let (plan, _) = Plan::from_json(input["plan"].to_string().as_bytes(), &rules)?;
    assert_eq!(
        plan.tiers().map(Iterator::count).sum::<usize>(),
        plan.steps().len(),
        "every step in one tier"
    );
    let number = |name: &str| input["totals"][name].as_f64();
    let dry = dry_run(
        &plan,
        &Budget { max_budget_tao: number("budget"), total_estimated_cost_tao: number("estimate") },
    );
    assert!(dry.steps_completed + dry.hard_failures <= dry.steps_total, "{dry:?}");
    let totals = Totals {
        steps_completed: input["totals"]["steps"].as_u64(),
        actual_tao: number("cost"),
        ..Totals::default()
    };
    let (log, _) = Log::from_json(input["log"].to_string().as_bytes(), &plan)?;
    let (_, account, _) = settle(&plan, &log, &totals);
    assert!(account.steps_completed + account.hard_failures <= account.steps_total, "{account:?}");
    Ok(json!([dry, account]))
}

fn resolved(input: &Value) -> Result<Value, Problems> {
    let results = input["results"].as_object().into_iter().flatten();
    let results: BTreeMap<String, StepResult> = results
        .map(|(id, output)| {
            (id.clone(), StepResult { is_success: !output.is_null(), output: output.clone() })
        })
        .collect();
    resolve(input["params"].clone(), &results)
}

fn output(input: &Value) -> Result<Value, Problems> {
    let tests = input["tests"].as_str().map(TestResults::from_report).transpose()?;
    let by_patterns = input["reference"].get("expected_patterns").is_some();
    let code_evidence = if by_patterns { CodeEvidence::Patterns } else { CodeEvidence::Tests };
    let options = Options { code_evidence, ..Options::default() };
    let task = Task::load(input["task_type"].as_str().unwrap_or_default(), &input["reference"], options)?;
    let evidence = Evidence {
        output: input.get("output"),
        tests: tests.as_ref(),
        lint_violations: input["lint_violations"].as_u64(),
    };
    let grade = task.grade(&evidence)?;
    is_share(grade.value);
    Ok(grade.detail())
}

fn evaluation(input: &Value) -> Result<Value, Problems> {
    let evaluator = Evaluator::from_json(&input["challenge"], &["correctness", "speed"])?;
    let attempt = Attempt {
        submission: &input["submission"],
        ground_truth: &input["ground_truth"],
        used_seconds: input["used_seconds"].as_f64().unwrap_or_default(),
        limit_seconds: input["limit_seconds"].as_f64().unwrap_or_default(),
        api_calls: input["api_calls"].as_u64(),
    };
    let evaluation = evaluator.evaluate(&attempt)?;
    evaluation.dimensions.iter().for_each(|dimension| dimension.value.into_iter().for_each(is_share));
    let warnings = attempt.submission.as_object().map(|answer| evaluator.check_format(answer));
    Ok(json!([evaluation, warnings.map(|warnings| warnings.len())]))
}

fn played(input: &Value) -> Result<Value, Problems> {
    let challenge = json!({"evaluator": {
        "correctness": [{"primitive": "exact_match", "field": "q", "deep": true}],
        "speed": [{"primitive": "time_decay", "needs_score": true}],
    }});
    let evaluator = Evaluator::from_json(&challenge, &["correctness", "speed"])?;
    let grade = grade_match(&input["match"], &evaluator, &MatchOptions::default(), None)?;
    is_share(grade.efficiency.token_efficiency.value);
    is_share(grade.efficiency.call_efficiency.value);
    assert!(
        grade.trajectory.as_ref().is_some_and(|log| log.valid) || !grade.standing.benchmark_grade,
        "{grade:?}"
    );
    Ok(json!([grade.detail(), grade.evidence]))
}

fn printed(input: &Value) -> Result<Value, Problems> {
    let lines = input["stdout"].as_array().into_iter().flatten();
    let text: Vec<String> =
        lines.map(|line| line.as_str().map_or_else(|| line.to_string(), str::to_owned)).collect();
    let output = parse_evaluator_output(&text.join("\n"), Some(0))?;
    assert!(output.scores.values().all(|score| *score >= 0.0 && score.is_finite()), "{output:?}");
    Ok(json!(output))
}
