//! Evidence in: an item is read, scored and stored with its record; the answer comes once both would survive a power
//! loss.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode};
use karat::record::RecordDocument;
use karat_core::facts::Digest;
use karat_store::{Accepted, Error, Kind, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::records::raw;
use super::{batch, json, json_ending, later};
use crate::authority::Act;
use crate::body::{Incoming, expect_media, media_type};
use crate::cards::ScorerPool;
use crate::guard::Caller;
use crate::ids;
use crate::keys::Key;
use crate::params::{Named, Params, written_timestamp};
use crate::problem::{Problem, conflict};
use crate::scoring::{Holder, How, Sent, Shown, idempotency_key};
use crate::sending::{correction, submission};
use crate::state::App;
use crate::traces::queue::Line;

/// The size in bytes from which an item is scored on a separate thread, so that others do not wait for it.
const LARGE_BYTES: usize = 16 << 10;

/// The parameters for scoring evidence.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Scoring {
    /// The scorecard, `id@version`. An id without a version means the newest version that takes the kind of the evidence.
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
    fn new(id: &str, accepted: &Accepted) -> Self {
        Self {
            id: id.to_owned(),
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
    request_body(content(
        (BTreeMap<String, Value> = "application/json"),
        (String = "application/x-ndjson"),
    )),
    responses(
        (status = 201, body = EvidenceScored, description = "The item is stored with its record."),
        (status = 200, content((EvidenceScored = "application/json"), (batch::BatchAnswer = "application/json")),
            description = "The item was already stored; or a batch, answered line by line."),
        (status = 404, body = Problem, content_type = "application/problem+json"),
        (status = 409, body = Problem, content_type = "application/problem+json"),
        (status = 422, body = Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn send(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(how): Params<Scoring>,
    request: Request,
) -> Result<Response<Body>, Problem> {
    let key = Arc::clone(caller.key(&Act::Send(None))?);
    // A name that nothing has is refused before the body is read.
    drop(app.memory.cards().find(&how.card)?);
    let (head, body) = request.into_parts();
    let headers = &head.headers;
    let name = idempotency_key(headers)?;
    if media_type(headers) == batch::MEDIA {
        return batch::send(&app, key, how, name, headers, body).await;
    }
    expect_media(headers, &["application/json", batch::MEDIA])?;
    let options = &app.options;
    let body = Incoming::new(headers, body, options.body_bytes_max, options.body_timeout)?;
    let bytes = body.whole().await?;
    app.metrics.received(bytes.len() as u64);
    let kept = one(&app, key, &how, name, bytes).await;
    match &kept {
        Ok(kept) if kept.repeated => app.metrics.items(0, 1, 0),
        Ok(_) => app.metrics.items(1, 0, 0),
        Err(_) => app.metrics.items(0, 0, 1),
    }
    let kept = kept?;
    let status = if kept.repeated { StatusCode::OK } else { StatusCode::CREATED };
    json_ending(status, &kept, &kept.content)
}

async fn one(
    app: &Arc<App>,
    key: Arc<Key>,
    how: &Scoring,
    name: Option<String>,
    bytes: Vec<u8>,
) -> Result<EvidenceScored, Problem> {
    let pool = app.memory.cards().find_for(&how.card, &bytes)?;
    let sent = match app.traces.queue(&pool) {
        Some(queue) => {
            let line = Line { name, bytes, replaces: how.replaces.clone(), sources: Vec::new() };
            let sent = queue.push(app, &pool, key, how.as_of.clone(), vec![line]).await;
            sent.ok().and_then(|mut sent| sent.pop()).unwrap_or_else(|| Err(Error::Stopped.into()))?
        }
        None => apart(app, &pool, key, how, name, bytes).await?,
    };
    let Sent { shown: Shown { evidence, record, digest, content, notes }, outcome } = sent;
    let (accepted, content) = match outcome {
        Ok(accepted) => (accepted, content),
        Err(Error::Refused(refusals)) => match earlier(app, &refusals, &evidence, digest).await? {
            Some(found) => found,
            None => return Err(conflict(&refusals)),
        },
        Err(error) => return Err(error.into()),
    };
    let [of_evidence, of_record] = accepted.as_slice() else {
        return Err(Problem::internal(&"the store did not answer for every item"));
    };
    let note = |note: karat_evidence::Note| EvidenceNote { field: note.path, text: note.text };
    Ok(EvidenceScored {
        repeated: of_evidence.repeated && of_record.repeated,
        evidence: LogItem::new(&evidence, of_evidence),
        record: LogItem::new(&record, of_record),
        receipt: format!("/v1/receipts/{}", of_record.position),
        notes: notes.into_iter().map(note).collect(),
        content,
    })
}

/// Scores an item from itself alone, and stores it.
async fn apart(
    app: &Arc<App>,
    pool: &Arc<ScorerPool>,
    key: Arc<Key>,
    how: &Scoring,
    name: Option<String>,
    bytes: Vec<u8>,
) -> Result<Sent, Problem> {
    let pool = app.memory.weights().scorer(pool);
    let is_large = bytes.len() >= LARGE_BYTES;
    let as_of = how.as_of.clone();
    let (shared, of_sender, sender) = (Arc::clone(app), Arc::clone(&key), key.id.clone());
    let work = move || {
        let as_of = written_timestamp("as_of", as_of.as_deref())?;
        let holder = Some(Holder { key: &of_sender, now: shared.clock.now(), memory: &shared.memory });
        How { pool: &pool, as_of, holder, name: name.as_deref() }.score(&bytes)
    };
    let mut scored = if is_large { app.checked(work).await? } else { work()? };
    let effect = match how.replaces.clone() {
        None => None,
        Some(old) => {
            let shared = Arc::clone(app);
            let (back, effect) = app
                .read(move |reader| {
                    let effect = correction(&shared.memory, &key, reader, &mut scored, &old)?;
                    Ok((scored, effect))
                })
                .await?;
            scored = back;
            Some(effect)
        }
    };
    let shown = Shown::take(&mut scored);
    let outcome =
        app.append(vec![submission(&sender, scored, effect)]).await?.pop().unwrap_or(Err(Error::Stopped));
    Ok(shown.sent(outcome))
}

/// Returns what was stored for the same evidence before, by another version of the engine or as of another timestamp: a
/// record is made once.
pub(crate) async fn earlier(
    app: &App,
    refusals: &[Refusal],
    evidence: &str,
    digest: Digest,
) -> Result<Option<(Vec<Accepted>, Vec<u8>)>, Problem> {
    let is_record = |it: &&Refusal| {
        matches!(&it.problem, karat_store::Problem::Conflict { .. }) && it.kind == Kind::Record
    };
    let Some(refusal) = refusals.iter().find(is_record).filter(|_| refusals.len() == 1) else {
        return Ok(None);
    };
    let (evidence, record) = (evidence.to_owned(), refusal.id.clone());
    app.read(move |reader| {
        let size = reader.head()?.size;
        let found =
            (reader.find(Kind::Evidence, &evidence, size)?, reader.find(Kind::Record, &record, size)?);
        let (Some(evidence), Some(record)) = found else { return Ok(None) };
        if evidence.entry.content != digest || !record.entry.sources.contains(&digest) {
            return Ok(None);
        }
        // It is sent unchanged, and was stored before this request.
        raw(record.content.clone())?;
        let accepted = [&evidence, &record].map(|item| Accepted {
            position: item.position,
            content: item.entry.content,
            moment: item.entry.moment,
            repeated: true,
        });
        Ok(Some((accepted.to_vec(), record.content)))
    })
    .await
}

/// Returns an item of evidence, as it was scored.
#[utoipa::path(get, operation_id = "show_evidence", path = "/v1/evidence/{evidence}", tag = "evidence", params(
    ("evidence" = String, Path, description = "its position in the log, or its id with `/` written `%2F`", example = "11"),
), responses(
    (status = 200, body = StoredEvidence),
))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(wanted): Named<String>,
) -> Result<Response<Body>, Problem> {
    caller.may(&Act::Read)?;
    let shared = Arc::clone(&app);
    let evidence = app
        .read(move |reader| {
            let size = reader.head()?.size;
            let found = match wanted.parse::<u64>() {
                Ok(position) if position < size => Some(reader.item(position)?),
                Ok(_) => None,
                Err(_) => reader.find(Kind::Evidence, &wanted, size)?,
            };
            let item = found.filter(|item| item.entry.kind == Kind::Evidence).ok_or_else(|| {
                Problem::not_found(format!("there is no item of evidence `{}`", wanted.escape_debug()))
            })?;
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
