//! Harnesses, which run agents, and recorders, which run plans: those whose signatures count.

use super::{done, json, stored};
use crate::prelude::*;
use crate::registry;
use crate::signers::{Harness, Recorder};

/// The request to register the key of a harness.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewHarness {
    /// Its id: 1 to 100 letters, digits, dots, hyphens and low lines.
    #[schema(example = "loop-2")]
    harness_id: String,
    /// Its public key, `NAME+ID+KEY` after C2SP `signed-note`, with Ed25519.
    #[schema(example = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")]
    key: String,
}

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

/// All harnesses, by id, those that were revoked included.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HarnessList {
    harnesses: Vec<Harness>,
}

/// All recorders, by id, those that were revoked included.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecorderList {
    recorders: Vec<Recorder>,
}

/// Lists the harnesses whose signatures count, or did.
#[utoipa::path(get, operation_id = "list_harnesses", path = "/v1/arena/harnesses", tag = "arena", responses(
    (status = 200, body = HarnessList)))]
pub(crate) async fn list_harnesses(Get(app, _): Get) -> Answer {
    let harnesses = app.memory.arena.state().signers().map(|known| Harness::clone(known)).collect();
    json(StatusCode::OK, &HarnessList { harnesses })
}

/// Registers the key of a harness: a log that it signs is verified. Registering the same again changes nothing.
#[utoipa::path(post, operation_id = "register_harness", path = "/v1/arena/harnesses", tag = "arena", security(("key" = ["admin"])),
    request_body = NewHarness, responses((status = 200, description = "It was already registered.", body = Harness),
    (status = 201, body = Harness), Taken))]
pub(crate) async fn register_harness(Post { app, caller, body }: Post) -> Answer {
    let sender = caller.key(&Act::ManageHarnesses)?.id.clone();
    let new: NewHarness = body.json(&app).await?;
    let done = registry::register::<Harness>(&app, &sender, &new.harness_id, &new.key).await?;
    json(stored(done.repeated), &*done.value)
}

/// Revokes the key of a harness, at once and for good. Matches that it signed before stay as they were rated.
#[utoipa::path(delete, operation_id = "revoke_harness", path = "/v1/arena/harnesses/{harness}", tag = "arena", security(("key" = ["admin"])), params(
    ("harness" = String, Path, description = "its id")), responses((status = 204, description = "It was revoked."), Absent))]
pub(crate) async fn revoke_harness(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<String>,
) -> Answer {
    let sender = caller.key(&Act::ManageHarnesses)?.id.clone();
    registry::revoke::<Harness>(&app, &sender, &id).await?;
    done()
}

/// Lists the recorders whose recordings count, or did.
#[utoipa::path(get, operation_id = "list_recorders", path = "/v1/workflows/recorders", tag = "workflows", responses(
    (status = 200, body = RecorderList)))]
pub(crate) async fn list_recorders(Get(app, _): Get) -> Answer {
    let recorders = app.memory.flows.state().signers().map(|known| Recorder::clone(known)).collect();
    json(StatusCode::OK, &RecorderList { recorders })
}

/// Registers a recorder: it is drawn for plans, and delivers signed recordings of them. Registering the same again changes
/// nothing.
#[utoipa::path(post, operation_id = "register_recorder", path = "/v1/workflows/recorders", tag = "workflows",
    security(("key" = ["admin"])), request_body = NewRecorder, responses(
    (status = 200, description = "It was already registered.", body = Recorder), (status = 201, body = Recorder), Taken))]
pub(crate) async fn register_recorder(Post { app, caller, body }: Post) -> Answer {
    let sender = caller.key(&Act::ManageRecorders)?.id.clone();
    let new: NewRecorder = body.json(&app).await?;
    let done = registry::register::<Recorder>(&app, &sender, &new.recorder_id, &new.key).await?;
    json(stored(done.repeated), &*done.value)
}

/// Revokes a recorder, at once and for good. What it delivered before stays.
#[utoipa::path(delete, operation_id = "revoke_recorder", path = "/v1/workflows/recorders/{recorder}", tag = "workflows",
    security(("key" = ["admin"])), params(("recorder" = String, Path, description = "its id")), responses(
    (status = 204, description = "It was revoked."), Absent))]
pub(crate) async fn revoke_recorder(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<String>,
) -> Answer {
    let sender = caller.key(&Act::ManageRecorders)?.id.clone();
    registry::revoke::<Recorder>(&app, &sender, &id).await?;
    done()
}
