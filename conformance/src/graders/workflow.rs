//! Cases about workflow runs: plans, attempts, accounts.

use std::collections::BTreeMap;

use karat_evidence::Problems;
use karat_graders::workflow::{
    Budget, Plan, PlanRules, References, StepResult, dry_run, jump, resolve, warm_up,
};
use serde_json::{Value, json};

use crate::given::Given;
use crate::judge::all;

/// Returns the answer of the function called `name`; `None` if it is not in this file.
pub fn answer(name: &str, given: &Given<'_>) -> Option<Result<Value, String>> {
    Some(match name {
        "dag.validate" => validate(given),
        "dataref.resolve" => resolve_references(given),
        "execute.account" => execute(given),
        "warmup.scale" => scale(given),
        "audit.jump" => audit(given),
        _ => return None,
    })
}

fn plan(given: &Given<'_>, rules: &PlanRules) -> Result<Plan, Problems> {
    Plan::from_json(given.value().to_string().as_bytes(), rules).map(|(plan, _)| plan)
}

/// `dag.validate`: true if the published validator accepts the plan, and the ids of its tiers.
fn validate(given: &Given<'_>) -> Result<Value, String> {
    // A value that is not an object is not a plan, so it is neither valid nor invalid.
    given.members()?;
    let plan = plan(given, &PlanRules::published_validator()).ok();
    let tiers = plan.as_ref().map(|plan| {
        let ids = plan.tiers().map(|tier| tier.map(|step| step.id.as_str()).collect());
        ids.collect::<Vec<Vec<&str>>>()
    });
    Ok(json!({"valid": tiers.is_some(), "tiers": tiers}))
}

/// `dataref.resolve`: parameters with the outputs of earlier steps filled in.
fn resolve_references(given: &Given<'_>) -> Result<Value, String> {
    let mut results = BTreeMap::new();
    for (id, step) in given.member("context")?.members()? {
        let is_success = step.member("status")?.optional_text()?.as_deref() == Some("success");
        let output = step.member("output")?.value().clone();
        results.insert(id.to_owned(), StepResult { is_success, output });
    }
    let value = resolve(given.member("params")?.value().clone(), &results).ok();
    Ok(json!({"ok": value.is_some(), "value": value}))
}

/// `execute.account`: the totals of a plan if every step succeeds at its estimated cost.
fn execute(given: &Given<'_>) -> Result<Value, String> {
    let rules = PlanRules { references: References::Noted, ..PlanRules::default() };
    let plan = plan(&given.member("workflow_plan")?, &rules).map_err(|problems| all(&problems))?;
    let constraints = given.member("constraints")?;
    let max_budget_tao =
        if constraints.is_null() { None } else { constraints.member("max_budget_tao")?.optional_number()? };
    let total_estimated_cost_tao = given.member("total_estimated_cost")?.optional_number()?;
    let run = dry_run(&plan, &Budget { max_budget_tao, total_estimated_cost_tao });
    Ok(json!({
        "steps_completed": run.steps_completed,
        "total_steps": run.steps_total,
        "actual_tao": run.actual_tao,
        "hard_failures": run.hard_failures,
        "budget_aborted": run.budget_aborted,
        "status": json!(run)["status"],
    }))
}

/// `warmup.scale`: the score of a new participant.
fn scale(given: &Given<'_>) -> Result<Value, String> {
    let scaled = warm_up(
        given.member("raw_score")?.number()?,
        given.member("tasks_seen")?.count()?,
        given.member("blocks_since_registration")?.count()?,
        given.member("immunity_period")?.count()?,
    );
    Ok(json!(scaled.map_err(|problem| problem.to_string())?))
}

/// `audit.jump`: the flag on a score far above those before it.
fn audit(given: &Given<'_>) -> Result<Value, String> {
    let history = given.member("history")?.elements()?;
    let history = history.iter().map(Given::number).collect::<Result<Vec<_>, _>>()?;
    let flagged = jump(&history, given.member("score")?.number()?).map_err(|problems| all(&problems))?;
    Ok(match flagged.map(|jump| jump.published()) {
        Some((score, mean, rise)) => json!({"flagged": true, "score": score, "prev_avg": mean, "jump": rise}),
        None => json!({"flagged": false, "score": null, "prev_avg": null, "jump": null}),
    })
}
