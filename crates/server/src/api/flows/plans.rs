//! Plans of miners, with what was recorded of them.

use std::sync::Arc;

use axum::http::StatusCode;
use karat_evidence::canonical_json;
use serde::Serialize;
use utoipa::ToSchema;

use super::freshen;
use super::tasks::too_early;
use crate::api::{bytes, json, stored};
use crate::authority::Act;
use crate::flows::{self, PlanState, Verdict};
use crate::market;
use crate::params::{Answer, Get, Named, Post};
use crate::problem::{Expired, Problem, Taken, Unfit};
use crate::state::App;

/// A plan as it is shown, once no plan is accepted any more.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ShownPlan {
    #[serde(flatten)]
    plan: flows::Plan,
    /// The recorders that were drawn for it, by id.
    drawn: Vec<String>,
    /// Those of them that have delivered. What they delivered is secret until the verdict.
    delivered: Vec<String>,
    /// The verdict; null while recorders may deliver.
    result: Option<Verdict>,
}

/// A plan that was handed in.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AcceptedPlan {
    #[serde(flatten)]
    plan: flows::Plan,
    /// True if it was handed in before.
    repeated: bool,
    /// Notes: what is hardly meant, and which fields have no effect.
    notes: Vec<String>,
}

impl ShownPlan {
    pub(super) fn new(state: &PlanState) -> Self {
        Self {
            plan: state.plan.clone(),
            drawn: state.drawn.clone(),
            delivered: state.deliveries.keys().cloned().collect(),
            result: state.verdict.as_ref().map(|verdict| Verdict::clone(verdict)),
        }
    }
}

/// Hands in the plan of the caller, one for a task and in time. It is checked as `karat run` checks it, and is secret until
/// no plan is accepted any more. The same again changes nothing.
#[utoipa::path(post, operation_id = "hand_in_plan", path = "/v1/workflows/tasks/{task}/plans", tag = "workflows",
    security(("key" = ["write:evidence"])), params(("task" = String, Path, description = "the id of the task")),
    request_body(content = BTreeMap<String, Value>, content_type = "application/json"),
    responses(
        (status = 200, description = "It was handed in before.", body = AcceptedPlan),
        (status = 201, body = AcceptedPlan),
        Taken, Expired, Unfit,
    ))]
pub(crate) async fn hand_in(Named(task): Named<String>, Post { app, caller, body }: Post) -> Answer {
    let key = Arc::clone(caller.key(&Act::HandIn)?);
    let miner = key.subject.clone().unwrap_or_default();
    let most = market::PLAN_BYTES_MAX.min(app.options.body_bytes_max);
    let body = body.whole(&app, &["application/json"], most).await?;
    // A plan is in time if all of it has arrived in time.
    let now = app.clock.now();
    let (done, notes) = market::hand_in(&app, &key.id, &task, &miner, body, now).await?;
    let shown = AcceptedPlan { plan: done.value, repeated: done.repeated, notes };
    json(stored(done.repeated), &shown)
}

/// Returns a plan with the recorders that were drawn for it, its recordings and its verdict, once no plan is accepted any more.
#[utoipa::path(get, operation_id = "show_plan", path = "/v1/workflows/tasks/{task}/plans/{miner}", tag = "workflows", params(
    ("task" = String, Path, description = "the id of the task"),
    ("miner" = String, Path, description = "the name of its author"),
), responses(
    (status = 200, body = ShownPlan),
    Taken,
))]
pub(crate) async fn show(Get(app, _): Get, Named((task, miner)): Named<(String, String)>) -> Answer {
    freshen(&app).await;
    let shown = ShownPlan::new(&public(&app, &task, &miner)?);
    json(StatusCode::OK, &shown)
}

/// Returns a plan for `karat run`, with the name of its author, once no plan is accepted any more.
#[utoipa::path(get, operation_id = "read_plan", path = "/v1/workflows/tasks/{task}/plans/{miner}/plan", tag = "workflows",
    params(
        ("task" = String, Path, description = "the id of the task"),
        ("miner" = String, Path, description = "the name of its author"),
    ), responses(
        (status = 200, description = "canonical JSON", body = BTreeMap<String, Value>, content_type = "application/json"),
        Taken,
    ))]
pub(crate) async fn read_file(Get(app, _): Get, Named((task, miner)): Named<(String, String)>) -> Answer {
    public(&app, &task, &miner)?;
    let (content, _) = market::plan(&app, &task, &miner).await?;
    Ok(bytes(StatusCode::OK, "application/json", canonical_json(&content).into_bytes()))
}

/// Returns a plan that anyone may see.
pub(super) fn public(app: &App, task: &str, miner: &str) -> Result<PlanState, Problem> {
    let state = app.memory.flows.state();
    let of_task = state.task(task).ok_or_else(|| market::no_task(task))?;
    // Not even whether there is one is shown before.
    if !of_task.is_public(app.clock.now()) {
        return Err(too_early(&of_task.task.task));
    }
    of_task.plans.get(miner).cloned().ok_or_else(|| market::no_plan(task, miner))
}
