//! The JSON that an output holds, read strictly.
//!
//! An output is compared with what was expected, so a text that two readers may understand differently is refused: a
//! key that is given twice in one object, a whole number that neither 64 bits nor a double hold. Not a number and
//! infinity are not JSON, and neither are half surrogate pairs.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use karat_evidence::json::check::{digits, is_exact};
use karat_evidence::json::problem::quoted;

/// Reason for not using a text as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotUsed {
    NotJson(String),
    /// JSON that two readers would read as different values, for this reason.
    Ambiguous(String),
}

/// Containers may be nested this deep.
pub(super) const DEPTH_MAX: usize = 127;

/// Reads `text` as one JSON value.
pub(crate) fn parse(text: &str) -> Result<Value, NotUsed> {
    let Strict(value) = serde_json::from_str(text).map_err(|error| {
        let reason = error.to_string();
        match reason.strip_prefix(TWICE) {
            Some(rest) => NotUsed::Ambiguous(rest.to_owned()),
            None if reason.starts_with("recursion limit") => {
                NotUsed::Ambiguous(format!("containers nested deeper than {DEPTH_MAX}"))
            }
            None => NotUsed::NotJson(reason),
        }
    })?;
    match long_integer(text) {
        Some(digits) => {
            Err(NotUsed::Ambiguous(format!("{} is a whole number beyond 64 bits", quoted(digits))))
        }
        None => Ok(value),
    }
}

impl fmt::Display for NotUsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::NotJson(reason) | Self::Ambiguous(reason)) = self;
        f.write_str(reason)
    }
}

/// Marks the parser's error as ours.
const TWICE: &str = "ambiguous: ";

/// A value in which no object has a key twice.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(parser: D) -> Result<Self, D::Error> {
        parser.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Strict(element)) = elements.next_element()? {
            array.push(element);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Strict(value))) = members.next_entry::<String, Strict>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("{TWICE}the key {} stands twice", quoted(&key))));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

/// Returns the first whole number of a JSON text that neither 64 bits nor a double hold: the parser rounds such a number to a double,
/// so that two different ones would be equal.
fn long_integer(text: &str) -> Option<&str> {
    /// Every number of fewer digits fits.
    const DIGITS: usize = 19;
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
    outside_strings(text).find_map(|part| {
        part.split(|c: char| !is_of_number(c)).find(|number| {
            number.len() >= DIGITS
                && number.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit())
                && number.parse::<u64>().is_err()
                && number.parse::<i64>().is_err()
                && number.parse().is_ok_and(|double| !is_exact(number, double))
        })
    })
}

fn outside_strings(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some((part, string)) = text.split_once('"') else {
            rest = None;
            return Some(text);
        };
        let mut is_escaped = false;
        let end = string.find(|c| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        rest = end.and_then(|end| string.get(end + 1..));
        Some(part)
    })
}

/// Returns whether two values are the same: objects without regard to the order of keys, arrays in order, numbers by
/// value (`1` is `1.0`, and no double equals a whole number that it cannot hold), and `true` is not `1`.
pub(super) fn are_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i128(), b.as_i128()) {
            (Some(a), Some(b)) => a == b,
            (Some(whole), None) => is_double(whole, b.as_f64()),
            (None, Some(whole)) => is_double(whole, a.as_f64()),
            (None, None) => a.as_f64() == b.as_f64(),
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| are_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| are_equal(a, b)))
        }
        _ => a == b,
    }
}

/// Returns whether a double is this whole number of 64 bits, or is written with its digits.
fn is_double(whole: i128, double: Option<f64>) -> bool {
    let is_written = |double| digits(double).parse() == Ok(whole);
    double.is_some_and(|double| double.trunc() == double && (double as i128 == whole || is_written(double)))
}

/// Returns whether containers are nested no deeper than [`DEPTH_MAX`].
pub(super) fn is_shallow(value: &Value) -> bool {
    !is_nested(value, DEPTH_MAX + 1)
}

/// Returns whether there is a value in this number of containers. Looks from level to level, so no depth is too much for it.
pub(crate) fn is_nested(value: &Value, containers: usize) -> bool {
    let mut level = vec![value];
    for _ in 0..containers {
        let mut next = Vec::new();
        for value in level {
            match value {
                Value::Array(elements) => next.extend(elements),
                Value::Object(members) => next.extend(members.values()),
                _ => {}
            }
        }
        level = next;
    }
    !level.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ambiguous(text: &str) -> String {
        match parse(text) {
            Err(NotUsed::Ambiguous(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_key_twice_is_refused_at_any_depth() {
        assert!(ambiguous(r#"{"a": 1, "a": 1}"#).starts_with("the key `a` stands twice at line 1"));
        assert!(ambiguous(r#"[{"x": {"\u0061": 1, "a": 1}}]"#).starts_with("the key `a`"));
        assert!(parse(r#"{"a": {"a": 1}}"#).is_ok());
    }

    #[test]
    fn whole_numbers_are_exact_or_refused() {
        assert!(ambiguous("[1, -9223372036854775809]").contains("`-9223372036854775809`"));
        assert!(ambiguous("18446744073709551616").contains("beyond 64 bits"));
        for fits in [
            "100000000000000000000", "18446744073709551615", "-9223372036854775808", "1e30",
            "0.10000000000000000000001",
        ] {
            assert!(parse(fits).is_ok(), "{fits}");
        }
        assert!(
            parse(r#"{"99999999999999999999": "\"99999999999999999999"}"#).is_ok(),
            "texts may hold digits"
        );
        assert!(!are_equal(&json!(9_007_199_254_740_993_i64), &json!(9_007_199_254_740_992.0)));
        assert!(!are_equal(&json!(u64::MAX), &json!(18_446_744_073_709_551_616.0)));
        assert!(are_equal(&json!(9_007_199_254_740_992_i64), &json!(9_007_199_254_740_992.0)));
        // As an item has it, and as an output may write it.
        assert!(are_equal(&json!(1_795_794_098_088_241_200_i64), &json!(1.7957940980882412e18)));
    }

    #[test]
    fn values_are_equal_by_value_and_kind() {
        assert!(are_equal(&json!({"a": 1, "b": [1, -0.0]}), &json!({"b": [1.0, 0], "a": 1.0})));
        for (a, b) in [
            (json!(true), json!(1)),
            (json!(false), json!(0)),
            (json!(1), json!("1")),
            (json!(null), json!({})),
            (json!([1, 2]), json!([2, 1])),
            (json!([1]), json!([1, 1])),
            (json!({"a": null}), json!({})),
            (json!({"a": null}), json!({"b": null})),
        ] {
            assert!(!are_equal(&a, &b) && !are_equal(&b, &a), "{a} {b}");
        }
    }

    #[test]
    fn what_is_no_json_is_told() {
        for text in ["", "NaN", "[Infinity]", r#""\ud800""#, r#""\udc00\ud800""#, "{'a': 1}", "1 2", "[1,]"] {
            assert!(matches!(parse(text), Err(NotUsed::NotJson(_))), "{text}");
        }
    }

    #[test]
    fn deep_texts_are_refused_without_overflow() {
        for open in ["[", r#"{"a":"#] {
            assert!(matches!(parse(&open.repeat(10_000)), Err(NotUsed::Ambiguous(_))));
        }
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(is_shallow(&parse(&nested(DEPTH_MAX)).unwrap()));
        assert!(parse(&nested(DEPTH_MAX + 1)).is_err());
        let deep = (0..DEPTH_MAX + 1).fold(json!(1), |inner, _| json!([inner]));
        assert!(!is_shallow(&deep));
    }
}
