//! Plans of miners.

use data_encoding::HEXLOWER;
use karat::error::Error;
use karat_run::{Job, Notes, Refusal};

use super::publish::BLIND_DIGITS;
use super::{PLAN_BYTES_MAX, no_task};
use crate::content::Stored as _;
use crate::flows::{Content, Phase, Plan, StoredPlan, StoredTask, plan_id};
use crate::prelude::*;

/// Takes the plan of a miner for a task, which arrived at `now`. A miner hands in one plan for a task; the same again changes
/// nothing.
pub async fn hand_in(
    app: &Arc<App>,
    sender: &str,
    task: &str,
    miner: &str,
    content: Vec<u8>,
    now: Timestamp,
) -> Result<(Done<Plan>, Vec<String>), Problem> {
    if content.len() > PLAN_BYTES_MAX {
        refuse!(TooLarge, "a plan has at most {PLAN_BYTES_MAX} bytes, and this has {}", content.len());
    }
    let stored = app.memory.flows.state().task(task).map(|it| Arc::clone(&it.task));
    let stored = stored.ok_or_else(|| no_task(task))?;
    let late = {
        let until = stored.task.plans_until.clone();
        let task = task.to_owned();
        move || {
            let detail = format!("plans for the task `{}` were accepted until {until}", task.escape_debug());
            Problem::new(Code::Expired, detail)
        }
    };
    let is_late = stored.task.phase(now) != Phase::Plans;
    let (author, of) = (miner.to_owned(), Arc::clone(&stored));
    let (job, notes) = app.checked(move || read(&content, &of, &author)).await?;
    let plan = Plan {
        task_id: task.to_owned(),
        miner: miner.to_owned(),
        submitted_at: now.to_string(),
        plan_digest: job.plan_digest().to_string(),
    };
    let blind = app.clock.draw().map_err(|error| Problem::internal(&error))?;
    let blind: String = HEXLOWER.encode(&blind).chars().take(BLIND_DIGITS).collect();
    let content: Value = serde_json::from_str(&job.plan_text()).map_err(|error| Problem::internal(&error))?;
    let (app, batch) = (Arc::clone(app), Submission::from_sender(sender));
    let done = uninterrupted(async move {
        let _permit = app.memory.flows.permits.take(&plan_id(&plan.task_id, &plan.miner)).await;
        let known = app.memory.flows.state().plan(&plan.task_id, &plan.miner).map(|it| it.plan.clone());
        if let Some(known) = known {
            if known.plan_digest == plan.plan_digest {
                return Ok(Done { value: known, repeated: true });
            }
            refuse!(
                Conflict,
                "`{}` has handed in another plan for this task before: a task takes one plan of each miner",
                plan.miner.escape_debug()
            );
        }
        if is_late {
            return Err(late());
        }
        let is_other = |recorder: &&String| !recorder.eq_ignore_ascii_case(&plan.miner);
        let others = stored.task.may_record.iter().filter(is_other).count();
        if others < usize::try_from(stored.task.recordings).unwrap_or(usize::MAX) {
            refuse!(Conflict, "too few others could record this plan: no one records its own plan");
        }
        let content = Content::Plan(Box::new(StoredPlan { plan: plan.clone(), content, blind }));
        app.append_one(batch.with_all([content])?).await?;
        Ok(Done { value: plan, repeated: false })
    })
    .await?;
    let notes = notes.plan.iter().map(ToString::to_string).collect();
    Ok((done, notes))
}

/// Reads a plan as `karat run` does.
fn read(content: &[u8], task: &StoredTask, miner: &str) -> Result<(Job, Notes), Problem> {
    let of_task = canonical_json(&task.content);
    let read = Job::new(content, of_task.as_bytes(), Some(miner), Some(task.task.retries_max));
    read.map_err(|refusal| problem(&refusal))
}

fn problem(Refusal { plan, task, faults }: &Refusal) -> Problem {
    if !task.is_empty() {
        // It was checked when it was posted.
        return Problem::internal(&format!("a task that was accepted is refused: {task}"));
    }
    if !plan.is_empty() {
        return Problem::of_error(Code::EvidenceRefused, &Error::refused(plan));
    }
    let detail = faults.first().map(ToString::to_string).unwrap_or_default();
    let part = |detail: String| ProblemPart { detail, ..ProblemPart::default() };
    let parts = faults.iter().map(|fault| part(fault.to_string())).collect();
    Problem::new(Code::EvidenceRefused, detail).with_parts(parts)
}

/// Returns the plan of a miner for a task, out of the store, and the digest of its item.
pub(crate) async fn stored(app: &App, task: &str, miner: &str) -> Result<(Value, Digest), Problem> {
    let found = app.find(Kind::Workflow, plan_id(task, miner)).await?;
    let found = found.ok_or_else(|| Problem::internal(&"a plan is not in the store"))?;
    match Content::parse(&found.content) {
        Ok(Content::Plan(stored)) => Ok((stored.content, found.entry.content)),
        Ok(_) => Err(Problem::internal(&"the item of a plan is another")),
        Err(error) => Err(Problem::internal(&error)),
    }
}
