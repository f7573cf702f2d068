//! Posting of tasks.

use std::collections::BTreeSet;

use data_encoding::HEXLOWER;
use karat::engine;
use karat_evidence::{Problems, canonical_json};
use karat_reader::Kind as EvidenceKind;
use karat_run::{Job, Refusal};
use serde_json::json;

use super::RETRIES_MAX;
use crate::arena::Draw;
use crate::flows::{Content, StoredTask, Task, commitment, milliseconds};
use crate::prelude::*;
use crate::problem::ProblemPart;
use crate::scoring::How;
use crate::signers::{ID_MAX_BYTES, is_id};

/// The longest time from the posting of a task to the last recording: a year.
const LONGEST_MILLISECONDS: i64 = 366 * 86_400_000;
/// The digits of a random text that is put beside secrets before they are hashed into the log.
pub(super) const BLIND_DIGITS: usize = 32;
/// The retries that a step may declare, if the task does not say it.
const fn retries_usual() -> u64 {
    3
}

/// The request to post a task.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WorkflowTaskRequest)]
pub struct TaskRequest {
    /// The task, as `karat run --task` reads it, with `task_id` and `reference`.
    #[schema(value_type = BTreeMap<String, Value>)]
    pub task: Value,
    /// The scorecard, `id@version`: one of the kind `workflow-run`.
    #[schema(example = "workflow@1.0.0")]
    pub card: String,
    /// The last time at which a plan is accepted.
    #[schema(example = "2026-03-01T12:00:00Z")]
    pub plans_until: String,
    /// The last time at which a recording is accepted.
    #[schema(example = "2026-03-01T13:00:00Z")]
    pub recordings_until: String,
    /// The number of recordings of a plan that a verdict needs; 1 if not given.
    #[serde(default)]
    #[schema(minimum = 1)]
    pub recordings: Option<u32>,
    /// The number of recorders that are drawn for each plan; as many as recordings are needed, if not given.
    #[serde(default)]
    #[schema(minimum = 1)]
    pub recorders: Option<u32>,
    /// The recorders from which they are drawn, by id; all that are registered, if not given.
    #[serde(default)]
    pub may_record: Option<Vec<String>>,
    /// The most retries that a step may declare, 0 to 10; 3 if not given.
    #[serde(default = "retries_usual")]
    #[schema(minimum = 0, maximum = 10)]
    pub retries_max: u64,
}

/// Posts a task. Posting the same again changes nothing.
///
/// # Errors
/// If something is wrong with it: the problem lists everything. If another task has its id.
pub async fn publish(
    app: &Arc<App>,
    sender: &str,
    request: TaskRequest,
) -> Result<Done<Arc<StoredTask>>, Problem> {
    let pool = app.memory.cards().find(&request.card).map_err(|problem| problem.at("$.card"))?;
    let request = app.checked(move || check(&request, &pool).map(|id| (id, request))).await?;
    let (task_id, request) = request;
    let bytes = app.clock.draw().map_err(|error| Problem::internal(&error))?;
    let blind = app.clock.draw().map_err(|error| Problem::internal(&error))?;
    let blind: String = HEXLOWER.encode(&blind).chars().take(BLIND_DIGITS).collect();
    let (app, batch) = (Arc::clone(app), Submission::from_sender(sender));
    uninterrupted(async move {
        let permit = app.memory.flows.permits.take(&task_id).await;
        let stored = {
            let state = app.memory.flows.state();
            if let Some(known) = state.task(&task_id) {
                if is_same(&request, &known.task) {
                    return Ok(Done { value: Arc::clone(&known.task), repeated: true });
                }
                let detail = format!(
                    "there is another task `{task_id}`, and a task never changes: choose another `task_id`"
                );
                return Err(Problem::new(Code::Conflict, detail).at("$.task.task_id"));
            }
            let now = app.clock.now();
            let mut parts = Vec::new();
            check_times(&request, now, &mut parts);
            let all = state.signers().filter(|it| it.revoked_at.is_none());
            let known: BTreeSet<String> = all.map(|it| it.recorder_id.clone()).collect();
            let (recordings, recorders, may_record) = check_recorders(&request, &known, &mut parts);
            Problem::of_parts(Code::BadRequest, parts)?;
            let draw = Draw::new(bytes);
            let written = |text: &str| Timestamp { milliseconds: milliseconds(text) }.to_string();
            let task = Task {
                card: request.card.clone(),
                posted_at: now.to_string(),
                plans_until: written(&request.plans_until),
                recordings_until: written(&request.recordings_until),
                recordings,
                recorders,
                may_record,
                retries_max: request.retries_max,
                commitment: commitment(&draw, &task_id),
                task_id,
            };
            StoredTask { task, content: request.task, draw, blind }
        };
        app.append_one(batch.with_all([Content::Task(Box::new(stored.clone()))])?).await?;
        drop(permit);
        Ok(Done { value: Arc::new(stored), repeated: false })
    })
    .await
}

