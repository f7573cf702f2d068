//! The verdict on a plan: its recordings are replayed and scored, and the median by score counts.

use karat_core::number::Score;
use karat_run::Recording;

use super::deliver::replay;
use super::{hand_in, no_plan, no_task};
use crate::content::Stored as _;
use crate::flows::{Content, Delivery, PlanState, Scored, StoredTask, Task, Verdict, VerdictState, plan_id};
use crate::prelude::*;
use crate::scoring::ScoredItem;

/// Gives a verdict to every plan for which no more recordings are accepted.
pub async fn settle_due(app: &Arc<App>) -> Result<(), Problem> {
    let due = app.memory.flows.state().due(app.clock.now());
    if due.is_empty() {
        return Ok(());
    }
    let app = Arc::clone(app);
    uninterrupted(async move {
        let mut failed = None;
        for (task, miner) in due {
            let _permit = app.memory.flows.permits.take(&plan_id(&task, &miner)).await;
            // One that cannot be settled does not hold up the others.
            if let Err(problem) = settle(&app, &task, &miner).await {
                failed.get_or_insert(problem);
            }
        }
        failed.map_or(Ok(()), Err)
    })
    .await
}

/// Gives verdicts when they are due, for as long as the server runs: no one need look at a task for its records to count.
pub(crate) async fn settle_on_time(app: Arc<App>) {
    const LOOK: Duration = Duration::from_secs(1);
    const AFTER_FAILURE: Duration = Duration::from_secs(60);
    loop {
        let pause = if settle_due(&app).await.is_ok() { LOOK } else { AFTER_FAILURE };
        tokio::time::sleep(pause).await;
    }
}

/// Gives a plan its verdict, if it has none. The caller has the permit.
pub(super) async fn settle(app: &Arc<App>, task: &str, miner: &str) -> Result<(), Problem> {
    let (stored, state) = {
        let state = app.memory.flows.state();
        let of_task = state.task(task).ok_or_else(|| no_task(task))?;
        let plan = of_task.plans.get(miner).ok_or_else(|| no_plan(task, miner))?;
        (Arc::clone(&of_task.task), plan.clone())
    };
    if state.verdict.is_some() {
        return Ok(());
    }
    let (plan, source) = hand_in::stored(app, task, miner).await?;
    let mut recordings = Vec::new();
    for delivery in state.deliveries.values() {
        recordings.push((Arc::clone(delivery), recording(app, delivery).await?));
    }
    let pool = app.memory.scorer(&stored.task.card)?;
    let decided_at = app.clock.now().to_string();
    let work = {
        let (stored, state) = (Arc::clone(&stored), state.clone());
        move || {
            Bench { task: &stored, plan: &plan, state: &state, pool: &pool, decided_at }.decide(&recordings)
        }
    };
    let (verdict, counted) = app.checked(move || Ok(work())).await?;
    let batch = batch(&stored, &source, verdict.clone(), counted)?;
    match app.append_one(batch).await {
        Ok(_) => Ok(()),
        // Evidence with that id from before the task was posted.
        Err(problem) if problem.code == Code::Conflict => {
            let reason = String::from("another item of the log has the id of its evidence");
            let verdict = Verdict { state: VerdictState::NoVerdict { reason }, ..verdict };
            let batch = Submission::of_server().with_all([Content::Verdict(Box::new(verdict))])?;
            app.append_one(batch).await.map(|_| ())
        }
        Err(problem) => Err(problem),
    }
}

/// Returns the items of a verdict, to be stored together.
fn batch(
    task: &StoredTask,
    plan: &Digest,
    verdict: Verdict,
    counted: Option<(Digest, ScoredItem)>,
) -> Result<Submission, Problem> {
    let mut batch = Submission::of_server();
    if let Some((recording, mut scored)) = counted {
        let item: NewItem =
            Content::Task(Box::new(task.clone())).item().map_err(|error| Problem::internal(&error))?;
        scored.evidence.sources = vec![Digest::of(&item.content), *plan, recording];
        // So that the receipt of the record names the recording, too.
        scored.record.sources.push(recording);
        batch =
            batch.with(scored.evidence, None).with(scored.record, Some(Effect::Record(Box::new(scored.row))));
    }
    batch.with_all([Content::Verdict(Box::new(verdict))])
}

