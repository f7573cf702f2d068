//! Comparison of what came out with what is expected: the primitives of the evaluators, and `tokens` for texts.

use std::collections::BTreeMap;

use karat_evidence::execution::{Compare, Run};
use karat_evidence::grade::arena::{Attempt, Evaluator};
use serde_json::{Map, Value, json};

use crate::numbers::Parsed;

/// Primitives that compare what two fields hold; the others need a clock or a counter.
const PRIMITIVES: [&str; 7] = [
    "coverage_ratio",
    "exact_match",
    "exact_match_ratio",
    "fuzzy_string",
    "numeric_tolerance",
    "set_overlap",
    "tokens",
];

/// A checked comparison with one expected value.
#[derive(Debug)]
pub struct Comparison {
    test: Test,
    expected: Parsed,
}

#[derive(Debug)]
enum Test {
    Tokens(String),
    Primitive { evaluator: Box<Evaluator>, digits: Digits },
}

/// Precision of numbers: as doubles, or to the last digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digits {
    Double,
    All,
}

/// Found and expected, in words.
pub type Finding = (String, String);

impl Comparison {
    /// Checks a comparison. In a case `exact_match` and `exact_match_ratio` are `deep` and `case_sensitive` unless it says
    /// otherwise: `[1]` is `[1]`, and `"A"` is not `"a"`.
    ///
    /// # Errors
    ///
    /// If the primitive or an option is not known, or the expected value is nothing that it can compare.
    pub fn new(compare: &Compare, run: &Run, expected: &Value) -> Result<Self, Vec<Finding>> {
        let name = compare.primitive.as_str();
        if !PRIMITIVES.contains(&name) {
            let expected = format!("one of {}", PRIMITIVES.join(", "));
            return Err(vec![(format!("the primitive `{name}`"), expected)]);
        }
        if matches!(run, Run::Program { .. }) && !expected.is_string() {
            return Err(vec![(described(expected), "the text on standard output".to_owned())]);
        }
        if name == "tokens" {
            let unknown =
                compare.options.keys().map(|key| (format!("the option `{key}`"), "no option".to_owned()));
            let mut findings: Vec<Finding> = unknown.collect();
            let Some(text) = expected.as_str() else {
                findings.push((described(expected), "a text".to_owned()));
                return Err(findings);
            };
            if !findings.is_empty() {
                return Err(findings);
            }
            return Ok(Self { test: Test::Tokens(text.to_owned()), expected: Parsed::of(expected.clone()) });
        }
        let mut options = compare.options.clone();
        if name.starts_with("exact_match") {
            for option in ["deep", "case_sensitive"] {
                options.entry(option.to_owned()).or_insert(Value::Bool(true));
            }
        }
        let evaluator = Box::new(evaluator(name, &options).map_err(findings)?);
        let digits = match name {
            "exact_match" | "exact_match_ratio" | "set_overlap" => Digits::All,
            _ => Digits::Double,
        };
        // What the expected value cannot be compared as shows without an answer.
        evaluate(&evaluator, None, expected).map_err(findings)?;
        Ok(Self { test: Test::Primitive { evaluator, digits }, expected: Parsed::of(expected.clone()) })
    }

    /// Returns the value of an answer, 0 to 1. What cannot be compared is worth 0.
    pub fn value(&self, answer: &Parsed) -> f64 {
        match &self.test {
            Test::Tokens(expected) => {
                let same = answer
                    .value
                    .as_str()
                    .is_some_and(|text| text.split_ascii_whitespace().eq(expected.split_ascii_whitespace()));
                f64::from(u8::from(same))
            }
            Test::Primitive { evaluator, digits } => {
                let is_large = answer.exact.is_some() || self.expected.exact.is_some();
                let grade = if *digits == Digits::All && is_large {
                    evaluate(evaluator, Some(answer.exact_form()), &self.expected.exact_form())
                } else {
                    evaluate(evaluator, Some(answer.value.clone()), &self.expected.value)
                };
                grade.unwrap_or_default().clamp(0.0, 1.0)
            }
        }
    }
}

/// Returns the evaluator that compares the member `value` of two objects.
///
/// # Errors
///
/// If the primitive or an option is not known.
pub fn evaluator(
    primitive: &str,
    options: &BTreeMap<String, Value>,
) -> Result<Evaluator, karat_evidence::Problems> {
    let mut part: Map<String, Value> = options.clone().into_iter().collect();
    part.insert("primitive".to_owned(), primitive.into());
    part.insert("field".to_owned(), "value".into());
    Evaluator::from_json(&json!({"evaluator": {"value": [part]}}), &["value"])
}

/// Returns the value of a comparison.
///
/// # Errors
///
/// If the expected value is nothing that the primitive can compare.
pub fn evaluate(
    evaluator: &Evaluator,
    answer: Option<Value>,
    expected: &Value,
) -> Result<f64, karat_evidence::Problems> {
    let submission = answer.map_or_else(|| json!({}), |answer| json!({"value": answer}));
    let attempt = Attempt {
        submission: &submission,
        ground_truth: &json!({"value": expected}),
        used_seconds: 0.0,
        limit_seconds: 0.0,
        api_calls: None,
    };
    let evaluation = evaluator.evaluate(&attempt)?;
    Ok(evaluation.dimensions.first().map_or(0.0, |dimension| dimension.value))
}

fn findings(problems: karat_evidence::Problems) -> Vec<Finding> {
    problems.iter().map(|problem| (problem.found.clone(), problem.expected.clone())).collect()
}

/// Returns a value in words that do not tell it.
fn described(value: &Value) -> String {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
    .to_owned()
}
