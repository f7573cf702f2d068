//! Records: lists of them, and one in full.

use karat::answers::explanation::Explanation;
use karat::error::Error as EngineError;
use karat::recompute;
use karat::record::{Record as Given, RecordDocument};
use karat_core::explain::nearest_change;
use karat_core::scorecard::LateRules;
use karat_store::Entry;
use serde_json::value::RawValue;

use super::{answered, bytes, json};
use crate::index::Row;
use crate::keys::Withdrawal;
use crate::params::limit;
use crate::prelude::*;
use crate::select::{Filter, Selection, size_at};
use crate::stored::raw;

/// The default number of records in a list.
const USUAL: usize = 50;
/// The largest number of records in a list.
const MOST: usize = 1000;

/// A stored record.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecordEntry {
    /// The id in the store: `SUBJECT/EVIDENCE/CARD@VERSION`.
    id: String,
    /// The position in the log.
    position: u64,
    /// The time at which it was received.
    moment: String,
    /// The digest of the record.
    digest: String,
    /// The digests of its evidence.
    sources: Vec<String>,
    /// The id of the key that sent it, or `server`; null if the entry has none, as those of older logs.
    sender: Option<String>,
    /// Its trust class: whose word it rests on.
    trust: Trust,
    /// The time from when its item took place until it arrived, if that is longer than its scorecard takes for being on
    /// time; else null.
    late_seconds: Option<u64>,
    /// The id of the key that handed it in as history that is old on purpose: it counts from the time that it states,
    /// whenever it arrived. Null for all others.
    backfilled_by: Option<String>,
    /// The record that this one corrects.
    replaces: Option<String>,
    /// The record, `karat/record/1`.
    #[schema(value_type = RecordDocument)]
    record: Box<RawValue>,
}

/// Records, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecordList {
    /// The size of the log at which the list was made.
    log_size: u64,
    records: Vec<RecordEntry>,
    /// The value of `before` for the next list; null at the end.
    next: Option<u64>,
}

/// One record in full.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecordDetail {
    #[serde(flatten)]
    record: RecordEntry,
    /// The record that corrects this one.
    replaced_by: Option<String>,
    /// The position of the entry that withdrew it, because its key was revoked.
    withdrawn_by: Option<u64>,
    /// The path of its receipt.
    receipt: String,
}

/// Lists records, newest first.
#[utoipa::path(get, operation_id = "list_records", path = "/v1/records", tag = "records", params(Selection), responses(
    (status = 200, body = RecordList), Absent))]
pub(crate) async fn list(Get(app, _): Get, Params(params): Params<Selection>) -> Answer {
    let limit = limit(params.limit, USUAL, MOST)?;
    let size = size_at(&app, params.known_at.as_deref()).await?;
    let found = app.indexed(move |app, index| {
        let (filter, _) = Filter::new(&app.memory, index, &params)?;
        let end = params.before.map_or(size, |before| before.min(size));
        // Corrections count as of the size of the log, even on later pages.
        let rows = index.rows(size).rev().filter(|row| row.position < end && filter.admits(row));
        Ok(rows.take(limit + 1).map(|row| Provenance::of(app, index, row)).collect())
    });
    let mut found: Vec<Provenance> = found.await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().map(|it| it.position).filter(|_| has_more);
    let records = app
        .read(move |reader| {
            found.into_iter().map(|it| record(reader.item(it.position)?, &it)).collect::<Result<_, _>>()
        })
        .await?;
    json(StatusCode::OK, &RecordList { log_size: size, records, next })
}

/// Returns one record.
#[utoipa::path(get, operation_id = "show_record", path = "/v1/records/{record}", tag = "records", params(
    ("record" = String, Path, description = "its position in the log, or its id with `/` written `%2F`", example = "12"),
    ), responses((status = 200, body = RecordDetail)))]
pub(crate) async fn show(Get(app, _): Get, Named(wanted): Named<String>) -> Answer {
    let shared = Arc::clone(&app);
    let detail = app
        .read(move |reader| {
            let item = find(reader, Kind::Record, &wanted)?;
            let size = reader.head()?.size;
            let replaced_by =
                reader.replacement(Kind::Record, &item.entry.id, size)?.map(|item| item.entry.id);
            let receipt = format!("/v1/receipts/{}", item.position);
            let withdrawn_by = withdrawal(reader, &item, size)?.map(|(position, _)| position);
            let provenance = Provenance::at(&shared, item.position);
            Ok(RecordDetail { record: record(item, &provenance)?, replaced_by, withdrawn_by, receipt })
        })
        .await?;
    json(StatusCode::OK, &detail)
}

/// Explains a score: the rows that add up to it, missing facts, and the smallest change that reaches the next band or
/// tier. The record is first computed again from its facts.
#[utoipa::path(get, operation_id = "explain_record", path = "/v1/records/{record}/explanation", tag = "records", params(
    ("record" = String, Path, description = "its position in the log, or its id with `/` written `%2F`", example = "12"),
    ), responses(
    (status = 200, description = "the answer of `karat explain --json`", content_type = "application/json", body = Explanation),
    Unfit))]