fn is_same(request: &TaskRequest, known: &StoredTask) -> bool {
    let task = &known.task;
    let recordings = request.recordings.unwrap_or(1);
    let pool = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
    canonical_json(&request.task) == canonical_json(&known.content)
        && request.card == task.card
        && milliseconds(&request.plans_until) == milliseconds(&task.plans_until)
        && milliseconds(&request.recordings_until) == milliseconds(&task.recordings_until)
        && recordings == task.recordings
        && request.recorders.unwrap_or(recordings) == task.recorders
        && request.may_record.as_deref().is_none_or(|names| pool(names) == pool(&task.may_record))
        && request.retries_max == task.retries_max
}

/// Checks what can be checked without the state of the server, and returns the id of the task.
fn check(request: &TaskRequest, pool: &ScorerPool) -> Result<String, Problem> {
    let mut parts = Vec::new();
    if request.card != pool.name() {
        let found = request.card.escape_debug();
        parts.push(ProblemPart::new(
            "$.card",
            format!("found `{found}`, expected its version, too: `{}`", pool.name()),
        ));
    }
    let is_run = engine::kind(&pool.card).is_ok_and(|kind| kind == EvidenceKind::WorkflowRun);
    if !is_run {
        let expected = "a scorecard of the kind `workflow-run`";
        parts.push(ProblemPart::new("$.card", format!("found `{}`, expected {expected}", pool.name())));
    }
    if request.retries_max > RETRIES_MAX {
        let found = request.retries_max;
        parts.push(ProblemPart::new("$.retries_max", format!("found {found}, expected 0 to {RETRIES_MAX}")));
    }
    let id = match request.task.get("task_id") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    if !is_id(&id) {
        let expected = format!("1 to {ID_MAX_BYTES} letters, digits, dots, hyphens and low lines");
        parts.push(ProblemPart::new(
            "$.task.task_id",
            format!("found `{}`, expected {expected}", id.escape_debug()),
        ));
    }
    match probes(&request.task) {
        Err(refusal) => parts.extend(parts_of(&refusal)),
        Ok(probes) if parts.is_empty() => {
            let score =
                |item: &String| How { pool, as_of: None, holder: None, name: None }.score(item.as_bytes());
            for scored in probes.iter().map(score) {
                match scored {
                    Err(problem) => {
                        parts.push(ProblemPart::new(
                            "$.task",
                            format!("no run of it could be scored: {}", problem.detail),
                        ));
                    }
                    Ok(scored) if scored.row.score.is_none() => {
                        let expected = "expected `task_type`, `reference`, and in `constraints` `max_budget_tao` and \
                                        `max_latency_seconds`";
                        parts.push(ProblemPart::new(
                            "$.task",
                            format!("not every run of it would have a score: {expected}"),
                        ));
                    }
                    Ok(_) => {}
                }
            }
            parts.truncate(1);
        }
        Ok(_) => {}
    }
    Problem::of_parts(Code::BadRequest, parts)?;
    Ok(id)
}

/// Returns the evidence of two runs of a plan for a task: one whose step gave an empty text, and one of the best quality, for
/// which a scorecard may ask more of the task.
fn probes(task: &Value) -> Result<[String; 2], Refusal> {
    let allowed = task.pointer("/constraints/allowed_subnets").and_then(|names| names.get(0)).cloned();
    let tool = || task.get("available_tools")?.as_object()?.keys().next().cloned().map(Value::String);
    let subnet = allowed.or_else(tool).unwrap_or_else(|| json!("any"));
    let plan = json!({"nodes": [{"id": "probe", "subnet": subnet, "action": "probe"}]});
    let (job, _) =
        Job::new(plan.to_string().as_bytes(), canonical_json(task).as_bytes(), Some("probe"), None)?;
    let mut item: Value = serde_json::from_str(&job.plan_text()).unwrap_or_default();
    let start = "2000-01-01T00:00:00Z";
    item["id"] = json!("probe");
    item["time"] = json!(start);
    item["task"] = task.clone();
    item["result"] = json!({
        "attempts": [
            {"step": "probe", "attempt": 1, "start": start, "end": start, "cost": 0, "outcome": "success"},
        ],
        "final_output": {"text": "", "artifacts": {"code": "", "metadata": {}}},
    });
    let mut best = item.clone();
    best["output_quality"] = json!(1);
    if let Some(result) = best["result"].as_object_mut() {
        result.remove("final_output");
    }
    if let Some(task) = best["task"].as_object_mut() {
        task.retain(|name, _| name != "reference" && name != "task_type");
    }
    Ok([&item, &best].map(canonical_json))
}