/// Everything that a verdict rests on but the recordings.
struct Bench<'a> {
    task: &'a StoredTask,
    plan: &'a Value,
    state: &'a PlanState,
    pool: &'a ScorerPool,
    decided_at: String,
}

impl Bench<'_> {
    /// Replays and scores the recordings, and chooses the one that counts.
    fn decide(self, recordings: &[(Arc<Delivery>, Recording)]) -> (Verdict, Option<(Digest, ScoredItem)>) {
        let mut scored: Vec<(Option<Score>, Digest, &Delivery, Option<ScoredItem>)> = Vec::new();
        for (delivery, recording) in recordings {
            let item = self.score(recording);
            if let Err(problem) = &item {
                // It was replayed when it was delivered, perhaps by another version.
                tracing::warn!(recording = delivery.recording, problem.detail, "a recording has no score");
            }
            let item = item.ok();
            let score = item.as_ref().and_then(|item| item.row.score);
            scored.push((score, recording.digest(), &**delivery, item));
        }
        scored.sort_by_key(|(score, digest, ..)| (*score, *digest));
        let rows: Vec<Scored> = scored
            .iter()
            .map(|(score, digest, delivery, _)| Scored {
                recorder: delivery.recorder.clone(),
                recording: digest.to_string(),
                score: *score,
            })
            .collect();
        scored.retain(|(score, ..)| score.is_some());
        let Task { recordings: needed, recordings_until, task_id, .. } = &self.task.task;
        let verdict = |state| Verdict {
            task_id: task_id.clone(),
            miner: self.state.plan.miner.clone(),
            decided_at: self.decided_at.clone(),
            recordings: rows.clone(),
            state,
        };
        let count = scored.len();
        if count < usize::try_from(*needed).unwrap_or(usize::MAX) {
            let reason = format!("{count} of {needed} recordings with a score until {recordings_until}");
            return (verdict(VerdictState::NoVerdict { reason }), None);
        }
        // Of an even number, the lower of the two in the middle.
        let (score, digest, _, item) = scored.swap_remove((count - 1) / 2);
        let (Some(item), Some(score)) = (item, score) else {
            // What has a score was scored.
            return (verdict(VerdictState::NoVerdict { reason: String::from("no score") }), None);
        };
        let state = VerdictState::Scored {
            counted: digest.to_string(),
            score,
            evidence: item.evidence.id.clone(),
            record: item.record.id.clone(),
        };
        (verdict(state), Some((digest, item)))
    }

    fn score(&self, recording: &Recording) -> Result<ScoredItem, Problem> {
        let run = replay(self.plan, self.task, recording)?;
        let how = How { pool: self.pool, as_of: None, holder: None, name: None };
        let mut item = how.score(run.evidence.as_bytes())?;
        // The plan is the miner's; what became of it was measured by those who ran it.
        item.row.trust = Trust::Measured;
        Ok(item)
    }
}

/// Returns a recording that was delivered, out of the store.
async fn recording(app: &App, delivery: &Delivery) -> Result<Recording, Problem> {
    let text = text(app, delivery).await?;
    Recording::parse(&text).map_err(|_| Problem::internal(&"a recording in the store is refused"))
}

/// Returns the text of a recording that was delivered, with the signature of its recorder.
pub(crate) async fn text(app: &App, delivery: &Delivery) -> Result<String, Problem> {
    let found = app.find(Kind::Recording, delivery.recording.clone()).await?;
    let found = found.ok_or_else(|| Problem::internal(&"a recording is not in the store"))?;
    let lines = String::from_utf8(found.content).map_err(|error| Problem::internal(&error))?;
    Ok(Recording::signed_text(&lines, &delivery.note))
}
