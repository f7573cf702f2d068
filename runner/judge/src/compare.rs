//! Comparison of what came out with what is expected: the primitives of the evaluators, and `tokens` for texts.

use karat_graders::arena::CELLS_MAX;
use karat_graders::execution::{Compare, Run};
use serde_json::Value;

use crate::numbers::Parsed;

/// A checked comparison with one expected value.
#[derive(Debug)]
pub struct Comparison {
    compare: Compare,
    expected: Parsed,
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
        if matches!(run, Run::Program { .. }) && !expected.is_string() {
            return Err(vec![(described(expected), "the text on standard output".to_owned())]);
        }
        let mut compare = compare.clone();
        if compare.primitive.starts_with("exact_match") {
            for option in ["deep", "case_sensitive"] {
                compare.options.entry(option.to_owned()).or_insert(Value::Bool(true));
            }
        }
        // An expected value that cannot be compared shows with any answer.
        match compare.value(&Value::Null, expected, CELLS_MAX) {
            Ok(_) => Ok(Self { compare, expected: Parsed::of(expected.clone()) }),
            Err(problems) => Err(problems
                .iter()
                .map(|problem| {
                    let words = format!("{} at {}", problem.found, problem.path);
                    (words, problem.expected.clone())
                })
                .collect()),
        }
    }

    /// Returns the value of an answer, 0 to 1. What cannot be compared is worth 0; none if texts are beyond [`CELLS_MAX`].
    pub fn value(&self, answer: &Parsed) -> Option<f64> {
        let counts_digits =
            matches!(self.compare.primitive.as_str(), "exact_match" | "exact_match_ratio" | "set_overlap");
        let is_large = answer.exact.is_some() || self.expected.exact.is_some();
        let value = if counts_digits && is_large {
            self.compare.value(&answer.exact_form(), &self.expected.exact_form(), CELLS_MAX)
        } else {
            self.compare.value(&answer.value, &self.expected.value, CELLS_MAX)
        };
        // What is wrong with a comparison was found before.
        value.unwrap_or(Some(0.0))
    }
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
