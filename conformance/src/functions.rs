//! The functions that a case can ask for, answered with the functions that score evidence everywhere else: one file per
//! system turns the inputs of its cases into facts and its records into the names of the cases, and computes nothing.

use std::path::Path;
use std::sync::Arc;

use karat::card::CompiledCard;
use karat::engine::{Engine, Options};
use karat_core::facts::{Digest, Fact, Item, ItemContext};
use karat_core::number::Score;
use karat_core::record::{DimensionRecord, Record};
use karat_core::scorecard::Scorecard;
use karat_evidence::grade::trace::embedder::Embedder;
use serde_json::{Number, Value};

use crate::given::Given;
use crate::{arena, graders, standing, trace, trust, workflow};

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

/// Every function that can be asked for, ready to answer.
pub struct Functions {
    workflow: Judge,
    trace: Judge,
    trust: Judge,
    arena: arena::Arena,
    embedder: Option<Embedder>,
}

impl Functions {
    /// Loads the released scorecards, and the embedder if its folder is given.
    pub fn new(embedder: Option<&str>, portable: bool) -> Result<Self, String> {
        let judge = |name| Judge::new(released(name)?, portable);
        let load = |folder: &str| {
            let embedder = Embedder::load(Path::new(folder)).map_err(|problems| all(&problems))?;
            Ok::<_, String>(if portable { embedder.portable() } else { embedder })
        };
        Ok(Self {
            workflow: judge("workflow@1.0.0")?,
            trace: judge("trace@1.0.0")?,
            trust: judge(TRUST)?,
            arena: arena::Arena::new(&Scorecard::clone(&*released("arena@1.0.0")?), portable)?,
            embedder: embedder.map(load).transpose()?,
        })
    }

    /// Returns the answer of the function called `name`.
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

/// An engine of one card.
pub struct Judge {
    pub engine: Engine,
    portable: bool,
}

impl Judge {
    /// Returns an engine that is ready to score by a card.
    pub fn new(card: impl Into<Arc<CompiledCard>>, portable: bool) -> Result<Self, String> {
        let options = Options { is_portable: portable, ..Options::default() };
        let engine = Engine::new(card, options).map_err(|error| error.to_string())?;
        Ok(Self { engine, portable })
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
                let mut judge = Self::new(card, self.portable)?;
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
