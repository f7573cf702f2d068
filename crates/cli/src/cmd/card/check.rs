//! `karat card check`: everything that is wrong with a scorecard or a trap in it, with hints.

use std::io::Write;

use karat_checker::{Checked, Direction, Report};
use karat_core::diagnostic::{Diagnostic, Severity};
use karat_core::range::Interval;
use serde_json::{Value, json};

use crate::args::CheckArgs;
use crate::cards::{CardText, find, folder};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{CARE, GAIN, LOSS, STRONG, Screen};
use crate::render::diagnostics::{diagnostic, line_and_column};
use karat::cards::check_in;
use karat::text::{count, fit};

/// Checks every card named.
pub fn run(args: &CheckArgs, screen: &mut Screen) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    for (place, wanted) in args.cards.iter().enumerate() {
        let card = find(wanted)?;
        let checked = check_in(&card, folder(&card));
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
    match (&checked.card, &checked.report) {
        (Some(_), Some(report)) => proved(report, screen),
        _ => Ok(()),
    }
}

/// Prints the proofs of the checker: the range of each dimension, and the direction in which each fact moves the score.
fn proved(report: &Report, screen: &mut Screen) -> Result<(), Failure> {
    let names =
        report.readings.iter().map(|(name, _)| name).chain(report.directions.iter().map(|(name, _)| name));
    let name = names.map(|name| name.chars().count()).max().unwrap_or(0).min(30);
    writeln!(screen, "\n{STRONG}Values{STRONG:#} that each dimension can take")?;
    for (key, values) in &report.readings {
        writeln!(screen, "  {}  {}", fit(key, name), interval(*values))?;
    }
    steepest(report, name, screen)?;
    writeln!(screen, "\n{STRONG}When a fact grows{STRONG:#}, all else equal, the score")?;
    for (fact, direction) in &report.directions {
        let words = match direction {
            Direction::Flat => "does not move",
            Direction::Up => "never falls",
            Direction::Down => "never rises",
            Direction::Both => "may go either way",
        };
        writeln!(screen, "  {}  {words}", fit(fact, name))?;
    }
    Ok(())
}

/// Prints the steepest place of each dimension: how far a small step of one fact moves the score.
fn steepest(report: &Report, width: usize, screen: &mut Screen) -> Result<(), Failure> {
    if report.slopes.is_empty() {
        return Ok(());
    }
    writeln!(
        screen,
        "\n{STRONG}Steepest{STRONG:#} place of each dimension: points of the score in a step of 1/1000"
    )?;
    for (key, _) in &report.readings {
        let of_key = report.slopes.iter().filter(|slope| slope.dimension == *key);
        let Some(slope) = of_key.max_by(|a, b| a.points.total_cmp(&b.points)) else { continue };
        let place = format!("{} from {} to {}", slope.fact, short(slope.from), short(slope.to));
        writeln!(screen, "  {}  {} where {place}", fit(key, width), short(slope.points))?;
    }
    Ok(())
}

/// Returns a number with five digits.
fn short(value: f64) -> String {
    let size = value.abs();
    if size >= 1e9 || (size > 0.0 && size < 1e-6) {
        return format!("{value:.4e}");
    }
    let whole = if size >= 1.0 { format!("{:.0}", size.floor()).len() } else { 0 };
    let text = format!("{value:.places$}", places = 6_usize.saturating_sub(whole));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

fn interval(values: Interval) -> String {
    let end = |value: f64| if value.is_finite() { value.to_string() } else { String::from("any") };
    if values.low == values.high {
        end(values.low)
    } else {
        format!("{} to {}", end(values.low), end(values.high))
    }
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
        "report": checked.report.as_ref().map(report_json),
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

fn report_json(report: &Report) -> Value {
    let end = |value: f64| if value.is_finite() { json!(value) } else { Value::Null };
    let readings: serde_json::Map<String, Value> = report
        .readings
        .iter()
        .map(|(key, values)| (key.clone(), json!({ "low": end(values.low), "high": end(values.high) })))
        .collect();
    let directions: serde_json::Map<String, Value> = report
        .directions
        .iter()
        .map(|(fact, direction)| {
            let word = match direction {
                Direction::Flat => "flat",
                Direction::Up => "up",
                Direction::Down => "down",
                Direction::Both => "both",
            };
            (fact.clone(), json!(word))
        })
        .collect();
    let cliffs: Vec<Value> = report
        .cliffs
        .iter()
        .map(|cliff| json!({ "where": cliff.condition, "about": cliff.about, "points": cliff.points }))
        .collect();
    let slopes: Vec<Value> = report
        .slopes
        .iter()
        .map(|slope| {
            json!({
                "dimension": slope.dimension,
                "fact": slope.fact,
                "from": slope.from,
                "to": slope.to,
                "points": slope.points,
                "at_most": slope.at_most,
            })
        })
        .collect();
    json!({ "values": readings, "directions": directions, "cliffs": cliffs, "slopes": slopes })
}
