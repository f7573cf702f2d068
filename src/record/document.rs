//! The members of a record, `karat/record/1`, as data (`docs/guide/record.md`).
//!
//! The engine writes records itself, as canonical JSON; these types read them. Serialised canonically they give the same
//! bytes again, which a test checks with every example.

use std::collections::BTreeMap;
use std::fmt;

use karat_core::facts::{Digest, Fact, ItemContext, Outcome};
use karat_core::json::write_number;
use karat_core::number::{Score, UNITS_PER_ONE, round};
use karat_core::record::Warning;
use karat_core::scorecard::{FactType, Scorecard};
use karat_core::timestamp::{Timestamp, WrittenTimestamp};
use serde::de::{self, Deserializer, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{MatchAnswer, broken};
use crate::error::Error;
use crate::text::clean;
use crate::words::{RecordStatus, ValueStatus};

/// The score of one item by one scorecard, with the account of every point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RecordDocument {
    /// The moment of the verdict, RFC 3339, if one was given.
    pub as_of: Option<String>,
    /// The band of the published score.
    pub band: Option<String>,
    /// The lowest and highest score that the missing parts could still make; null where nothing applies.
    pub bounds: Option<BoundsDocument>,
    /// The weighted mean before rules and gates, 0 to 1.
    pub composite: Option<f64>,
    /// The share of the applicable weight that was measured, 0 to 1.
    pub coverage: f64,
    /// The dimensions, in the order of the scorecard.
    pub dimensions: Vec<DimensionDocument>,
    /// The version of the engine that made the record.
    pub engine: String,
    /// The item that was scored.
    pub evidence: EvidenceDocument,
    /// The facts that the item gave, by name.
    pub facts: BTreeMap<String, FactValue>,
    /// The gates that capped the score or blocked a tier.
    pub gates: Vec<String>,
    /// The findings of the graders that made facts from raw evidence, by grader, and those that the arena reports of a match
    /// that it graded; null where the facts were given and nothing was found.
    #[cfg_attr(feature = "schema", schema(value_type = Option<BTreeMap<String, serde_json::Value>>))]
    pub grading: Option<Grading>,
    /// The groups, in the order of the scorecard; only in the record of a scorecard with groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupDocument>,
    /// The answer to the submission in the shape of the arena's; only in the record of a match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub r#match: Option<MatchAnswer>,
    /// The mean of the scorecard, such as `weighted-mean`.
    pub mean: String,
    /// The override that was given, if any, and whether it was accepted.
    pub r#override: Option<OverrideDocument>,
    /// The weight profile that was used, for a scorecard with profiles.
    pub profile: Option<ProfileDocument>,
    /// The scale of published scores.
    pub scale: ScaleDocument,
    /// `karat/record/1`
    pub schema: String,
    /// The score; null unless `status` is `scored`.
    pub score: Option<ScoreDocument>,
    /// The scorecard.
    pub scorecard: ScorecardReference,
    /// The status: scored, unscored or withheld.
    pub status: RecordStatus,
    /// The steps that moved the score after the weighted parts were added, in order.
    pub steps: Vec<StepDocument>,
    /// The subject that is scored.
    pub subject: String,
    /// The tier, for a scorecard with tiers.
    pub tier: Option<TierDocument>,
    /// The rules and gates that could not be decided, as something they need is missing.
    pub undecided: Vec<String>,
    /// Remarks that a reader of the score should know.
    pub warnings: Vec<WarningDocument>,
}

/// The findings of graders: a JSON object, canonical as the record is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grading(Box<RawValue>);

impl Grading {
    /// Returns the JSON.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for Grading {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

/// The lowest and highest possible score, as published.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct BoundsDocument {
    /// The highest.
    pub high: f64,
    /// The lowest.
    pub low: f64,
}

