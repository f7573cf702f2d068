//! Cases about matches of the arena: primitives, submissions, trajectories.

use std::collections::BTreeMap;

use karat_evidence::Problems;
use karat_graders::arena::{self, Grade};
use serde_json::{Map, Value, json};

use crate::given::Given;
use crate::judge::{all, number};

/// Returns the answer of the function called `name`; `None` if it is not in this file.
pub fn answer(name: &str, given: &Given<'_>) -> Option<Result<Value, String>> {
    Some(match name {
        "exact_match" => exact_match(given),
        "exact_match_ratio" => exact_match_ratio(given),
        "numeric_tolerance" => numeric_tolerance(given),
        // The astral cases count UTF-16 code units, as all do.
        "fuzzy_string" | "fuzzy_string.astral" => fuzzy_string(given),
        "time_decay" => {
            of_numbers(given, ["elapsed_secs", "limit_secs"], |[used, limit]| arena::time_decay(used, limit))
        }
        "api_call_efficiency" => of_numbers(given, ["calls", "optimal", "max"], |[calls, optimal, max]| {
            arena::api_call_efficiency(calls, optimal, max)
        }),
        "coverage_ratio" => {
            of_numbers(given, ["found", "total"], |[found, total]| arena::coverage_ratio(found, total))
        }
        "set_overlap" => set_overlap(given),
        "declarative_score" => declarative_score(given),
        "efficiency" => efficiency(given),
        "efficiency_from_replay" => efficiency_from_replay(given),
        "constraint_violations" => constraint_violations(given),
        "validate_trajectory" => validate_trajectory(given),
        "validate_submission_payload" => validate_submission_payload(given),
        "submission_gate" => submission_gate(given),
        "harness_warning" => harness_warning(given),
        "structural_hash" => structural_hash(given),
        "validate_required_strings" => submission_warnings(given, arena::validate_required_strings),
        "validate_flat_answers" => submission_warnings(given, arena::validate_flat_answers),
        "parse_evaluator_output" => parse_evaluator_output(given),
        _ => return None,
    })
}

fn value(grade: &Grade) -> Value {
    json!({ "value": number(grade.value), "seen": grade.detail()["seen"] })
}

fn refused(problems: Problems) -> String {
    all(&problems)
}

fn exact_match(given: &Given<'_>) -> Result<Value, String> {
    let [a, b] = [given.member("a")?, given.member("b")?];
    Ok(value(&arena::exact_match(a.value(), b.value(), arena::ExactMatch::default())))
}

fn exact_match_ratio(given: &Given<'_>) -> Result<Value, String> {
    let [submitted, expected] = [list(given, "submitted")?, list(given, "expected")?];
    Ok(value(&arena::exact_match_ratio(submitted, expected, arena::ExactMatch::default())))
}

fn numeric_tolerance(given: &Given<'_>) -> Result<Value, String> {
    let [submitted, expected] = [given.member("value")?.number()?, given.member("expected")?.number()?];
    let tolerance = given.member("tolerance")?.number()?;
    let options = arena::NumericTolerance { tolerance, ..arena::NumericTolerance::default() };
    let grade = arena::numeric_tolerance(submitted, expected, options);
    grade.map(|grade| value(&grade)).map_err(refused)
}

fn fuzzy_string(given: &Given<'_>) -> Result<Value, String> {
    let [a, b] = [given.member("a")?.text()?, given.member("b")?.text()?];
    let grade = arena::fuzzy_string(a, b, arena::FuzzyString::default());
    grade.map(|grade| value(&grade)).map_err(refused)
}

fn of_numbers<const N: usize>(
    given: &Given<'_>,
    names: [&str; N],
    grade: impl FnOnce([f64; N]) -> Result<Grade, Problems>,
) -> Result<Value, String> {
    let mut numbers = [0.0; N];
    for (slot, name) in numbers.iter_mut().zip(names) {
        *slot = given.member(name)?.number()?;
    }
    grade(numbers).map(|grade| value(&grade)).map_err(refused)
}

fn set_overlap(given: &Given<'_>) -> Result<Value, String> {
    let [a, b] = [list(given, "a")?, list(given, "b")?];
    arena::set_overlap(a, b, arena::SetOverlap::default()).map(|grade| value(&grade)).map_err(refused)
}

