//! The log for its followers: its signed checkpoint, and its tiles at the paths of C2SP `tlog-tiles`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, HeaderValue};
use axum::http::{Response, StatusCode};
use karat_store::log::TilePath;
use serde::Serialize;
use utoipa::ToSchema;

use super::{bytes, json};
use crate::authority::Act;
use crate::guard::Caller;
use crate::params::Named;
use crate::problem::Problem;
use crate::state::App;

/// The key and state of the log, for its followers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LogInfo {
    /// The key that verifies its signatures: `NAME+ID+KEY`.
    key: String,
    /// The number of entries.
    size: u64,
    /// The Merkle root, in hexadecimal.
    root: String,
    /// The checkpoint: the signed head.
    checkpoint: String,
}

/// Returns the key of the log and its checkpoint.
#[utoipa::path(get, operation_id = "show_log", path = "/v1/log", tag = "log", responses(
    (status = 200, body = LogInfo),
))]
pub(crate) async fn about(State(app): State<Arc<App>>, caller: Caller) -> Result<Response<Body>, Problem> {
    caller.may(&Act::Read)?;
    let (head, root) = app
        .read(|reader| {
            let head = reader.head()?;
            let root = reader.root(head.size)?;
            Ok((head, root))
        })
        .await?;
    let (size, checkpoint) = (head.size, head.checkpoint);
    json(StatusCode::OK, &LogInfo { key: app.log_key(), size, root: root.to_string(), checkpoint })
}

/// Returns the checkpoint of the log, after C2SP `tlog-checkpoint`.
#[utoipa::path(get, operation_id = "read_checkpoint", path = "/checkpoint", tag = "log", responses(
    (status = 200, content_type = "text/plain", body = String),
))]
pub(crate) async fn checkpoint(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Response<Body>, Problem> {
    caller.may(&Act::Read)?;
    let head = app.read(|reader| Ok(reader.head()?)).await?;
    Ok(bytes(StatusCode::OK, "text/plain; charset=utf-8", head.checkpoint.into_bytes()))
}

/// Returns hashes of the tree or a bundle of entries, after C2SP `tlog-tiles`: `LEVEL/NUMBER[.p/WIDTH]`, with `entries`
/// as the level of a bundle.
#[utoipa::path(get, operation_id = "read_tile", path = "/tile/{*path}", tag = "log", params(
    ("path" = String, Path, description = "such as `0/x001/x234/067.p/5`", example = "0/000.p/1"),
), responses(
    (status = 200, content_type = "application/octet-stream", body = Vec<u8>),
))]
pub(crate) async fn tile(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(path): Named<String>,
) -> Result<Response<Body>, Problem> {
    caller.may(&Act::Read)?;
    let wanted: TilePath = format!("tile/{path}").parse().map_err(Problem::not_found)?;
    let found = app.read(move |reader| Ok(reader.resource(wanted)?)).await?;
    let found = found.ok_or_else(|| Problem::not_found("the log has fewer entries"))?;
    let mut response = bytes(StatusCode::OK, "application/octet-stream", found);
    // The hashes at a path never change.
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    Ok(response)
}
