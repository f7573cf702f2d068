//! The scorecards of a server, released or published on it, each ready to score.

use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};

use karat::card::CompiledCard;
use karat::cards::{self, CardText, EMBEDDED};
use karat::engine::{Engine, Options};
use karat::error::Error;
use karat_checker::Checked;
use karat_core::diagnostic::nearest;
use karat_reader::Kind;
use karat_store::Term;
use karat_store::port::Order;

use crate::basics::*;
use crate::problem::{Code, Problem};

/// The largest number of idle engines per scorecard.
const IDLE_MAX: usize = 8;

/// A known scorecard, with engines that score by it.
#[derive(Debug)]
pub struct ScorerPool {
    pub card: Arc<CompiledCard>,
    /// The number of records by this scorecard.
    pub records: AtomicU64,
    idle: Mutex<Vec<Engine>>,
}

impl ScorerPool {
    /// Creates a pool without engines; they are made on demand.
    pub fn new(card: impl Into<Arc<CompiledCard>>) -> Self {
        Self { card: card.into(), records: AtomicU64::new(0), idle: Mutex::default() }
    }

    /// Returns `id@version`.
    pub fn name(&self) -> String {
        self.card.name()
    }

    /// Lends an engine to `work`, set to the time of the verdict.
    pub(crate) fn with_engine<T>(
        &self,
        as_of: Option<WrittenTimestamp<'_>>,
        work: impl FnOnce(&mut Engine) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        if self.card.family.is_some() {
            let message =
                format!("`{}` is a family of challenges: name the challenge that was played", self.name());
            return Err(Problem::parameter("card", message));
        }
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut engine = match idle {
            Some(engine) => engine,
            None => Engine::new(Arc::clone(&self.card), Options::default())
                .map_err(|error| Problem::of_error(Code::CardRefused, &error))?,
        };
        engine.set_as_of_written(as_of);
        let done = work(&mut engine);
        // An engine with cached vectors of a trace is dropped: the next item would be compared with them, but an item
        // is scored from itself alone.
        if engine.cache().is_none() {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < IDLE_MAX {
                idle.push(engine);
            }
        }
        done
    }
}

/// All scorecards, by `id@version`.
#[derive(Debug, Default, Clone)]
pub struct Cards {
    by_name: BTreeMap<String, Arc<ScorerPool>>,
    /// In the order of publication: an id without a version means the last card with this id that fits.
    order: Vec<Arc<ScorerPool>>,
}

impl Cards {
    pub fn released() -> Result<Self, Problem> {
        let mut cards = Self::default();
        for embedded in EMBEDDED {
            let card = CompiledCard::released(embedded.name).map_err(|error| Problem::internal(&error))?;
            cards.add(Arc::new(ScorerPool::new(card)));
        }
        Ok(cards)
    }

    /// Returns the released scorecards and those in a store, as of its whole log.
    pub fn of_store(reader: &mut Reader) -> Result<Self, Problem> {
        const LISTED: usize = 256;
        let mut cards = Self::released()?;
        let (size, mut start) = (reader.head()?.size, 0);
        while let items =
            reader.list(Term::kind(karat_store::Kind::Scorecard), start..size, Order::Oldest, LISTED)?
            && let Some(last) = items.last()
        {
            start = last.position + 1;
            for item in &items {
                let text = String::from_utf8_lossy(&item.content);
                let card =
                    cards.compile(&text).map_err(|error| Problem::of_error(Code::CardRefused, &error))?;
                cards.add(Arc::new(ScorerPool::new(card)));
            }
        }
        Ok(cards)
    }

    /// Checks a scorecard, which may be a challenge of a published or released family.
    pub fn check(&self, text: &str) -> Checked {
        cards::check_with(&given(text), &|name| self.library(name))
    }

    /// Checks and compiles a scorecard, which may be a challenge of a published or released family.
    pub fn compile(&self, text: &str) -> Result<CompiledCard, Error> {
        CompiledCard::checked(&given(text), &|name| self.library(name))
    }

    /// Returns the text of the base of a challenge.
    fn library(&self, name: &str) -> Option<String> {
        let known = self.by_name.get(name).map(|pool| pool.card.text().to_owned());
        known.or_else(|| cards::library(name))
    }

