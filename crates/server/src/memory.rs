//! What a server keeps in memory of its log: the index of records, the scorecards, the keys, the arena. All of it follows
//! from the log, and is worked out again at each start; between starts it follows what is committed, on the thread that
//! writes.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use karat_core::facts::Digest;
use karat_report::record::{Record, RecordDocument};
use karat_store::{Accepted, Item, Kind, Outcome, Reader};
use tokio::sync::{oneshot, watch};

use crate::arena::{self, Arena};
use crate::cards::{Cards, Rule};
use crate::index::{Index, NewRow};
use crate::keys::{Key, Keys};
use crate::problem::Problem;
use crate::stored;

/// Items that are read at once when a server starts.
const CHUNK: u64 = 2048;

/// What an item of the log changes in memory.
#[derive(Debug)]
pub enum Effect {
    /// A record.
    Record(Box<NewRow>),
    /// Evidence with that digest was corrected.
    Replaced(Digest),
    /// A scorecard.
    Card(Arc<Rule>),
    /// A key was made, or revoked.
    Key(Key, bool),
    /// Something of the arena.
    Arena(Box<arena::Content>),
}

/// What is kept in memory.
#[derive(Debug)]
pub struct Memory {
    index: RwLock<Index>,
    cards: RwLock<Cards>,
    keys: RwLock<Keys>,
    /// The arena.
    pub arena: Arena,
    size: watch::Sender<u64>,
}

/// What was written, with what it changes and who waits for it.
pub struct Written {
    /// One for each batch.
    pub outcomes: Vec<Outcome>,
    /// For each batch the effects of its items, by their places.
    pub effects: Vec<Vec<(usize, Effect)>>,
    /// Who waits.
    pub answer: oneshot::Sender<Vec<Outcome>>,
}

impl Memory {
    /// That of an empty log: the scorecards that come with karat.
    ///
    /// # Errors
    /// That one of them is broken: a defect.
    pub fn new() -> Result<Self, Problem> {
        Ok(Self {
            index: RwLock::default(),
            cards: RwLock::new(Cards::released()?),
            keys: RwLock::default(),
            arena: Arena::default(),
            size: watch::Sender::new(0),
        })
    }

    /// Takes in what the log of a store has, before anything is written to it.
    ///
    /// # Errors
    /// That the store cannot be read.
    pub fn load(&self, reader: &mut Reader) -> Result<(), Problem> {
        let size = reader.head()?.size;
        let mut start = 0;
        while start < size {
            let items = reader.items(start..size.min(start + CHUNK))?;
            let Some(last) = items.last() else { break };
            start = last.position + 1;
            for item in &items {
                // At once: the next item may be a record of the scorecard that this one is.
                let effect = self.effect(reader, item, size)?;
                self.apply(effect.map(|effect| (item.position, effect)));
            }
        }
        self.size.send_replace(size);
        Ok(())
    }

    /// The index of records.
    pub fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The scorecards.
    pub fn cards(&self) -> RwLockReadGuard<'_, Cards> {
        self.cards.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The keys.
    pub fn keys(&self) -> RwLockReadGuard<'_, Keys> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// How large the log is as far as memory knows it, and when it grows.
    #[must_use]
    pub fn size(&self) -> watch::Receiver<u64> {
        self.size.subscribe()
    }

    /// Takes in what was committed together, and then answers whoever waits: so an answer means that a question asked after
    /// it sees what it is about.
    pub fn take_in(&self, mut committed: Vec<Written>) {
        let mut effects = Vec::new();
        let mut size = *self.size.borrow();
        for Written { outcomes, effects: of_batches, .. } in &mut committed {
            for (outcome, of_batch) in outcomes.iter().zip(of_batches.drain(..)) {
                let Ok(accepted) = outcome else { continue };
                size = accepted.iter().map(|it| it.position + 1).fold(size, u64::max);
                let new = of_batch.into_iter().filter_map(|(place, effect)| {
                    let accepted = accepted.get(place).filter(|it: &&Accepted| !it.repeated)?;
                    Some((accepted.position, effect))
                });
                effects.extend(new);
            }
        }
        self.apply(effects);
        self.size.send_replace(size);
        for Written { outcomes, answer, .. } in committed {
            // Whoever asked may have gone away: what was written stays written.
            let _ = answer.send(outcomes);
        }
    }

    fn apply(&self, effects: impl IntoIterator<Item = (u64, Effect)>) {
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        for (position, effect) in effects {
            match effect {
                Effect::Record(row) => index.add(position, &row),
                Effect::Replaced(evidence) => index.replace(evidence, position),
                Effect::Card(rule) => self.cards.write().unwrap_or_else(PoisonError::into_inner).add(rule),
                Effect::Arena(content) => self.arena.apply(*content),
                Effect::Key(key, is_revoked) => {
                    self.keys.write().unwrap_or_else(PoisonError::into_inner).set(key, is_revoked);
                }
            }
        }
    }

    /// What `item` of a log of that `size` changes. What cannot be read is left out and told: the log has it all the same.
    fn effect(&self, reader: &mut Reader, item: &Item, size: u64) -> Result<Option<Effect>, Problem> {
        let told = |why: String| {
            tracing::warn!(
                position = item.position,
                id = item.entry.id,
                why,
                "an item is left out of the index"
            );
            None
        };
        Ok(match item.entry.kind {
            Kind::Record => Record::parse(&item.content)
                .map_err(|error| error.to_string())
                .and_then(|record| record.ok_or_else(|| String::from("it is not a record")))
                .and_then(|record| self.row(record.document()))
                .map_or_else(told, |row| Some(Effect::Record(Box::new(row)))),
            Kind::Evidence => match &item.entry.replaces {
                None => None,
                Some(old) => {
                    let found = reader.find(Kind::Evidence, old, size)?;
                    found.map(|item| Effect::Replaced(item.entry.content))
                }
            },
            Kind::Scorecard => match std::str::from_utf8(&item.content) {
                Err(error) => told(error.to_string()),
                Ok(text) => match self.cards().compile(text) {
                    Ok(card) => Some(Effect::Card(Arc::new(Rule::new(card)))),
                    Err(error) => told(error.to_string()),
                },
            },
            Kind::Key => Key::parse(&item.content)
                .map_or_else(told, |(key, is_revoked)| Some(Effect::Key(key, is_revoked))),
            Kind::Match => arena::Content::parse(&item.content)
                .map_or_else(told, |content| Some(Effect::Arena(Box::new(content)))),
            Kind::Review => None,
        })
    }

    fn row(&self, record: &RecordDocument) -> Result<NewRow, String> {
        let rule = self.cards().find(&record.scorecard.name()).map_err(|problem| problem.detail)?;
        Ok(NewRow {
            subject: record.subject.clone(),
            card: rule.name(),
            task: stored::task(record, &rule.card),
            time: record.time(),
            outcome: record.evidence.outcome,
            score: record.score(),
            evidence: record.evidence.digest,
            trust: stored::trust(record, &rule.card),
        })
    }
}
