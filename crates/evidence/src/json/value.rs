//! Values as `serde_json` has them: out of a document for graders, and into records as canonical JSON (RFC 8785).

use karat_core::json;
use serde_json::{Map, Number, Value as Json};

use crate::json::canonical::by_utf16;
use crate::json::document::{Node, Value};

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

/// Returns a whole number as such: graders distinguish `1` from `1.5`, not from `1.0`.
fn number_of(number: f64) -> Json {
    let whole = number as i64;
    if whole as f64 == number && whole != i64::MAX {
        whole.into()
    } else {
        Number::from_f64(number).map_or(Json::Null, Json::Number)
    }
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
    use serde_json::json;

    use super::*;
    use crate::json::document::{Document, Tape};

    #[test]
    fn a_document_comes_back_canonical() {
        let text = r#"{"b": [1, 2.5, -0.0, 1e300, 9007199254740993], "a": {"ﬀ": null, "😀": true, "x": "\u00e9\""}}"#;
        let mut tape = Tape::default();
        tape.parse(text, 64).unwrap();
        let document = Document::new(&tape, text);
        let value = of_node(document.root());
        let mut canonical = crate::json::canonical::Canonical::default();
        canonical.write(document);
        assert_eq!(canonical_json(&value).as_bytes(), canonical.bytes());
        // Sorted by UTF-16, as RFC 8785 asks: the surrogates of the emoji come before U+FB00.
        assert!(canonical_json(&value).contains(r#"{"x":"é\"","😀":true,"ﬀ":null}"#));
    }

    #[test]
    fn numbers_beyond_64_bits_stay_doubles() {
        assert_eq!(number_of(9.3e18), json!(9.3e18));
        assert_eq!(number_of(-9_223_372_036_854_775_808.0), json!(i64::MIN));
        assert_eq!(canonical_json(&json!(u64::MAX)), "18446744073709552000");
    }
}
