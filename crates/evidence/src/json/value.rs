//! Values as `serde_json` has them: out of a document for graders, and into records as canonical JSON (RFC 8785).

use karat_core::json;
use serde_json::{Map, Number, Value as Json};

use crate::json::canonical::{Canonical, by_utf16};
use crate::json::check::{Check, UnknownFields, digits};
use crate::json::document::{EXACT, Node, Tape, Value};
use crate::json::parse::{Limits, parse};
use crate::json::problem::Problems;

/// Returns the value at a node. Recursion goes as deep as the document, which the parser limits.
pub fn of_node(node: Node<'_>) -> Json {
    match node.value() {
        Value::Null => Json::Null,
        Value::Flag(flag) => flag.into(),
        Value::Number(number) => number_of(number),
        Value::Text(text) => text.into(),
        Value::Array => node.children().map(of_node).collect(),
        Value::Object => {
            let members = node.children().map(|member| (member.key().to_owned(), of_node(member)));
            Json::Object(members.collect())
        }
    }
}

/// Returns a whole number as such: graders distinguish `1` from `1.5`, not from `1.0`. From 2^53 on it has the digits of its
/// text, which canonical JSON has too.
fn number_of(number: f64) -> Json {
    let whole = number as i64;
    if number.abs() < EXACT && whole as f64 == number {
        return whole.into();
    }
    let digits = digits(number);
    let whole = digits.parse().map(i64::into).or_else(|_| digits.parse().map(u64::into));
    whole.unwrap_or_else(|_| Number::from_f64(number).map_or(Json::Null, Json::Number))
}

/// Reads a value of any form that came from outside.
///
/// # Errors
/// If the text is not JSON within the limits, has a member twice, or a whole number whose digits a double does not hold:
/// everything, by path.
pub fn read(text: &[u8], limits: &Limits) -> Result<Json, Problems> {
    let (mut tape, mut canonical) = (Tape::default(), Canonical::default());
    let document = parse(&mut tape, text, limits)?;
    canonical.write(document);
    let (mut notes, mut unknown) = (Vec::new(), UnknownFields::default());
    let mut check = Check::new(&mut notes, &mut unknown);
    check.refuse_duplicates(document, canonical.duplicates());
    check.refuse_inexact(document.root());
    if check.problems.is_empty() { Ok(of_node(document.root())) } else { Err(check.problems.in_order()) }
}

/// Returns a value as canonical JSON (RFC 8785): sorted keys, no white space, numbers as doubles. Recurses as deep as
/// the value.
pub fn canonical_json(value: &Json) -> String {
    let mut out = Vec::new();
    write(value, &mut out);
    // What was written are texts and ASCII, so it is UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

/// Writes the members of an object in the same form.
pub fn write_object(members: &Map<String, Json>, out: &mut Vec<u8>) {
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_unstable_by(|a, b| by_utf16(a.0.as_bytes(), b.0.as_bytes()));
    out.push(b'{');
    for (at, (key, value)) in sorted.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        json::write_string(out, key);
        out.push(b':');
        write(value, out);
    }
    out.push(b'}');
}

fn write(value: &Json, out: &mut Vec<u8>) {
    match value {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(true) => out.extend_from_slice(b"true"),
        Json::Bool(false) => out.extend_from_slice(b"false"),
        Json::Number(number) => match number.as_f64() {
            Some(number) => json::write_number(out, number + 0.0),
            None => out.extend_from_slice(b"null"),
        },
        Json::String(text) => json::write_string(out, text),
        Json::Array(elements) => {
            out.push(b'[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write(element, out);
            }
            out.push(b']');
        }
        Json::Object(members) => write_object(members, out),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::json::document::Document;

    #[test]
    fn a_document_comes_back_canonical() {
        let text = r#"{"b": [1, 2.5, -0.0, 1e300, 9007199254740993], "a": {"ﬀ": null, "😀": true, "x": "\u00e9\""}}"#;
        let mut tape = Tape::default();
        tape.parse(text, 64).unwrap();
        let document = Document::new(&tape, text);
        let value = of_node(document.root());
        let mut canonical = Canonical::default();
        canonical.write(document);
        assert_eq!(canonical_json(&value).as_bytes(), canonical.bytes());
        // Sorted by UTF-16, as RFC 8785 asks: the surrogates of the emoji come before U+FB00.
        assert!(canonical_json(&value).contains(r#"{"x":"é\"","😀":true,"ﬀ":null}"#));
    }

    #[test]
    fn numbers_have_the_digits_of_canonical_json() {
        assert_eq!(number_of(9.3e18), json!(9_300_000_000_000_000_000_u64));
        assert_eq!(number_of(-9.3e18), json!(-9.3e18));
        assert_eq!(number_of(1_795_794_098_088_241_200.0), json!(1_795_794_098_088_241_200_i64));
        assert_eq!(canonical_json(&json!(u64::MAX)), "18446744073709552000");
    }

    /// Returns what a value is read as, or what is wrong with it.
    fn is_read(text: &str) -> Result<String, String> {
        let value = read(text.as_bytes(), &Limits::default()).map_err(|problems| problems.to_string())?;
        Ok(canonical_json(&value))
    }

    #[test]
    fn a_value_is_what_its_text_says_or_refused_by_path() {
        for (text, expected) in [
            ("9007199254740991", "9007199254740991"),
            ("[9007199254740992, -9007199254740992]", "[9007199254740992,-9007199254740992]"),
            ("1795794098088241200", "1795794098088241200"),
            ("[1e20, 100000000000000000000, 1.0]", "[100000000000000000000,100000000000000000000,1]"),
            ("9007199254740993.0", "9007199254740992"),
            ("\"9007199254740993\"", "\"9007199254740993\""),
        ] {
            assert_eq!(is_read(text).as_deref(), Ok(expected), "{text}");
        }
        for (text, path) in [
            ("9007199254740993", "$: found `9007199254740993`"),
            (
                "{\"a\": [1e20, {\"b c\": -1795794098088241123}]}",
                "$.a[1][\"b c\"]: found `-1795794098088241123`",
            ),
            ("[0, 18446744073709551616]", "$[1]: found `18446744073709551616`"),
            ("{\"a\": {\"x\": 1, \"\\u0078\": 2}}", "$.a.x: found the key a second time"),
            ("[1,]", "$[1]: found"),
            ("1e400", "$: found"),
        ] {
            let refused = is_read(text).unwrap_err();
            assert!(refused.contains(path), "{text}: {refused}");
        }
        // Both are named, and numbers without end take no time beyond that of the text.
        let many = format!("[{}1]", "1795794098088241123,1e20,".repeat(100_000));
        assert!(is_read(&many).unwrap_err().starts_with("$[0]: found"), "{many:.40}");
    }

    proptest! {
        /// A whole number keeps its digits, or is refused.
        #[test]
        fn no_digit_is_lost(number in prop::num::i128::ANY, shift in 0..128_u32) {
            let text = (number >> shift).to_string();
            if let Ok(read) = is_read(&text) {
                prop_assert_eq!(&read, &text);
                prop_assert_eq!(is_read(&read), Ok(text));
            } else {
                prop_assert!((number >> shift).unsigned_abs() > 1 << 53);
            }
        }
    }
}