pub(crate) async fn explanation(Get(app, _): Get, Named(wanted): Named<String>) -> Answer {
    let item = app.read(move |reader| find(reader, Kind::Record, &wanted)).await?;
    let shared = Arc::clone(&app);
    let text = app.checked(move || explained(&shared, &item.content)).await?;
    Ok(bytes(StatusCode::OK, "application/json", text.into_bytes()))
}

fn explained(app: &App, content: &[u8]) -> Result<String, Problem> {
    let unanswerable = |error: EngineError| Problem::of_error(Code::Unanswerable, &error);
    let Some(claim) = Given::parse(content).map_err(unanswerable)? else {
        return Err(Problem::internal(&"a stored record cannot be read as one"));
    };
    let pool = app.memory.cards().find(&claim.document().scorecard.name())?;
    let base = recompute::base(&claim, Some(&pool.card)).map_err(unanswerable)?;
    let card = recompute::overridden(&claim, base).map_err(unanswerable)?;
    let scorer = card.scorer().map_err(unanswerable)?;
    let explained = recompute::recompute(&claim, &card, |record| {
        Explanation::new(record, nearest_change(scorer, record).as_ref(), Some(true), None)
    });
    explained.flatten().map(|answer| answered(&answer)).map_err(unanswerable)
}

/// Returns the withdrawal of an item in a log of that `size`, with its position.
pub(crate) fn withdrawal(
    reader: &mut Reader,
    item: &Item,
    size: u64,
) -> Result<Option<(u64, Withdrawal)>, Problem> {
    let Some(sender) = item.entry.sender.as_deref() else { return Ok(None) };
    let found = reader.replacement(Kind::Key, &Key::revocation(sender), size)?;
    let found = found.and_then(|it| Some((it.position, Withdrawal::parse(&it.content)?)));
    Ok(found.filter(|(_, withdrawal)| withdrawal.covers(Some(sender), item.position)))
}

/// Finds the record, or the item of another kind, with this id or position in the log.
pub(crate) fn find(reader: &mut Reader, kind: Kind, wanted: &str) -> Result<Item, Problem> {
    let size = reader.head()?.size;
    let found = match wanted.parse::<u64>() {
        Ok(position) if position < size => Some(reader.item(position)?),
        Ok(_) => None,
        Err(_) => reader.find(kind, wanted, size)?,
    };
    let (what, hint) = match kind {
        Kind::Evidence => ("item of evidence", ""),
        _ => ("record", "GET /v1/records lists them all"),
    };
    found.filter(|item| item.entry.kind == kind).ok_or_else(|| Problem::unknown(what, wanted, hint))
}

/// The provenance of a record: its trust class, its time, and how it was handed in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Provenance {
    position: u64,
    pub trust: Trust,
    pub is_backfilled: bool,
    time: Option<Timestamp>,
    late_after_seconds: u32,
}

impl Provenance {
    fn of(app: &App, index: &Index, row: &Row) -> Self {
        let pool = app.memory.cards().find(index.name(row.card)).ok();
        let rules = pool.and_then(|pool| pool.card.standing.as_ref().map(|standing| standing.late));
        let Row { position, trust, is_backfilled, time, .. } = *row;
        let late_after_seconds = rules.unwrap_or_default().after_seconds;
        Self { position, trust, is_backfilled, time, late_after_seconds }
    }

    /// Returns that of the record at a position; of one that the index does not have, the lowest.
    pub(crate) fn at(app: &App, position: u64) -> Self {
        let index = app.memory.index();
        index.at(position).map(|row| Self::of(app, &index, row)).unwrap_or(Self {
            position,
            trust: Trust::Claimed,
            is_backfilled: false,
            time: None,
            late_after_seconds: LateRules::default().after_seconds,
        })
    }

    /// Returns the seconds from its time to its arrival, if it arrived late.
    pub(crate) fn late_seconds(&self, arrived: Timestamp) -> Option<u64> {
        let late = arrived.seconds().saturating_sub(self.time?.seconds());
        let is_late = late > i64::from(self.late_after_seconds) && !self.is_backfilled;
        u64::try_from(late).ok().filter(|_| is_late)
    }
}

fn record(item: Item, provenance: &Provenance) -> Result<RecordEntry, Problem> {
    let Item { position, entry, content } = item;
    let Entry { id, moment, content: digest, sources, sender, replaces, .. } = entry;
    Ok(RecordEntry {
        id,
        position,
        moment: moment.to_string(),
        digest: digest.to_string(),
        sources: sources.iter().map(ToString::to_string).collect(),
        trust: provenance.trust,
        late_seconds: provenance.late_seconds(moment),
        backfilled_by: sender.clone().filter(|_| provenance.is_backfilled),
        sender,
        replaces,
        record: raw(content)?,
    })
}
