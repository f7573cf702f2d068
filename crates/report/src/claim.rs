//! Reading a record back: its facts, to recompute it, and what differs from that or from its evidence.

use std::fmt;

use karat_core::facts::{Digest, Fact, ItemContext, Outcome};
use karat_core::number::{Decimal, DecimalError, Score, UNITS_PER_ONE, round};
use karat_core::record::ENGINE_VERSION;
use karat_core::scorecard::{FactType, Scorecard};
use karat_core::timestamp::{Timestamp, TimestampError, WrittenTimestamp};
use karat_evidence::canonical_json;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::{clean, list};

/// Most differences that are listed.
const LISTED: usize = 20;
/// What the schema of every record begins with, and the one version of it that is read here.
const RECORD: &str = "karat/record/";
const VERSION: &str = "1";

/// The text of a record, and what it says.
#[derive(Debug)]
pub struct Claim {
    /// The line as it was given, without the end of line.
    text: String,
    value: Value,
}

impl Claim {
    /// The record in `text`, if it is one: JSON with `"schema": "karat/record/1"`. Fails for a record of another version.
    pub fn parse(text: &str) -> Result<Option<Self>, Failure> {
        let Ok(value) = serde_json::from_str::<Value>(text) else { return Ok(None) };
        let schema = value.get("schema").and_then(Value::as_str);
        match schema.and_then(|schema| schema.strip_prefix(RECORD)) {
            None => Ok(None),
            Some(VERSION) => Ok(Some(Self { text: text.trim_end_matches(['\n', '\r']).to_owned(), value })),
            Some(version) => {
                let version = clean(version);
                let message =
                    format!("this is a record of the schema `{RECORD}{version}`, which is not known here");
                Err(Failure::new(message)
                    .help(format!("karat {ENGINE_VERSION} knows `{RECORD}{VERSION}`"))
                    .help("use a version of karat that knows it: `engine` in the record names its writer"))
            }
        }
    }

    /// A member by JSON pointer, as text.
    pub fn text(&self, pointer: &str) -> Result<&str, Failure> {
        self.value
            .pointer(pointer)
            .and_then(Value::as_str)
            .ok_or_else(|| broken(format!("`{}` is not a text", path(pointer))))
    }

    /// `id@version` of the card that it names.
    pub fn card(&self) -> Result<String, Failure> {
        Ok(format!("{}@{}", self.text("/scorecard/id")?, self.text("/scorecard/version")?))
    }

