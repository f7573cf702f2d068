//! Formats that are well known and not read: what a file is, and what to give in its place.

use super::detect::trimmed;
use super::json;

/// A line for each.
const TABLE: &str = include_str!("unread.txt");
/// Advice that several have.
const ADVICE: [(&str, &str); 3] = [
    ("ROWS", "write a row for each task, with `subject`, `task` and `solved`, and score that with a card"),
    ("PAIRS", "write a row for each vote, with `first`, `second` and `result`, and rate that"),
    ("JUNIT", "let the test runner write JUnit XML"),
];

/// A format that is known and not read.
#[derive(Debug, Clone, Copy)]
pub struct Unread {
    /// The words for a file of it: `a test run of DeepEval`.
    pub words: &'static str,
    /// Advice.
    pub advice: &'static str,
    /// True if a file is rows, which a user may have made.
    pub is_table: bool,
}

impl Unread {
    /// Returns the format of a file that begins with these bytes, if it is known and not read.
    pub fn of(head: &[u8]) -> Option<Self> {
        let text = trimmed(head);
        let is_json = matches!(text.first(), Some(b'{' | b'['));
        let paths = if is_json { json::outline(text) } else { Vec::new() };
        // After the declaration of XML and comments comes the root.
        let is_xml = text.starts_with(b"<");
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let first = if is_xml { text.get(..4096.min(text.len())).unwrap_or_default() } else { line };
        let first = String::from_utf8_lossy(first);
        let has = |mark: &str| match is_json {
            true => paths.iter().any(|path| path == mark),
            false => first.contains(mark) && is_xml == mark.starts_with('<'),
        };
        let is_shown = |marks: &str| marks.split(" / ").any(|all| all.split(" + ").all(has));
        let rows = TABLE.lines().filter_map(|line| {
            let mut cells = line.split(" | ");
            Some([cells.next()?, cells.next()?, cells.next()?, cells.next()?])
        });
        let [kind, words, _, advice] = rows
            .into_iter()
            .find(|[kind, _, marks, _]| kind.starts_with("json") == is_json && is_shown(marks))?;
        let advice = ADVICE.iter().find(|(name, _)| *name == advice).map_or(advice, |(_, advice)| advice);
        Some(Self { words, advice, is_table: kind.ends_with("rows") })
    }
}
