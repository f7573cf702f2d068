//! Recordings of recorders, each of which is replayed before it is kept.

use karat_run::{Job, Recording, Run};

use super::settle::settle;
use super::{RECORDING_BYTES_MAX, hand_in, no_plan, no_task, refused};
use crate::arrival;
use crate::flows::{Content, Delivery, PlanState, StoredTask, plan_id};
use crate::prelude::*;
use crate::signers::Recorder;

/// The first bytes of the last line of a recording.
const FOOT: &str = "{\"digest\":";
const RECORDING: &str = "recording";
const EVIDENCE: &str = "evidence";
const DIFFERENCES_MAX: usize = 20;

#[derive(Debug, Clone, PartialEq)]
pub struct Delivered {
    pub delivery: Delivery,
    /// The number of recordings of the plan, with this one.
    pub delivered: usize,
}

/// Takes the body of a request, which arrived at `now`: a recording of a plan, and perhaps the evidence of the run on a line
/// after it. If every recorder that was drawn has now delivered, the plan gets its verdict.
pub async fn deliver(
    app: &Arc<App>,
    sender: &str,
    task: &str,
    miner: &str,
    body: Vec<u8>,
    now: Timestamp,
) -> Result<Done<Delivered>, Problem> {
    let (stored, plan) = {
        let state = app.memory.flows.state();
        let of_task = state.task(task).ok_or_else(|| no_task(task))?;
        let plan = of_task.plans.get(miner).filter(|_| of_task.is_public(now));
        if !of_task.is_public(now) {
            refuse!(
                Conflict, "plans are accepted until {}, and recordings from then on",
                of_task.task.task.plans_until
            );
        }
        let plan = plan.cloned().ok_or_else(|| no_plan(task, miner))?;
        (Arc::clone(&of_task.task), plan)
    };
    let (content, _) = hand_in::stored(app, task, miner).await?;
    let recorders: Vec<Arc<Recorder>> = app.memory.flows.state().signers().map(Arc::clone).collect();
    let pool = app.memory.scorer(&stored.task.card)?;
    let work = {
        let (stored, plan) = (Arc::clone(&stored), plan.clone());
        move || read(&body, &stored, &content, &plan, &recorders, &pool, now)
    };
    let (recording, recorder) = app.checked(work).await?;
    let (app, batch) = (Arc::clone(app), Submission::from_sender(sender));
    let (task, miner) = (task.to_owned(), miner.to_owned());
    uninterrupted(async move {
        let _permit = app.memory.flows.permits.take(&plan_id(&task, &miner)).await;
        let known = app.memory.flows.state().plan(&task, &miner).cloned();
        let known = known.ok_or_else(|| no_plan(&task, &miner))?;
        let digest = recording.digest().to_string();
        if let Some(before) = known.deliveries.get(&recorder) {
            if before.recording == digest {
                let value =
                    Delivered { delivery: Delivery::clone(before), delivered: known.deliveries.len() };
                return Ok(Done { value, repeated: true });
            }
            refuse!(Conflict,
                "`{recorder}` has delivered another recording of this plan before: each recorder delivers one, and does \
                 not choose");
        }
        if let Some(twin) = known.deliveries.values().find(|it| it.recording == digest) {
            refuse!(Conflict,
                "`{}` has delivered this recording before: every recorder runs the plan itself",
                twin.recorder);
        }
        if known.verdict.is_some() || now.milliseconds > crate::flows::milliseconds(&stored.task.recordings_until) {
            refuse!(Expired, "recordings of this task were accepted until {}", stored.task.recordings_until);
        }
        if app.find(Kind::Evidence, ids::evidence(&miner, &digest)).await?.is_some() {
            refuse!(Conflict,
                "evidence with the digest of this recording as its id was sent before, so its run could not count: \
                 run the plan again");
        }
        // It may have been revoked since its signature was checked.
        let in_force = app.memory.flows.signers.read().await;
        if app.memory.flows.state().recorder(&recorder).is_none_or(|it| it.revoked_at.is_some()) {
            return Err(revoked(&recorder));
        }
        let delivery = Delivery {
            task_id: task.clone(),
            miner: miner.clone(),
            recorder,
            recording: digest.clone(),
            note: recording.note().unwrap_or_default().to_owned(),
            delivered_at: now.to_string(),
        };
        let item = NewItem::new(Kind::Recording, digest, recording.lines());
        let item = NewItem { subject: Some(miner.clone()), ..item };
        let batch = batch.with(item, None).with_all([Content::Delivery(delivery.clone())])?;
        app.append_one(batch).await?;
        drop(in_force);
        let delivered = known.deliveries.len() + 1;
        let is_complete = app.memory.flows.state().plan(&task, &miner).is_some_and(PlanState::is_complete);
        if is_complete {
            // The delivery is stored; if this fails, the next look at the task tries again.
            let _ = settle(&app, &task, &miner).await;
        }
        Ok(Done { value: Delivered { delivery, delivered }, repeated: false })
    })
    .await
}

