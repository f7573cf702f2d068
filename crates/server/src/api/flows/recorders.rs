//! Recorders: validators whose signed recordings count.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::{done, json, stored};
use crate::authority::Act;
use crate::flows::Recorder;
use crate::guard::Caller;
use crate::market;
use crate::params::{Answer, Get, Named, Post};
use crate::problem::{Absent, Taken};
use crate::state::App;

/// The request to register a recorder.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRecorder {
    /// Its id: 1 to 100 letters, digits, dots, hyphens and low lines.
    #[schema(example = "validator-2")]
    recorder_id: String,
    /// The public key of its recordings, `NAME+ID+KEY`, as `karat run --sign` shows it.
    #[schema(example = "validator.example/runs+1e711c4d+ARtdyKm9SkcG20uqIePCXfNRLttI++KS21jK/YsLjHnT")]
    key: String,
}

/// All recorders, by id, those that were revoked included.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecorderList {
    recorders: Vec<Recorder>,
}

/// Lists the recorders whose recordings count, or did.
#[utoipa::path(get, operation_id = "list_recorders", path = "/v1/workflows/recorders", tag = "workflows", responses(
    (status = 200, body = RecorderList),
))]
pub(crate) async fn list(Get(app, _): Get) -> Answer {
    let recorders = app.memory.flows.state().recorders().map(|known| Recorder::clone(known)).collect();
    json(StatusCode::OK, &RecorderList { recorders })
}

/// Registers a recorder: it is drawn for plans, and delivers signed recordings of them. Registering the same again changes
/// nothing.
#[utoipa::path(post, operation_id = "register_recorder", path = "/v1/workflows/recorders", tag = "workflows",
    security(("key" = ["admin"])), request_body = NewRecorder,
    responses(
        (status = 200, description = "It was already registered.", body = Recorder),
        (status = 201, body = Recorder),
        Taken,
    ))]
pub(crate) async fn register(Post { app, caller, body }: Post) -> Answer {
    let sender = caller.key(&Act::ManageRecorders)?.id.clone();
    let new: NewRecorder = body.json(&app).await?;
    let done = market::register_recorder(&app, &sender, &new.recorder_id, &new.key).await?;
    json(stored(done.repeated), &*done.value)
}

/// Revokes a recorder, at once and for good. What it delivered before stays.
#[utoipa::path(delete, operation_id = "revoke_recorder", path = "/v1/workflows/recorders/{recorder}", tag = "workflows",
    security(("key" = ["admin"])), params(("recorder" = String, Path, description = "its id")),
    responses(
        (status = 204, description = "It was revoked."),
        Absent,
    ))]
pub(crate) async fn revoke(State(app): State<Arc<App>>, caller: Caller, Named(id): Named<String>) -> Answer {
    let sender = caller.key(&Act::ManageRecorders)?.id.clone();
    market::revoke_recorder(&app, &sender, &id).await?;
    done()
}
