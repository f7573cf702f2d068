//! Texts and numbers as ECMAScript has them: the primitives of the arena are defined in that language.

use std::borrow::Cow;

use karat_core::json;
use karat_evidence::json::check::is_exact;
use serde_json::Value;

/// Returns the text form of a scalar: what `String(value)` gives; none for arrays and objects, which have no form worth
/// comparing.
pub(super) fn form(value: &Value) -> Option<Cow<'_, str>> {
    Some(match value {
        Value::Null => "null".into(),
        Value::Bool(true) => "true".into(),
        Value::Bool(false) => "false".into(),
        Value::Number(number) => {
            let mut digits = Vec::new();
            json::write_number(&mut digits, number.as_f64()?);
            String::from_utf8(digits).ok()?.into()
        }
        Value::String(text) => text.as_str().into(),
        Value::Array(_) | Value::Object(_) => return None,
    })
}

/// Reads the decimal number that a text is, white space around it aside, unless a double lacks some of its digits. Unlike
/// `Number(text)` this does not take nothing for 0, nor reads hexadecimal digits.
pub(super) fn decimal(text: &str) -> Option<f64> {
    let text = trim(text);
    let is_decimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'));
    text.parse().ok().filter(|&number: &f64| is_decimal && number.is_finite() && is_exact(text, number))
}

/// Returns true for white space of ECMAScript: that of Unicode without U+0085, with U+FEFF.
pub(super) fn is_white_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// Returns a text without the white space around it.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_white_space)
}

/// Returns the length in UTF-16 code units, which is the length of a text in ECMAScript.
pub(super) fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns whether a text has at most `most` UTF-16 code units. A text never has more of them than it has bytes.
pub(super) fn fits(text: &str, most: usize) -> bool {
    text.len() <= most || length(text) <= most
}

/// Returns the first `most` UTF-16 code units of a text; a character that would be cut in half is left out.
pub(super) fn first(text: &str, most: usize) -> &str {
    let mut units = 0;
    let end = text.char_indices().find(|(_, c)| {
        units += c.len_utf16();
        units > most
    });
    end.and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scalars_have_the_form_of_ecmascript() {
        for (value, expected) in [
            (json!(null), "null"),
            (json!(true), "true"),
            (json!(1), "1"),
            (json!(1.0), "1"),
            (json!(-0.0), "0"),
            (json!(1e21), "1e+21"),
            (json!(0.1), "0.1"),
            (json!(1e-7), "1e-7"),
            (json!("a"), "a"),
        ] {
            assert_eq!(form(&value).as_deref(), Some(expected), "{value}");
        }
        assert_eq!(form(&json!([])), None);
        assert_eq!(form(&json!({})), None);
    }

    #[test]
    fn only_decimals_are_numbers() {
        assert_eq!(decimal(" 12.5\n"), Some(12.5));
        assert_eq!(decimal("\u{feff}-1e3"), Some(-1000.0));
        for text in ["", " ", "0x10", "9007199254740993", "inf", "NaN", "1e999", "1 2", "1,5", "e", "-"] {
            assert_eq!(decimal(text), None, "{text}");
        }
    }

    #[test]
    fn lengths_are_counted_in_utf16() {
        assert_eq!(length("a🦀"), 3);
        assert!(fits("🦀", 2) && !fits("🦀", 1) && fits("ééé", 3));
        assert_eq!(first("a🦀b", 2), "a");
        assert_eq!(first("a🦀b", 3), "a🦀");
        assert_eq!(first("ab", 5), "ab");
    }
}