/// Reads and checks a body. Returns the recording, and the recorder that signed it.
fn read(
    body: &[u8],
    task: &StoredTask,
    plan: &Value,
    state: &PlanState,
    recorders: &[Arc<Recorder>],
    pool: &ScorerPool,
    now: Timestamp,
) -> Result<(Recording, String), Problem> {
    let (text, evidence) = split(body)?;
    let recording =
        Recording::parse(text).map_err(|faults| refused(Code::EvidenceRefused, RECORDING, &faults))?;
    let recorder = signed_by(&recording, &state.drawn, recorders)?;
    let wrong = |detail: String| Err(Problem::new(Code::EvidenceRefused, detail).at(RECORDING));
    if recording.is_stopped() {
        return wrong(String::from("the run was stopped before its end: run the plan again"));
    }
    let run = replay(plan, task, &recording)?;
    let milliseconds = i64::try_from(recording.started_microseconds() / 1000).unwrap_or(i64::MAX);
    let started = Timestamp { milliseconds };
    if arrival::is_ahead(now, started) {
        return wrong(format!("the run began at {}", arrival::ahead(now, started)));
    }
    let opened = Timestamp { milliseconds: crate::flows::milliseconds(&task.task.plans_until) };
    if arrival::is_ahead(started, opened) {
        return wrong(format!(
            "the run began at {started}, when no one could know the plan: it is public since {opened}"
        ));
    }
    if let Some(evidence) = evidence {
        compare(evidence, &run)?;
    }
    // What cannot be scored is reported to who can correct it, and not found at the verdict.
    How { pool, as_of: None, holder: None, name: None }.score(run.evidence.as_bytes())?;
    Ok((recording, recorder))
}

/// Replays a recording of a plan that was handed in.
pub(super) fn replay(plan: &Value, task: &StoredTask, recording: &Recording) -> Result<Run, Problem> {
    let (plan, task) = (canonical_json(plan), canonical_json(&task.content));
    let job = Job::new(plan.as_bytes(), task.as_bytes(), None, None);
    let (job, _) = job.map_err(|_| Problem::internal(&"a plan that was accepted is refused"))?;
    job.replay(recording).map_err(|faults| refused(Code::EvidenceRefused, RECORDING, &faults))
}

/// Returns the recording in a body, and the evidence after it.
fn split(body: &[u8]) -> Result<(&str, Option<&str>), Problem> {
    let wrong = |detail: String| Problem::new(Code::EvidenceRefused, detail).at(RECORDING);
    if body.len() > RECORDING_BYTES_MAX {
        refuse!(TooLarge, "a recording has at most {RECORDING_BYTES_MAX} bytes, and this has {}", body.len());
    }
    let text = std::str::from_utf8(body).map_err(|error| wrong(format!("it is not UTF-8: {error}")))?;
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if line.starts_with(FOOT) {
            break;
        }
    }
    let (recording, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let rest = rest.trim();
    Ok((recording, (!rest.is_empty()).then_some(rest)))
}

