//! Harnesses: programs that run agents, whose signatures count.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::{done, json, stored};
use crate::arena::Harness;
use crate::authority::Act;
use crate::guard::Caller;
use crate::params::{Answer, Get, Named, Post};
use crate::play;
use crate::problem::{Absent, Taken};
use crate::state::App;

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

/// All harnesses, by id, those that were revoked included.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HarnessList {
    harnesses: Vec<Harness>,
}

/// Lists the harnesses whose signatures count, or did.
#[utoipa::path(get, operation_id = "list_harnesses", path = "/v1/arena/harnesses", tag = "arena", responses(
    (status = 200, body = HarnessList),
))]
pub(crate) async fn list(Get(app, _): Get) -> Answer {
    let harnesses = app.memory.arena.state().harnesses().map(|known| Harness::clone(known)).collect();
    json(StatusCode::OK, &HarnessList { harnesses })
}

/// Registers the key of a harness: a log that it signs is verified. Registering the same again changes nothing.
#[utoipa::path(post, operation_id = "register_harness", path = "/v1/arena/harnesses", tag = "arena", security(("key" = ["admin"])),
    request_body = NewHarness,
    responses(
        (status = 200, description = "It was already registered.", body = Harness),
        (status = 201, body = Harness),
        Taken,
    ))]
pub(crate) async fn register(Post { app, caller, body }: Post) -> Answer {
    let sender = caller.key(&Act::ManageHarnesses)?.id.clone();
    let new: NewHarness = body.json(&app).await?;
    let done = play::register_harness(&app, &sender, &new.harness_id, &new.key).await?;
    json(stored(done.repeated), &*done.value)
}

/// Revokes the key of a harness, at once and for good. Matches that it signed before stay as they were rated.
#[utoipa::path(delete, operation_id = "revoke_harness", path = "/v1/arena/harnesses/{harness}", tag = "arena", security(("key" = ["admin"])), params(
    ("harness" = String, Path, description = "its id"),
), responses(
    (status = 204, description = "It was revoked."),
    Absent,
))]
pub(crate) async fn revoke(State(app): State<Arc<App>>, caller: Caller, Named(id): Named<String>) -> Answer {
    let sender = caller.key(&Act::ManageHarnesses)?.id.clone();
    play::revoke_harness(&app, &sender, &id).await?;
    done()
}
