//! The scorecards of a server, those that come with karat and those that were published, each ready to score.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use karat_core::check::Checked;
use karat_core::diagnostic::nearest;
use karat_core::evaluate::{Scorer, Workspace};
use karat_core::scorecard::Scorecard;
use karat_core::timestamp::Timestamp;
use karat_evidence::grade::arena::Evaluator;
use karat_evidence::{Graders, Reader, ReaderOptions};
use karat_report::cards::{self, CardText, EMBEDDED};
use karat_report::session;

use crate::problem::{Code, Problem};

/// Most pairs of reader and workspace that wait for the next item of a scorecard.
const BENCHES: usize = 8;

/// A scorecard that is known here.
#[derive(Debug)]
pub struct Rule {
    /// The file.
    pub text: String,
    /// What it says.
    pub card: Scorecard,
    /// Whether it comes with karat.
    pub is_released: bool,
    /// What scores by it; none of a family, whose challenges score.
    pub scorer: Option<Scorer>,
    /// What grades matches as they were played, of a challenge of the arena.
    pub evaluator: Option<Evaluator>,
    benches: Mutex<Vec<Bench>>,
}

/// What scores one item after the other.
#[derive(Debug)]
pub struct Bench {
    /// Reads evidence of the kind of its scorecard.
    pub reader: Reader,
    /// The memory of the engine.
    pub workspace: Workspace,
    /// Where a record is written, before it is known how long it is.
    pub record: Vec<u8>,
}

impl Rule {
    /// The scorecard in `text`, which was checked.
    ///
    /// # Errors
    /// That its evaluator cannot be used.
    pub fn new(text: &str, card: Scorecard, is_released: bool) -> Result<Self, Problem> {
        let evaluator = match card.evaluator.as_deref() {
            None => None,
            Some(tables) => {
                let keys: Vec<&str> = card.dimensions.iter().map(|it| it.key.as_str()).collect();
                let tables = serde_json::from_str(tables).unwrap_or_default();
                let refused = |problems| {
                    Problem::new(Code::CardRefused, format!("its evaluator cannot be used: {problems}"))
                };
                Some(Evaluator::from_json(&tables, &keys).map_err(refused)?)
            }
        };
        let scorer = Scorer::new(card.clone()).ok();
        Ok(Self { text: text.to_owned(), card, is_released, scorer, evaluator, benches: Mutex::default() })
    }

    /// `id@version`.
    #[must_use]
    pub fn name(&self) -> String {
        self.card.name()
    }

    /// Lends `work` a scorer with its memory; `as_of` is the moment of the verdict, for graders that ask for one.
    ///
    /// # Errors
    /// That it scores nothing, or what `work` says.
    pub fn with_bench<T>(
        &self,
        as_of: Option<Timestamp>,
        work: impl FnOnce(&Scorer, &mut Bench) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let Some(scorer) = &self.scorer else {
            let message =
                format!("`{}` is a family of challenges: name the challenge that was played", self.name());
            return Err(Problem::parameter("card", message));
        };
        let idle = self.benches.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let bench = match idle {
            Some(bench) => bench,
            None => Bench { reader: self.reader()?, workspace: Workspace::new(scorer), record: Vec::new() },
        };
        let mut bench = match as_of {
            None => bench,
            Some(_) => {
                let graders = Graders { as_of, evaluator: self.evaluator.clone(), ..Graders::default() };
                Bench { reader: bench.reader.with_graders(graders), ..bench }
            }
        };
        let done = work(scorer, &mut bench);
        // One whose reader was set to a moment is not kept, nor one with vectors of a trace: what is scored next would
        // be compared with them, and an item is scored from itself alone.
        if as_of.is_none() && bench.reader.graders().cache.is_none() {
            let mut idle = self.benches.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < BENCHES {
                idle.push(bench);
            }
        }
        done
    }

    fn reader(&self) -> Result<Reader, Problem> {
        let kind =
            session::kind(&self.card).map_err(|failure| Problem::of_failure(Code::CardRefused, &failure))?;
        let reader = Reader::new(kind, &session::wanted(&self.card), ReaderOptions::default());
        let reader = reader.map_err(|unknown| {
            let names: Vec<String> = unknown.iter().map(ToString::to_string).collect();
            Problem::new(Code::CardRefused, names.join("; "))
        })?;
        Ok(reader.with_graders(Graders { evaluator: self.evaluator.clone(), ..Graders::default() }))
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
            let broken = || Problem::internal(&format!("the scorecard `{}` has errors", embedded.name));
            let card = cards.check(embedded.text).card.ok_or_else(broken)?;
            cards.add(Arc::new(Rule::new(embedded.text, card, true)?));
        }
        Ok(cards)
    }

    /// Checks a scorecard, which may be a challenge of a family that is published here or comes with karat.
    #[must_use]
    pub fn check(&self, text: &str) -> Checked {
        let card = CardText { name: String::from("the scorecard"), text: text.to_owned() };
        let known = |name: &str| self.by_name.get(name).map(|rule| rule.text.clone());
        cards::check_with(&card, &|name| known(name).or_else(|| cards::library(name)))
    }

    /// Adds a scorecard, if none of its name is there.
    pub fn add(&mut self, rule: Arc<Rule>) {
        if let Entry::Vacant(free) = self.by_name.entry(rule.name()) {
            free.insert(Arc::clone(&rule));
            self.order.push(rule);
        }
    }

    /// The scorecard with this id, or `id@version`.
    ///
    /// # Errors
    /// That there is none, and which may be meant.
    pub fn find(&self, wanted: &str) -> Result<Arc<Rule>, Problem> {
        let by_id = || self.order.iter().rev().find(|rule| rule.card.id == wanted);
        self.by_name.get(wanted).or_else(by_id).map(Arc::clone).ok_or_else(|| {
            let known = self.by_name.keys().map(String::as_str);
            let near = nearest(wanted, known.chain(self.order.iter().map(|rule| rule.card.id.as_str())));
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
