//! `karat conform`: the engine against cases that say what the answer is.
//!
//! A case is a line `{"id", "fn", "input", "expected"}`. [`Functions`] answers it with the functions that score evidence
//! everywhere else; one file per system turns its inputs into facts and its records into the names of the cases, and
//! computes nothing. [`run`] reads the lines, and either compares (`compare`) or prints the answers as they are.

mod arena;
mod compare;
mod given;
mod graders;
mod report;
pub mod run;
mod standing;
mod trace;
mod trust;
mod workflow;

use karat_core::evaluate::{Context, Scorer, Workspace};
use karat_core::facts::{Digest, Fact, Item, Occasion};
use karat_core::number::Score;
use karat_core::record::{DimensionRecord, Record};
use karat_core::scorecard::Scorecard;
use karat_evidence::grade::trace::embedder::Embedder;
use karat_evidence::{Reader, ReaderOptions};
use serde_json::{Number, Value};

use crate::cards;
use crate::output::Color;
use given::Given;
use karat_report::failure::Failure;
use karat_report::session::{kind, wanted};

/// What the engine says to a case.
#[derive(Debug)]
pub enum Answer {
    /// The answer.
    Output(Value),
    /// Why the input has none.
    Refused(String),
    /// The engine has no function of this name.
    Unknown,
}

/// Every function that can be asked for, ready to answer.
pub struct Functions {
    workflow: Judge,
    trace: Judge,
    trust: Judge,
    arena: arena::Arena,
    embedder: Option<Embedder>,
}

impl Functions {
    /// Gets the released scorecards ready, and the embedder if its folder is given.
    pub fn new(embedder: Option<&str>, portable: bool, color: Color) -> Result<Self, Failure> {
        let judge = |card| Judge::new(cards::scorer(card, color)?, portable);
        Ok(Self {
            workflow: judge("workflow@1.0.0")?,
            trace: judge("trace@1.0.0")?,
            trust: judge("trust@1.0.0")?,
            arena: arena::Arena::new(cards::load("arena@1.0.0", color)?, portable)?,
            embedder: embedder.map(|folder| crate::graders::embedder(folder, portable)).transpose()?,
        })
    }

    /// The answer of the function called `name`.
    pub fn answer(&mut self, name: &str, input: &Value) -> Answer {
        let given = Given::new(input);
        let answer = match name {
            "workflow.score" => workflow::score(&mut self.workflow, &given),
            "dims" | "dims.custom_key" => self.arena.dims(&given),
            "validate_dimensions" => self.arena.validate_dimensions(&given),
            "weighted_total" => self.arena.weighted_total(&given),
            "finalize_breakdown" => arena::finalize_breakdown(&given),
            "score_to_result" => self.arena.score_to_result(&given),
            "speed_score" => self.arena.speed_score(&given),
            "evaluate" => trace::evaluate(&mut self.trace, &given),
            "weights_guard" => trust::weights_guard(&self.trust, &given),
            "effective_weights" => trust::effective_weights(&self.trust, &given),
            "composite_covered" => trust::composite_covered(&mut self.trust, &given),
            "embedding" => trace::embedding(self.embedder.as_ref(), &given),
            "to_thousand" => trust::to_thousand(&self.trust, &given),
            _ => return standing::answer(name, input).unwrap_or_else(|| graders::answer(name, input)),
        };
        answer.map_or_else(Answer::Refused, Answer::Output)
    }
}

/// A card with everything that is needed to score by it.
struct Judge {
    scorer: Scorer,
    workspace: Workspace,
    reader: Reader,
}

impl Judge {
    fn new(scorer: Scorer, portable: bool) -> Result<Self, Failure> {
        let workspace = if portable { Workspace::portable(&scorer) } else { Workspace::new(&scorer) };
        let card = scorer.card();
        let reader = Reader::new(kind(card)?, &wanted(card), ReaderOptions::default());
        let reader =
            reader.map_err(|_| Failure::new(format!("no evidence supplies what `{}` reads", card.name())))?;
        Ok(Self { scorer, workspace, reader })
    }

    fn card(&self) -> &Scorecard {
        self.scorer.card()
    }

    /// Scores one item of evidence, as JSON; under other weights if `weighted` is given.
    fn read_and_score<T>(
        &mut self,
        item: &Value,
        weighted: Option<&Scorer>,
        visit: impl FnOnce(&Record<'_>) -> T,
    ) -> Result<T, String> {
        let text = item.to_string();
        let evidence = self.reader.read(text.as_bytes()).map_err(|problems| {
            let list = problems.iter().map(|problem| {
                let mend = if problem.mend.is_empty() { "" } else { "; " };
                let (path, found, expected) = (&problem.path, &problem.found, &problem.expected);
                format!("{path}: found {found}, expected {expected}{mend}{}", problem.mend)
            });
            all(list)
        })?;
        let scorer = weighted.unwrap_or(&self.scorer);
        let record = scorer.score(&mut self.workspace, &evidence.item(), &Context::default());
        Ok(visit(&record.map_err(all)?))
    }

    /// Scores named facts; the rest is missing.
    fn score_facts<T>(
        &mut self,
        named: &[(&str, Option<f64>)],
        visit: impl FnOnce(&Scorer, &Workspace, &Record<'_>) -> T,
    ) -> Result<T, String> {
        let facts = facts(self.scorer.card(), named);
        let item = item(&facts);
        let record = self.scorer.score(&mut self.workspace, &item, &Context::default()).map_err(all)?;
        Ok(visit(&self.scorer, &self.workspace, &record))
    }
}

/// Facts in the order of the card, from numbers by name. No case speaks of refused dimensions, so none is.
fn facts(card: &Scorecard, named: &[(&str, Option<f64>)]) -> Vec<Fact<'static>> {
    let value = |fact: &str| named.iter().find(|(name, _)| *name == fact).and_then(|(_, value)| *value);
    let absent = |fact: &str| if fact.ends_with("_refused") { Fact::Flag(false) } else { Fact::Missing };
    card.facts.iter().map(|fact| value(&fact.name).map_or_else(|| absent(&fact.name), Fact::Number)).collect()
}

/// An item of facts that no file of evidence holds.
fn item<'a>(facts: &'a [Fact<'a>]) -> Item<'a> {
    Item {
        subject: "case",
        id: "case",
        occasion: Occasion::default(),
        digest: Digest::of(b""),
        facts,
        grading: None,
    }
}

/// The reading of a dimension as a number; `null` where there is none.
fn reading(dimension: &DimensionRecord<'_>) -> Value {
    score(dimension.reading.map(Score::from_billionths))
}

fn score(score: Option<Score>) -> Value {
    score.map_or(Value::Null, |score| number(score.to_f64()))
}

/// A number as JSON, a whole one without a point.
fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.trunc() == value && value.abs() < EXACT {
        Value::from(value as i64)
    } else {
        Number::from_f64(value).map_or(Value::Null, Value::Number)
    }
}

/// All problems in one line.
fn all(problems: impl IntoIterator<Item = impl ToString>) -> String {
    problems.into_iter().map(|problem| problem.to_string()).collect::<Vec<_>>().join("; ")
}