    /// Returns the time of the verdict, if the record names one.
    pub fn as_of(&self) -> Result<Option<WrittenTimestamp<'_>>, Failure> {
        match self.value.get("as_of") {
            None | Some(Value::Null) => Ok(None),
            Some(_) => {
                let text = self.text("/as_of")?;
                WrittenTimestamp::parse(text).map(Some).map_err(|error| no_timestamp("as_of", text, error))
            }
        }
    }

    /// The digest of the evidence item.
    pub fn evidence_digest(&self) -> Result<Digest, Failure> {
        let text = self.text("/evidence/digest")?;
        Digest::parse(text)
            .ok_or_else(|| broken(format!("`evidence.digest` is `{}`, not a digest", clean(text))))
    }

    /// When it took place, at what, and how it ended, as the evidence says.
    pub fn occasion(&self) -> Result<ItemContext<'_>, Failure> {
        let outcome = match self.optional("/evidence/outcome")? {
            None => None,
            Some(name) => Some(Outcome::from_name(name).ok_or_else(|| {
                broken(format!("`evidence.outcome` is `{}`, which is no outcome", clean(name)))
            })?),
        };
        let [time, task] = [self.optional("/evidence/time")?, self.optional("/evidence/task")?];
        let time = time
            .map(|text| Timestamp::parse(text).map_err(|error| no_timestamp("evidence.time", text, error)));
        let time = time.transpose()?;
        Ok(ItemContext { time, task, outcome })
    }

    /// A member by JSON pointer that may be null.
    fn optional(&self, pointer: &str) -> Result<Option<&str>, Failure> {
        match self.value.pointer(pointer) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.text(pointer).map(Some),
        }
    }

    /// A number by JSON pointer that may be null.
    fn number(&self, pointer: &str) -> Result<Option<f64>, Failure> {
        match self.value.pointer(pointer) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let problem = || broken(format!("`{}` is not a number", path(pointer)));
                value.as_f64().map(Some).ok_or_else(problem)
            }
        }
    }

    /// The score that the record states, exact and as published; none if it has none.
    pub fn score(&self) -> Result<Option<(Score, f64)>, Failure> {
        let (exact, published) = (self.number("/score/exact")?, self.number("/score/published")?);
        let Some((exact, published)) = exact.zip(published) else { return Ok(None) };
        if !(0.0..=1.0).contains(&exact) {
            return Err(broken(format!("`score.exact` is {exact}, not within 0 to 1")));
        }
        // A score is a whole number of units below 2^53, so the nearest one is the one that was written.
        Ok(Some((Score::from_units(round(exact * UNITS_PER_ONE as f64) as i64), published)))
    }

    /// Whether there is a score, and the tier or band, as the record states them.
    pub fn standing(&self) -> Result<(&str, Option<&str>), Failure> {
        let badge = match self.optional("/tier/name")? {
            Some(tier) => Some(tier),
            None => self.optional("/band")?,
        };
        Ok((self.text("/status")?, badge))
    }

    /// The weights that were given from outside, if any.
    pub fn override_weights(&self) -> Result<Option<Vec<(String, Decimal)>>, Failure> {
        match self.value.pointer("/override/given") {
            None | Some(Value::Null) => Ok(None),
            Some(given) => weights(&given.to_string())
                .map(Some)
                .map_err(|problem| broken(format!("`override.given`: {problem}"))),
        }
    }

    /// The facts, in the order in which `card` declares them.
    pub fn facts(&self, card: &Scorecard) -> Result<Vec<Fact<'_>>, Failure> {
        let given = self.value.get("facts").and_then(Value::as_object);
        let given = given.ok_or_else(|| broken(String::from("`facts` is not an object")))?;
        card.facts
            .iter()
            .map(|declared| match (declared.kind, given.get(&declared.name)) {
                (_, None) => Ok(Fact::Missing),
                (FactType::Number, Some(Value::Number(number))) => match number.as_f64() {
                    Some(value) => Ok(Fact::Number(value)),
                    None => Err(broken(format!("`facts.{}` is not a finite number", declared.name))),
                },
                (FactType::Boolean, Some(Value::Bool(flag))) => Ok(Fact::Flag(*flag)),
                (FactType::Text, Some(Value::String(text))) => Ok(Fact::Text(text)),
                (_, Some(other)) => Err(broken(format!(
                    "`facts.{}` is {other}, which is not what the card declares",
                    declared.name
                ))),
            })
            .collect()
    }

    /// What graders saw, as the record keeps it; none where the facts were given.
    pub fn grading(&self) -> Result<Option<String>, Failure> {
        match self.value.get("grading") {
            None | Some(Value::Null) => Ok(None),
            Some(grading @ Value::Object(_)) => Ok(Some(canonical_json(grading))),
            Some(_) => Err(broken(String::from("`grading` is not an object"))),
        }
    }

    /// What differs from the record that the facts give; none if the bytes are the same.
    pub fn differences(&self, recomputed: &[u8]) -> Option<Vec<String>> {
        if self.text.as_bytes() == recomputed {
            return None;
        }
        let mut found = Vec::new();
        match serde_json::from_slice::<Value>(recomputed) {
            Ok(value) => compare(&self.value, &value, "recomputed", String::new(), &mut found),
            Err(error) => found.push(format!("the recomputed record is not JSON: {error}")),
        }
        if found.is_empty() {
            found.push(String::from(
                "the values agree, the bytes do not: the record is not canonical JSON (RFC 8785) on one line any more",
            ));
        }
        Some(shortened(found))
    }

    /// What differs from `scored`, the record of its evidence: a line on what is the same and what is not, then every
    /// difference; none if subject, id, digest, facts and score agree. All else in a sound record follows from them.
    pub fn differences_from_evidence(&self, scored: &[u8]) -> Option<Vec<String>> {
        let scored: Value = serde_json::from_slice(scored).unwrap_or_default();
        let (mut same, mut different, mut found) = (Vec::new(), Vec::new(), Vec::new());
        for (part, pointer) in PARTS {
            let before = found.len();
            let [claimed, given] =
                [&self.value, &scored].map(|record| record.pointer(pointer).unwrap_or(&Value::Null));
            if claimed.is_null() && given.is_null() {
                continue;
            }
            compare(claimed, given, "by the evidence", path(pointer), &mut found);
            if found.len() == before { &mut same } else { &mut different }.push(part);
        }
        if found.is_empty() {
            return None;
        }
        let same = if same.is_empty() { String::new() } else { format!("; the same: {}", list(&same)) };
        let mut lines = vec![format!("different: {}{same}", list(&different))];
        let help = graded_with(&found);
        lines.extend(shortened(found));
        lines.extend(help);
        Some(lines)
    }
}

