//! Means over cases on arrival. One that cannot be brought together with those at its task is refused, while its sender can still say
//! what it is. Of items that arrive at once no one knows of the other; a subject of which the log has both is left out of answers.

use std::collections::HashSet;

use karat::record::Record;
use karat::rows::{Arrival, Loader, Selection, Unclear};

use crate::basics::*;
use crate::cards::ScorerPool;
use crate::memory::Memory;
use crate::problem::{Code, Problem};
use crate::scoring::ScoredItem;
use crate::stored::Trust;

/// The newest items at a task with which a new one is compared.
const COMPARED: usize = 32;

/// The scorecard, the subject and the task of an item.
type Key<'i> = (&'i str, &'i str, &'i str);

fn key(item: &ScoredItem) -> Option<Key<'_>> {
    Some((&item.row.card, &item.row.subject, item.row.task.as_deref()?))
}

/// Returns the items that are at a task with means over cases, by scorecard, subject and task, by their place in `items`.
pub(crate) fn concerned<'i>(memory: &Memory, items: &[&'i ScoredItem]) -> BTreeMap<Key<'i>, Vec<usize>> {
    let mut found: BTreeMap<Key<'i>, Vec<usize>> = BTreeMap::new();
    let sent: HashSet<Key<'_>> =
        items.iter().filter(|item| item.row.is_over_cases).filter_map(|item| key(item)).collect();
    let index = memory.index();
    for (place, key) in items.iter().enumerate().filter_map(|(place, item)| Some((place, key(item)?))) {
        if sent.contains(&key) || index.has_cases_at(key) {
            found.entry(key).or_default().push(place);
        }
    }
    found
}

/// Returns the places of the items that cannot be brought together with those before them, each with the problem. `replaced` is
/// the digest of the id of evidence that they correct, `arrival` how they come.
pub(crate) fn refused(
    memory: &Memory,
    reader: &mut Reader,
    items: &[&ScoredItem],
    concerned: &BTreeMap<Key<'_>, Vec<usize>>,
    (replaced, arrival): (Option<Digest>, Arrival),
) -> Result<BTreeMap<usize, Problem>, Problem> {
    let mut refused = BTreeMap::new();
    let keys: BTreeSet<Key<'_>> = concerned.keys().copied().collect();
    let own = concerned.values().flatten().filter_map(|place| items.get(*place)).map(|item| item.row.item);
    let sent = own.chain(replaced).collect();
    let (stored, there) = memory.index().at_tasks(&keys, &sent, COMPARED);
    for (key, places) in concerned {
        let pool = memory.cards().find(key.0)?;
        let mut known: Vec<(u64, Record, Arrival)> = Vec::new();
        for position in stored.get(key).into_iter().flatten() {
            let item = reader.item(*position)?;
            let is_backfilled = memory.index().at(*position).is_some_and(|row| row.is_backfilled);
            let arrival = Arrival { moment: item.entry.moment, is_backfilled, trust: Trust::Claimed };
            known.extend(parsed(&item.content)?.map(|record| (*position, record, arrival)));
        }
        let mut new: Vec<(usize, Record)> = Vec::new();
        for place in places {
            // What is sent again changes nothing.
            let item = items.get(*place).filter(|item| !there.contains(&item.row.item));
            let record = item.map(|item| parsed(&item.record.content)).transpose()?.flatten();
            new.extend(record.map(|record| (*place, record)));
        }
        let why = |new: &[(usize, Record)]| unclear(memory, &pool, &known, new, arrival);
        if why(&new)?.is_none() {
            continue;
        }
        let mut accepted: Vec<(usize, Record)> = Vec::new();
        for (place, record) in new {
            accepted.push((place, record));
            if let Some(detail) =
                why(accepted.get(accepted.len().saturating_sub(COMPARED)..).unwrap_or_default())?
            {
                refused.insert(place, Problem::new(Code::Conflict, detail));
                accepted.pop();
            }
        }
    }
    Ok(refused)
}

fn parsed(content: &[u8]) -> Result<Option<Record>, Problem> {
    Record::parse(content).map_err(|error| Problem::internal(&error))
}

/// Returns why items at one task cannot be brought together, if they cannot.
fn unclear(
    memory: &Memory,
    pool: &ScorerPool,
    known: &[(u64, Record, Arrival)],
    new: &[(usize, Record)],
    arrival: Arrival,
) -> Result<Option<String>, Problem> {
    let family = || pool.card.base.as_ref().and_then(|family| memory.cards().find(family).ok());
    let has_standings = pool.card.standing.is_some() || family().is_some_and(|it| it.card.standing.is_some());
    let unclear = if has_standings { Unclear::LeftOutOfStandings } else { Unclear::LeftOut };
    let selection = Selection { is_query: true, unclear, ..Selection::default() };
    let mut loader = Loader::new(selection).map_err(|error| Problem::internal(&error))?;
    let scorer = loader.scorer(&pool.card);
    for (position, record, arrival) in known {
        loader.add_kept(Some(*position), scorer, record.document(), *arrival, &[]);
    }
    for (_, record) in new {
        loader.add_kept(None, scorer, record.document(), arrival, &[]);
    }
    // One id with two contents is for the store to refuse.
    Ok(loader.finish().ok().and_then(|rows| rows.left_out.into_values().next()))
}