/// Returns the recorder that signed a recording, if it was drawn.
fn signed_by(
    recording: &Recording,
    drawn: &[String],
    recorders: &[Arc<Recorder>],
) -> Result<String, Problem> {
    let expected = || format!("expected one of those that were drawn for this plan: {}", drawn.join(", "));
    let wrong = |detail: String| Err(Problem::new(Code::EvidenceRefused, detail).at(RECORDING));
    if !recording.is_signed() {
        return wrong(format!("it is not signed; {}, with `karat run --sign KEY`", expected()));
    }
    let has_signed = |recorder: &&Arc<Recorder>| {
        recorder.verifying_key().is_some_and(|key| recording.verify(&key).is_ok())
    };
    match recorders.iter().find(has_signed) {
        Some(recorder) if recorder.revoked_at.is_some() => Err(revoked(&recorder.recorder_id)),
        Some(recorder) if drawn.contains(&recorder.recorder_id) => Ok(recorder.recorder_id.clone()),
        Some(recorder) => wrong(format!("it is signed by `{}`; {}", recorder.recorder_id, expected())),
        None => wrong(format!("no recorder that is registered here signed it; {}", expected())),
    }
}

fn revoked(recorder: &str) -> Problem {
    let detail = format!("it is signed by `{recorder}`, whose key was revoked");
    Problem::new(Code::EvidenceRefused, detail).at(RECORDING)
}

/// Checks that evidence is, in canonical form, the same bytes as the replay gives.
fn compare(evidence: &str, run: &Run) -> Result<(), Problem> {
    let given: Value = crate::body::json(evidence.as_bytes())?;
    if canonical_json(&given) == run.evidence {
        return Ok(());
    }
    let expected: Value = serde_json::from_str(&run.evidence).unwrap_or_default();
    let mut found = Vec::new();
    differences("$", Some(&given), Some(&expected), &mut found);
    let parts: Vec<ProblemPart> =
        found.into_iter().map(|(field, detail)| ProblemPart::new(field, detail)).collect();
    let first =
        parts.first().map(|part| format!("{}: {}", part.field.as_deref().unwrap_or_default(), part.detail));
    let detail = format!(
        "the evidence does not follow from plan, task and recording: {}",
        first.unwrap_or_else(|| String::from("the text differs"))
    );
    Err(Problem::new(Code::EvidenceRefused, detail).at(EVIDENCE).with_parts(parts))
}

/// Lists where two values differ.
fn differences(
    path: &str,
    given: Option<&Value>,
    expected: Option<&Value>,
    found: &mut Vec<(String, String)>,
) {
    if given == expected || found.len() >= DIFFERENCES_MAX {
        return;
    }
    match (given, expected) {
        (Some(Value::Object(given)), Some(Value::Object(expected))) => {
            let new = given.keys().filter(|key| !expected.contains_key(*key));
            for key in expected.keys().chain(new) {
                let key_path = format!("{path}.{}", key.escape_debug());
                differences(&key_path, given.get(key), expected.get(key), found);
            }
        }
        (Some(Value::Array(given)), Some(Value::Array(expected))) => {
            for at in 0..given.len().max(expected.len()) {
                differences(&format!("{path}[{at}]"), given.get(at), expected.get(at), found);
            }
        }
        _ => found
            .push((path.to_owned(), format!("found {}, the replay gives {}", shown(given), shown(expected)))),
    }
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None => String::from("nothing"),
        Some(value) => {
            let text: String = value.to_string();
            let short: String = text.chars().take(60).collect();
            let rest = if short.len() < text.len() { "…" } else { "" };
            format!("`{short}{rest}`")
        }
    }
}