/// One dimension in a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DimensionDocument {
    /// The part of the composite that this dimension makes.
    pub contribution: f64,
    /// The age of its evidence and its value before decay, where the scorecard has decay and the age is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decay: Option<DecayDocument>,
    /// Its share of the composite, 0 to 1; 0 where it has no value.
    pub effective_weight: f64,
    /// Its group, if it is in one.
    pub group: Option<String>,
    /// Its key in the scorecard.
    pub key: String,
    /// The value that went into the mean, 0 to 1.
    pub reading: Option<f64>,
    /// The reason why there is no value, or why it is not the measured one.
    pub reason: Option<String>,
    /// The outcome of its formula.
    pub status: ValueStatus,
    /// Its weight in the scorecard, the profile or the override.
    pub weight: f64,
}

/// One group of dimensions in a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GroupDocument {
    /// The part of the composite that its dimensions make.
    pub contribution: f64,
    /// Their share of the composite, 0 to 1.
    pub effective_weight: f64,
    /// The group that it is in, if any.
    pub group: Option<String>,
    /// Its key in the scorecard.
    pub key: String,
    /// The mean of its members, 0 to 1; null where it has none.
    pub reading: Option<f64>,
    /// Its weight in the scorecard.
    pub weight: f64,
}

/// The decay of a value with the age of its evidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DecayDocument {
    /// The age of the evidence at the moment of the score; below 0 where a clock runs ahead.
    pub age_seconds: f64,
    /// The value before decay, 0 to 1.
    pub before: f64,
}

/// The item that was scored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct EvidenceDocument {
    /// SHA-256 of the item as canonical JSON, as `sha256:` and hexadecimal digits.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    #[serde(with = "digest")]
    pub digest: Digest,
    /// The id of the item; its digest where it has none.
    pub id: String,
    /// The kind of evidence.
    pub kind: String,
    /// The number of cases that the values are means over; only in the record of an item that says so.
    #[cfg_attr(feature = "schema", schema(minimum = 1, nullable = false))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// The outcome of the run, if the item says.
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    #[serde(with = "outcome")]
    pub outcome: Option<Outcome>,
    /// The shard of a run that these cases are; only in the record of an item that says so.
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The repeat over the same cases; only in the record of an item that says so.
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The task, if the item names one.
    pub task: Option<String>,
    /// The time of the run, RFC 3339, if the item says.
    pub time: Option<String>,
}

/// The value of a fact.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum FactValue {
    /// A number.
    Number(f64),
    /// A condition.
    Flag(bool),
    /// A text.
    Text(String),
}

impl<'de> Deserialize<'de> for FactValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyFact;
        impl Visitor<'_> for AnyFact {
            type Value = FactValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, true, false or a text")
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<FactValue, E> {
                Ok(FactValue::Number(number))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<FactValue, E> {
                Ok(FactValue::Number(number as f64))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<FactValue, E> {
                Ok(FactValue::Number(number as f64))
            }

            fn visit_bool<E: de::Error>(self, flag: bool) -> Result<FactValue, E> {
                Ok(FactValue::Flag(flag))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<FactValue, E> {
                Ok(FactValue::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(AnyFact)
    }
}

/// As JSON, but for a text, which stands bare.
impl fmt::Display for FactValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => {
                let mut digits = Vec::new();
                write_number(&mut digits, *number);
                f.write_str(&String::from_utf8_lossy(&digits))
            }
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// An override: weights from outside the scorecard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct OverrideDocument {
    /// The weights that were given, by dimension.
    pub given: BTreeMap<String, f64>,
    /// The sum of all weights with those given in place of the scorecard's.
    pub merged_sum: f64,
    /// `accepted` or `rejected`
    pub outcome: String,
    /// The reason of a rejection.
    pub reason: Option<String>,
}

/// The weight profile that was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfileDocument {
    /// The profile that the evidence asked for, if it named one.
    pub asked: Option<String>,
    /// True if the fallback was used, as there is no profile of the name asked for.
    pub fallback: bool,
    /// The profile that was used.
    pub name: String,
}

/// The scale of published scores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ScaleDocument {
    /// The highest score, such as 100.
    pub max: u32,
    /// Decimal places.
    pub places: u32,
    /// The rounding: `floor`, `half-up` or `exact`.
    pub publish: String,
}

