//! CSV after RFC 4180: a head, numbers with all their digits, no value as an empty field.
//!
//! A spreadsheet runs a text that begins like a formula. Such a text, and one that begins with `'`, gets a `'` in
//! front: take one
//! off to have the text again.

use crate::document::{Cell, Column, Table};

/// Returns the whole table.
pub fn table(table: &Table) -> String {
    let mut text = head(&table.columns);
    table.rows.iter().for_each(|it| text.push_str(&row(&it.cells)));
    text
}

/// Returns the line of names.
pub fn head(columns: &[Column]) -> String {
    line(columns.iter().map(|column| quoted(&inert(&column.key))))
}

/// Returns a line of values.
pub fn row(values: &[Cell]) -> String {
    line(values.iter().map(|value| match value {
        // The empty text is not the same as no value.
        Cell::Text(text) if text.is_empty() => String::from("\"\""),
        Cell::Text(text) | Cell::Link(text, _) => quoted(&inert(text)),
        value => value.full().unwrap_or_default(),
    }))
}

fn line(fields: impl Iterator<Item = String>) -> String {
    let mut text = fields.collect::<Vec<_>>().join(",");
    text.push_str("\r\n");
    text
}

/// Returns a text that no spreadsheet takes for a formula. Some look past blanks, and take full-width signs too.
fn inert(text: &str) -> String {
    let is_sign = |c: char| {
        matches!(
            c,
            '=' | '+' | '-' | '@' | '\'' | '\u{ff1d}' | '\u{ff0b}' | '\u{ff0d}' | '\u{ff20}' | '\u{2212}'
        )
    };
    let first = text.trim_start_matches(|c: char| c.is_whitespace() || c.is_control()).chars().next();
    let is_blank_first = text.starts_with(|c: char| c.is_control());
    if first.is_some_and(is_sign) || is_blank_first { format!("'{text}") } else { text.to_owned() }
}

/// Quotes a field if a reader could take a part of it for an end, also one that splits at semicolons.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| !c.is_control() && !matches!(c, ',' | ';' | '"' | '|' | '\'');
    let is_padded = text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace);
    if !text.is_empty() && text.chars().all(is_plain) && !is_padded {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('"', "\"\""))
}
