//! The decision on what may be stored, in the turn of the one writer: nothing comes between the answer and the entry. A request asks
//! before, so that it is refused early; what counts is the answer here. The check of a log asks the same, entry by entry.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use karat::record::Record;
use karat_core::scorecard::{Reporter, Scorecard};
use karat_standing::overrides::OverrideEvent;
use karat_store::port::{Backend, Order};
use karat_store::{Entry, Error, Follow, Outcome, Refusal, Term};

use crate::arena::{self, State};
use crate::authority::{self, Act, Old, OldPart, Provenances, Revoked};
use crate::basics::*;
use crate::cards::ScorerPool;
use crate::effect::{Effect, Waiting};
use crate::flows;
use crate::ids;
use crate::index::NewRow;
use crate::keys::{Key, Keys, SERVER, Scope};
use crate::memory::Memory;
use crate::problem::{Code, Problem, refuse};
use crate::spans;
use crate::weights::WeightsItem;

/// Entries whose turn it is, of a log that memory and reader have up to there.
pub(crate) struct Turn<'a> {
    memory: &'a Memory,
    /// Records that stand for a match, each with its sender, until the entry of the match comes.
    made: BTreeMap<String, String>,
}

impl<'a> Turn<'a> {
    pub fn new(memory: &'a Memory) -> Self {
        Self { memory, made: BTreeMap::new() }
    }

    /// Decides whether an entry may be stored by its sender after the first `size` ones; of one without a sender, nothing can be
    /// said.
    pub fn check(
        &mut self,
        entry: &Entry,
        effect: Option<&Effect>,
        size: u64,
        open: &mut dyn FnMut() -> Result<Reader, Problem>,
    ) -> Result<(), Problem> {
        let Some(sender) = entry.sender.as_deref() else { return Ok(()) };
        if sender == SERVER || self.is_made_here(entry, sender, effect)? {
            return Ok(());
        }
        let keys = self.memory.keys();
        let Some(key) = keys.get(sender) else {
            refuse!(Unauthenticated, "the key was revoked: nothing is stored of it any more");
        };
        let act = match effect {
            Some(Effect::Key(new, false)) => {
                new_key(&keys, new)?;
                Act::MakeKey
            }
            Some(Effect::Key(old, true)) => {
                if keys.get(&old.id).is_none() {
                    refuse!(Conflict, "the key was revoked before");
                }
                let is_last = !keys.iter().any(|key| key.id != old.id && key.allows(Scope::Admin));
                Act::RevokeKey(Some(Revoked { is_last_admin: is_last && old.allows(Scope::Admin) }))
            }
            Some(Effect::Withdrawn(it)) if !keys.is_revoked(&it.key) => {
                refuse!(Conflict, "the key is in force: revoke it first, so that it sends nothing more");
            }
            Some(Effect::Withdrawn(_)) => Act::Withdraw,
            Some(Effect::Backfilled(_)) => Act::Backfill,
            Some(Effect::Card(_)) => Act::PublishCard,
            Some(Effect::Weights(item)) => return self.weights(item, &key),
            Some(Effect::Arena(content)) => match &**content {
                arena::Content::Challenge(_) => Act::PublishChallenge,
                arena::Content::Agent(_) => Act::RegisterAgent,
                arena::Content::Harness(_) => Act::ManageHarnesses,
                arena::Content::Match(stored) => match &stored.game.state {
                    State::Void(_) => Act::VoidMatch,
                    _ => {
                        return Ok(authority::decide(
                            Some(&key),
                            false,
                            &Act::Play(Some(&stored.game.agent_id)),
                        )?);
                    }
                },
            },
            Some(Effect::Workflow(content)) => match &**content {
                flows::Content::Recorder(_) => Act::ManageRecorders,
                flows::Content::Task(task) => {
                    let id = &task.task.task_id;
                    if self.memory.flows.state().like(id).is_some() {
                        refuse!(Conflict, "`{}` looks like a task that was posted", id.escape_debug());
                    }
                    Act::PostTask
                }
                flows::Content::Plan(_) => Act::HandIn,
                flows::Content::Delivery(_) => Act::Deliver,
                flows::Content::Verdict(_) => refuse!(Forbidden, "only the server gives verdicts"),
            },
            Some(Effect::Spans(taken)) => match &taken.content {
                spans::Content::Part(part) if part.whose.sender == sender => Act::Send(None),
                _ => refuse!(Forbidden, "these spans are of another key"),
            },
            Some(Effect::Review(decided)) => {
                self.is_unchanged(entry, *decided..size, &mut open()?)?;
                Act::Review
            }
            Some(Effect::Replaced(..)) => return self.correction(entry, &key, size, &mut open()?),
            Some(Effect::Record(row)) => return self.record(row, &key),
            None => match entry.kind {
                Kind::Evidence => Act::Send(None),
                Kind::Recording => Act::Deliver,
                Kind::Review => Act::Review,
                // Everything else of this kind is a mark of history.
                Kind::Key => Act::Backfill,
                kind => refuse!(Forbidden, "an item of the kind `{kind}` cannot be read"),
            },
        };
        Ok(authority::decide(Some(&key), false, &act)?)
    }