/// A score, exact and as published.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ScoreDocument {
    /// The score, 0 to 1, with at most 15 decimals.
    pub exact: f64,
    /// The score on the scale of the scorecard.
    pub published: f64,
}

/// A scorecard, by name and content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ScorecardReference {
    /// SHA-256 of the scorecard in canonical form, as `sha256:` and hexadecimal digits.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    #[serde(with = "digest")]
    pub digest: Digest,
    /// Its id.
    pub id: String,
    /// Its version.
    pub version: String,
}

impl ScorecardReference {
    /// Returns the reference to a scorecard.
    pub fn of(card: &Scorecard) -> Self {
        Self { id: card.id.clone(), version: card.version.clone(), digest: card.digest }
    }

    /// Returns `id@version`.
    pub fn name(&self) -> String {
        format!("{}@{}", self.id, self.version)
    }
}

/// A step after the weighted parts were added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct StepDocument {
    /// The score after.
    pub after: f64,
    /// The score before.
    pub before: f64,
    /// The sort of step.
    pub kind: StepName,
    /// The name of the mean, rule or gate.
    pub name: String,
}

/// The sorts of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StepName {
    /// From the weighted arithmetic mean to the mean of the scorecard.
    Mean,
    /// Decay of the composite as a whole.
    Decay,
    /// A rule that fired.
    Rule,
    /// A cap.
    Gate,
}

/// The tier of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct TierDocument {
    /// The conditions of the next tier that are not met.
    pub blocked_by: Vec<BlockerDocument>,
    /// The tier reached, if any.
    pub name: Option<String>,
    /// The next higher tier, if any.
    pub next: Option<String>,
}

/// A condition of a tier that is not met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct BlockerDocument {
    /// `score`, `coverage`, the key of a dimension, or `gate` and its name.
    pub condition: String,
    /// The value that there is; null if it was not measured.
    pub found: Option<f64>,
    /// The value that is needed.
    pub needed: f64,
}

/// Something a reader of the score should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WarningDocument {
    /// A stable name.
    pub code: String,
    /// The warning in a sentence.
    pub message: String,
}

