//! The location of a value: its JSON path, its line and column. Only errors ask, so nothing is kept while parsing.

use std::fmt::Write as _;
use std::ops::Range;

use crate::json::document::{Document, Node, Value};
use crate::json::problem::Problem;

/// Returns the JSON path of a node, such as `$.steps[3].type`.
pub fn path(node: Node<'_>) -> String {
    let mut path = "$".to_owned();
    let mut here = node.document().root();
    while here.at() < node.at() {
        let inside = here.children().enumerate().find(|(_, child)| node.at() < child.end());
        let Some((position, child)) = inside else { break };
        if here.value() == Value::Array {
            // Writing to a string cannot fail.
            let _ = write!(path, "[{position}]");
        } else {
            push_member(&mut path, child.key());
        }
        here = child;
    }
    path
}

/// Gives a problem its line and column where it has none: those of the value at its path, or of the nearest that is there.
/// The path is one of plain names and places, such as `$.steps[3].type`, below `root`.
pub fn place(root: Node<'_>, problem: &mut Problem) {
    if problem.line.is_some() || problem.is_of_challenge() {
        return;
    }
    let mut here = root;
    for step in problem.path.split(['.', '[']).skip(1) {
        let child = match step.strip_suffix(']').and_then(|place| place.parse().ok()) {
            Some(place) => here.children().nth(place),
            None => here.children().find(|member| member.key() == step),
        };
        let Some(child) = child else { break };
        here = child;
    }
    let text = root.document().text();
    let (line, column) = line_and_column(text, range(root.document(), here.at()).start);
    (problem.line, problem.column) = (Some(line), Some(column));
}

/// Appends a member to a path: `.name`, or `["odd name"]`. A key that no one would read to its end is cut, because a key of
/// megabytes would be in the path of everything below it.
pub fn push_member(path: &mut String, key: &str) {
    const SHOWN: usize = 100;
    if let Some((end, _)) = key.char_indices().nth(SHOWN) {
        let _ = write!(path, "[{:?}…]", key.get(..end).unwrap_or_default());
        return;
    }
    let mut characters = key.chars();
    let is_plain = characters.next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '@'))
        && characters.all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let _ = if is_plain { write!(path, ".{key}") } else { write!(path, "[{key:?}]") };
}

/// Returns the line and column (in characters), both from 1, of a byte of the text.
pub fn line_and_column(text: &str, byte: usize) -> (u64, u64) {
    let before = text.as_bytes().get(..byte).unwrap_or(text.as_bytes());
    let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1);
    let lines = before.iter().filter(|&&b| b == b'\n').count();
    let characters = before.iter().skip(line_start).filter(|&&b| !is_continuation(b)).count();
    (lines as u64 + 1, characters as u64 + 1)
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// Returns the bytes of the value with index `at` in a text that is valid JSON; of a container, its opening bracket.
pub fn range(document: Document<'_>, at: usize) -> Range<usize> {
    let end = document.text().len();
    ranges(document).nth(at).unwrap_or(end..end)
}

/// Returns the same of all values. They are in the text in the order of the tape.
pub fn ranges(document: Document<'_>) -> impl Iterator<Item = Range<usize>> {
    let text = document.text().as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(&byte) = text.get(from) {
            let start = from;
            from = match byte {
                b'"' => string_end(text, start),
                b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => scalar_end(text, start),
                _ => start + 1,
            };
            let is_value = match byte {
                b'"' => !next_is_colon(text, from),
                byte => matches!(byte, b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n'),
            };
            if is_value {
                return Some(start..from);
            }
        }
        None
    })
}

fn string_end(text: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    while let Some(&byte) = text.get(at) {
        at += match byte {
            b'\\' => 2,
            b'"' => return at + 1,
            _ => 1,
        };
    }
    text.len()
}

fn scalar_end(text: &[u8], from: usize) -> usize {
    let ends = |&byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
    text.iter().skip(from).position(ends).map_or(text.len(), |length| from + length)
}

fn next_is_colon(text: &[u8], from: usize) -> bool {
    text.iter().skip(from).find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::document::Tape;

    #[test]
    fn every_value_is_found_where_it_stands() {
        let text = "{\"a\\\"b\" : [1, \"x:\\\\\", {}],\n \"é\": true, \"c\":{\"d\":-2.5e3}, \"\": null}";
        let mut tape = Tape::default();
        tape.parse(text, 10).unwrap();
        let document = Document::new(&tape, text);
        let found: Vec<(String, &str)> = (0..=tape.last())
            .map(|at| (path(document.node(at)), text.get(range(document, at)).unwrap()))
            .collect();
        let expected = [
            ("$", "{"),
            ("$[\"a\\\"b\"]", "["),
            ("$[\"a\\\"b\"][0]", "1"),
            ("$[\"a\\\"b\"][1]", "\"x:\\\\\""),
            ("$[\"a\\\"b\"][2]", "{"),
            ("$.é", "true"),
            ("$.c", "{"),
            ("$.c.d", "-2.5e3"),
            ("$[\"\"]", "null"),
        ];
        assert_eq!(found, expected.map(|(path, text)| (path.to_owned(), text)));
    }

    #[test]
    fn a_long_key_is_cut() {
        let mut path = "$".to_owned();
        push_member(&mut path, &"é".repeat(100));
        push_member(&mut path, &"a b".repeat(1_000_000));
        push_member(&mut path, "c");
        assert_eq!(path, format!("$.{}[\"{}a\"…].c", "é".repeat(100), "a b".repeat(33)));
    }

    #[test]
    fn a_problem_gets_the_place_of_its_path() {
        let text = "{\"a\": [1,\n  {\"b\": 2}]}";
        let mut tape = Tape::default();
        tape.parse(text, 10).unwrap();
        let root = Document::new(&tape, text).root();
        for (path, expected) in [
            ("$.a[1].b", (2, 9)),
            ("$.a[1].c", (2, 3)),
            ("$.a[7]", (1, 7)),
            ("$", (1, 1)),
            ("$.x[0]", (1, 1)),
        ] {
            let words = String::new;
            let (found, expects) = (words(), words());
            let mut problem = Problem::at(path, found, expects, words());
            place(root, &mut problem);
            assert_eq!((problem.line.unwrap(), problem.column.unwrap()), expected, "{path}");
        }
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(line_and_column("é{\n  ö1", 0), (1, 1));
        assert_eq!(line_and_column("é{\n  ö1", 2), (1, 2));
        assert_eq!(line_and_column("é{\n  ö1", 8), (2, 4));
        assert_eq!(line_and_column("ab", 99), (1, 3));
    }
}
