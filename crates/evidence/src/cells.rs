//! Values as tables write them: which texts are a number, true, false, or a value that is not there, and what to do about
//! the others. A declared type makes the meaning certain, or the value is refused; decision 0033 has the reasons.

use crate::json::document::{EXACT, Value};
use karat_core::scorecard::FactType;

/// The texts that programs write for a value that is not there, in small letters.
const MISSING: [&str; 9] = ["na", "n/a", "#n/a", "<na>", "nan", "nat", "none", "null", "-"];

/// The texts for true and for false, in small letters.
const TRUE: [&str; 6] = ["true", "yes", "t", "y", "1", "1.0"];
const FALSE: [&str; 6] = ["false", "no", "f", "n", "0", "0.0"];

/// The words of verdicts, in small letters: they say by themselves which of the two is better.
const PASSED: &str =
    "pass passed passing correct right success succeeded successful solved resolved accepted c";
const FAILED: &str =
    "fail failed failing failure incorrect wrong unsuccessful unsolved unresolved rejected i";

/// Returns whether a text says that there is no number, no truth value and no time. It may be a text by itself.
pub fn is_missing(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || MISSING.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Reads a finite decimal number, but no whole number that a double cannot hold exactly.
pub fn number(text: &str) -> Option<f64> {
    decimal(text).filter(|number| number.abs() < EXACT || text.contains(['.', 'e', 'E']))
}

/// Reads a finite decimal number.
pub fn decimal(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_decimal =
        text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
    text.parse().ok().filter(|number: &f64| is_decimal && number.is_finite())
}

/// Reads true or false, also as the word of a verdict.
pub fn flag(text: &str) -> Option<bool> {
    let is_one_of = |words: &[&str]| words.iter().any(|word| text.trim().eq_ignore_ascii_case(word));
    let plain = if is_one_of(&TRUE) { Some(true) } else { is_one_of(&FALSE).then_some(false) };
    plain.or_else(|| verdict(text))
}

/// Reads the word of a verdict, such as `pass` and `incorrect`.
pub fn verdict(text: &str) -> Option<bool> {
    let is_one_of = |words: &str| words.split(' ').any(|word| text.trim().eq_ignore_ascii_case(word));
    if is_one_of(PASSED) { Some(true) } else { is_one_of(FAILED).then_some(false) }
}

/// Returns what to do about a value of a fact that is not of the declared type; none if it is, or if there is no better
/// advice than that of its type.
pub fn hint(value: Value<'_>, fact_type: FactType) -> Option<&'static str> {
    match (fact_type, value) {
        (FactType::Number, Value::Text(text)) => hint_for_number(text.trim()),
        (FactType::Number, Value::Flag(_)) => {
            Some("write 1 and 0, or declare the fact with type = \"boolean\"")
        }
        (FactType::Number, Value::Object) => {
            Some("name the number in it: path = \"$.field.member\" in [facts]")
        }
        (FactType::Boolean, Value::Text(text)) if is_missing(text) => Some(NULL),
        // JSON has no type for a verdict, so its words are read there too.
        (FactType::Boolean, Value::Text(text)) if verdict(text).is_some() => None,
        (FactType::Boolean, Value::Text(text)) if !matches!(text, "true" | "false") => {
            Some(if flag(text).is_some() {
                "write it as `true` or `false`, without quotes"
            } else {
                "for more than two values declare the fact with type = \"text\", and give a number for the score"
            })
        }
        (FactType::Boolean, Value::Number(number)) => Some(if number == 0.0 || number == 1.0 {
            "write `true` or `false`, or declare the fact as a number from 0 to 1"
        } else {
            "declare the fact as a number, with its range"
        }),
        (FactType::Text, Value::Number(_) | Value::Flag(_)) => Some("write it in quotes"),
        _ => None,
    }
}

const NULL: &str = "leave the field out where there is no value, or write `null`";

fn hint_for_number(text: &str) -> Option<&'static str> {
    if number(text).is_some() {
        return None;
    }
    let has_digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let is_of = |marks: &[char]| {
        text.chars().all(|c| c.is_ascii_digit() || c == '-' || c == '+' || marks.contains(&c))
    };
    if is_missing(text) {
        Some(NULL)
    } else if text.ends_with('%') {
        Some("write 95 % as 0.95; or as 95, and divide by 100 in the formula")
    } else if has_digits && is_of(&['.', ',', '\'', ' ', '_', '\u{a0}', '\u{202f}']) {
        Some("write it with a point for decimals, and no marks between thousands")
    } else if flag(text).is_some() {
        Some("write 1 and 0, or declare the fact with type = \"boolean\"")
    } else if text.trim().parse().is_ok_and(|number: f64| number.is_infinite()) {
        Some("leave the field out where there is no value; no number is as large")
    } else if has_digits && !text.chars().any(|c| matches!(c, ':' | '/')) {
        Some("write the number alone: its unit is in the scorecard")
    } else {
        Some("for words declare the fact with type = \"text\"; leave the field out where there is no number")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_value_is_neither_a_number_nor_true_nor_false() {
        for text in MISSING.into_iter().chain([""]) {
            for text in [text.to_owned(), text.to_uppercase(), format!(" {text}\t")] {
                assert!(is_missing(&text), "{text}");
                assert_eq!((number(&text), flag(&text)), (None, None), "{text}");
            }
        }
    }

    #[test]
    fn the_word_of_a_verdict_is_no_number_and_has_one_meaning() {
        for (words, passed) in [(PASSED, true), (FAILED, false)] {
            for word in words.split_whitespace() {
                let found = (verdict(word), flag(&word.to_uppercase()), number(word), is_missing(word));
                assert_eq!(found, (Some(passed), Some(passed), None, false), "{word}");
            }
        }
        for text in ["partial", "p", "error", "skipped", "yes", "1", ""] {
            assert_eq!(verdict(text), None, "{text}");
        }
    }

    #[test]
    fn a_hint_says_what_to_write() {
        let cases = [
            ("NaN", "null"),
            ("95%", "0.95"),
            ("1,234.50", "thousands"),
            ("1.234,50", "thousands"),
            ("3,5", "point"),
            ("1 234", "thousands"),
            ("True", "boolean"),
            ("12ms", "alone"),
            ("$4.20", "alone"),
            ("fast", "text"),
            ("12:30", "text"),
        ];
        for (text, word) in cases {
            let hint = hint(Value::Text(text), FactType::Number).unwrap();
            assert!(hint.contains(word), "{text}: {hint}");
        }
        assert_eq!(hint(Value::Text("12"), FactType::Number), None);
    }

    /// Reads a number in the strictest way: the grammar of RFC 8259 with leading zeros and a plus, and nothing else.
    fn strict(text: &str) -> Option<f64> {
        let body = text.trim();
        let body = body.strip_prefix(['+', '-']).unwrap_or(body);
        let (mantissa, exponent) = match body.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (body, None),
        };
        let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_mantissa = match mantissa.split_once('.') {
            None => are_digits(mantissa),
            Some((whole, "")) => are_digits(whole),
            Some(("", part)) => are_digits(part),
            Some((whole, part)) => are_digits(whole) && are_digits(part),
        };
        let is_exponent = exponent.is_none_or(|it| are_digits(it.strip_prefix(['+', '-']).unwrap_or(it)));
        if is_mantissa && is_exponent { text.trim().parse().ok() } else { None }
    }

    proptest! {
        /// No text is read as another number than by a strict reader, and none that it refuses is read.
        #[test]
        fn a_text_is_the_number_that_it_writes(text in "[-+0-9.,eE%$ _'naNAifx\u{a0}]{0,12}") {
            match (number(&text), strict(&text)) {
                (Some(found), Some(meant)) => prop_assert_eq!(found.to_bits(), meant.to_bits()),
                (Some(found), None) => prop_assert!(false, "{:?} is read as {}", text, found),
                (None, Some(meant)) => prop_assert!(!meant.is_finite() || meant.abs() >= EXACT),
                (None, None) => {}
            }
            prop_assert!(!(number(&text).is_some() && is_missing(&text)));
        }
    }
}