impl RecordDocument {
    /// Checks what the types of the members leave open.
    ///
    /// # Errors
    ///
    /// If a timestamp is not one, the exact score is not a share, or `grading` is not an object.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for (member, text) in [("as_of", &self.as_of), ("evidence.time", &self.evidence.time)] {
            let Some(text) = text.as_deref() else { continue };
            if let Err(error) = Timestamp::parse(text) {
                return Err(broken(format!("`{member}` is `{}`, {error}", clean(text))));
            }
        }
        if let Some(exact) = self.score.map(|score| score.exact).filter(|exact| !(0.0..=1.0).contains(exact))
        {
            return Err(broken(format!("`score.exact` is {exact}, not within 0 to 1")));
        }
        if self.grading.as_ref().is_some_and(|grading| !grading.as_str().starts_with('{')) {
            return Err(broken(String::from("`grading` is not an object")));
        }
        Ok(())
    }

    /// Returns the exact score, if there is one.
    pub fn score(&self) -> Option<Score> {
        // A score is a whole number of units below 2^53, so the nearest one is the one that was written.
        self.score.map(|score| Score::from_units(on_grid(score.exact, UNITS_PER_ONE as f64)))
    }

    /// Returns the tier, else the band, if there is one.
    pub fn badge(&self) -> Option<&str> {
        self.tier.as_ref().and_then(|tier| tier.name.as_deref()).or(self.band.as_deref())
    }

    /// Returns the time of the run, if the item says.
    pub fn time(&self) -> Option<Timestamp> {
        Timestamp::parse(self.evidence.time.as_deref()?).ok()
    }

    /// Returns the moment of the verdict, if one was given.
    pub fn as_of(&self) -> Option<WrittenTimestamp<'_>> {
        let text = self.as_of.as_deref()?;
        Some(WrittenTimestamp { text, at: Timestamp::parse(text).ok()? })
    }

    /// Returns the whole seconds from the time of the run to the moment of the verdict, where both are known.
    pub(crate) fn elapsed_seconds(&self) -> Option<i64> {
        Some(self.as_of()?.at.seconds() - self.time()?.seconds())
    }

    /// Returns the time, the task, the outcome and the number of cases of the item.
    pub fn context(&self) -> ItemContext<'_> {
        let EvidenceDocument { task, outcome, n, part, run, .. } = &self.evidence;
        let [task, part, run] = [task, part, run].map(Option::as_deref);
        ItemContext { time: self.time(), task, outcome: *outcome, cases: *n, part, run }
    }

    /// Returns what the evidence says that can be so and hardly is, which only the evidence shows.
    pub fn suspicions(&self) -> Vec<String> {
        let found = self.warnings.iter().filter(|warning| warning.code == Warning::SUSPICION);
        found.map(|warning| warning.message.clone()).collect()
    }

    /// Returns the facts in the order in which `card` declares them.
    ///
    /// # Errors
    ///
    /// If a fact is not of the declared type.
    pub(crate) fn facts_of(&self, card: &Scorecard) -> Result<Vec<Fact<'_>>, Error> {
        card.facts
            .iter()
            .map(|declared| match (declared.kind, self.facts.get(&declared.name)) {
                (_, None) => Ok(Fact::Missing),
                (FactType::Number, Some(FactValue::Number(value))) => Ok(Fact::Number(*value)),
                (FactType::Boolean, Some(FactValue::Flag(flag))) => Ok(Fact::Flag(*flag)),
                (FactType::Text, Some(FactValue::Text(text))) => Ok(Fact::Text(text)),
                (_, Some(other)) => {
                    let other = other.to_string();
                    Err(broken(format!(
                        "`facts.{}` is {}, which is not what the scorecard declares",
                        declared.name,
                        clean(&other)
                    )))
                }
            })
            .collect()
    }

    /// Returns the value of a field as text: `subject`, `id`, `task`, `outcome` or a fact; none where the item does not say.
    pub fn value(&self, field: &str) -> Option<String> {
        match field {
            "subject" => Some(self.subject.clone()),
            "id" => Some(self.evidence.id.clone()),
            "task" => self.evidence.task.clone(),
            "outcome" => self.evidence.outcome.map(|outcome| outcome.name().to_owned()),
            field => match (self.facts.get(field), field) {
                (None, "band") => self.band.clone(),
                (None, "tier") => self.tier.as_ref()?.name.clone(),
                (fact, _) => fact.map(FactValue::to_string),
            },
        }
    }
}

/// A decimal of at most 15 places on its grid. Its double is off by less than a tenth of a unit.
pub(crate) fn on_grid(value: f64, units: f64) -> i64 {
    round(value * units) as i64
}

pub(super) mod digest {
    use super::{Deserialize, Deserializer, Digest, Serializer, de};

    pub(in crate::record) fn serialize<S: Serializer>(
        digest: &Digest,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(digest)
    }

    pub(in crate::record) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Digest, D::Error> {
        let text = String::deserialize(deserializer)?;
        let expected = &"a digest such as `sha256:` and 64 hexadecimal digits";
        Digest::parse(&text).ok_or_else(|| de::Error::invalid_value(de::Unexpected::Str(&text), expected))
    }
}

mod outcome {
    use super::{Deserialize, Deserializer, Outcome, Serialize, Serializer, de};

    pub(super) fn serialize<S: Serializer>(
        outcome: &Option<Outcome>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        outcome.map(Outcome::name).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Outcome>, D::Error> {
        let Some(name) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
        let expected = &"an outcome such as `succeeded`";
        let known = Outcome::from_name(&name);
        known.map(Some).ok_or_else(|| de::Error::invalid_value(de::Unexpected::Str(&name), expected))
    }
}
