//! Recordings: delivered by recorders, and public once their plan has a verdict.

use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use super::freshen;
use super::plans::public;
use crate::api::batch::MEDIA;
use crate::api::{bytes, json, stored};
use crate::authority::Act;
use crate::flows::Verdict;
use crate::market;
use crate::params::{Answer, Get, Named, Post};
use crate::problem::{Expired, Problem, Taken, Unfit};

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
    tag = "workflows", security(("key" = ["write:evidence"])),
    params(
        ("task" = String, Path, description = "the id of the task"),
        ("miner" = String, Path, description = "the name of the author of the plan"),
    ),
    request_body(content = String, content_type = "application/x-ndjson"),
    responses(
        (status = 200, description = "It was delivered before.", body = AcceptedRecording),
        (status = 201, body = AcceptedRecording),
        Taken, Expired, Unfit,
    ))]
pub(crate) async fn deliver(
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
    ("recording" = String, Path, description = "its digest, `sha256:...`"),
), responses(
    (status = 200, description = "lines of canonical JSON", body = String, content_type = "application/x-ndjson"),
))]
pub(crate) async fn read_file(Get(app, _): Get, Named(digest): Named<String>) -> Answer {
    freshen(&app).await;
    let delivery = app.memory.flows.state().revealed(&digest).cloned();
    let delivery = delivery.ok_or_else(|| {
        let hint = "a recording is secret until its plan has a verdict";
        Problem::unknown("recording", &digest, hint)
    })?;
    let text = market::recording_text(&app, &delivery).await?;
    Ok(bytes(StatusCode::OK, MEDIA, text.into_bytes()))
}
