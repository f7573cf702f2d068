//! The log for its followers: its signed checkpoint, the word of witnesses about it, the changes of its key, and its tiles at
//! the paths of C2SP `tlog-tiles`.

use axum::http::header::CACHE_CONTROL;
use karat_store::log::TilePath;
use karat_store::port::Head;

use super::receipts::Receipt;
use super::{bytes, json};
use crate::cosigned::WitnessedHead;
use crate::prelude::*;

/// The longest checkpoint that is taken, in bytes.
const NOTE_MAX_BYTES: usize = 64 << 10;

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
    /// The newest head of each witness that this server trusts.
    cosignatures: Vec<WitnessedHead>,
    /// The number of times that the key was replaced.
    rotations: usize,
}

/// The newest heads that witnesses cosigned.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Cosignatures {
    /// The newest head of each witness that this server trusts.
    cosignatures: Vec<WitnessedHead>,
}

/// The changes of the key of the log.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RotationList {
    /// The receipt of each change, the oldest first; `karat verify --rotation` takes them.
    rotations: Vec<Receipt>,
}

/// The parameters of a head with cosignatures.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CosignedParams {
    /// The number of witnesses that must have cosigned it; 1 if not given.
    pub witnesses: Option<usize>,
}

/// Returns the key of the log and its checkpoint.
#[utoipa::path(get, operation_id = "show_log", path = "/v1/log", tag = "log", responses((status = 200, body = LogInfo)))]
pub(crate) async fn about(Get(app, _): Get) -> Answer {
    let (head, root, rotations) = app
        .read(|reader| {
            let head = reader.head()?;
            let root = reader.root(head.size)?;
            let rotations = reader.rotations(head.size)?.len();
            Ok((head, root, rotations))
        })
        .await?;
    let (size, checkpoint, root) = (head.size, head.checkpoint, root.to_string());
    let cosignatures = app.cosigned.heads().of_witnesses();
    json(StatusCode::OK, &LogInfo { key: app.log_key(), size, root, checkpoint, cosignatures, rotations })
}

/// Returns the newest head that at least this many witnesses cosigned: a checkpoint with their lines, after C2SP
/// `tlog-cosignature`.
#[utoipa::path(get, operation_id = "read_cosigned", path = "/v1/log/cosigned", tag = "log", params(CosignedParams), responses(
    (status = 200, content_type = "text/plain", body = String), Absent))]
pub(crate) async fn cosigned(Get(app, _): Get, Params(params): Params<CosignedParams>) -> Answer {
    let head = cosigned_head(&app, params.witnesses)?;
    Ok(bytes(StatusCode::OK, "text/plain; charset=utf-8", head.checkpoint.into_bytes()))
}

/// Finds the newest head that this many witnesses cosigned.
pub(super) fn cosigned_head(app: &App, witnesses: Option<usize>) -> Result<Head, Problem> {
    let wanted = witnesses.unwrap_or(1);
    if wanted == 0 {
        refuse!(BadRequest at "witnesses", "found 0, expected 1 or more");
    }
    app.cosigned.heads().newest(wanted).ok_or_else(|| {
        let all = app.options.witnesses.len();
        Problem::not_found(format!(
            "no head was cosigned by {wanted} of the {all} witnesses that this server trusts"
        ))
    })
}

/// Takes a head of this log, a checkpoint with cosignatures of witnesses that the server was started with.
#[utoipa::path(post, operation_id = "add_cosignatures", path = "/v1/log/cosignatures", tag = "log",
    request_body(content = String, content_type = "text/plain", description = "the checkpoint with its signatures"), responses(
    (status = 200, body = Cosignatures), Taken))]
pub(crate) async fn add_cosignatures(Post { app, caller, body }: Post) -> Answer {
    caller.may(&Act::Cosign)?;
    let note = body.text(&app, &["text/plain"], NOTE_MAX_BYTES).await?;
    let cosignatures = app.cosign(note).await?;
    json(StatusCode::OK, &Cosignatures { cosignatures })
}

/// Returns the changes of the key of the log, as receipts.
#[utoipa::path(get, operation_id = "list_rotations", path = "/v1/log/rotations", tag = "log", responses(
    (status = 200, body = RotationList)))]
pub(crate) async fn rotations(Get(app, _): Get) -> Answer {
    let rotations = app
        .read(|reader| {
            let head = reader.head()?;
            let found = reader.rotations(head.size)?;
            let receipts = found.into_iter().map(|(position, _)| reader.receipt_at(position, head.clone()));
            Ok(receipts.collect::<Result<Vec<_>, _>>()?)
        })
        .await?;
    let rotations = rotations.iter().map(|receipt| serde_json::from_slice(&receipt.to_json()));
    let rotations = rotations.collect::<Result<_, _>>().map_err(|error| Problem::internal(&error))?;
    json(StatusCode::OK, &RotationList { rotations })
}

/// Returns the checkpoint of the log, after C2SP `tlog-checkpoint`.
#[utoipa::path(get, operation_id = "read_checkpoint", path = "/checkpoint", tag = "log", responses(
    (status = 200, content_type = "text/plain", body = String)))]
pub(crate) async fn checkpoint(Get(app, _): Get) -> Answer {
    let head = app.read(|reader| Ok(reader.head()?)).await?;
    Ok(bytes(StatusCode::OK, "text/plain; charset=utf-8", head.checkpoint.into_bytes()))
}

/// Returns hashes of the tree or a bundle of entries, after C2SP `tlog-tiles`: `LEVEL/NUMBER[.p/WIDTH]`, with `entries`
/// as the level of a bundle.
#[utoipa::path(get, operation_id = "read_tile", path = "/tile/{*path}", tag = "log", params(
    ("path" = String, Path, description = "such as `0/x001/x234/067.p/5`", example = "0/000.p/1")), responses(
    (status = 200, content_type = "application/octet-stream", body = Vec<u8>)))]
pub(crate) async fn tile(Get(app, _): Get, Named(path): Named<String>) -> Answer {
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
