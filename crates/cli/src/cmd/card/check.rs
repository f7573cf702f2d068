//! `karat card check`: everything that is wrong with a scorecard or a trap in it, and how to mend it.

use std::io::Write;

use karat_core::check::{Checked, check_text};
use karat_core::diagnostic::{Diagnostic, Severity};
use serde_json::{Value, json};

use crate::args::CheckArgs;
use crate::cards::{CardText, find, library};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{CARE, Color, GAIN, LOSS, STRONG, Screen};
use crate::render::diagnostics::{diagnostic, line_and_column};

/// Checks every card named.
pub fn run(args: &CheckArgs, screen: &mut Screen) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    for (place, wanted) in args.cards.iter().enumerate() {
        let card = find(wanted)?;
        let checked = check_text(&card.text, &library);
        if checked.card.is_none() {
            exit = Exit::CardRefused;
        }
        if args.json {
            writeln!(screen, "{}", as_json(&card, &checked))?;
        } else {
            if place > 0 {
                writeln!(screen)?;
            }
            show(&card, &checked, screen)?;
        }
    }
    Ok(exit)
}

/// Says on standard error why a card cannot be used; its warnings are left to `karat card check`.
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

fn show(card: &CardText, checked: &Checked, screen: &mut Screen) -> Result<(), Failure> {
    let width = screen.width;
    for found in &checked.diagnostics {
        writeln!(screen, "{}\n", diagnostic(found, &card.name, &card.text, width))?;
    }
    let number = |severity| checked.diagnostics.iter().filter(|found| found.severity == severity).count();
    let (errors, warnings, notes) =
        (number(Severity::Error), number(Severity::Warning), number(Severity::Note));
    let style = match (errors, warnings) {
        (0, 0) => GAIN,
        (0, _) => CARE,
        _ => LOSS,
    };
    let (name, verdict) = match &checked.card {
        Some(sound) => (sound.name(), "usable"),
        None => (card.name.clone(), "refused"),
    };
    let counts = [count(errors, "error"), count(warnings, "warning"), count(notes, "note")].join(", ");
    writeln!(screen, "{STRONG}{name}{STRONG:#}: {style}{verdict}{style:#}, {counts}")?;
    Ok(())
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

fn as_json(card: &CardText, checked: &Checked) -> Value {
    let diagnostics: Vec<Value> =
        checked.diagnostics.iter().map(|found| diagnostic_json(found, &card.text)).collect();
    json!({
        "file": card.name,
        "card": checked.card.as_ref().map(|sound| sound.name()),
        "digest": checked.card.as_ref().map(|sound| sound.digest.to_string()),
        "refused": checked.card.is_none(),
        "diagnostics": diagnostics,
    })
}

fn diagnostic_json(found: &Diagnostic, text: &str) -> Value {
    let (line, column) = line_and_column(text, found.span.start);
    let (end_line, end_column) = line_and_column(text, found.span.end);
    json!({
        "code": found.code.as_str(),
        "about": found.code.about(),
        "severity": match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        },
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "text": text.get(found.span.clone()),
        "message": found.message,
        "label": found.label,
        "help": found.help,
    })
}
