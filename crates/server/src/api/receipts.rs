//! Receipts: an item with the proof that the log has it.

use karat::answers::ItemKind;

use super::{bytes, log, records};
use crate::prelude::*;

/// A receipt, `karat/receipt/1`: an item of the log with the proof that the log has it. The server sends the canonical
/// JSON that the store writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The schema: `karat/receipt/1`.
    #[schema(example = "karat/receipt/1")]
    pub schema: String,
    /// The content of the item: of a record, its canonical JSON as a text.
    pub content: String,
    /// The entry, whose bytes are hashed into the log.
    pub entry: ReceiptEntry,
    /// The index of the entry in the log.
    pub index: u64,
    /// The inclusion proof: hashes in base 64, from the sibling of the leaf up.
    pub path: Vec<String>,
    /// The checkpoint of the log that the proof leads to.
    pub checkpoint: String,
}

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReceiptEntry {
    /// The schema of the entry: `karat/entry/1`, or `karat/entry/2` if it has a sender.
    pub schema: String,
    /// The kind of the item.
    pub kind: ItemKind,
    /// The id of the item.
    pub id: String,
    /// The subject of the item, if it has one.
    pub subject: Option<String>,
    /// The digest of the content.
    pub content: String,
    /// For a record, the digests of its evidence.
    pub sources: Vec<String>,
    /// The id of the item that this one corrects.
    pub replaces: Option<String>,
    /// The id of the key that sent the item, or `server`; of `karat/entry/2` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// The time at which it was received, in milliseconds since 1970.
    pub moment_milliseconds: i64,
}

/// The parameters of a receipt.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReceiptParams {
    /// The number of witnesses that must have cosigned the checkpoint: the newest such one is given instead of the latest.
    pub witnesses: Option<usize>,
}

/// Returns the receipt of a record, with the latest checkpoint of the log: `karat verify` checks it offline.
#[utoipa::path(get, operation_id = "show_receipt", path = "/v1/receipts/{record}", tag = "log", params(
    ("record" = String, Path, description = "the position of the record in the log, or its id", example = "12"), ReceiptParams,
    ), responses((status = 200, description = "`karat/receipt/1`", content_type = "application/json", body = Receipt)))]
pub(crate) async fn show(
    Get(app, _): Get,
    Named(wanted): Named<String>,
    Params(params): Params<ReceiptParams>,
) -> Answer {
    let shared = Arc::clone(&app);
    let receipt = app
        .read(move |reader| {
            let position = records::find(reader, Kind::Record, &wanted)?.position;
            if params.witnesses.is_none() {
                return Ok(reader.receipt(position)?.to_json());
            }
            let head = log::cosigned_head(&shared, params.witnesses)?;
            if head.size <= position {
                return Err(Problem::not_found(format!(
                    "the newest head with that many cosignatures has {} entries, and the record is entry {position}; \
                     try again once the witnesses have seen it",
                    head.size
                )));
            }
            Ok(reader.receipt_at(position, head)?.to_json())
        })
        .await?;
    Ok(bytes(StatusCode::OK, "application/json", receipt))
}