/// Scores every dimension but the one of time by every field of the case; without a field, time scores nothing.
fn declarative_score(given: &Given<'_>) -> Result<Value, String> {
    let weights = weights(given)?;
    let time_dimension = given.member("time_dimension")?.optional_text()?;
    let mut fields = Vec::new();
    for field in given.member("fields")?.elements()? {
        let key = field.member("key")?.text()?;
        let mut part = Map::new();
        part.insert("field".into(), format!("/{}", key.replace('~', "~0").replace('/', "~1")).into());
        part.insert("primitive".into(), field.member("primitive")?.value().clone());
        let params = field.member("params")?;
        let tolerance = if params.is_null() { params } else { params.member("tolerance")? };
        for (name, option) in [("weight", field.member("weight")?), ("tolerance", tolerance)] {
            if !option.is_null() {
                part.insert(name.into(), option.value().clone());
            }
        }
        fields.push(Value::Object(part));
    }
    let by_time = json!([{"primitive": "time_decay", "needs_score": true}]);
    let parts = |key: &String| {
        if Some(key) == time_dimension.as_ref() { by_time.clone() } else { fields.clone().into() }
    };
    let evaluator: Map<String, Value> = weights.iter().map(|(key, _)| (key.clone(), parts(key))).collect();
    let keys: Vec<&str> = weights.iter().map(|(key, _)| key.as_str()).collect();
    let evaluator =
        arena::Evaluator::from_json(&json!({ "evaluator": evaluator }), &keys).map_err(refused)?;
    let attempt = arena::Attempt {
        submission: given.member("submission")?.value(),
        ground_truth: given.member("ground_truth")?.value(),
        used_seconds: given.member("elapsed_secs")?.number()?,
        limit_seconds: given.member("time_limit_secs")?.number()?,
        api_calls: None,
    };
    let evaluation = evaluator.evaluate(&attempt).map_err(refused)?;
    Ok(breakdown(&weights, &evaluation.scores()))
}

fn efficiency(given: &Given<'_>) -> Result<Value, String> {
    let trajectory = given.member("trajectory")?;
    let usage = if trajectory.is_null() {
        None
    } else {
        Some(arena::Usage {
            input_tokens: trajectory.member("total_input_tokens")?.count()?,
            output_tokens: trajectory.member("total_output_tokens")?.count()?,
            llm_calls: trajectory.member("total_llm_calls")?.count()?,
            ..arena::Usage::default()
        })
    };
    let verified = given.member("verified")?.flag()?;
    with_efficiency(given, &constraints(given)?, verified, usage.as_ref())
}

fn efficiency_from_replay(given: &Given<'_>) -> Result<Value, String> {
    let constraints = constraints(given)?;
    let steps = arena::replay_log(given.member("replay_log")?.value()).map_err(refused)?;
    let trajectory =
        arena::validate_trajectory(&steps, window(given)?, None, &arena::TrajectoryOptions::published());
    let usage = arena::Usage::of(&steps);
    let mut answer = with_efficiency(given, &constraints, trajectory.valid, Some(&usage))?;
    let violations =
        arena::constraint_violations(&constraints, trajectory.valid, &usage, arena::Scope::Calls);
    if let Value::Object(answer) = &mut answer {
        answer.insert("verified".into(), trajectory.valid.into());
        answer.insert("constraint_violations".into(), names(&violations));
    }
    Ok(answer)
}

/// Returns the breakdown of the case's weighted points, and of efficiency on top, in the form of the deployed arena.
fn with_efficiency(
    given: &Given<'_>,
    constraints: &arena::Constraints,
    verified: bool,
    usage: Option<&arena::Usage>,
) -> Result<Value, String> {
    let weights = weights(given)?;
    let without_model_call = arena::WithoutModelCall::Everything;
    let efficiency = arena::efficiency(constraints, verified, usage, without_model_call);
    let mut scores = efficiency.scores();
    let weighted = given.member("base_weighted")?;
    for (key, weight) in &weights {
        if *weight > 0.0 && !scores.contains_key(key.as_str()) {
            // The case gives points that are weighed already.
            let points = weighted.member(key)?.optional_number()?;
            scores.insert(key, points.unwrap_or_default() / weight);
        }
    }
    Ok(breakdown(&weights, &scores))
}

fn constraint_violations(given: &Given<'_>) -> Result<Value, String> {
    let llm_calls = given.member("total_llm_calls")?.count()?;
    let usage = arena::Usage { llm_calls, ..arena::Usage::default() };
    let verified = given.member("verified")?.flag()?;
    let violations =
        arena::constraint_violations(&constraints(given)?, verified, &usage, arena::Scope::Calls);
    Ok(json!({ "violations": names(&violations) }))
}

fn validate_trajectory(given: &Given<'_>) -> Result<Value, String> {
    let steps = arena::replay_log(given.member("replay_log")?.value()).map_err(refused)?;
    let files = given.member("workspace_files")?;
    let mut texts = BTreeMap::new();
    let is_known = !files.is_null();
    for (path, file) in if is_known { files.members()? } else { Vec::new() } {
        texts.insert(path, file.text()?);
    }
    let options = arena::TrajectoryOptions::published();
    let grade = arena::validate_trajectory(&steps, window(given)?, is_known.then_some(&texts), &options);
    let mut answer = grade.detail();
    if let Value::Object(answer) = &mut answer {
        answer.insert("warning_count".into(), grade.warnings.len().into());
    }
    Ok(answer)
}

