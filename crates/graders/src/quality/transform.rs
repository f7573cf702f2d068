//! Data transformations: an output that must be valid and the same as what was expected.

use serde::Serialize;
use serde_json::{Map, Value};

use super::checklist::Checklist;
use super::json::{self as strict, NotUsed};
use super::schema::Schema;
use super::{described, refuse};
use karat_evidence::json::locate::push_member;
use karat_evidence::json::problem::{Problem, Problems, quoted};

/// Expectation of a task, checked and ready.
#[derive(Debug)]
pub struct Transform {
    expected: Expected,
    schema: Option<Schema>,
    partial_credit: PartialCredit,
}

#[derive(Debug)]
enum Expected {
    Json(Value),
    Text(String),
}

/// Credit for an object that is not the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PartialCredit {
    /// Nothing.
    #[default]
    None,
    /// The keys whose values are as expected, as a share of all keys of either object.
    Keys,
    /// The keys whose values are as expected, as a share of the expected keys, so that keys too many cost nothing.
    ExpectedKeys,
}

/// Similarity of an output to the expected one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TransformGrade {
    /// 1 for an exact match, else 0 or what the task grants.
    #[serde(skip)]
    pub value: f64,
    /// Outcome of the comparison.
    pub outcome: TransformOutcome,
    /// The place and kind of the difference; empty for a match.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The keys that were compared for partial credit.
    #[serde(flatten)]
    pub keys: Option<KeyCounts>,
}

/// Outcome of comparing an output with the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TransformOutcome {
    /// The same value.
    Match,
    /// Another value.
    Different,
    /// No JSON where JSON was expected.
    NotJson,
    /// JSON that two readers would understand differently, such as a key that is given twice.
    Ambiguous,
    /// JSON that the schema refuses.
    Invalid,
}

/// Keys at the top of two objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KeyCounts {
    /// Keys whose values are as expected.
    #[serde(rename = "matched_keys")]
    pub matched: usize,
    /// Keys of the expected object.
    #[serde(rename = "expected_keys")]
    pub expected: usize,
    /// Keys of the output that were not expected.
    #[serde(rename = "extra_keys")]
    pub extra: usize,
}

impl Transform {
    /// Prepares a task: the expected value, perhaps a JSON Schema that outputs must be valid against, and what an output
    /// is worth that is not the expected one.
    ///
    /// An expected text that is itself JSON means the value in it; any other is compared as text, without the white
    /// space around it. A schema without `$schema` is of draft 2020-12; it may refer to its own parts only, and its
    /// patterns are searched in linear time, in outputs of up to [`Checklist::SEARCHED_BYTES_MAX`] bytes.
    ///
    /// # Errors
    ///
    /// If the expected value is null, blank, ambiguous, too deep or not valid against the schema; if the schema is not
    /// valid or refers to another document.
    pub fn new(
        expected: &Value,
        schema: Option<&Value>,
        partial_credit: PartialCredit,
    ) -> Result<Self, Problems> {
        let path = "$.reference.expected_output";
        let expected =
            Expected::new(expected).map_err(|(found, expected)| Problem::at(path, found, &expected, ""));
        let schema = schema.map(Schema::new).transpose();
        let (expected, schema) = match (expected, schema) {
            (Ok(expected), Ok(schema)) => (expected, schema),
            (expected, schema) => {
                let mut problems = schema.err().unwrap_or_default();
                expected.err().into_iter().for_each(|refused| problems.add(|| refused));
                return Err(problems);
            }
        };
        let transform = Self { expected, schema, partial_credit };
        let refused = match (&transform.expected, &transform.schema) {
            (Expected::Json(value), Some(schema)) => schema.refusal(value),
            (_, None) => None,
            (Expected::Text(_), Some(_)) => Some("a text that is not JSON".to_owned()),
        };
        match refused {
            Some(found) => Err(refuse(path, found, "a value that is valid against the task's schema", "")),
            None => Ok(transform),
        }
    }

    /// Grades an output.
    ///
    /// # Errors
    ///
    /// If the schema has patterns, and the output more than [`Checklist::SEARCHED_BYTES_MAX`] bytes.
    pub fn grade(&self, text: &str) -> Result<TransformGrade, Problems> {
        if self.schema.as_ref().is_some_and(|schema| schema.has_patterns) {
            Checklist::searchable(text)?;
        }
        Ok(self.compare(text))
    }