    /// Checks that the match of every record that belongs to one has come.
    pub fn finish(&mut self) -> Result<(), Problem> {
        match self.made.pop_first() {
            None => Ok(()),
            Some((record, _)) => {
                let record = record.escape_debug();
                refuse!(Forbidden, "`{record}` stands where the arena stores a match, and no match names it")
            }
        }
    }

    /// Returns true if the server itself has made the entry: from an answer that was sent in time, and perhaps graded later.
    /// Whose key that was may have been revoked since.
    fn is_made_here(
        &mut self,
        entry: &Entry,
        sender: &str,
        effect: Option<&Effect>,
    ) -> Result<bool, Problem> {
        match effect {
            Some(Effect::Arena(content)) => {
                let arena::Content::Match(stored) = &**content else { return Ok(false) };
                let State::Scored(scored) = &stored.game.state else { return Ok(false) };
                if self.made.remove(&scored.record).as_deref() != Some(sender) {
                    let record = scored.record.escape_debug();
                    refuse!(Forbidden, "the match names the record `{record}`, which does not come with it");
                }
                Ok(self.memory.arena.state().is_waiting(&stored.game.match_id))
            }
            Some(Effect::Record(row)) if authority::is_match_id(&row.subject, &row.id) => {
                self.made.insert(entry.id.clone(), sender.to_owned());
                Ok(true)
            }
            // Its record comes with it.
            None if entry.kind == Kind::Evidence => {
                let subject = entry.subject.as_deref().unwrap_or_default();
                Ok(ids::own(subject, &entry.id).is_some_and(|id| authority::is_match_id(subject, &id)))
            }
            _ => Ok(false),
        }
    }

    fn record(&self, row: &NewRow, key: &Key) -> Result<(), Problem> {
        let pool = self.memory.cards().find(&row.card)?;
        let item = item(self.memory, &pool.card, (&row.subject, &row.id), row.task.as_deref(), row.stated);
        Ok(authority::decide(Some(key), false, &Act::Send(Some(item)))?)
    }

    fn correction(&self, entry: &Entry, key: &Key, size: u64, reader: &mut Reader) -> Result<(), Problem> {
        let subject = entry.subject.as_deref().unwrap_or_default();
        let old = entry.replaces.as_deref().and_then(|old| ids::own(subject, old)).unwrap_or_default();
        let sender = reader.find(Kind::Evidence, &ids::evidence(subject, &old), size)?;
        let sender = sender.and_then(|item| item.entry.sender);
        let old = corrected(self.memory, reader, subject, &old, sender, size)?;
        Ok(authority::decide(Some(key), false, &Act::Correct(&old))?)
    }

    fn weights(&self, item: &WeightsItem, key: &Key) -> Result<(), Problem> {
        let pool = self.memory.cards().find(&item.card)?;
        let known = self.memory.weights().now(&pool);
        item.follows(&known).map_err(|why| Problem::new(Code::Conflict, why))?;
        let (by, act) = match &item.event {
            OverrideEvent::Proposed(proposal) => (&proposal.proposer, Act::ProposeWeights),
            OverrideEvent::Accepted(it) | OverrideEvent::Refused(it) | OverrideEvent::Revoked(it) => {
                let proposer = known.proposals.get(&it.id).map(|record| record.proposal.proposer.as_str());
                (&it.decider, Act::DecideWeights(proposer))
            }
        };
        if *by != key.id {
            refuse!(Forbidden, "it names `{}`, and is sent by the key `{}`", by.escape_debug(), key.id);
        }
        Ok(authority::decide(Some(key), false, &act)?)
    }

