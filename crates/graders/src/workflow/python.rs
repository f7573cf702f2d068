//! JSON values as Python's `str` writes them: the form in which the published validator hands them on. Numbers alone are
//! written as canonical JSON, so that one number is written one way in a whole request.

use karat_evidence::canonical_json;
use serde_json::Value;

/// Part that is left to write.
enum Part<'a> {
    Value(&'a Value),
    Key(&'a str),
    Mark(&'static str),
}

/// Returns the value as text. A text inside an array or an object is put in quotes, one alone is not.
pub(super) fn text(value: &Value) -> String {
    if let Value::String(text) = value {
        return text.clone();
    }
    let mut out = String::new();
    // A list of what is left to do in place of recursion, so that no depth of brackets is too much.
    let mut open = vec![Part::Value(value)];
    while let Some(part) = open.pop() {
        match part {
            Part::Mark(mark) => out.push_str(mark),
            Part::Key(text) => push_quoted(&mut out, text),
            Part::Value(Value::String(text)) => push_quoted(&mut out, text),
            Part::Value(Value::Null) => out.push_str("None"),
            Part::Value(Value::Bool(flag)) => out.push_str(if *flag { "True" } else { "False" }),
            Part::Value(number @ Value::Number(_)) => out.push_str(&canonical_json(number)),
            Part::Value(Value::Array(elements)) => {
                out.push('[');
                open.push(Part::Mark("]"));
                for (at, element) in elements.iter().enumerate().rev() {
                    open.extend([Part::Value(element), Part::Mark(if at > 0 { ", " } else { "" })]);
                }
            }
            Part::Value(Value::Object(members)) => {
                out.push('{');
                open.push(Part::Mark("}"));
                for (at, (key, member)) in members.iter().enumerate().rev() {
                    let comma = Part::Mark(if at > 0 { ", " } else { "" });
                    open.extend([Part::Value(member), Part::Mark(": "), Part::Key(key), comma]);
                }
            }
        }
    }
    out
}

fn push_quoted(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == '\\' || c == quote => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Expected texts come from CPython 3.11, but for numbers.
    #[test]
    fn values_are_written_as_python_writes_them() {
        for (value, expected) in [
            (json!("it's"), "it's"),
            (json!(null), "None"),
            (json!([true, false, null]), "[True, False, None]"),
            (json!(-7), "-7"),
            (
                json!([2.0, 0.1, 1e15, 1e20, 1.5e-7, 0.0001, -0.0, 1e22, 1_795_794_098_088_241_200_i64]),
                "[2, 0.1, 1000000000000000, 100000000000000000000, 1.5e-7, 0.0001, 0, 1e+22, 1795794098088241200]",
            ),
            (json!([]), "[]"),
            (json!({}), "{}"),
            (json!({"a": [1, {"b": "c"}], "d": "e"}), "{'a': [1, {'b': 'c'}], 'd': 'e'}"),
            (
                json!(["it's", "say \"no\"", "it's \"no\"", "a\\b\n\t\r\u{1}é"]),
                r#"["it's", 'say "no"', 'it\'s "no"', 'a\\b\n\t\r\x01é']"#,
            ),
        ] {
            assert_eq!(text(&value), expected);
        }
    }
}
