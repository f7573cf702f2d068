//! Annotations of GitHub Actions: `::error file=runs.csv,line=17,title=karat::the sentence`.
//!
//! A command ends at the end of its line. What could end it, or a property of it, is escaped, so that no name is a
//! command.

use crate::document::{Document, Finding, Level};
use crate::text::clean;

/// The most annotations of one level: GitHub shows ten of a step, and drops the others without a word.
pub const MOST: usize = 10;

/// The most rows of a table in the summary of a step, which GitHub cuts off at a mebibyte.
pub const ROWS: usize = 200;

/// The most bytes of a summary.
pub const BYTES: usize = 1_000_000;

/// Returns a line for each finding, and one for what the answer is about.
pub fn annotations(document: &Document) -> String {
    let mut text = String::new();
    let findings = document.all_findings();
    for level in [Level::Error, Level::Warning, Level::Notice] {
        // A note that is about no place is in the summary.
        let is_shown = |it: &&Finding| it.level == level && (level != Level::Notice || it.place.is_some());
        let all: Vec<_> = findings.iter().filter(is_shown).collect();
        // The last one says how many are not there.
        let shown = if all.len() > MOST { MOST - 1 } else { all.len() };
        for finding in all.iter().take(shown) {
            let (mut properties, mut within) = (Vec::new(), "");
            if let Some(place) = &finding.place {
                let (file, inner) = parts(&place.file);
                within = inner;
                properties.push(format!("file={}", property(file)));
                properties.extend(place.line.map(|line| format!("line={line}")));
            }
            properties.push(format!("title={}", property(&finding.title)));
            let within = if within.is_empty() { String::new() } else { format!(" ({})", message(within)) };
            text.push_str(&format!(
                "::{} {}::{}{within}\n",
                word(level),
                properties.join(","),
                message(&finding.text)
            ));
        }
        if all.len() > shown {
            text.push_str(&format!("::{} title=karat::and {} more\n", word(level), all.len() - shown));
        }
    }
    let about = document.lines.first().map_or(String::new(), |line| format!(": {line}"));
    text.push_str(&format!("::notice title=karat::{}\n", message(&format!("{}{about}", document.title))));
    text
}

/// Returns the file of an item and the place in it, `log.json: $.samples[3]`: an annotation is shown beside a file alone.
pub(super) fn parts(name: &str) -> (&str, &str) {
    name.split_once(": ").filter(|(file, _)| !file.is_empty()).unwrap_or((name, ""))
}

const fn word(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Notice => "notice",
    }
}

/// Escapes the text of a command.
fn message(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' => out.push_str("%25"),
            '\r' => out.push_str("%0D"),
            '\n' => out.push_str("%0A"),
            c => out.push_str(&clean(c.encode_utf8(&mut [0; 4]))),
        }
    }
    out
}

/// Escapes the value of a property.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

/// Returns what a step shows: the answer as Markdown, cut at the end of a line if it is too long.
pub fn summary(document: &Document) -> String {
    let mut text = super::markdown::document(document, ROWS);
    if text.len() > BYTES {
        let end = text.get(..text.floor_char_boundary(BYTES)).and_then(|it| it.rfind('\n')).unwrap_or(0);
        text.truncate(end);
        text.push_str("\n\nThe rest is left out: a summary holds a mebibyte.\n");
    }
    text.push('\n');
    text
}
