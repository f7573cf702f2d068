//! The primitives of karat, as scripts call them.

use std::collections::BTreeMap;

use karat_evidence::Problems;
use karat_graders::arena::{Grade, api_call_efficiency, time_decay};
use karat_graders::execution::Compare;
use serde::Deserialize;
use serde_json::Value;

use crate::host::Answered;

/// Fuel of a call, beside what its arguments cost.
const CALL: u64 = 1_000;

/// Most pairs of code units of two texts: those of the fuel that a script has as a rule. All of them are paid for.
const CELLS_MAX: usize = 64 * 2_000_000_000;

/// Call of a primitive.
#[derive(Debug, Deserialize)]
struct Call {
    primitive: String,
    #[serde(default)]
    submitted: Value,
    #[serde(default)]
    expected: Value,
    #[serde(default)]
    options: BTreeMap<String, Value>,
    /// Of those that compare no fields.
    #[serde(default)]
    numbers: Vec<f64>,
}

/// Answers a call: `=` and the value, or `!` and what is wrong with it.
pub fn answer(request: &str) -> Answered {
    let mut fuel = CALL.saturating_add(8 * request.len() as u64);
    let text = match serde_json::from_str::<Call>(request) {
        Err(error) => format!("!{error}"),
        Ok(call) => {
            if call.primitive == "fuzzy_string" {
                let length = |value: &Value| value.as_str().map_or(0, str::len) as u64;
                // The distance is counted 64 cells at a time.
                let cells = length(&call.submitted).saturating_mul(length(&call.expected));
                fuel = fuel.saturating_add(cells / 64);
            }
            match value(&call) {
                Ok(value) => format!("={value:?}"),
                Err(problems) => {
                    let words = problems.iter().map(|problem| {
                        format!("{}: found {}, expected {}", call.primitive, problem.found, problem.expected)
                    });
                    format!("!{}", words.collect::<Vec<_>>().join("; "))
                }
            }
        }
    };
    Answered { text, fuel }
}

fn value(call: &Call) -> Result<f64, Problems> {
    let of = |grade: Grade| grade.value;
    match (call.primitive.as_str(), call.numbers.as_slice()) {
        ("time_decay", &[used, limit]) => time_decay(used, limit).map(of),
        ("api_call_efficiency", &[calls, optimal, max]) => api_call_efficiency(calls, optimal, max).map(of),
        (name, _) => {
            let compare = Compare { primitive: name.to_owned(), options: call.options.clone() };
            let expected = || format!("texts whose lengths have a product of at most {CELLS_MAX}");
            let value = compare.value(&call.submitted, &call.expected, CELLS_MAX)?;
            value.ok_or_else(|| Problems::one("$", "longer texts", expected(), ""))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::answer;

    #[test]
    fn calls() {
        for (request, expected) in [
            (r#"{"primitive": "exact_match", "submitted": "A", "expected": "a"}"#, "=1.0"),
            (
                r#"{"primitive": "exact_match", "submitted": "A", "expected": "a", "options": {"case_sensitive": true}}"#,
                "=0.0",
            ),
            (
                r#"{"primitive": "numeric_tolerance", "submitted": 13, "expected": 10, "options": {"tolerance": 1}}"#,
                "=0.5",
            ),
            (
                r#"{"primitive": "set_overlap", "submitted": [1, 2], "expected": [2, 3]}"#,
                "=0.3333333333333333",
            ),
            (
                r#"{"primitive": "fuzzy_string", "submitted": "kitten", "expected": "sitting"}"#,
                "=0.5714285714285714",
            ),
            (r#"{"primitive": "time_decay", "numbers": [270, 300]}"#, "=0.1"),
            (r#"{"primitive": "api_call_efficiency", "numbers": [9, 3, 15]}"#, "=0.5"),
            (r#"{"primitive": "coverage_ratio", "submitted": 7, "expected": 10}"#, "=0.7"),
        ] {
            assert_eq!(answer(request).text, expected, "{request}");
        }
        for broken in
            ["", "{}", r#"{"primitive": "guess"}"#, r#"{"primitive": "set_overlap", "expected": 1}"#]
        {
            assert!(answer(broken).text.starts_with('!'), "{broken}");
        }
    }
}