/// What the graders may lack where the same evidence was graded otherwise.
fn graded_with(differences: &[String]) -> Vec<String> {
    let helps = [
        ("grading.embedding", "a text has the same vector only by the same model: give its --embedder"),
        (
            "grading.novelty.cache",
            "a novelty is read against a cache: give --cache as it was before the record",
        ),
    ];
    let differs = |part: &str| differences.iter().any(|line| line.starts_with(part));
    helps.into_iter().filter(|(part, _)| differs(part)).map(|(_, help)| help.to_owned()).collect()
}

/// What of a record is compared with its evidence, and where it stands.
const PARTS: [(&str, &str); 9] = [
    ("subject", "/subject"),
    ("id", "/evidence/id"),
    ("digest", "/evidence/digest"),
    ("time", "/evidence/time"),
    ("task", "/evidence/task"),
    ("outcome", "/evidence/outcome"),
    ("facts", "/facts"),
    ("grading", "/grading"),
    ("score", "/score"),
];

/// At most so many lines as anyone reads.
fn shortened(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(LISTED);
    lines.truncate(LISTED);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

/// Weights by dimension from a JSON object: every name once, every value a decimal of at most six places.
pub fn weights(text: &str) -> Result<Vec<(String, Decimal)>, String> {
    let Members(members) = serde_json::from_str(text).map_err(|error| match error.classify() {
        Category::Data => String::from("it is JSON, but not an object"),
        _ => format!("it is not JSON, from line {}, column {} on", error.line(), error.column()),
    })?;
    let mut weights: Vec<(String, Decimal)> = Vec::with_capacity(members.len());
    for (name, weight) in members {
        if weights.iter().any(|(known, _)| *known == name) {
            return Err(format!("`{}` stands there twice", clean(&name)));
        }
        let problem = match Decimal::parse(weight.get()) {
            Ok((decimal, true)) => {
                weights.push((name, decimal));
                continue;
            }
            Ok((_, false)) => ": at most six decimals",
            Err(DecimalError::TooLarge) => ", which is too large",
            Err(DecimalError::Malformed) => ", expected a number",
        };
        return Err(format!("the weight of `{}` is {}{problem}", clean(&name), short(&weight)));
    }
    Ok(weights)
}

/// The members of a JSON object as they stand: a repeated name included, where a map would keep the last one in silence,
/// and numbers in their own digits, as a double could not hold all of them.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of weights by dimension")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

fn broken(message: String) -> Failure {
    Failure::with_exit(Exit::VerificationFailed, format!("this is not a sound record: {message}"))
}

fn no_timestamp(member: &str, text: &str, error: TimestampError) -> Failure {
    broken(format!("`{member}` is `{}`, {error}", clean(text)))
}

fn path(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".")
}