    /// Adds a scorecard, unless one with its name is known.
    pub fn add(&mut self, pool: Arc<ScorerPool>) {
        if let Entry::Vacant(free) = self.by_name.entry(pool.name()) {
            free.insert(Arc::clone(&pool));
            self.order.push(pool);
        }
    }

    /// Finds the scorecard with this id, which means the last card that has it, or `id@version`.
    pub fn find(&self, wanted: &str) -> Result<Arc<ScorerPool>, Problem> {
        let found = self.by_name.get(wanted).or_else(|| self.versions(wanted).next_back());
        found.map(Arc::clone).ok_or_else(|| self.unknown(wanted))
    }

    /// As [`Cards::find`], for a question about records. Where an id has several versions for the kind of evidence of which there
    /// are records, the newest answers once it has as many records as the one before: until then, the one before answers.
    pub(crate) fn find_used(&self, wanted: &str) -> Result<Arc<ScorerPool>, Problem> {
        let records = |pool: &ScorerPool| pool.records.load(Ordering::Relaxed);
        let used = self.versions(wanted).rev().find(|pool| records(pool) > 0);
        let of_kind =
            |pool: &&Arc<ScorerPool>| used.is_some_and(|used| pool.card.evidence == used.card.evidence);
        let whole = |old: &'_ Arc<ScorerPool>, new: &'_ Arc<ScorerPool>| records(new) >= records(old);
        let answering =
            self.versions(wanted).filter(of_kind).reduce(|old, new| if whole(old, new) { new } else { old });
        answering.map_or_else(|| self.find(wanted), |pool| Ok(Arc::clone(pool)))
    }

    /// Returns the newest version for the same evidence, if another one answers for its id, with the number of records of each.
    pub(crate) fn newer(&self, answering: &ScorerPool) -> Option<(String, u64, u64)> {
        let card = &answering.card;
        let newest = self.versions(&card.id).rfind(|pool| pool.card.evidence == card.evidence)?;
        let records = |pool: &ScorerPool| pool.records.load(Ordering::Relaxed);
        (newest.name() != card.name()).then(|| (newest.name(), records(newest), records(answering)))
    }

    /// As [`Cards::find`], for an item of evidence: an id without a version means the last that takes its kind.
    pub(crate) fn find_for(&self, wanted: &str, item: &[u8]) -> Result<Arc<ScorerPool>, Problem> {
        if self.versions(wanted).nth(1).is_none() {
            return self.find(wanted);
        }
        let evidence = |pool: &&Arc<ScorerPool>| Kind::from_name(&pool.card.evidence);
        let found = cards::newest(self.versions(wanted), evidence, Kind::of_item(item));
        found.map(Arc::clone).ok_or_else(|| self.unknown(wanted))
    }

    /// The versions of an id, oldest first.
    fn versions(&self, id: &str) -> impl DoubleEndedIterator<Item = &Arc<ScorerPool>> + Clone {
        self.order.iter().filter(move |pool| pool.card.id == id)
    }

    fn unknown(&self, wanted: &str) -> Problem {
        let known = self.by_name.keys().map(String::as_str);
        let near = nearest(wanted, known.chain(self.order.iter().map(|pool| pool.card.id.as_str())));
        let wanted = wanted.escape_debug();
        Problem::not_found(match near {
            Some(near) => format!("there is no scorecard `{wanted}`; did you mean `{near}`?"),
            None => format!("there is no scorecard `{wanted}`; GET /v1/scorecards lists them all"),
        })
    }

    /// Returns all scorecards, ready to score, by `id@version`.
    pub fn compiled(&self) -> BTreeMap<String, Arc<CompiledCard>> {
        self.by_name.iter().map(|(name, pool)| (name.clone(), Arc::clone(&pool.card))).collect()
    }

    /// Counts records by a scorecard.
    pub fn used(&self, name: &str, records: u64) {
        if let Some(pool) = self.by_name.get(name) {
            pool.records.fetch_add(records, Ordering::Relaxed);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<ScorerPool>> {
        self.by_name.values()
    }
}

fn given(text: &str) -> CardText {
    CardText { name: String::from("the scorecard"), text: text.to_owned() }
}
