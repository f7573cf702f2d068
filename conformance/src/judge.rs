//! An engine of one card as the cases ask for it, and what all files of cases share.

use std::sync::Arc;

use karat::card::CompiledCard;
use karat::engine::{Engine, Options};
use karat_core::facts::{Digest, Fact, Item, ItemContext};
use karat_core::number::Score;
use karat_core::record::{DimensionRecord, Record};
use karat_core::scorecard::Scorecard;
use serde_json::{Number, Value};

/// The answer of the engine to a case.
#[derive(Debug)]
pub enum Answer {
    /// An output.
    Output(Value),
    /// No output for this input, for this reason.
    Refused(String),
    /// The engine has no function of this name.
    Unknown,
}

/// An engine of one card.
pub struct Judge {
    pub engine: Engine,
}

impl Judge {
    /// Returns an engine that is ready to score by a card.
    pub fn new(card: impl Into<Arc<CompiledCard>>) -> Result<Self, String> {
        let engine = Engine::new(card, Options::default()).map_err(|error| error.to_string())?;
        Ok(Self { engine })
    }

    pub fn card(&self) -> &CompiledCard {
        self.engine.card()
    }

    /// Scores one item of evidence, as JSON; under other weights if `weighted` is given.
    pub fn read_and_score<T>(
        &mut self,
        item: &Value,
        weighted: Option<CompiledCard>,
        visit: impl FnOnce(&Record<'_>) -> T,
    ) -> Result<T, String> {
        let text = item.to_string();
        let scored = match weighted {
            None => self.engine.visit(text.as_bytes(), |scored| visit(&scored.record)),
            Some(card) => {
                let mut judge = Self::new(card)?;
                judge.engine.visit(text.as_bytes(), |scored| visit(&scored.record))
            }
        };
        scored.map_err(|error| match error.problems() {
            [] => error.to_string(),
            problems => all(problems.iter().map(|problem| format!("{}: {}", problem.path, problem.detail))),
        })
    }

    /// Scores named facts; the rest is missing.
    pub fn score_facts<T>(
        &mut self,
        named: &[(&str, Option<f64>)],
        visit: impl FnOnce(&Record<'_>) -> T,
    ) -> Result<T, String> {
        let facts = facts(self.card(), named);
        self.engine.visit_item(&item(&facts), visit).map_err(|error| error.to_string())
    }
}

/// The card whose cases ask for weights, decay and standing.
pub const TRUST: &str = "trust@1.0.0";
/// The card whose cases ask for windows.
pub const WORKFLOW: &str = "workflow@1.0.0";

/// Returns a card that comes with karat.
pub fn released(name: &str) -> Result<Arc<CompiledCard>, String> {
    CompiledCard::released(name).map_err(|error| error.to_string())
}

/// Returns facts in the order of the card, from numbers by name. No case has refused dimensions, so no fact is refused.
pub fn facts(card: &Scorecard, named: &[(&str, Option<f64>)]) -> Vec<Fact<'static>> {
    let value = |fact: &str| named.iter().find(|(name, _)| *name == fact).and_then(|(_, value)| *value);
    let absent = |fact: &str| if fact.ends_with("_refused") { Fact::Flag(false) } else { Fact::Missing };
    card.facts.iter().map(|fact| value(&fact.name).map_or_else(|| absent(&fact.name), Fact::Number)).collect()
}

/// Returns an item of facts without a file of evidence.
pub fn item<'a>(facts: &'a [Fact<'a>]) -> Item<'a> {
    Item {
        subject: "case",
        id: "case",
        context: ItemContext::default(),
        digest: Digest::of(b""),
        facts,
        grading: None,
        suspicions: &[],
    }
}

/// Returns the value of a dimension as a number; `null` without a value.
pub fn reading(dimension: &DimensionRecord<'_>) -> Value {
    score(dimension.reading.map(Score::from_billionths))
}

pub fn score(score: Option<Score>) -> Value {
    score.map_or(Value::Null, |score| number(score.to_f64()))
}

/// Returns a number as JSON, a whole one without a point.
pub fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.trunc() == value && value.abs() < EXACT {
        Value::from(value as i64)
    } else {
        Number::from_f64(value).map_or(Value::Null, Value::Number)
    }
}

/// Returns all problems in one line.
pub fn all(problems: impl IntoIterator<Item = impl ToString>) -> String {
    problems.into_iter().map(|problem| problem.to_string()).collect::<Vec<_>>().join("; ")
}
