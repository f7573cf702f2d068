//! Evidence in: an item is read, scored and stored with its record; the answer comes once both would survive a power
//! loss.

use karat::record::RecordDocument;
use serde_json::value::RawValue;

use super::records::find;
use super::{batch, json, json_ending, later, stored};
use crate::prelude::*;
use crate::scoring::idempotency_key;
use crate::sending;
use crate::stored::raw;
use crate::traces::queue::Line;

/// The parameters for scoring evidence.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Scoring {
    /// The scorecard, `id@version`. An id without a version means the newest that takes the kind of the evidence; of `workflow` 1.0.0.
    #[param(example = "workflow@1.0.0")]
    pub card: String,
    /// The time of the verdict, for evidence whose grade depends on it: an RFC 3339 timestamp.
    pub as_of: Option<String>,
    /// The id of the item of the same subject that this one corrects; not for batches.
    pub replaces: Option<String>,
}

/// The item and its record, as the store has them now.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EvidenceScored {
    /// True if all of it was already stored, so that nothing changed.
    repeated: bool,
    evidence: LogItem,
    record: LogItem,
    /// The path of the receipt of the record.
    receipt: String,
    /// Notes that help to read the score.
    notes: Vec<EvidenceNote>,
    /// The record, `karat/record/1`.
    #[schema(value_type = RecordDocument)]
    #[serde(serialize_with = "later")]
    content: Vec<u8>,
}

/// An item of the log.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LogItem {
    /// The id in the store.
    id: String,
    /// The position in the log.
    position: u64,
    /// The digest of the content.
    digest: String,
    /// The time at which it was first received.
    moment: String,
}

/// A note that helps to read a score.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EvidenceNote {
    /// The JSON path that the note is about.
    field: String,
    text: String,
}

/// A stored item of evidence.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StoredEvidence {
    #[serde(flatten)]
    item: LogItem,
    subject: Option<String>,
    /// The id of the key that sent it, or `server`; null if the entry has none, as those of older logs.
    sender: Option<String>,
    /// The item that this one corrects.
    replaces: Option<String>,
    /// The item that corrects this one.
    replaced_by: Option<String>,
    /// The digests of what it was made from here: of a match, challenge and submission; of a run, task, plan and recording.
    sources: Vec<String>,
    /// The positions of the records that were computed from it.
    records: Vec<u64>,
    /// The item, in canonical form.
    #[schema(value_type = BTreeMap<String, Value>)]
    content: Box<RawValue>,
}

impl LogItem {
    fn new(id: String, accepted: &Accepted) -> Self {
        Self {
            id,
            position: accepted.position,
            digest: accepted.content.to_string(),
            moment: accepted.moment.to_string(),
        }
    }
}

/// Scores one item, or a batch of them as JSON lines.
///
/// Sending the same item again changes nothing: `repeated` is true. An id with other content is a conflict; the problem
/// names both digests. An item without an id needs the header `Idempotency-Key`. A batch is answered line by line; each line is stored or refused separately.
#[utoipa::path(post, operation_id = "send_evidence", path = "/v1/evidence", tag = "evidence", security(("key" = ["write:evidence"])), params(Scoring,
    ("Idempotency-Key" = Option<String>, Header, description = "the id of an item that has none; in a batch, followed by `:` and the line", example = "runs-2026-11-22")),
    request_body(content((BTreeMap<String, Value> = "application/json"), (String = "application/x-ndjson"))), responses(
    (status = 201, body = EvidenceScored, description = "The item is stored with its record."),
    (status = 200, content((EvidenceScored = "application/json"), (batch::BatchAnswer = "application/json")),
    description = "The item was already stored; or a batch, answered line by line."), Absent, Taken, Unfit))]
pub(crate) async fn send(Params(how): Params<Scoring>, Post { app, caller, body }: Post) -> Answer {
    let key = Arc::clone(caller.key(&Act::Send(None))?);
    // A name that nothing has is refused before the body is read.
    drop(app.memory.cards().find(&how.card)?);
    let name = idempotency_key(&body.headers)?;
    if body.media_type() == batch::MEDIA {
        return batch::send(&app, key, how, name, body).await;
    }
    let bytes = body.whole(&app, &["application/json", batch::MEDIA], app.options.body_bytes_max).await?;
    let kept = one(&app, key, &how, name, bytes).await;
    match &kept {
        Ok(kept) if kept.repeated => app.metrics.items(0, 1, 0),
        Ok(_) => app.metrics.items(1, 0, 0),
        Err(_) => app.metrics.items(0, 0, 1),
    }
    let kept = kept?;
    json_ending(stored(kept.repeated), &kept, &kept.content)
}

async fn one(
    app: &Arc<App>,
    key: Arc<Key>,
    how: &Scoring,
    name: Option<String>,
    bytes: Vec<u8>,
) -> Result<EvidenceScored, Problem> {
    let pool = app.memory.cards().find_for(&how.card, &bytes)?;
    let line = Line { name, bytes, replaces: how.replaces.clone(), sources: Vec::new() };
    let mut sent = sending::send(app, &pool, key, how.as_of.clone(), line).await?;
    let (of_evidence, of_record) = sent.stored(app).await?;
    let note = |note: karat_evidence::Note| EvidenceNote { field: note.path, text: note.text };
    Ok(EvidenceScored {
        repeated: of_evidence.repeated && of_record.repeated,
        evidence: LogItem::new(sent.evidence, &of_evidence),
        record: LogItem::new(sent.record, &of_record),
        receipt: format!("/v1/receipts/{}", of_record.position),
        notes: sent.notes.into_iter().map(note).collect(),
        content: sent.content,
    })
}

/// Returns an item of evidence, as it was scored.
#[utoipa::path(get, operation_id = "show_evidence", path = "/v1/evidence/{evidence}", tag = "evidence", params(
    ("evidence" = String, Path, description = "its position in the log, or its id with `/` written `%2F`", example = "11"),
    ), responses((status = 200, body = StoredEvidence)))]
pub(crate) async fn show(Get(app, _): Get, Named(wanted): Named<String>) -> Answer {
    let shared = Arc::clone(&app);
    let evidence = app
        .read(move |reader| {
            let size = reader.head()?.size;
            let item = find(reader, Kind::Evidence, &wanted)?;
            let replaced_by = reader.replacement(Kind::Evidence, &item.entry.id, size)?;
            let entry = item.entry;
            let cards: Vec<String> = shared.memory.cards().iter().map(|pool| pool.name()).collect();
            let mut records = Vec::new();
            for card in cards {
                let found = reader.find(Kind::Record, &ids::record(&entry.id, &card), size)?;
                records.extend(found.map(|record| record.position));
            }
            records.sort_unstable();
            Ok(StoredEvidence {
                item: LogItem {
                    id: entry.id,
                    position: item.position,
                    digest: entry.content.to_string(),
                    moment: entry.moment.to_string(),
                },
                subject: entry.subject,
                sources: entry.sources.iter().map(ToString::to_string).collect(),
                sender: entry.sender,
                replaces: entry.replaces,
                replaced_by: replaced_by.map(|item| item.entry.id),
                records,
                content: raw(item.content)?,
            })
        })
        .await?;
    json(StatusCode::OK, &evidence)
}
