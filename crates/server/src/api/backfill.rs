//! History in: items that are old on purpose, handed in by an administrator. They are stored together or not at all, after an
//! entry that says so.

use karat::rows::Arrival;
use karat_store::Error;

use super::batch::{self, numbered};
use super::weights::REASON_MAX_CHARACTERS;
use super::{json, stored};
use crate::backfill::Backfill;
use crate::over_cases;
use crate::params::written_timestamp;
use crate::prelude::*;
use crate::problem::conflict;
use crate::scoring::{Holder, ScoredItem, idempotency_key};
use crate::sending::submission;

/// The largest number of items that are handed in together.
const ITEMS_MAX: usize = 1000;

/// The parameters of history.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct BackfillParams {
    /// The scorecard, `id@version`. An id without a version means the newest that takes the kind of the evidence; of `workflow` 1.0.0.
    #[param(example = "workflow@1.0.0")]
    pub card: String,
    /// The reason, in up to 1000 characters. It is in the log, beside the items.
    #[param(min_length = 1, max_length = 1000, example = "moved here from the old server")]
    pub reason: String,
    /// The time of the verdict, for evidence whose grade depends on it: an RFC 3339 timestamp.
    pub as_of: Option<String>,
}

/// The items that were handed in as history.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BackfillAnswer {
    /// The position in the log of the entry that names key, items and reason.
    position: u64,
    /// True if all of it was already stored, so that nothing changed.
    repeated: bool,
    /// The records, in the order of the items.
    records: Vec<BackfilledRecord>,
}

/// The record of an item that was handed in as history.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BackfilledRecord {
    /// The id in the store.
    id: String,
    /// The position in the log.
    position: u64,
    /// True if it was stored before: then it keeps the arrival that it had.
    repeated: bool,
}

/// Takes items that are old on purpose: one, or up to 1000 as JSON lines, stored together or not at all.
///
/// Other items count for reviews, days and tiers from when they arrive. These count from the time that they state, as in files;
/// standings, leaderboards and pages say that they were backfilled, and by which key. Traces that are compared with
/// earlier ones cannot be backfilled.
#[utoipa::path(post, operation_id = "backfill_evidence", path = "/v1/backfill", tag = "evidence", security(("key" = ["admin"])), params(BackfillParams,
    ("Idempotency-Key" = Option<String>, Header, description = "the id of an item that has none; in JSON lines, followed by `:` and the line", example = "runs-2026-11-22")),
    request_body(content((BTreeMap<String, Value> = "application/json"), (String = "application/x-ndjson"))), responses(
    (status = 201, body = BackfillAnswer, description = "The items are stored with their records."),
    (status = 200, body = BackfillAnswer, description = "All of it was already stored."), Absent, Taken, Unfit))]
pub(crate) async fn send(Params(how): Params<BackfillParams>, Post { app, caller, body }: Post) -> Answer {
    let key = Arc::clone(caller.key(&Act::Backfill)?);
    if how.reason.trim().is_empty() || how.reason.chars().count() > REASON_MAX_CHARACTERS {
        refuse!(BadRequest at "reason",
            "expected 1 to {REASON_MAX_CHARACTERS} characters that say why it comes now");
    }
    drop(app.memory.cards().find(&how.card)?);
    let name = idempotency_key(&body.headers)?;
    let is_batch = body.media_type() == batch::MEDIA;
    let bytes_max = if is_batch { app.options.batch_bytes_max } else { app.options.body_bytes_max };
    let bytes = body.whole(&app, &["application/json", batch::MEDIA], bytes_max).await?;
    let (shared, of_sender) = (Arc::clone(&app), Arc::clone(&key));
    let scored = app.checked(move || {
        let lines: Vec<(u64, &[u8])> =
            if is_batch { numbered(&bytes, 1).collect() } else { vec![(1, bytes.as_slice())] };
        let named = |line: u64| {
            let name = name.as_ref()?;
            Some(if is_batch { format!("{name}:{line}") } else { name.clone() })
        };
        scored(&shared, &of_sender, &how, &lines, named)
    });
    let (mark, items) = scored.await?;
    let lines: Vec<u64> = items.iter().map(|(line, _)| *line).collect();
    let mut ids = Vec::with_capacity(items.len());
    let mut all = Submission::by(&key).with(mark.item(), None);
    for (_, mut item) in items {
        item.row.is_backfilled = true;
        ids.push(item.record.id.clone());
        all.add(submission(&key.id, item, None));
    }
    let accepted = match app.append(vec![all]).await?.pop() {
        Some(Ok(accepted)) => accepted,
        Some(Err(Error::Refused(refusals))) => {
            let line = |place: usize| lines.get(place.saturating_sub(1) / 2).copied();
            let parts = refusals.iter().map(|refusal| {
                let (detail, line) = (refusal.to_string(), line(refusal.place));
                ProblemPart { detail, line, ..ProblemPart::default() }
            });
            return Err(conflict(&refusals).with_parts(parts.collect()));
        }
        Some(Err(error)) => return Err(error.into()),
        None => return Err(Error::Stopped.into()),
    };
    let Some((mark, kept)) = accepted.split_first() else {
        return Err(Problem::internal(&"the store did not answer for every item"));
    };
    let record = |(id, own): (String, &[Accepted])| {
        let (evidence, record) = own.first().zip(own.last())?;
        let repeated = evidence.repeated && record.repeated;
        Some(BackfilledRecord { id, position: record.position, repeated })
    };
    let records: Vec<BackfilledRecord> = ids.into_iter().zip(kept.chunks(2)).filter_map(record).collect();
    let repeated = records.iter().filter(|it| it.repeated).count() as u64;
    app.metrics.items(records.len() as u64 - repeated, repeated, 0);
    let answer =
        BackfillAnswer { position: mark.position, repeated: accepted.iter().all(|it| it.repeated), records };
    json(stored(answer.repeated), &answer)
}

