//! Numbers that a double cannot hold: integers beyond 2^53, distinguished exactly.
//!
//! The primitives compare numbers as doubles. Where a value has an integer beyond 2^53, both sides are compared in a form in
//! which such numbers are texts of all their digits.

use serde_json::{Number, Value};

/// Mark before the digits of a number that became a text. Texts that begin with it get one more.
const MARK: char = '\0';

/// From here on a double may stand for several integers.
const EXACT: u64 = 1 << 53;

/// A value as it was read, and with its large numbers as texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The value, with large integers as the nearest double where they have no other form.
    pub value: Value,
    /// The value with every number beyond 2^53 as a text of its digits; none if it has no such number.
    pub exact: Option<Value>,
    /// True if an integer is beyond 64 bits, so that `value` has another in its place.
    pub is_rounded: bool,
}

impl Parsed {
    /// Reads JSON.
    ///
    /// # Errors
    ///
    /// If the text is not JSON, or nested too deep.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        let value: Value = serde_json::from_str(text)?;
        let quoted = quote_large_integers(text);
        let is_rounded = quoted.is_some();
        let marked = match quoted {
            Some(text) => serde_json::from_str(&text)?,
            None => value.clone(),
        };
        let exact = has_large(&value).then(|| exact(&marked));
        Ok(Self { value, exact, is_rounded })
    }

    /// Takes a value that was read before.
    pub fn of(value: Value) -> Self {
        let exact = has_large(&value).then(|| exact(&value));
        Self { value, exact, is_rounded: false }
    }

    /// Returns the form in which numbers are compared to the last digit.
    pub fn exact_form(&self) -> Value {
        self.exact.clone().unwrap_or_else(|| exact(&self.value))
    }
}

/// Returns the first integer of a JSON text that is beyond 64 bits.
pub fn integer_beyond_64_bits(text: &str) -> Option<&str> {
    literals(text).map(|(from, to)| &text[from..to]).find(|literal| is_beyond_64_bits(literal))
}

fn is_beyond_64_bits(literal: &str) -> bool {
    let is_integer = !literal.contains(['.', 'e', 'E']);
    is_integer && literal.parse::<i64>().is_err() && literal.parse::<u64>().is_err()
}

/// Returns the text with integers beyond 64 bits as marked texts, if it has any.
fn quote_large_integers(text: &str) -> Option<String> {
    let mut quoted = String::new();
    let mut copied = 0;
    for (from, to) in literals(text) {
        let literal = &text[from..to];
        if is_beyond_64_bits(literal) {
            quoted.push_str(&text[copied..from]);
            quoted.push_str("{\"\\u0000\":\"");
            quoted.push_str(literal);
            quoted.push_str("\"}");
            copied = to;
        }
    }
    (copied > 0).then(|| quoted + &text[copied..])
}

/// Returns the bytes of every number in a JSON text, outside of its strings.
fn literals(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut in_string = false;
    std::iter::from_fn(move || {
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'"' => in_string = !in_string,
                b'\\' if in_string => at += 1,
                b'-' | b'0'..=b'9' if !in_string => {
                    let from = at;
                    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                    at += bytes.get(from..)?.iter().take_while(|byte| is_part(byte)).count();
                    return Some((from, at));
                }
                _ => {}
            }
            at += 1;
        }
        None
    })
}

fn has_large(value: &Value) -> bool {
    match value {
        Value::Number(number) => digits(number).is_some(),
        Value::Array(elements) => elements.iter().any(has_large),
        Value::Object(members) => members.values().any(has_large),
        _ => false,
    }
}

/// Returns the digits of a number from 2^53 on; such a double is always whole.
fn digits(number: &Number) -> Option<String> {
    if let Some(integer) = number.as_i64() {
        return (integer.unsigned_abs() >= EXACT).then(|| integer.to_string());
    }
    if let Some(integer) = number.as_u64() {
        return Some(integer.to_string());
    }
    let double = number.as_f64()?;
    (double.abs() >= EXACT as f64).then(|| format!("{double:.0}"))
}

fn exact(value: &Value) -> Value {
    match value {
        Value::Number(number) => match digits(number) {
            Some(digits) => Value::from(format!("{MARK}{digits}")),
            None => value.clone(),
        },
        Value::String(text) if text.starts_with(MARK) => Value::from(format!("{MARK}{MARK}{text}")),
        Value::Array(elements) => elements.iter().map(exact).collect(),
        // The form of an integer beyond 64 bits.
        Value::Object(members) => match members.iter().next() {
            Some((name, Value::String(digits))) if members.len() == 1 && name == "\0" => {
                Value::from(format!("{MARK}{digits}"))
            }
            _ => members.iter().map(|(name, value)| (name.clone(), exact(value))).collect(),
        },
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(a: &str, b: &str) -> bool {
        Parsed::read(a).unwrap().exact_form() == Parsed::read(b).unwrap().exact_form()
    }

    #[test]
    fn integers_are_told_apart_where_doubles_are_not() {
        assert!(!same("9007199254740993", "9007199254740992"));
        assert!(!same("[18446744073709551616]", "[18446744073709551617]"));
        assert!(same("18446744073709551616", "18446744073709551616.0"));
        assert!(!same("18446744073709551617", "18446744073709551616.0"));
        assert!(same("{\"a\": -9223372036854775808}", "{\"a\": -9223372036854775808.0}"));
        assert!(same("9007199254740992", "9007199254740992.0"));
        assert!(!same("9007199254740993", "9007199254740992.0"));
        assert!(!same("9007199254740993", "\"\\u00009007199254740993\""));
        assert!(same("\"\\u00001\"", "\"\\u00001\""));
    }

    #[test]
    fn digits_within_texts_are_no_numbers() {
        assert_eq!(integer_beyond_64_bits(r#"{"a\"1": "99999999999999999999", "b": 1e99, "c": -1.5}"#), None);
        assert_eq!(integer_beyond_64_bits("[1, 99999999999999999999]"), Some("99999999999999999999"));
        assert_eq!(integer_beyond_64_bits("18446744073709551615"), None);
        assert_eq!(integer_beyond_64_bits("-9223372036854775809"), Some("-9223372036854775809"));
    }

    proptest! {
        #[test]
        fn two_integers_are_the_same_if_they_are_equal(a in any::<i128>(), step in -2..3_i128, shift in 0..100_u32) {
            let a = a >> shift;
            let b = a.saturating_add(step);
            prop_assert_eq!(same(&a.to_string(), &b.to_string()), a == b);
        }
    }
}
