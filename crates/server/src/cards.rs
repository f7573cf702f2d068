//! The scorecards of a server, those that come with karat and those that were published, each ready to score.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use karat::card::CompiledCard;
use karat::cards::{self, CardText, EMBEDDED};
use karat::engine::{Engine, Options};
use karat::error::Error;
use karat_core::check::Checked;
use karat_core::diagnostic::nearest;
use karat_core::timestamp::WrittenTimestamp;

use crate::problem::{Code, Problem};

/// Most engines of a scorecard that wait for the next item.
const IDLE_MAX: usize = 8;

/// A scorecard that is known here, with engines that score by it.
#[derive(Debug)]
pub struct Rule {
    /// The scorecard.
    pub card: Arc<CompiledCard>,
    idle: Mutex<Vec<Engine>>,
}

impl Rule {
    /// Creates a pool without engines; they are made when they are asked for.
    #[must_use]
    pub fn new(card: impl Into<Arc<CompiledCard>>) -> Self {
        Self { card: card.into(), idle: Mutex::default() }
    }

    /// Returns `id@version`.
    #[must_use]
    pub fn name(&self) -> String {
        self.card.name()
    }

    /// Lends an engine to `work`, set to the moment of the verdict.
    ///
    /// # Errors
    ///
    /// If the scorecard is a family; what `work` says.
    pub fn with_engine<T>(
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
        // One with vectors of a trace is not kept: what is scored next would be compared with them, and an item is scored
        // from itself alone.
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
#[derive(Debug, Default)]
pub struct Cards {
    by_name: BTreeMap<String, Arc<Rule>>,
    /// In the order in which they were published; of one id the last one is what the id alone means.
    order: Vec<Arc<Rule>>,
}

impl Cards {
    /// Those that come with karat.
    ///
    /// # Errors
    /// That one of them is broken: a defect.
    pub fn released() -> Result<Self, Problem> {
        let mut cards = Self::default();
        for embedded in EMBEDDED {
            let card = CompiledCard::released(embedded.name).map_err(|error| Problem::internal(&error))?;
            cards.add(Arc::new(Rule::new(card)));
        }
        Ok(cards)
    }

    /// Checks a scorecard, which may be a challenge of a family that is published here or comes with karat.
    #[must_use]
    pub fn check(&self, text: &str) -> Checked {
        cards::check_with(&given(text), &|name| self.library(name))
    }

    /// Checks and compiles a scorecard, which may be a challenge of a family that is published here or comes with karat.
    ///
    /// # Errors
    ///
    /// If it has errors: all of them.
    pub fn compile(&self, text: &str) -> Result<CompiledCard, Error> {
        CompiledCard::checked(&given(text), &|name| self.library(name))
    }

    /// The text of the base of a challenge.
    fn library(&self, name: &str) -> Option<String> {
        let known = self.by_name.get(name).map(|pool| pool.card.text().to_owned());
        known.or_else(|| cards::library(name))
    }

    /// Adds a scorecard, if none of its name is there.
    pub fn add(&mut self, pool: Arc<Rule>) {
        if let Entry::Vacant(free) = self.by_name.entry(pool.name()) {
            free.insert(Arc::clone(&pool));
            self.order.push(pool);
        }
    }

    /// The scorecard with this id, or `id@version`.
    ///
    /// # Errors
    /// That there is none, and which may be meant.
    pub fn find(&self, wanted: &str) -> Result<Arc<Rule>, Problem> {
        let by_id = || self.order.iter().rev().find(|pool| pool.card.id == wanted);
        self.by_name.get(wanted).or_else(by_id).map(Arc::clone).ok_or_else(|| {
            let known = self.by_name.keys().map(String::as_str);
            let near = nearest(wanted, known.chain(self.order.iter().map(|pool| pool.card.id.as_str())));
            let wanted = wanted.escape_debug();
            Problem::not_found(match near {
                Some(near) => format!("there is no scorecard `{wanted}`; did you mean `{near}`?"),
                None => format!("there is no scorecard `{wanted}`; GET /v1/scorecards names those there are"),
            })
        })
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Rule>> {
        self.by_name.values()
    }
}

fn given(text: &str) -> CardText {
    CardText { name: String::from("the scorecard"), text: text.to_owned() }
}
