//! Posting of tasks.

use data_encoding::HEXLOWER;
use karat::engine;
use karat_evidence::Problems;
use karat_reader::Kind as EvidenceKind;
use karat_run::{Job, Refusal};

use super::RETRIES_MAX;
use crate::arena::Draw;
use crate::flows::{Content, StoredTask, Task, commitment, milliseconds};
use crate::prelude::*;
use crate::signers::{ID, is_id};

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
        // One at a time, so that no two come in together that look alike.
        let _permit = app.memory.flows.permits.take("").await;
        let stored = {
            let state = app.memory.flows.state();
            if let Some(known) = state.task(&task_id) {
                if is_same(&request, &known.task) {
                    return Ok(Done { value: Arc::clone(&known.task), repeated: true });
                }
                refuse!(Conflict at "$.task.task_id",
                    "there is another task `{task_id}`, and a task never changes: choose another `task_id`");
            }
            if let Some(known) = state.like(&task_id) {
                refuse!(Conflict at "$.task.task_id",
                    "`{task_id}` looks like the posted task `{known}`: choose another `task_id`");
            }
            let now = app.clock.now();
            let mut faults = Faults::default();
            check_times(&request, now, &mut faults);
            let all = state.signers().filter(|it| it.revoked_at.is_none());
            let known: BTreeSet<String> = all.map(|it| it.recorder_id.clone()).collect();
            let (recordings, recorders, may_record) = check_recorders(&request, &known, &mut faults);
            faults.check()?;
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
    let mut faults = Faults::default();
    if request.card != pool.name() {
        let expected = format!("its version, too: `{}`", pool.name());
        faults.text("$.card", &request.card, expected);
    }
    if !engine::kind(&pool.card).is_ok_and(|kind| kind == EvidenceKind::WorkflowRun) {
        faults.text("$.card", &pool.name(), "a scorecard of the kind `workflow-run`");
    }
    if request.retries_max > RETRIES_MAX {
        faults.found("$.retries_max", request.retries_max, format_args!("0 to {RETRIES_MAX}"));
    }
    let id = match request.task.get("task_id") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    if !is_id(&id) {
        faults.text("$.task.task_id", &id, ID);
    }
    match probes(&request.task) {
        Err(refusal) => faults.0.extend(parts_of(&refusal)),
        Ok(probes) if faults.0.is_empty() => {
            let how = How { pool, as_of: None, holder: None, name: None };
            for scored in probes.iter().map(|item| how.score(item.as_bytes())) {
                match scored {
                    Err(problem) => {
                        faults.add("$.task", format!("no run of it could be scored: {}", problem.detail));
                    }
                    Ok(scored) if scored.row.score.is_none() => faults.add(
                        "$.task",
                        "not every run of it would have a score: expected `task_type`, `reference`, and in \
                         `constraints` `max_budget_tao` and `max_latency_seconds`",
                    ),
                    Ok(_) => {}
                }
            }
            faults.0.truncate(1);
        }
        Ok(_) => {}
    }
    faults.check()?;
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

fn check_times(request: &TaskRequest, now: Timestamp, faults: &mut Faults) {
    let mut read = |field: &str, text: &str| match Timestamp::parse(text) {
        Ok(moment) => Some(moment),
        Err(error) => {
            faults.add(field, format!("found `{}`, {error}", text.escape_debug()));
            None
        }
    };
    let plans = read("$.plans_until", &request.plans_until);
    let recordings = read("$.recordings_until", &request.recordings_until);
    let latest = Timestamp { milliseconds: now.milliseconds.saturating_add(LONGEST_MILLISECONDS) };
    if let Some(plans) = plans.filter(|plans| *plans <= now) {
        let expected = format!("a time after that of the server, {now}");
        faults.found("$.plans_until", plans, expected);
    }
    if let Some((plans, recordings)) = plans.zip(recordings) {
        let mut refuse = |expected: String| faults.found("$.recordings_until", recordings, expected);
        if recordings <= plans {
            refuse(format!("a time after `plans_until`, {plans}"));
        } else if recordings > latest {
            refuse(format!("at most a year from now: {latest}"));
        }
    }
}

/// Checks how many record, and who; returns it.
fn check_recorders(
    request: &TaskRequest,
    known: &BTreeSet<String>,
    faults: &mut Faults,
) -> (u32, u32, Vec<String>) {
    let pool: BTreeSet<&String> = match &request.may_record {
        None => known.iter().collect(),
        Some(names) => {
            for (at, name) in names.iter().enumerate() {
                let field = format!("$.may_record[{at}]");
                if !known.contains(name) {
                    faults.text(field, name, "a recorder that is in force");
                } else if names.iter().take(at).any(|before| before == name) {
                    faults.add(field, format!("found `{name}` a second time"));
                }
            }
            names.iter().collect()
        }
    };
    let recordings = request.recordings.unwrap_or(1);
    let recorders = request.recorders.unwrap_or(recordings);
    let count = u32::try_from(pool.len()).unwrap_or(u32::MAX);
    if recordings == 0 {
        faults.found("$.recordings", 0, "at least 1");
    } else if recorders < recordings {
        let expected = format!("at least as many as `recordings`, {recordings}");
        faults.found("$.recorders", recorders, expected);
    } else if count < recorders {
        let expected = format!(
            "at most as many as may record, {count}: an administrator registers recorders with POST \
             /v1/workflows/recorders"
        );
        faults.found("$.recorders", recorders, expected);
    }
    (recordings, recorders, pool.into_iter().cloned().collect())
}
