//! Tasks: posted by administrators, public but for what would tell the answer before the plans are in.

use std::sync::Arc;

use axum::http::StatusCode;
use karat_core::facts::Digest;
use karat_core::timestamp::Timestamp;
use karat_evidence::canonical_json;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::freshen;
use super::plans::ShownPlan;
use crate::api::{bytes, json, stored};
use crate::authority::Act;
use crate::flows::{StoredTask, Task, TaskState};
use crate::market::{self, TaskRequest};
use crate::params::{Answer, Get, Named, Post};
use crate::problem::{Absent, Code, Problem, Taken};

/// The members of a task that miners see while they may hand in plans.
const FOR_MINERS: [&str; 6] =
    ["available_tools", "constraints", "description", "quality_criteria", "task_id", "task_type"];

/// A task as it is shown.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ShownTask {
    #[serde(flatten)]
    task: Task,
    /// `plans`: plans are accepted; `recordings`: recordings are; `over`: nothing is.
    phase: &'static str,
    /// The task for miners: what it asks, and within which limits. Without the reference.
    for_miners: Map<String, Value>,
    /// The digest of the task, as in recordings; null while plans are accepted.
    task_digest: Option<String>,
    /// The draw, 64 hexadecimal digits; null while plans are accepted.
    draw: Option<String>,
    /// The number of plans.
    plan_count: usize,
}

/// A task with its plans.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TaskWithPlans {
    #[serde(flatten)]
    task: ShownTask,
    /// The plans, by miner; empty while plans are accepted.
    plans: Vec<ShownPlan>,
}

/// All tasks, the last posted first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TaskList {
    tasks: Vec<ShownTask>,
}

impl ShownTask {
    fn new(of_task: &TaskState, now: Timestamp) -> Self {
        let StoredTask { task, content, draw, .. } = &*of_task.task;
        let is_public = of_task.is_public(now);
        let members = FOR_MINERS.into_iter().filter_map(|name| {
            let value = content.get(name)?;
            Some((name.to_owned(), value.clone()))
        });
        Self {
            task: task.clone(),
            phase: task.phase(now).name(),
            for_miners: members.collect(),
            task_digest: is_public.then(|| Digest::of(canonical_json(content).as_bytes()).to_string()),
            draw: is_public.then(|| draw.digits()),
            plan_count: of_task.plans.len(),
        }
    }
}

/// Lists all tasks, the last posted first.
#[utoipa::path(get, operation_id = "list_tasks", path = "/v1/workflows/tasks", tag = "workflows", responses(
    (status = 200, body = TaskList),
))]
pub(crate) async fn list(Get(app, _): Get) -> Answer {
    let now = app.clock.now();
    let tasks = app.memory.flows.state().tasks().map(|task| ShownTask::new(task, now)).collect();
    json(StatusCode::OK, &TaskList { tasks })
}

/// Returns a task, and once no plan is accepted any more its plans with their recordings and verdicts.
#[utoipa::path(get, operation_id = "show_task", path = "/v1/workflows/tasks/{task}", tag = "workflows", params(
    ("task" = String, Path, description = "its id"),
), responses(
    (status = 200, body = TaskWithPlans),
))]
pub(crate) async fn show(Get(app, _): Get, Named(id): Named<String>) -> Answer {
    freshen(&app).await;
    let now = app.clock.now();
    let shown = {
        let state = app.memory.flows.state();
        let of_task = state.task(&id).ok_or_else(|| market::no_task(&id))?;
        let is_public = of_task.is_public(now);
        let plans = of_task.plans.values().filter(|_| is_public).map(ShownPlan::new).collect();
        TaskWithPlans { task: ShownTask::new(of_task, now), plans }
    };
    json(StatusCode::OK, &shown)
}

/// Returns the whole task for `karat run --task`, once no plan is accepted any more.
#[utoipa::path(get, operation_id = "read_task", path = "/v1/workflows/tasks/{task}/task", tag = "workflows", params(
    ("task" = String, Path, description = "its id"),
), responses(
    (status = 200, description = "canonical JSON", body = BTreeMap<String, Value>, content_type = "application/json"),
    Taken,
))]
pub(crate) async fn read_file(Get(app, _): Get, Named(id): Named<String>) -> Answer {
    let now = app.clock.now();
    let task = {
        let state = app.memory.flows.state();
        let of_task = state.task(&id).ok_or_else(|| market::no_task(&id))?;
        if !of_task.is_public(now) {
            return Err(too_early(&of_task.task.task));
        }
        Arc::clone(&of_task.task)
    };
    Ok(bytes(StatusCode::OK, "application/json", canonical_json(&task.content).into_bytes()))
}

/// Returns the problem of something that is secret while plans are accepted.
pub(super) fn too_early(task: &Task) -> Problem {
    let detail = format!("it is secret while plans are accepted, until {}", task.plans_until);
    Problem::new(Code::Conflict, detail)
}

/// Posts a task. It never changes; posting the same again changes nothing.
#[utoipa::path(post, operation_id = "post_task", path = "/v1/workflows/tasks", tag = "workflows",
    security(("key" = ["admin"])), request_body = TaskRequest,
    responses(
        (status = 200, description = "It was already posted.", body = ShownTask),
        (status = 201, body = ShownTask),
        Absent, Taken,
    ))]
pub(crate) async fn post(Post { app, caller, body }: Post) -> Answer {
    let sender = caller.key(&Act::PostTask)?.id.clone();
    let request: TaskRequest = body.json(&app).await?;
    let done = market::publish(&app, &sender, request).await?;
    let now = app.clock.now();
    let id = &done.value.task.task_id;
    let shown = app.memory.flows.state().task(id).map(|of_task| ShownTask::new(of_task, now));
    json(
        stored(done.repeated),
        &shown.ok_or_else(|| Problem::internal(&"a task that was posted is not there"))?,
    )
}
