//! Recordings: delivered by recorders, and public once their plan has a verdict.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

use super::freshen;
use super::plans::public;
use crate::api::batch::MEDIA;
use crate::api::{bytes, json};
use crate::authority::Act;
use crate::body::{Incoming, expect_media};
use crate::flows::Verdict;
use crate::guard::Caller;
use crate::market;
use crate::params::Named;
use crate::problem::Problem;
use crate::state::App;

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
        (status = 409, body = Problem, content_type = "application/problem+json"),
        (status = 410, body = Problem, content_type = "application/problem+json"),
        (status = 422, body = Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn deliver(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named((task, miner)): Named<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response<Body>, Problem> {
    let sender = caller.key(&Act::Deliver)?.id.clone();
    expect_media(&headers, &[MEDIA])?;
    let incoming = Incoming::new(&headers, body, market::RECORDING_BYTES_MAX, app.options.body_timeout)?;
    let body = incoming.whole().await?;
    app.metrics.received(body.len() as u64);
    let now = app.clock.now();
    let done = market::deliver(&app, &sender, &task, &miner, body.to_vec(), now).await?;
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
    json(if done.repeated { StatusCode::OK } else { StatusCode::CREATED }, &shown)
}

/// Returns a recording with the signature of its recorder, once its plan has a verdict: `karat run --replay` replays it.
#[utoipa::path(get, operation_id = "read_recording", path = "/v1/workflows/recordings/{recording}", tag = "workflows", params(
    ("recording" = String, Path, description = "its digest, `sha256:...`"),
), responses(
    (status = 200, description = "lines of canonical JSON", body = String, content_type = "application/x-ndjson"),
))]
pub(crate) async fn read_file(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(digest): Named<String>,
) -> Result<Response<Body>, Problem> {
    caller.may(&Act::Read)?;
    freshen(&app).await;
    let delivery = app.memory.flows.state().revealed(&digest).cloned();
    let delivery = delivery.ok_or_else(|| {
        let hint = "a recording is secret until its plan has a verdict";
        market::unknown("recording", &digest, hint)
    })?;
    let text = market::recording_text(&app, &delivery).await?;
    Ok(bytes(StatusCode::OK, MEDIA, text.into_bytes()))
}
