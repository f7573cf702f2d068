//! Problems of texts that are not JSON, with hints on how to correct them.

use crate::json::document::{Document, ParseFailure};
use crate::json::locate;
use crate::json::problem::{Problem, quoted};

/// Returns the problem of bytes that are not UTF-8.
pub fn not_utf8(bytes: &[u8], valid_up_to: usize) -> Problem {
    let valid =
        bytes.get(..valid_up_to).and_then(|valid| std::str::from_utf8(valid).ok()).unwrap_or_default();
    let (line, column) = locate::line_and_column(valid, valid.len());
    let found = bytes.get(valid_up_to).map_or_else(String::new, |byte| format!("the byte 0x{byte:02x}"));
    Problem::at("$", found, "text in UTF-8", "save the file as UTF-8").on(line, column)
}

/// Returns the problem of a text that does not parse; `document` holds what was parsed before it failed.
pub fn parse_failure(
    failure: &ParseFailure,
    document: Document<'_>,
    last: usize,
    max_depth: usize,
) -> Problem {
    let text = document.text();
    let path = locate::path(document.node(last));
    let error = match failure {
        ParseFailure::Syntax(error) => error,
        ParseFailure::TooDeep => {
            // The path would be as long as the nesting is deep.
            let byte = locate::range(document, last).start;
            let (line, column) = locate::line_and_column(text, byte);
            let found = format!("brackets nested more than {max_depth} deep");
            let expected = format!("at most {max_depth} levels");
            return Problem::at("$", found, expected, "flatten the item").on(line, column);
        }
    };

    let byte = byte_of(text, error.line(), error.column());
    let (line, column) = locate::line_and_column(text, byte);
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let word = word_at(text, byte);
    let character = text.get(byte..).and_then(|rest| rest.chars().next());
    let here = character.map_or_else(|| "the end of the text".to_owned(), |c| quoted(&c.to_string()));
    let (path, found, expected, hint) = match message {
        _ if text.trim().is_empty() => {
            ("$".into(), "no text".into(), "a JSON object", "give one evidence item")
        }
        _ if error.is_eof() => (
            path,
            "the end of the text".into(),
            "the rest of the JSON",
            "the item is cut off: supply all of it",
        ),
        _ if is_not_finite(word) => (
            path,
            quoted(word),
            "a JSON number",
            "JSON has no such number: leave the field out if it is not known",
        ),
        "number out of range" => {
            (path, quoted(word), "a number that a double can hold", "the largest is about 1.8e308")
        }
        "trailing characters" => (
            "$".into(),
            here,
            "the end of the item",
            "give one item per line, or put the items into an array",
        ),
        "trailing comma" => {
            (path, "a comma before the closing bracket".into(), "a value", "remove the comma")
        }
        "key must be a string" => (path, here, "a key in double quotes", "JSON quotes its keys"),
        "lone leading surrogate in hex escape" | "unexpected end of hex escape" => (
            path,
            "half of a surrogate pair".into(),
            "a whole character",
            "write both halves, `\\ud83d\\ude00`",
        ),
        "invalid escape" => {
            (path, here, "an escape such as `\\n`, `\\\"` or `\\u00e9`", "write `\\\\` for a backslash")
        }
        _ if message.starts_with("control character") => (
            path,
            "a raw control character in a text".into(),
            "an escape",
            "write `\\n` for a new line, `\\t` for a tab",
        ),
        _ if character == Some('\'') => (path, here, "a value", "put JSON texts in double quotes"),
        "expected value" if word.starts_with(['.', '+']) => {
            (path, quoted(word), "a number such as `0.5` or `1e-3`", "begin it with a digit")
        }
        "expected value" | "expected ident" if word.is_empty() => (path, here, "a value", ""),
        "expected value" | "expected ident" => (
            path,
            quoted(word),
            "a value",
            "put a text in double quotes; write `true`, `false`, `null` in lower case",
        ),
        "invalid number" => (path, quoted(word), "a number such as `0.5` or `1e-3`", ""),
        other => {
            let expected = other.strip_prefix("expected ").unwrap_or(other).to_owned();
            return Problem::at(path, here, expected, "").on(line, column);
        }
    };
    Problem::at(path, found, expected, hint).on(line, column)
}

/// Returns the byte that the parser complains of: its columns count bytes from 1, and 0 means the line break before.
fn byte_of(text: &str, line: usize, column: usize) -> usize {
    let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
    let start = std::iter::once(0).chain(newlines).nth(line.saturating_sub(1)).unwrap_or(text.len());
    let mut byte = (start + column).saturating_sub(1).min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}

/// Returns the run of characters around a byte that looks like one number or name.
fn word_at(text: &str, byte: usize) -> &str {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_');
    let (before, after) = text.as_bytes().split_at_checked(byte).unwrap_or_default();
    let start = byte - before.iter().rev().take_while(|byte| is_part(byte)).count();
    let end = byte + after.iter().take_while(|byte| is_part(byte)).count();
    text.get(start..end).unwrap_or_default()
}

fn is_not_finite(word: &str) -> bool {
    let word = word.trim_start_matches(['-', '+']).to_ascii_lowercase();
    matches!(word.as_str(), "nan" | "inf" | "infinity")
}
