//! Markdown as GitHub and GitLab read it: a heading, sentences, findings, tables.
//!
//! A name is text and nothing else: no cell ends early, no HTML, link, code, emphasis or mention begins in it, and
//! what would
//! steer a terminal is replaced.

use std::fmt::Write as _;

use crate::document::{Cell, Column, Document, Entry, Level, Part, Readers, Table};
use crate::text::{Tone, clean};

/// Returns the whole answer, with at most `most` rows of each table.
pub(crate) fn document(document: &Document, most: usize) -> String {
    let mut text = format!("## {}\n", escaped(&document.title));
    if !document.lines.is_empty() {
        text.push('\n');
    }
    for line in &document.lines {
        // Two blanks before the end keep the lines apart.
        let _ = writeln!(text, "{}  ", escaped(line));
    }
    let all = document.all_findings();
    let findings = all.iter().filter(|it| it.level != Level::Notice);
    for (at, finding) in findings.take(most).enumerate() {
        let word = if finding.level == Level::Error { "failed" } else { "note" };
        let start = if at == 0 { "\n" } else { "" };
        let _ = writeln!(text, "{start}- **{word}**: {}", escaped(&finding.text));
    }
    let (mut heading, mut is_below, mut is_list) = (None, false, false);
    let above = |heading: &mut Option<&String>, text: &mut String| {
        // A heading of drawings alone is for pages.
        if let Some(heading) = heading.take() {
            let _ = writeln!(text, "\n### {}", escaped(heading));
        }
    };
    let mut placed: Vec<&String> = Vec::new();
    for part in &document.parts {
        match part {
            Part::Heading(it) => (heading, is_below, is_list) = (Some(it), true, false),
            Part::Table(it) if !it.rows.is_empty() => {
                above(&mut heading, &mut text);
                table(&it.flat(), most, &mut text);
                is_list = false;
            }
            // Below a heading a note is about what the heading names.
            Part::Note(Tone::Plain | Tone::Good, note) if is_below => {
                above(&mut heading, &mut text);
                let _ = writeln!(text, "{}- {}", if is_list { "" } else { "\n" }, escaped(note));
                is_list = true;
                placed.push(note);
            }
            Part::List(entries) => {
                above(&mut heading, &mut text);
                text.push('\n');
                for Entry { depth, name, text: said } in entries {
                    let name =
                        if name.is_empty() { String::new() } else { format!("**{}** ", escaped(name)) };
                    let _ = writeln!(text, "{:1$}- {name}{2}", "", 2 * depth, escaped(said));
                }
                is_list = false;
            }
            Part::Table(_) | Part::Note(..) | Part::Figure(_) => {}
        }
    }
    let notes = all.iter().filter(|it| it.level == Level::Notice && it.place.is_none());
    let notes = notes.filter(|it| !placed.contains(&&it.text)).take(most);
    for (at, note) in notes.enumerate() {
        let start = if at == 0 { "\n" } else { "" };
        let _ = writeln!(text, "{start}- {}", escaped(&note.text));
    }
    text
}

fn table(table: &Table, most: usize, text: &mut String) {
    text.push('\n');
    if !table.caption.is_empty() {
        let _ = writeln!(text, "**{}**\n", escaped(&table.caption));
    }
    text.push_str(&head(&table.columns));
    table.rows.iter().take(most).for_each(|it| text.push_str(&row(&table.columns, &it.cells)));
    if table.rows.len() > most {
        let _ = writeln!(text, "\nand {} more", table.rows.len() - most);
    }
}

/// Returns the names of the columns, and the line below them.
pub(crate) fn head(columns: &[Column]) -> String {
    let shown = || columns.iter().filter(|column| column.readers > Readers::Programs);
    let labels = shown().map(|column| escaped(&column.label)).collect::<Vec<_>>().join(" | ");
    let sides = shown().map(|column| if column.is_number() { "---:" } else { "---" });
    format!("| {labels} |\n| {} |\n", sides.collect::<Vec<_>>().join(" | "))
}

/// Returns a row.
pub(crate) fn row(columns: &[Column], values: &[Cell]) -> String {
    let cells = columns.iter().zip(values).filter(|(column, _)| column.readers > Readers::Programs);
    let cells = cells.map(|(_, value)| match value {
        Cell::Text(text) | Cell::Link(text, _) | Cell::Without(text) => escaped(text),
        value => value.shown(),
    });
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// Returns a text that means itself.
pub(crate) fn escaped(text: &str) -> String {
    let text = clean(text);
    let mut out = String::with_capacity(text.len() + 8);
    let mut signs = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = signs.next() {
        let next = signs.peek().copied().unwrap_or(' ');
        match c {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '$' | '!'
            | '^' => {
                out.push('\\');
                out.push(c);
            }
            // An entity is text: without it `&lt;` would be read as `<`.
            '&' => out.push_str("&amp;"),
            // An address would become a link.
            ':' if next == '/' => out.push_str("\\:"),
            '.' if out.to_ascii_lowercase().ends_with("www") => out.push_str("\\."),
            // The empty comment keeps a name from being called, and an address of mail from being linked.
            '@' => out.push_str("@<!-- -->"),
            // A line that begins so would be a list, a heading or a rule.
            '-' | '+' | '=' if out.is_empty() => {
                out.push('\\');
                out.push(c);
            }
            // A marker of code of emoji, such as `:tada:`.
            ':' if next.is_ascii_alphanumeric() && before.is_whitespace() => out.push_str("\\:"),
            c => out.push(c),
        }
        before = c;
    }
    // A number and a sign at the beginning would be a list.
    let digits = out.len() - out.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let is_list = digits > 0
        && out.get(digits..).is_some_and(|rest| rest.starts_with(['.', ')']) && rest.get(1..2) == Some(" "));
    if is_list {
        out.insert(digits, '\\');
    }
    out
}
