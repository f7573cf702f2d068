//! The functions that a case can ask for, answered with the functions that score evidence everywhere else: one file per
//! system turns the inputs of its cases into facts and its records into the names of the cases, and computes nothing.

use std::path::Path;

use karat_core::evaluate::{Context, Scorer, Workspace};
use karat_core::facts::{Digest, Fact, Item, Occasion};
use karat_core::number::Score;
use karat_core::record::{DimensionRecord, Record};
use karat_core::scorecard::Scorecard;
use karat_evidence::grade::trace::embedder::Embedder;
use karat_evidence::{Kind, Reader, ReaderOptions};
use serde_json::{Number, Value};

use crate::given::Given;
use crate::{arena, graders, standing, trace, trust, workflow};

/// The card whose cases ask for weights, decay and standing.
pub const TRUST: &str = include_str!("../../scorecards/trust/1.0.0.toml");
const WORKFLOW: &str = include_str!("../../scorecards/workflow/1.0.0.toml");
const TRACE: &str = include_str!("../../scorecards/trace/1.0.0.toml");
const ARENA: &str = include_str!("../../scorecards/arena/1.0.0.toml");

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
    pub fn new(embedder: Option<&str>, portable: bool) -> Result<Self, String> {
        let judge = |text| Judge::new(Scorer::new(card(text)?).map_err(|error| error.to_string())?, portable);
        let load = |folder: &str| {
            let embedder = Embedder::load(Path::new(folder)).map_err(|problems| all(&problems))?;
            Ok::<_, String>(if portable { embedder.portable() } else { embedder })
        };
        Ok(Self {
            workflow: judge(WORKFLOW)?,
            trace: judge(TRACE)?,
            trust: judge(TRUST)?,
            arena: arena::Arena::new(card(ARENA)?, portable)?,
            embedder: embedder.map(load).transpose()?,
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
pub struct Judge {
    pub scorer: Scorer,
    pub workspace: Workspace,
    reader: Reader,
}

impl Judge {
    /// Gets a card ready to score.
    pub fn new(scorer: Scorer, portable: bool) -> Result<Self, String> {
        let workspace = if portable { Workspace::portable(&scorer) } else { Workspace::new(&scorer) };
        let card = scorer.card();
        let kind = Kind::from_name(&card.evidence).ok_or("the card reads evidence of an unknown kind")?;
        let wanted: Vec<_> = card.facts.iter().map(|fact| (fact.name.clone(), fact.kind)).collect();
        let reader = Reader::new(kind, &wanted, ReaderOptions::default()).map_err(all)?;
        Ok(Self { scorer, workspace, reader })
    }

    pub fn card(&self) -> &Scorecard {
        self.scorer.card()
    }

    /// Scores one item of evidence, as JSON; under other weights if `weighted` is given.
    pub fn read_and_score<T>(
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
    pub fn score_facts<T>(
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

/// Parses a released card.
pub fn card(text: &str) -> Result<Scorecard, String> {
    let card = Scorecard::parse(text, &|name| (name == "arena@1.0.0").then(|| ARENA.to_owned()));
    card.map_err(|found| all(found.into_iter().map(|found| found.message)))
}

/// Facts in the order of the card, from numbers by name. No case speaks of refused dimensions, so none is.
pub fn facts(card: &Scorecard, named: &[(&str, Option<f64>)]) -> Vec<Fact<'static>> {
    let value = |fact: &str| named.iter().find(|(name, _)| *name == fact).and_then(|(_, value)| *value);
    let absent = |fact: &str| if fact.ends_with("_refused") { Fact::Flag(false) } else { Fact::Missing };
    card.facts.iter().map(|fact| value(&fact.name).map_or_else(|| absent(&fact.name), Fact::Number)).collect()
}

/// An item of facts that no file of evidence holds.
pub fn item<'a>(facts: &'a [Fact<'a>]) -> Item<'a> {
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
pub fn reading(dimension: &DimensionRecord<'_>) -> Value {
    score(dimension.reading.map(Score::from_billionths))
}

pub fn score(score: Option<Score>) -> Value {
    score.map_or(Value::Null, |score| number(score.to_f64()))
}

/// A number as JSON, a whole one without a point.
pub fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.trunc() == value && value.abs() < EXACT {
        Value::from(value as i64)
    } else {
        Number::from_f64(value).map_or(Value::Null, Value::Number)
    }
}

/// All problems in one line.
pub fn all(problems: impl IntoIterator<Item = impl ToString>) -> String {
    problems.into_iter().map(|problem| problem.to_string()).collect::<Vec<_>>().join("; ")
}