/// Lists where two values differ, by path; `origin` says in messages where the other one comes from.
fn compare(claimed: &Value, other: &Value, origin: &str, path: String, found: &mut Vec<String>) {
    match (claimed, other) {
        (Value::Object(left), Value::Object(right)) => {
            for (name, value) in left {
                let path = member(&path, name);
                match right.get(name) {
                    Some(other) => compare(value, other, origin, path, found),
                    None => {
                        let value = short(value);
                        found.push(format!("{path}: the record has {value}, {origin} it is absent"));
                    }
                }
            }
            for (name, value) in right.iter().filter(|(name, _)| !left.contains_key(*name)) {
                let (path, value) = (member(&path, name), short(value));
                found.push(format!("{path}: absent from the record, {origin} it is {value}"));
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (place, (value, other)) in left.iter().zip(right).enumerate() {
                compare(value, other, origin, format!("{path}[{place}]"), found);
            }
        }
        (Value::Number(left), Value::Number(right)) if left.as_f64() == right.as_f64() => {}
        _ if claimed == other => {}
        _ => {
            let (claimed, other) = (short(claimed), short(other));
            found.push(format!("{path}: the record says {claimed}, {origin} it is {other}"));
        }
    }
}

fn member(path: &str, name: &str) -> String {
    let name = clean(name);
    if path.is_empty() { name.into_owned() } else { format!("{path}.{name}") }
}

/// A value in few characters.
fn short(value: &impl fmt::Display) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    let text = clean(&text);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_name_their_path() {
        let claim = Claim::parse(r#"{"schema":"karat/record/1","score":{"exact":0.5},"list":[1,2]}"#)
            .unwrap()
            .unwrap();
        let same = r#"{"schema":"karat/record/1","score":{"exact":0.5},"list":[1,2]}"#;
        assert_eq!(claim.differences(same.as_bytes()), None);
        let other = r#"{"schema":"karat/record/1","score":{"exact":0.75},"list":[1,3],"band":"win"}"#;
        assert_eq!(
            claim.differences(other.as_bytes()).unwrap(),
            [
                "list[1]: the record says 2, recomputed it is 3",
                "score.exact: the record says 0.5, recomputed it is 0.75",
                "band: absent from the record, recomputed it is \"win\"",
            ]
        );
        let spaced = same.replace(':', ": ");
        assert!(claim.differences(spaced.as_bytes()).unwrap()[0].contains("the bytes do not"));
    }

    #[test]
    fn only_records_are_taken_for_records() {
        for other in [r#"{"schema":"karat/scorecard/1"}"#, r#"{"subject":"a"}"#, "[1]", "{"] {
            assert!(Claim::parse(other).unwrap().is_none(), "{other}");
        }
    }

    #[test]
    fn weights_are_decimals_of_six_places() {
        let read = weights(r#"{"accuracy":0.12,"safety":1e-6}"#).unwrap();
        assert_eq!(read[0], ("accuracy".to_owned(), Decimal::from_millionths(120_000)));
        assert_eq!(read[1], ("safety".to_owned(), Decimal::from_millionths(1)));
        for (bad, why) in [
            (r#"{"a": 0.1234567}"#, "six decimals"),
            (r#"{"a": "0.5"}"#, "the weight of `a` is \"0.5\", expected a number"),
            (r#"{"a": 0.1, "b": 1e999}"#, "the weight of `b` is 1e999, which is too large"),
            (r#"{"b": -1e99999999999}"#, "the weight of `b` is -1e99999999999, which is too large"),
            (r#"{"b": 1e20}"#, "too large"),
            (r#"{"b": [1e999]}"#, "expected a number"),
            (r#"{"a": 0.5, "a": 0.1}"#, "twice"),
            ("[0.5]", "not an object"),
            ("{\"a\": 0.5", "column 9"),
        ] {
            assert!(weights(bad).unwrap_err().contains(why), "{bad}");
        }
    }
}