    fn compare(&self, text: &str) -> TransformGrade {
        let nothing = |outcome, reason: String| TransformGrade { value: 0.0, outcome, reason, keys: None };
        let expected = match &self.expected {
            Expected::Text(expected) if text.trim() == expected => return TransformGrade::full(),
            Expected::Text(expected) => {
                let reason = format!("the output is {}, expected {}", quoted(text.trim()), quoted(expected));
                return nothing(TransformOutcome::Different, reason);
            }
            Expected::Json(expected) => expected,
        };
        let found = match strict::parse(text) {
            Ok(found) => found,
            Err(NotUsed::NotJson(reason)) => return nothing(TransformOutcome::NotJson, reason),
            Err(NotUsed::Ambiguous(reason)) => return nothing(TransformOutcome::Ambiguous, reason),
        };
        if let Some(reason) = self.schema.as_ref().and_then(|schema| schema.refusal(&found)) {
            return nothing(TransformOutcome::Invalid, reason);
        }
        if strict::are_equal(expected, &found) {
            return TransformGrade::full();
        }
        let mut grade = nothing(TransformOutcome::Different, difference(expected, &found));
        if let (Value::Object(expected), Value::Object(found)) = (expected, &found) {
            let keys = KeyCounts::new(expected, found);
            grade.value = match self.partial_credit {
                PartialCredit::None => 0.0,
                PartialCredit::Keys => keys.share_of(keys.expected + keys.extra),
                PartialCredit::ExpectedKeys => keys.share_of(keys.expected),
            };
            grade.keys = Some(keys);
        }
        grade
    }
}

impl Expected {
    fn new(expected: &Value) -> Result<Self, (String, String)> {
        let text = match expected {
            Value::Null => return Err((described(expected), "the expected output".to_owned())),
            Value::String(text) => text.trim(),
            _ if strict::is_shallow(expected) => return Ok(Self::Json(expected.clone())),
            _ => {
                let most = format!("containers nested at most {} deep", strict::DEPTH_MAX);
                return Err(("a deeper value".to_owned(), most));
            }
        };
        match strict::parse(text) {
            Ok(value) => Ok(Self::Json(value)),
            Err(NotUsed::NotJson(_)) if !text.is_empty() => Ok(Self::Text(text.to_owned())),
            Err(NotUsed::NotJson(_)) => Err(("a blank text".to_owned(), "the expected output".to_owned())),
            Err(NotUsed::Ambiguous(reason)) => {
                Err((reason, "JSON that all readers understand alike".to_owned()))
            }
        }
    }
}

impl TransformGrade {
    fn full() -> Self {
        Self { value: 1.0, outcome: TransformOutcome::Match, reason: String::new(), keys: None }
    }
}

impl KeyCounts {
    fn new(expected: &Map<String, Value>, found: &Map<String, Value>) -> Self {
        let is_matched = |(key, value): &(&String, &Value)| {
            found.get(*key).is_some_and(|found| strict::are_equal(value, found))
        };
        Self {
            matched: expected.iter().filter(is_matched).count(),
            expected: expected.len(),
            extra: found.keys().filter(|key| !expected.contains_key(*key)).count(),
        }
    }

    fn share_of(self, all: usize) -> f64 {
        if all == 0 { 0.0 } else { self.matched as f64 / all as f64 }
    }
}

/// Returns the place of the first difference of two values, in the order of the expected keys, and the difference.
fn difference(expected: &Value, found: &Value) -> String {
    let mut path = String::from("$");
    let (mut expected, mut found) = (expected, found);
    loop {
        let child = match (expected, found) {
            (Value::Object(a), Value::Object(b)) => {
                let unlike =
                    |(key, a): &(&String, &Value)| b.get(*key).is_none_or(|b| !strict::are_equal(a, b));
                match (a.iter().find(unlike), b.keys().find(|key| !a.contains_key(*key))) {
                    (Some((key, a)), _) => {
                        push_member(&mut path, key);
                        let Some(b) = b.get(key) else { return format!("{path} is missing") };
                        Some((a, b))
                    }
                    (None, Some(key)) => {
                        push_member(&mut path, key);
                        return format!("{path} is not expected");
                    }
                    (None, None) => None,
                }
            }
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                let pairs = a.iter().zip(b).enumerate();
                pairs.into_iter().find(|(_, (a, b))| !strict::are_equal(a, b)).map(|(at, pair)| {
                    path.push_str(&format!("[{at}]"));
                    pair
                })
            }
            _ => None,
        };
        match child {
            Some(child) => (expected, found) = child,
            None => return format!("{path} is {}, expected {}", described(found), described(expected)),
        }
    }
}
