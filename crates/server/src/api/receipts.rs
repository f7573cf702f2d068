//! Receipts: an item with the proof that the log has it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};

use super::{bytes, records};
use crate::guard::Caller;
use crate::params::Named;
use crate::problem::Problem;
use crate::state::App;

/// The receipt of a record, against the latest head of the log: `karat verify` checks it offline.
#[utoipa::path(get, operation_id = "show_receipt", path = "/v1/receipts/{record}", tag = "log", params(
    ("record" = String, Path, description = "the place of the record in the log, or its id", example = "12"),
), responses(
    (status = 200, description = "`karat/receipt/1`", content_type = "application/json", body = Object),
))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(wanted): Named<String>,
) -> Result<Response<Body>, Problem> {
    caller.may_read()?;
    let receipt = app
        .read(move |reader| {
            let item = records::find(reader, &wanted)?;
            Ok(reader.receipt(item.position)?.to_json())
        })
        .await?;
    Ok(bytes(StatusCode::OK, "application/json", receipt))
}
