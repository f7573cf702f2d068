//! The comparison of an answer with the expected one.

use serde::Serialize;
use serde_json::{Number, Value};

/// The tolerance for numbers in cases without one.
pub const TOLERANCE: f64 = 2e-9;
/// Most differences of one case that are listed.
const LISTED: usize = 20;
/// From here on doubles no longer distinguish whole numbers, so digits are compared as text.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A place where an answer differs from the expected one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Its path, such as `weighted.speed` or `rules[1]`; `output` for the whole answer.
    pub path: String,
    /// The expected value.
    pub expected: Value,
    /// The value that the engine gives, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Value>,
}

/// Lists where `found` differs from `expected`: numbers within `tolerance`, a decimal or fraction in a text as that
/// number, members beyond the expected ones ignored, everything else exactly.
pub fn differences(expected: &Value, found: &Value, tolerance: f64) -> Vec<Difference> {
    let mut list = Vec::new();
    compare(expected, Some(found), tolerance, String::new(), &mut list);
    list
}

fn compare(
    expected: &Value,
    found: Option<&Value>,
    tolerance: f64,
    path: String,
    list: &mut Vec<Difference>,
) {
    if list.len() >= LISTED {
        return;
    }
    match (expected, found) {
        (Value::Object(members), Some(Value::Object(given))) => {
            for (name, member) in members {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                compare(member, given.get(name), tolerance, path, list);
            }
        }
        (Value::Array(elements), Some(Value::Array(given))) if elements.len() == given.len() => {
            for (at, (element, given)) in elements.iter().zip(given).enumerate() {
                compare(element, Some(given), tolerance, format!("{path}[{at}]"), list);
            }
        }
        (_, Some(found)) if expected == found || are_near(expected, found, tolerance) => {}
        _ => list.push(Difference {
            path: if path.is_empty() { String::from("output") } else { path },
            expected: expected.clone(),
            found: found.cloned(),
        }),
    }
}

/// Returns true for two numbers that differ by at most `tolerance`.
fn are_near(expected: &Value, found: &Value, tolerance: f64) -> bool {
    if let (Some(expected), Some(found)) = (whole(expected), whole(found)) {
        return expected.abs_diff(found) as f64 <= tolerance;
    }
    match (value(expected), value(found)) {
        (Some(expected), Some(found)) => (expected - found).abs() <= tolerance,
        _ => false,
    }
}

fn whole(value: &Value) -> Option<i128> {
    value.as_number().and_then(Number::as_i128)
}

fn value(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => number(text),
        _ => None,
    }
}

/// Reads a text as a number, if it is a decimal (`-0.25`) or a fraction (`3/4`).
///
/// Texts of digits that a double cannot hold are names rather than numbers.
pub fn number(text: &str) -> Option<f64> {
    let value = match text.split_once('/') {
        Some((numerator, denominator)) => {
            let is_fraction = is_whole(unsigned(numerator)) && is_whole(denominator);
            if !is_fraction {
                return None;
            }
            numerator.parse::<f64>().ok()? / denominator.parse::<f64>().ok()?
        }
        None => {
            let digits = unsigned(text);
            let (units, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
            if !is_whole(units) || !is_whole(decimals) {
                return None;
            }
            text.parse().ok()?
        }
    };
    (value.is_finite() && value.abs() < EXACT).then_some(value)
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix('-').unwrap_or(text)
}

fn is_whole(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paths(expected: Value, found: Value) -> Vec<String> {
        differences(&expected, &found, TOLERANCE).into_iter().map(|difference| difference.path).collect()
    }

    #[test]
    fn numbers_may_lie_apart_by_the_tolerance_and_no_more() {
        assert!(paths(json!(0.1), json!(0.100_000_001_9)).is_empty());
        assert_eq!(paths(json!(0.1), json!(0.100_000_002_1)), ["output"]);
        assert!(paths(json!(1), json!(1.0)).is_empty());
        assert_eq!(differences(&json!(1), &json!(2), 1.0), []);
        assert_eq!(differences(&json!(1), &json!(1.5), 0.0).len(), 1);
        assert_eq!(differences(&json!(0.5), &json!(0.5), 0.0), []);
    }

    #[test]
    fn whole_numbers_are_told_apart_however_large() {
        assert_eq!(paths(json!(u64::MAX), json!(u64::MAX - 1)), ["output"]);
        assert!(paths(json!(u64::MAX), json!(u64::MAX)).is_empty());
        assert_eq!(paths(json!("12345678901234567890"), json!("12345678901234567891")), ["output"]);
    }

    #[test]
    fn a_text_that_is_a_number_is_compared_as_one() {
        assert!(paths(json!("3/4"), json!(0.75)).is_empty());
        assert!(paths(json!(0.75), json!("3/4")).is_empty());
        assert!(paths(json!("51/74"), json!("0.689189189")).is_empty());
        assert!(paths(json!("-1/2"), json!("-0.50")).is_empty());
        assert_eq!(paths(json!("2/3"), json!(0.666)), ["output"]);
    }

    #[test]
    fn any_other_text_is_compared_exactly() {
        assert!(paths(json!("win"), json!("win")).is_empty());
        for (expected, found) in [
            ("win", "Win"),
            ("1e2", "100"),
            ("1/0", "2/0"),
            ("a/2", "b/2"),
            ("", "0"),
            (".5", "0.5"),
            ("1.", "1"),
        ] {
            assert_eq!(paths(json!(expected), json!(found)), ["output"], "{expected}");
        }
        assert_eq!(paths(json!("true"), json!(true)), ["output"]);
        assert_eq!(paths(json!(1), json!(true)), ["output"]);
    }

    #[test]
    fn members_beyond_the_expected_ones_do_not_matter() {
        assert!(
            paths(json!({"a": 1, "b": {"c": 2}}), json!({"a": 1, "b": {"c": 2, "d": 3}, "e": 4})).is_empty()
        );
        assert_eq!(paths(json!({"a": 1, "b": {"c": 2}}), json!({"a": 2, "b": {}})), ["a", "b.c"]);
        assert_eq!(paths(json!({"a": null}), json!({})), ["a"], "null is a value of its own");
        assert_eq!(paths(json!(null), json!(0)), ["output"]);
    }

    #[test]
    fn arrays_must_be_of_one_length_and_in_one_order() {
        assert_eq!(paths(json!({"rules": ["a"]}), json!({"rules": ["a", "b"]})), ["rules"]);
        assert_eq!(paths(json!({"rules": ["a", "b"]}), json!({"rules": ["b", "b"]})), ["rules[0]"]);
        assert_eq!(paths(json!([]), json!({})), ["output"]);
    }

    #[test]
    fn a_long_list_of_differences_is_cut() {
        let zeros = json!(vec![0; 1000]);
        assert_eq!(differences(&zeros, &json!(vec![1; 1000]), TOLERANCE).len(), LISTED);
    }
}
