//! The findings of the checker, shown in their file.

use std::io::Write as _;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use karat::cards::CardText;
use karat::text::{clean, count};
use karat_core::diagnostic::{Diagnostic, Severity};

use crate::failure::Failure;
use crate::output::{Color, LOSS, STRONG, Screen};

/// Returns one finding: code, place with line and column, the text underlined, the message, the hint.
pub fn diagnostic(found: &Diagnostic, path: &str, text: &str, width: usize) -> String {
    let level = match found.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let message = clean(&found.message);
    let label = clean(&found.label);
    let help = clean(&found.help);
    let span = AnnotationKind::Primary.span(in_bounds(found, text));
    let span = if label.is_empty() { span } else { span.label(label.as_ref()) };
    let mut group = Group::with_title(level.primary_title(message.as_ref()).id(found.code.as_str()))
        .element(Snippet::source(text).path(path).annotation(span));
    if !help.is_empty() {
        group = group.element(Level::HELP.message(help.as_ref()));
    }
    Renderer::styled().decor_style(DecorStyle::Ascii).term_width(width).render(&[group])
}

/// Prints on standard error why a card cannot be used; its warnings are left to `karat card check`.
pub fn refuse(card: &CardText, diagnostics: &[Diagnostic], color: Color) -> Result<(), Failure> {
    let mut screen = Screen::stderr(color);
    let width = screen.width;
    let errors: Vec<_> = diagnostics.iter().filter(|found| found.severity == Severity::Error).collect();
    for found in &errors {
        writeln!(screen, "{}\n", diagnostic(found, &card.name, &card.text, width))?;
    }
    writeln!(
        screen,
        "{STRONG}{}{STRONG:#}: {LOSS}refused{LOSS:#}, {}",
        card.name,
        count(errors.len(), "error")
    )?;
    Ok(())
}

/// Returns line and column of a byte of `text`, both from 1; the column counts characters.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..floor_boundary(text, at)).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    (line, before.get(line_start..).unwrap_or_default().chars().count() + 1)
}

/// Returns the span, clamped to character boundaries of `text`.
fn in_bounds(found: &Diagnostic, text: &str) -> std::ops::Range<usize> {
    let start = floor_boundary(text, found.span.start);
    start..floor_boundary(text, found.span.end).max(start)
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        assert_eq!(line_and_column("ab\ncé=1", 7), (2, 4));
        assert_eq!(line_and_column("ab", 99), (1, 3));
    }
}
