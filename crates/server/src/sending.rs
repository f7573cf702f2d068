//! A scored item on its way into the store: what is kept of it, and what it corrects.

use std::sync::Arc;

use karat::record::Record;
use karat_core::facts::Digest;
use karat_core::scorecard::{Reporter, Scorecard};
use karat_store::{Error, Kind, Reader};

use crate::authority::{self, Act, Old, OldPart, Provenances};
use crate::cards::ScorerPool;
use crate::effect::Effect;
use crate::ids;
use crate::keys::Key;
use crate::memory::Memory;
use crate::problem::Problem;
use crate::scoring::ScoredItem;
use crate::state::Submission;

/// Returns what the store keeps of a scored item: the evidence, then its record.
#[must_use]
pub fn submission(sender: &str, scored: ScoredItem, replaced: Option<Effect>) -> Submission {
    let ScoredItem { evidence, record, row, .. } = scored;
    Submission::from_sender(sender).with(evidence, replaced).with(record, Some(Effect::Record(Box::new(row))))
}

/// Makes `scored` the correction of the item `old` of the same subject.
///
/// # Errors
/// If there is no such item, the item is to correct itself, or `key` may not correct it.
pub fn correction(
    memory: &Memory,
    key: &Key,
    reader: &mut Reader,
    scored: &mut ScoredItem,
    old: &str,
) -> Result<Effect, Problem> {
    if old == scored.id {
        let detail = "an item cannot correct itself: give the correction its own id";
        return Err(Problem::parameter("replaces", detail));
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

/// Returns what decides who may correct the item `old` of `subject`, which `sender` sent, in a log of that `size`.
fn corrected(
    memory: &Memory,
    reader: &mut Reader,
    subject: &str,
    old: &str,
    sender: Option<String>,
    size: u64,
) -> Result<Old, Problem> {
    let evidence = ids::evidence(subject, old);
    let mut is_of_arena = authority::is_match_id(subject, old);
    let (mut is_of_task, mut is_reviewed) = (false, false);
    let mut parts = Vec::new();
    let pools: Vec<Arc<ScorerPool>> = memory.cards().iter().map(Arc::clone).collect();
    for pool in pools {
        let name = pool.name();
        let Some(item) = reader.find(Kind::Record, &ids::record(&evidence, &name), size)? else { continue };
        is_of_arena |= memory.arena.state().has_card(&name);
        is_of_task |= memory.flows.state().has_record(&item.entry.id);
        is_reviewed |= has_reviews(memory, &pool.card);
        let unreadable =
            |why: String| Problem::from(Error::Damaged(format!("the entry {}: {why}", item.position)));
        let record = Record::parse(&item.content).map_err(|error| unreadable(error.to_string()))?;
        let record = record.ok_or_else(|| unreadable(String::from("it is not a record")))?;
        let record = record.document();
        let given = pool.card.facts.iter().filter(|fact| record.facts.contains_key(&fact.name));
        let outcome = record.evidence.outcome.map(|_| Reporter::Unstated);
        let mut stated: Provenances = given.map(|fact| fact.from).chain(outcome).collect();
        if stated.is_empty() {
            // Someone said that there is nothing to state.
            stated = [Reporter::Unstated].into_iter().collect();
        }
        parts.push(OldPart { sender: item.entry.sender, stated });
    }
    if parts.is_empty() {
        parts.push(OldPart { sender, stated: [Reporter::Unstated].into_iter().collect() });
    }
    Ok(Old { parts, is_of_arena, is_of_task, is_reviewed })
}

/// Returns true if standings under a scorecard, or under its family, have reviews or certification.
fn has_reviews(memory: &Memory, card: &Scorecard) -> bool {
    let asks = |card: &Scorecard| {
        card.standing.as_ref().is_some_and(|rules| rules.review.is_some() || rules.certification.is_some())
    };
    let family = card.base.as_ref().and_then(|family| memory.cards().find(family).ok());
    asks(card) || family.is_some_and(|family| asks(&family.card))
}
