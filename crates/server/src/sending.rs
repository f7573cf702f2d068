//! An item on its way into the store: scored, with what is kept of it and what it corrects, and what the store says.

use karat::rows::Arrival;
use karat_store::{Error, Refusal};

use crate::authority;
use crate::over_cases;
use crate::params::written_timestamp;
use crate::prelude::*;
use crate::problem::conflict;
use crate::scoring::{Holder, ScoredItem, Sent};
use crate::stored::raw;
use crate::traces::queue::Line;
use crate::turn::corrected;

/// The size in bytes from which an item is scored on a separate thread, so that others do not wait for it.
const LARGE_BYTES: usize = 16 << 10;

impl Sent {
    /// Returns how the store has evidence and record, which may have been scored before: by another version of the engine, or as
    /// of another timestamp. A record is made once, and that one is then the content.
    pub(crate) async fn stored(&mut self, app: &App) -> Result<(Accepted, Accepted), Problem> {
        let accepted = match std::mem::replace(&mut self.outcome, Err(Error::Stopped)) {
            Ok(accepted) => accepted,
            Err(Error::Refused(refusals)) => {
                let found = earlier(app, &refusals, &self.evidence, self.digest).await?;
                let (accepted, content) = found.ok_or_else(|| conflict(&refusals))?;
                self.content = content;
                accepted
            }
            Err(error) => return Err(error.into()),
        };
        let unanswered = || Problem::internal(&"the store did not answer for every item");
        let [evidence, record] = <[Accepted; 2]>::try_from(accepted).map_err(|_| unanswered())?;
        Ok((evidence, record))
    }
}

/// Scores an item and stores it: a trace after those before it, and all else from itself alone.
pub(crate) async fn send(
    app: &Arc<App>,
    pool: &Arc<ScorerPool>,
    key: Arc<Key>,
    as_of: Option<String>,
    line: Line,
) -> Result<Sent, Problem> {
    if let Some(queue) = app.traces.queue(pool) {
        let sent = queue.push(app, pool, key, as_of, vec![line]).await;
        return sent.ok().and_then(|mut sent| sent.pop()).unwrap_or_else(|| Err(Error::Stopped.into()));
    }
    let pool = app.memory.weights().scorer(pool);
    let Line { name, bytes, replaces, sources } = line;
    let is_large = bytes.len() >= LARGE_BYTES;
    let (shared, of_sender, sender) = (Arc::clone(app), Arc::clone(&key), key.id.clone());
    let work = move || {
        let as_of = written_timestamp("as_of", as_of.as_deref())?;
        let holder = Some(Holder { key: &of_sender, now: shared.clock.now(), memory: &shared.memory });
        How { pool: &pool, as_of, holder, name: name.as_deref() }.score(&bytes)
    };
    let mut scored = if is_large { app.checked(work).await? } else { work()? };
    scored.evidence.sources = sources;
    let mut effect = None;
    if let Some(old) = replaces {
        let shared = Arc::clone(app);
        let corrected = app.read(move |reader| {
            let effect = correction(&shared.memory, &key, reader, &mut scored, &old)?;
            Ok((scored, Some(effect)))
        });
        (scored, effect) = corrected.await?;
    }
    let concerned = !over_cases::concerned(&app.memory, &[&scored]).is_empty();
    if concerned {
        let shared = Arc::clone(app);
        let replaced = scored.evidence.replaces.as_ref().map(|old| Digest::of(old.as_bytes()));
        let arrival = Arrival { moment: app.clock.now(), is_backfilled: false, trust: Trust::Claimed };
        let checked = app.read(move |reader| {
            let items = [&scored];
            let concerned = over_cases::concerned(&shared.memory, &items);
            let how = (replaced, arrival);
            let mut refused = over_cases::refused(&shared.memory, reader, &items, &concerned, how)?;
            refused.remove(&0).map_or(Ok(()), Err)?;
            Ok(scored)
        });
        scored = checked.await?;
    }
    let sent = Sent::of(&mut scored);
    let outcome = app.append(vec![submission(&sender, scored, effect)]).await?.pop();
    Ok(sent.with(outcome.unwrap_or(Err(Error::Stopped))))
}

/// Returns what the store has of the same evidence, if it refused nothing but another record of it.
async fn earlier(
    app: &App,
    refusals: &[Refusal],
    evidence: &str,
    digest: Digest,
) -> Result<Option<(Vec<Accepted>, Vec<u8>)>, Problem> {
    let [Refusal { kind: Kind::Record, id, problem: karat_store::Problem::Conflict { .. }, .. }] = refusals
    else {
        return Ok(None);
    };
    let (evidence, record) = (evidence.to_owned(), id.clone());
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

/// Returns what the store keeps of a scored item: the evidence, then its record.
pub fn submission(sender: &str, scored: ScoredItem, replaced: Option<Effect>) -> Submission {
    let ScoredItem { evidence, record, row, .. } = scored;
    Submission::from_sender(sender).with(evidence, replaced).with(record, Some(Effect::Record(Box::new(row))))
}

/// Makes `scored` the correction of the item `old` of the same subject.
pub(crate) fn correction(
    memory: &Memory,
    key: &Key,
    reader: &mut Reader,
    scored: &mut ScoredItem,
    old: &str,
) -> Result<Effect, Problem> {
    if old == scored.id {
        refuse!(BadRequest at "replaces", "an item cannot correct itself: give the correction its own id");
    }
    let (subject, card) = (&scored.row.subject, &scored.row.card);
    let evidence = ids::evidence(subject, old);
    let record = ids::record(&evidence, card);
    let size = reader.head()?.size;
    let has_record = reader.find(Kind::Record, &record, size)?.is_some();
    let found = reader.find(Kind::Evidence, &evidence, size)?.ok_or_else(|| {
        let missing = format!("there is no item `{}` of `{}`", old.escape_debug(), subject.escape_debug());
        Problem::not_found(missing).at("replaces")
    })?;
    let stored = corrected(memory, reader, subject, old, found.entry.sender.clone(), size)?;
    authority::decide(Some(key), false, &Act::Correct(&stored))?;
    let corrected = Digest::of(evidence.as_bytes());
    scored.evidence.replaces = Some(evidence);
    scored.record.replaces = has_record.then_some(record);
    Ok(Effect::Replaced(corrected, Some(key.id.clone()), key.subject.is_some()))
}
