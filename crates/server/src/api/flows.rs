//! Workflows over HTTP: tasks, public but for what would tell the answer before the plans are in; plans of miners, with what was
//! recorded of them; recordings, public once their plan has a verdict.

use serde_json::Map;

use crate::api::batch::MEDIA;
use crate::api::{bytes, json, stored};
use crate::flows::{self, PlanState, StoredTask, Task, TaskState, Verdict};
use crate::market::{self, TaskRequest};
use crate::prelude::*;

/// Gives the verdicts that are due before a read. If they cannot be written now, the next request tries again.
async fn freshen(app: &Arc<App>) {
    // The problem is already in the log of the server.
    let _ = market::settle_due(app).await;
}

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
    (status = 200, body = TaskList)))]
pub(crate) async fn list_tasks(Get(app, _): Get) -> Answer {
    let now = app.clock.now();
    let tasks = app.memory.flows.state().tasks().map(|task| ShownTask::new(task, now)).collect();
    json(StatusCode::OK, &TaskList { tasks })
}

/// Returns a task, and once no plan is accepted any more its plans with their recordings and verdicts.
#[utoipa::path(get, operation_id = "show_task", path = "/v1/workflows/tasks/{task}", tag = "workflows", params(
    ("task" = String, Path, description = "its id")), responses((status = 200, body = TaskWithPlans)))]
pub(crate) async fn show_task(Get(app, _): Get, Named(id): Named<String>) -> Answer {
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
    ("task" = String, Path, description = "its id")), responses(
    (status = 200, description = "canonical JSON", body = BTreeMap<String, Value>, content_type = "application/json"), Taken))]
pub(crate) async fn read_task(Get(app, _): Get, Named(id): Named<String>) -> Answer {
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
    security(("key" = ["admin"])), request_body = TaskRequest, responses(
    (status = 200, description = "It was already posted.", body = ShownTask), (status = 201, body = ShownTask), Absent, Taken))]
pub(crate) async fn post_task(Post { app, caller, body }: Post) -> Answer {
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
    request_body(content = BTreeMap<String, Value>, content_type = "application/json"), responses(
    (status = 200, description = "It was handed in before.", body = AcceptedPlan), (status = 201, body = AcceptedPlan),
    Taken, Expired, Unfit))]
pub(crate) async fn hand_in_plan(Named(task): Named<String>, Post { app, caller, body }: Post) -> Answer {
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
    ("task" = String, Path, description = "the id of the task"), ("miner" = String, Path, description = "the name of its author"),
    ), responses((status = 200, body = ShownPlan), Taken))]
pub(crate) async fn show_plan(Get(app, _): Get, Named((task, miner)): Named<(String, String)>) -> Answer {
    freshen(&app).await;
    let shown = ShownPlan::new(&public(&app, &task, &miner)?);
    json(StatusCode::OK, &shown)
}

/// Returns a plan for `karat run`, with the name of its author, once no plan is accepted any more.
#[utoipa::path(get, operation_id = "read_plan", path = "/v1/workflows/tasks/{task}/plans/{miner}/plan", tag = "workflows", params(
    ("task" = String, Path, description = "the id of the task"), ("miner" = String, Path, description = "the name of its author"),
    ), responses(
    (status = 200, description = "canonical JSON", body = BTreeMap<String, Value>, content_type = "application/json"), Taken))]
pub(crate) async fn read_plan(Get(app, _): Get, Named((task, miner)): Named<(String, String)>) -> Answer {
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

/// A recording that was taken.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AcceptedRecording {
    /// The id of the task.
    task_id: String,
    /// The author of the plan.
    miner: String,
    /// The recorder that signed it.
    recorder: String,
    /// The digest of the recording.
    recording: String,
    /// The time at which it arrived.
    delivered_at: String,
    /// True if it was delivered before.
    repeated: bool,
    /// The number of recorders that have delivered.
    delivered: usize,
    /// The number of recorders that were drawn.
    drawn: usize,
    /// The verdict, if this was the last recording that it waited for.
    result: Option<Verdict>,
}

/// Delivers a recording of a plan, signed by a recorder that was drawn for it: the lines of `karat run --record --sign`, and
/// if you like the evidence of that run on one line after them. The server replays the recording; evidence that does not follow
/// from it is refused.
#[utoipa::path(post, operation_id = "deliver_recording", path = "/v1/workflows/tasks/{task}/plans/{miner}/recordings",
    tag = "workflows", security(("key" = ["write:evidence"])), params(("task" = String, Path, description = "the id of the task"),
    ("miner" = String, Path, description = "the name of the author of the plan")),
    request_body(content = String, content_type = "application/x-ndjson"), responses(
    (status = 200, description = "It was delivered before.", body = AcceptedRecording), (status = 201, body = AcceptedRecording),
    Taken, Expired, Unfit))]
pub(crate) async fn deliver_recording(
    Named((task, miner)): Named<(String, String)>,
    Post { app, caller, body }: Post,
) -> Answer {
    let sender = caller.key(&Act::Deliver)?.id.clone();
    let body = body.whole(&app, &[MEDIA], market::RECORDING_BYTES_MAX).await?;
    let now = app.clock.now();
    let done = market::deliver(&app, &sender, &task, &miner, body, now).await?;
    let plan = public(&app, &task, &miner)?;
    let market::Delivered { delivery, delivered } = done.value;
    let shown = AcceptedRecording {
        task_id: delivery.task_id,
        miner: delivery.miner,
        recorder: delivery.recorder,
        recording: delivery.recording,
        delivered_at: delivery.delivered_at,
        repeated: done.repeated,
        delivered,
        drawn: plan.drawn.len(),
        result: plan.verdict.as_ref().map(|verdict| Verdict::clone(verdict)),
    };
    json(stored(done.repeated), &shown)
}

/// Returns a recording with the signature of its recorder, once its plan has a verdict: `karat run --replay` replays it.
#[utoipa::path(get, operation_id = "read_recording", path = "/v1/workflows/recordings/{recording}", tag = "workflows", params(
    ("recording" = String, Path, description = "its digest, `sha256:...`")), responses(
    (status = 200, description = "lines of canonical JSON", body = String, content_type = "application/x-ndjson")))]
pub(crate) async fn read_recording(Get(app, _): Get, Named(digest): Named<String>) -> Answer {
    freshen(&app).await;
    let delivery = app.memory.flows.state().revealed(&digest);
    let delivery = delivery.ok_or_else(|| {
        let hint = "a recording is secret until its plan has a verdict";
        Problem::unknown("recording", &digest, hint)
    })?;
    let text = market::recording_text(&app, &delivery).await?;
    Ok(bytes(StatusCode::OK, MEDIA, text.into_bytes()))
}