    /// Checks that nothing about the subject of a review came in `since`, after the entries by which it was decided.
    fn is_unchanged(&self, entry: &Entry, since: Range<u64>, reader: &mut Reader) -> Result<(), Problem> {
        let subject = entry.subject.as_deref().unwrap_or_default();
        let index = self.memory.index();
        let number = index.number(subject);
        let mut is_changed = index.from(since.start, since.end).any(|row| Some(row.subject) == number);
        for term in [Term::subject(Kind::Review, subject), Term::kind(Kind::Weights), Term::kind(Kind::Key)] {
            is_changed = is_changed || !reader.list(term, since.clone(), Order::Oldest, 1)?.is_empty();
        }
        if is_changed {
            let detail = "something else about the subject came meanwhile; send it again";
            return Err(Problem::new(Code::Busy, detail).retry(1));
        }
        Ok(())
    }
}

/// Returns what is asked of an item of evidence, by its subject and its id.
pub(crate) fn item<'i>(
    memory: &Memory,
    card: &Scorecard,
    (subject, id): (&'i str, &'i str),
    task: Option<&str>,
    stated: Provenances,
) -> authority::Item<'i> {
    let is_run = card.evidence == karat_reader::Kind::WorkflowRun.name();
    let flows = memory.flows.state();
    authority::Item {
        subject,
        stated,
        is_of_arena: authority::is_match_id(subject, id) || memory.arena.state().has_card(&card.name()),
        // Under the id of a recording stands the evidence of its run, and would no more if another item came first.
        is_of_task: flows.is_delivered(id) || is_run && task.is_some_and(|task| flows.like(task).is_some()),
        keeper: authority::trace_keeper(id),
    }
}

/// Returns what decides who may correct the item `old` of `subject`, which `sender` sent, in a log of that `size`.
pub(crate) fn corrected(
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

/// Refuses a key whose name is taken.
pub(crate) fn new_key(keys: &Keys, new: &Key) -> Result<(), Problem> {
    if keys.iter().any(|key| key.name == new.name) {
        let name = new.name.escape_debug();
        refuse!(Conflict at "$.name",
            "there is already a key named `{name}`; choose another name, or revoke that key first");
    }
    Ok(())
}

/// The memory of a server, in the turn of its writer.
pub(crate) struct Gate {
    pub memory: Arc<Memory>,
    pub backend: Arc<dyn Backend>,
}

impl Follow<Waiting> for Gate {
    fn is_alone(&self, waiting: &Waiting) -> bool {
        waiting.effects.iter().flatten().any(|(_, effect)| match effect {
            Effect::Record(_) | Effect::Spans(_) => false,
            Effect::Arena(content) => matches!(**content, arena::Content::Challenge(_)),
            _ => true,
        })
    }

    fn admit(&mut self, waiting: &Waiting, batch: usize, entries: &[&Entry]) -> Result<(), Vec<Refusal>> {
        // A defect that one request meets must not end the writing of all.
        catch_unwind(AssertUnwindSafe(|| self.decide(waiting, batch, entries))).unwrap_or_else(|_| {
            let problem = Problem::internal(&"a bug of karat was met where the entry was decided");
            Err(entries.first().map(|entry| refusal(0, entry, problem)).into_iter().collect())
        })
    }

    fn follow(&mut self, answered: Vec<(Waiting, Vec<Outcome>)>) {
        self.memory.take_in(answered);
    }
}

impl Gate {
    fn decide(&self, waiting: &Waiting, batch: usize, entries: &[&Entry]) -> Result<(), Vec<Refusal>> {
        let mut turn = Turn::new(&self.memory);
        let mut effects = waiting.effects.get(batch).into_iter().flatten().peekable();
        let size = *self.memory.size().borrow();
        let store = &self.backend;
        let mut open = || Ok(Reader::new(store.reader()?));
        let mut refused = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            let effect = effects.next_if(|(at, _)| *at == place).map(|(_, effect)| effect);
            if let Err(problem) = turn.check(entry, effect, size, &mut open) {
                refused.push(refusal(place, entry, problem));
            }
        }
        if let (Err(problem), Some(last)) = (turn.finish(), entries.last()) {
            refused.push(refusal(entries.len() - 1, last, problem));
        }
        if refused.is_empty() { Ok(()) } else { Err(refused) }
    }
}

fn refusal(place: usize, entry: &Entry, problem: Problem) -> Refusal {
    let problem = karat_store::Problem::Denied { code: problem.code.name(), detail: problem.detail };
    Refusal { place, kind: entry.kind, id: entry.id.clone(), problem }
}