fn validate_submission_payload(given: &Given<'_>) -> Result<Value, String> {
    Ok(match arena::submission(given.member("payload")?.value()) {
        Ok(_) => json!({ "valid": true }),
        Err(problems) => json!({ "valid": false, "problems": all(&problems) }),
    })
}

fn submission_gate(given: &Given<'_>) -> Result<Value, String> {
    let status = if given.member("match_exists")?.flag()? {
        let status = given.member("status")?;
        Some(arena::MatchStatus::parse(status.text()?).map_err(refused)?)
    } else {
        None
    };
    let gate = arena::submission_gate(arena::Arrival {
        status,
        requester_is_owner: given.member("requester_is_owner")?.flag()?,
        past_deadline: given.member("past_deadline")?.flag()?,
    });
    Ok(json!({ "http_status": gate.http_status(), "accepted": gate.is_accepted() }))
}

fn harness_warning(given: &Given<'_>) -> Result<Value, String> {
    let [registered, submitted] =
        [given.member("registered")?.optional_text()?, given.member("submitted")?.optional_text()?];
    let warning = arena::harness_warning(registered.as_deref(), submitted.as_deref());
    Ok(json!({ "warning": warning.is_some(), "message": warning }))
}

fn structural_hash(given: &Given<'_>) -> Result<Value, String> {
    let harness = serde_json::from_value::<arena::Harness>(given.member("harness")?.value().clone());
    Ok(json!({ "hash": harness.map_err(|error| error.to_string())?.structural_hash() }))
}

fn submission_warnings(
    given: &Given<'_>,
    validate: impl FnOnce(&[String], &Map<String, Value>) -> Vec<arena::SubmissionWarning>,
) -> Result<Value, String> {
    let ids = given.member("expected_ids")?.texts()?;
    let submission = given.member("submission")?;
    let answer = submission.value().as_object().ok_or_else(|| submission.expected("an object"))?;
    let warnings = validate(&ids, answer);
    Ok(json!({ "warnings": warnings }))
}

fn parse_evaluator_output(given: &Given<'_>) -> Result<Value, String> {
    let stdout = given.member("stdout_lines")?.texts()?.join("\n");
    let exit_code = given.member("exit_code")?;
    let status = exit_code.value().as_i64().and_then(|status| i32::try_from(status).ok());
    if status.is_none() && !exit_code.is_null() {
        return Err(exit_code.expected("an exit status"));
    }
    Ok(match arena::parse_evaluator_output(&stdout, status) {
        Ok(output) => {
            let scores: Map<String, Value> =
                output.scores.iter().map(|(dimension, score)| (dimension.clone(), number(*score))).collect();
            json!({ "scores": scores, "error": false })
        }
        Err(problems) => json!({ "scores": {}, "error": true, "problems": all(&problems) }),
    })
}

fn breakdown(weights: &[(String, f64)], scores: &BTreeMap<&str, f64>) -> Value {
    let breakdown = arena::breakdown(weights, scores, 1000.0);
    let weighted: Map<String, Value> =
        breakdown.dimensions.iter().map(|part| (part.dimension.clone(), number(part.weighted))).collect();
    json!({ "weighted": weighted, "total": number(breakdown.total) })
}

fn weights(given: &Given<'_>) -> Result<Vec<(String, f64)>, String> {
    let weight = |dimension: Given<'_>| {
        Ok((dimension.member("key")?.text()?.to_owned(), dimension.member("weight")?.number()?))
    };
    given.member("dimensions")?.elements()?.into_iter().map(weight).collect()
}

fn constraints(given: &Given<'_>) -> Result<arena::Constraints, String> {
    let constraints = given.member("constraints")?;
    if constraints.is_null() {
        return Ok(arena::Constraints::default());
    }
    arena::Constraints::read(constraints.value()).map_err(refused)
}

fn window(given: &Given<'_>) -> Result<arena::Window, String> {
    let [started_at, submitted_at] = [given.member("started_at")?, given.member("submitted_at")?];
    arena::Window::parse(started_at.text()?, submitted_at.text()?).map_err(refused)
}

fn names(violations: &[arena::Violation]) -> Value {
    violations.iter().map(|violation| violation.constraint).collect()
}

fn list<'a>(given: &Given<'a>, name: &str) -> Result<&'a [Value], String> {
    let list = given.member(name)?;
    list.value().as_array().map(Vec::as_slice).ok_or_else(|| list.expected("an array"))
}