/// Scores all items; returns the mark of their records, and the items with their lines.
fn scored(
    app: &App,
    key: &Key,
    how: &BackfillParams,
    lines: &[(u64, &[u8])],
    named: impl Fn(u64) -> Option<String>,
) -> Result<(Backfill, Vec<(u64, ScoredItem)>), Problem> {
    let as_of = written_timestamp("as_of", how.as_of.as_deref())?;
    let now = app.clock.now();
    let one = |line: u64, bytes: &[u8]| {
        let pool = app.memory.cards().find_for(&how.card, bytes)?;
        if app.traces.queue(&pool).is_some() {
            let name = pool.name();
            refuse!(
                EvidenceRefused,
                "`{name}` compares each trace with those that arrived before, so no trace can be added to the past; send it with POST /v1/evidence"
            );
        }
        let pool = app.memory.weights().scorer(&pool);
        let holder = Some(Holder { key, now, memory: &app.memory });
        How { pool: &pool, as_of, holder, name: named(line).as_deref() }.score(bytes)
    };
    if lines.len() > ITEMS_MAX {
        refuse!(TooLarge, "found {} items, expected at most {ITEMS_MAX}; hand them in in parts", lines.len());
    }
    let (mut items, mut refused) = (Vec::with_capacity(lines.len()), Vec::new());
    for (line, bytes) in lines {
        match one(*line, bytes) {
            Ok(item) => items.push((*line, item)),
            Err(problem) => refused.push((*line, problem)),
        }
    }
    let own: Vec<&ScoredItem> = items.iter().map(|(_, item)| item).collect();
    let concerned = over_cases::concerned(&app.memory, &own);
    if !concerned.is_empty() {
        let arrival = Arrival { moment: now, is_backfilled: true, trust: Trust::Claimed };
        let found = over_cases::refused(&app.memory, &mut app.reader()?, &own, &concerned, (None, arrival))?;
        let line = |place: usize| items.get(place).map_or(0, |(line, _)| *line);
        refused.extend(found.into_iter().map(|(place, problem)| (line(place), problem)));
    }
    let count = refused.len();
    if let Some((line, problem)) = refused.first() {
        if lines.len() == 1 {
            return Err(problem.clone());
        }
        let part = |(line, problem): &(u64, Problem)| {
            let (field, detail) = (problem.field.clone(), problem.detail.clone());
            ProblemPart { field, detail, line: Some(*line), ..ProblemPart::default() }
        };
        let detail = format!("{count} items are refused, so none is stored; line {line}: {}", problem.detail);
        let parts = refused.iter().map(part).collect();
        return Err(Problem::new(problem.code, detail).with_parts(parts));
    }
    if items.is_empty() {
        refuse!(BadRequest, "found no item, expected one or more");
    }
    let records = items.iter().map(|(_, item)| item.record.id.clone()).collect();
    Ok((Backfill::new(&key.id, &how.reason, records), items))
}
