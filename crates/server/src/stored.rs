//! What is read of a record that is stored. The log vouches for its bytes, so nothing is computed again.

use karat_core::facts::{Digest, Outcome};
use karat_core::number::Score;
use karat_core::scorecard::Scorecard;
use karat_core::timestamp::Timestamp;
use karat_report::rows::Row;
use karat_report::rows::filter::Filter;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A record, as far as lists and leaderboards need it.
#[derive(Debug, Deserialize)]
pub struct StoredRecord {
    /// Who is scored.
    pub subject: String,
    /// The rule.
    pub scorecard: CardOf,
    /// What it was made from.
    pub evidence: EvidenceOf,
    score: Option<ScoreOf>,
    coverage: f64,
    dimensions: Vec<DimensionOf>,
    gates: Vec<String>,
    /// The facts that were given, by name.
    pub facts: Map<String, Value>,
}

/// The rule that a record names.
#[derive(Debug, Deserialize)]
pub struct CardOf {
    /// Its id.
    pub id: String,
    /// Its version.
    pub version: String,
}

/// The evidence that a record names.
#[derive(Debug, Deserialize)]
pub struct EvidenceOf {
    /// The id of its own.
    pub id: String,
    digest: String,
    time: Option<Timestamp>,
    task: Option<String>,
    outcome: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ScoreOf {
    exact: f64,
}

#[derive(Debug, Deserialize)]
struct DimensionOf {
    key: String,
    status: String,
    reading: Option<f64>,
}

impl StoredRecord {
    /// Reads a record.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(content: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(content).map_err(|error| error.to_string())
    }

    /// `id@version` of its scorecard.
    #[must_use]
    pub fn card_name(&self) -> String {
        format!("{}@{}", self.scorecard.id, self.scorecard.version)
    }

    /// The digest of its evidence.
    ///
    /// # Errors
    /// That it names none.
    pub fn digest(&self) -> Result<Digest, String> {
        Digest::parse(&self.evidence.digest).ok_or_else(|| String::from("it names no digest of its evidence"))
    }

    /// When the evidence took place, if it says so.
    #[must_use]
    pub fn time(&self) -> Option<Timestamp> {
        self.evidence.time
    }

    /// How it ended, if it says so.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.evidence.outcome.as_deref().and_then(Outcome::from_name)
    }

    /// The score, if there is one.
    #[must_use]
    pub fn score(&self) -> Option<Score> {
        self.score.as_ref().map(|score| Score::from_units(grid(score.exact, 1e15)))
    }

    /// The same as a row of what many records say; the place of the scorecard among those used is `scorer`.
    ///
    /// # Errors
    /// That it names no evidence.
    pub fn row(&self, place: String, scorer: usize, labels: &[String]) -> Result<Row, String> {
        let is_measured = |it: &DimensionOf| matches!(it.status.as_str(), "scored" | "gated");
        let reading = |it: &DimensionOf| it.reading.filter(|_| is_measured(it)).map(|share| grid(share, 1e9));
        let bare = self.dimensions.iter().filter(|it| it.status == "not-applicable");
        Ok(Row {
            place,
            subject: 0,
            id: self.evidence.id.clone(),
            task: self.evidence.task.clone(),
            time: self.time(),
            outcome: self.outcome(),
            digest: self.digest()?,
            scorer,
            score: self.score(),
            coverage: grid(self.coverage, 1e9),
            readings: self.dimensions.iter().map(reading).collect(),
            not_applicable: bare.map(|it| it.key.clone()).collect(),
            gates: self.gates.clone(),
            labels: labels.iter().map(|field| self.value(field)).collect(),
        })
    }

    /// The value of a field as text: `subject`, `id`, `task`, `outcome` or a fact; none where the item does not say.
    #[must_use]
    pub fn value(&self, field: &str) -> Option<String> {
        match field {
            "subject" => Some(self.subject.clone()),
            "id" => Some(self.evidence.id.clone()),
            "task" => self.evidence.task.clone(),
            "outcome" => self.evidence.outcome.clone(),
            fact => match self.facts.get(fact)? {
                Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            },
        }
    }

    /// Whether it meets a condition on a field.
    #[must_use]
    pub fn meets(&self, filter: &Filter) -> bool {
        let is_value = match self.facts.get(&filter.field) {
            // `0.10` is 0.1.
            Some(Value::Number(number)) => {
                filter.value.parse().is_ok_and(|value| number.as_f64() == Some(value))
            }
            _ => self.value(&filter.field).unwrap_or_default() == filter.value,
        };
        is_value != filter.is_not
    }

    /// What stands for the task: its name or that of the challenge; none where the item is a task of its own.
    #[must_use]
    pub fn task(&self, card: &Scorecard) -> Option<String> {
        self.evidence.task.clone().or_else(|| card.base.is_some().then(|| card.id.clone()))
    }

    /// Whose word it is.
    #[must_use]
    pub fn trust(&self, card: &Scorecard) -> Trust {
        let given = card.facts.iter().filter(|fact| self.facts.contains_key(&fact.name));
        Trust::of(given.map(|fact| fact.from))
    }
}

/// A decimal of at most 15 places on its grid. Its double is off by less than a tenth of a unit.
fn grid(value: f64, units: f64) -> i64 {
    (value * units).round_ties_even() as i64
}

/// Whose word the facts of a record are: the least of all that were given.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, serde::Serialize, utoipa::ToSchema,
)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Trust {
    /// Some fact is told by the subject or its operator, or the scorecard does not say by whom.
    Claimed,
    /// Some fact is told by a judge or a third party, none by the subject.
    Judged,
    /// Every fact comes from the harness or the task.
    Measured,
}

impl Trust {
    /// The least of these.
    pub fn of(reporters: impl Iterator<Item = karat_core::scorecard::Reporter>) -> Self {
        use karat_core::scorecard::Reporter;
        let least = reporters.map(|reporter| match reporter {
            Reporter::Harness | Reporter::Task => Self::Measured,
            Reporter::Judge | Reporter::ThirdParty => Self::Judged,
            Reporter::Subject | Reporter::Operator | Reporter::Unstated => Self::Claimed,
        });
        least.min().unwrap_or(Self::Claimed)
    }
}