/// Returns the parts of what is wrong with a task. The plan of a probe has no faults, but through the task.
fn parts_of(Refusal { plan, task, faults }: &Refusal) -> Vec<ProblemPart> {
    let listed = |problems: &Problems| -> Vec<ProblemPart> {
        let list = problems.iter().map(|problem| {
            let path = problem.path.strip_prefix('$').unwrap_or(&problem.path);
            let hint = if problem.hint.is_empty() { String::new() } else { format!("; {}", problem.hint) };
            ProblemPart::new(
                format!("$.task{path}"),
                format!("found {}, expected {}{hint}", problem.found, problem.expected),
            )
        });
        list.collect()
    };
    let mut parts = listed(task);
    if parts.is_empty() {
        parts.extend(plan.iter().map(|problem| ProblemPart::new("$.task", problem.to_string())));
    }
    parts.extend(faults.iter().map(|fault| ProblemPart::new("$.task", fault.to_string())));
    parts
}

fn check_times(request: &TaskRequest, now: Timestamp, parts: &mut Vec<ProblemPart>) {
    let mut read = |field: &str, text: &str| match Timestamp::parse(text) {
        Ok(moment) => Some(moment),
        Err(error) => {
            parts.push(ProblemPart::new(field, format!("found `{}`, {error}", text.escape_debug())));
            None
        }
    };
    let plans = read("$.plans_until", &request.plans_until);
    let recordings = read("$.recordings_until", &request.recordings_until);
    let latest = Timestamp { milliseconds: now.milliseconds.saturating_add(LONGEST_MILLISECONDS) };
    if let Some(plans) = plans.filter(|plans| *plans <= now) {
        parts.push(ProblemPart::new(
            "$.plans_until",
            format!("found {plans}, expected a time after that of the server, {now}"),
        ));
    }
    if let Some((plans, recordings)) = plans.zip(recordings) {
        if recordings <= plans {
            let detail = format!("found {recordings}, expected a time after `plans_until`, {plans}");
            parts.push(ProblemPart::new("$.recordings_until", detail));
        } else if recordings > latest {
            let detail = format!("found {recordings}, expected at most a year from now: {latest}");
            parts.push(ProblemPart::new("$.recordings_until", detail));
        }
    }
}

/// Checks how many record, and who; returns it.
fn check_recorders(
    request: &TaskRequest,
    known: &BTreeSet<String>,
    parts: &mut Vec<ProblemPart>,
) -> (u32, u32, Vec<String>) {
    let pool: Vec<String> = match &request.may_record {
        None => known.iter().cloned().collect(),
        Some(names) => {
            for (at, name) in names.iter().enumerate() {
                let field = format!("$.may_record[{at}]");
                if !known.contains(name) {
                    let detail =
                        format!("found `{}`, expected a recorder that is in force", name.escape_debug());
                    parts.push(ProblemPart::new(field, detail));
                } else if names.iter().take(at).any(|before| before == name) {
                    parts.push(ProblemPart::new(field, format!("found `{name}` a second time")));
                }
            }
            names.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect()
        }
    };
    let recordings = request.recordings.unwrap_or(1);
    let recorders = request.recorders.unwrap_or(recordings);
    let count = u32::try_from(pool.len()).unwrap_or(u32::MAX);
    if recordings == 0 {
        parts.push(ProblemPart::new("$.recordings", String::from("found 0, expected at least 1")));
    } else if recorders < recordings {
        let detail = format!("found {recorders}, expected at least as many as `recordings`, {recordings}");
        parts.push(ProblemPart::new("$.recorders", detail));
    } else if count < recorders {
        let detail = format!(
            "found {recorders}, expected at most as many as may record, {count}: an administrator registers \
             recorders with POST /v1/workflows/recorders"
        );
        parts.push(ProblemPart::new("$.recorders", detail));
    }
    (recordings, recorders, pool)
}
