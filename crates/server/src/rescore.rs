//! Records of earlier versions of a scorecard, scored again by a new one and written into the log, so that the new version answers
//! for all of them.

use karat::record::Record;
use karat_store::Outcome;

use crate::backfill::Backfill;
use crate::basics::*;
use crate::cards::ScorerPool;
use crate::effect::Effect;
use crate::ids;
use crate::keys::SERVER;
use crate::params::written_timestamp;
use crate::problem::{Code, Problem};
use crate::scoring::How;
use crate::state::{App, Submission};
use crate::stored::{self, Trust, source};

/// The number of records that are stored together.
const PART: usize = 256;

/// The result of scoring records again.
#[derive(Debug, Default)]
pub struct Rescored {
    /// Records that were written.
    pub written: u64,
    /// Items that had a record of the new version before.
    pub present: u64,
    /// Items that the new version refuses, each with the reason.
    pub refused: Vec<(String, String)>,
}

/// Scores what counts of the earlier versions of a scorecard by the version `card`, and stores the records. The server is their
/// sender; they count as sent, and as arrived, with their evidence. What has a record already is left alone, so that this may be
/// repeated.
pub fn commit(app: &App, card: &str, watch: &mut dyn FnMut(u64, u64)) -> Result<Rescored, Problem> {
    let memory = &app.memory;
    let pool = memory.cards().find(card)?;
    if app.traces.queue(&pool).is_some() {
        let detail = "it compares each trace with those before it, so that none can be scored again by itself: send them again";
        return Err(Problem::new(Code::Unanswerable, format!("`{}`: {detail}", pool.name())));
    }
    let index = memory.index();
    let is_earlier = |name: &str| {
        let found = memory.cards().find(name).ok();
        found.is_some_and(|it| {
            it.card.id == pool.card.id && it.card.evidence == pool.card.evidence && it.name() != pool.name()
        })
    };
    let rows: Vec<_> = index.rows(u64::MAX).filter(|row| is_earlier(index.name(row.card))).collect();
    let (mut found, mut reader, mut known) = (Rescored::default(), app.reader()?, BTreeSet::new());
    let mut part = Submission::of_server();
    for (done, row) in (1..).zip(&rows) {
        let item = reader.item(row.position)?;
        match source(&mut reader, &item)? {
            None => {
                found.refused.push((item.entry.id.clone(), String::from("the log has no evidence of it")))
            }
            Some(evidence) => {
                let record = ids::record(&evidence.entry.id, &pool.name());
                if !known.insert(record.clone()) || reader.find(Kind::Record, &record, u64::MAX)?.is_some() {
                    found.present += 1;
                } else {
                    match again(&pool, &item, &evidence.content) {
                        Ok(mut scored) => {
                            let sender = evidence.entry.sender.clone();
                            let ceiling = memory.keys().ceiling(sender.as_deref());
                            scored.row.trust = Trust::of(scored.row.stated.all()).min(ceiling);
                            scored.row.time.get_or_insert(evidence.entry.moment);
                            if row.is_backfilled {
                                scored.row.is_backfilled = true;
                                let mark = Backfill::new(SERVER, "scored again", vec![record]);
                                part = part.with(mark.item(), Some(Effect::Backfilled(mark)));
                            }
                            part = part.with(scored.record, None);
                            scored.row.sender = sender;
                            part.effects.push((part.items.len() - 1, Effect::Record(Box::new(scored.row))));
                        }
                        Err(problem) => found.refused.push((evidence.entry.id, problem.detail)),
                    }
                }
            }
        }
        if part.items.len() >= PART || done == rows.len() {
            let batch = std::mem::replace(&mut part, Submission::of_server());
            found.written += batch.items.iter().filter(|item| item.kind == Kind::Record).count() as u64;
            let outcomes: Vec<Outcome> =
                app.submit(vec![batch])?.blocking_recv().map_err(|error| Problem::internal(&error))?;
            outcomes.into_iter().try_for_each(|outcome| outcome.map(drop).map_err(Problem::from))?;
        }
        watch(done as u64, rows.len() as u64);
    }
    Ok(found)
}

fn again(pool: &ScorerPool, record: &Item, evidence: &[u8]) -> Result<crate::scoring::ScoredItem, Problem> {
    let old = Record::parse(&record.content).map_err(|error| Problem::internal(&error))?;
    let old = old.ok_or_else(|| Problem::internal(&"it is not a record"))?;
    let as_of = written_timestamp("as_of", old.document().as_of.as_deref())?;
    let own = stored::raw(evidence.to_vec())?;
    How { pool, as_of, holder: None, name: Some(&old.document().evidence.id) }.score(own.get().as_bytes())
}
