//! `karat card check`: everything that is wrong with a scorecard or a trap in it, with hints.

use std::io::Write as _;

use karat::cards::check_in;
use karat::document::{Case, CaseResult, Cell, Column, Document, Finding, Level, Part, Place, Row, Table};
use karat::text::count;
use karat::write::screen::{Layout, parts};
use karat_checker::{Checked, Direction, Report};
use karat_core::diagnostic::{Diagnostic, Severity};
use karat_core::range::Interval;
use karat_terminal::cards::{CardText, find, folder};
use karat_terminal::diagnostics::{diagnostic, line_and_column};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::{self, Chosen};
use karat_terminal::output::{CARE, Color, GAIN, LOSS, STRONG, Screen};
use serde_json::{Value, json};

use crate::args::CheckArgs;

/// Checks every card named.
pub fn run(args: &CheckArgs, color: Color) -> Result<Exit, Failure> {
    let chosen = args.format.chosen_or(Chosen::Screen)?;
    let mut screen = Screen::stdout(color);
    let (mut exit, mut documents) = (Exit::Done, Vec::new());
    for (place, wanted) in args.cards.iter().enumerate() {
        let card = find(wanted)?;
        let checked = check_in(&card, folder(&card));
        if checked.card.is_none() {
            exit = Exit::CardRefused;
        }
        match chosen {
            Chosen::Json => format::json(&as_json(&card, &checked))?,
            Chosen::Form(_) => documents.push(document(&card, &checked)),
            Chosen::Screen => {
                if place > 0 {
                    writeln!(screen)?;
                }
                show(&card, &checked, &mut screen)?;
            }
        }
    }
    match chosen {
        Chosen::Form(form) => format::emit(&Document::joined(documents), form)?,
        _ => screen.flush()?,
    }
    Ok(exit)
}

/// Shows the findings in the text of the card, then the proofs.
fn show(card: &CardText, checked: &Checked, screen: &mut Screen) -> Result<(), Failure> {
    let width = screen.width;
    for found in &checked.diagnostics {
        writeln!(screen, "{}\n", diagnostic(found, &card.name, &card.text, width))?;
    }
    let (name, verdict, counts) = summary(card, checked);
    let has = |severity| checked.diagnostics.iter().any(|found| found.severity == severity);
    let style = match (has(Severity::Error), has(Severity::Warning)) {
        (true, _) => LOSS,
        (false, true) => CARE,
        (false, false) => GAIN,
    };
    writeln!(screen, "{STRONG}{name}{STRONG:#}: {style}{verdict}{style:#}, {counts}")?;
    let layout = Layout { width, most: usize::MAX, all: "" };
    Ok(write!(screen, "{}", parts(&proved(checked), layout))?)
}

/// Returns the name of the card, whether it is usable, and the number of findings.
fn summary(card: &CardText, checked: &Checked) -> (String, &'static str, String) {
    let number = |severity| checked.diagnostics.iter().filter(|found| found.severity == severity).count();
    let counts = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")];
    let counts = counts.map(|(severity, noun)| count(number(severity), noun)).join(", ");
    match &checked.card {
        Some(sound) => (sound.name(), "usable", counts),
        None => (card.name.clone(), "refused", counts),
    }
}

fn document(card: &CardText, checked: &Checked) -> Document {
    let (name, verdict, counts) = summary(card, checked);
    let finding = |found: &Diagnostic| {
        let level = match found.severity {
            Severity::Error => Level::Error,
            Severity::Warning => Level::Warning,
            Severity::Note => Level::Notice,
        };
        let help = if found.help.is_empty() { String::new() } else { format!("; {}", found.help) };
        let line = Some(line_and_column(&card.text, found.span.start).0 as u64);
        let place = Some(Place { file: card.name.clone(), line });
        let text = format!("{}{help}", found.message);
        Finding { place, ..Finding::new(level, found.code.as_str(), text) }
    };
    let result = match checked.card {
        Some(_) => CaseResult::Passed,
        None => CaseResult::Failed(counts.clone()),
    };
    Document {
        name: "card check",
        title: format!("{name}: {verdict}, {counts}"),
        parts: proved(checked),
        findings: checked.diagnostics.iter().map(finding).collect(),
        cases: vec![Case {
            class: String::from("card"),
            name,
            result,
            seconds: None,
            place: None,
            output: Vec::new(),
        }],
        ..Document::default()
    }
}

/// Returns the proofs of the checker about a usable card: the range of each dimension, its steepest place, and the direction in
/// which each fact moves the score.
fn proved(checked: &Checked) -> Vec<Part> {
    let Some(report) = checked.report.as_ref().filter(|_| checked.card.is_some()) else { return Vec::new() };
    let steepest = |key: &str| {
        let of_key = report.slopes.iter().filter(|slope| slope.dimension == key);
        of_key.max_by(|a, b| a.points.total_cmp(&b.points))
    };
    let row = |(key, values): &(String, Interval)| {
        let slope = steepest(key);
        Row::from(vec![
            Cell::text(key),
            Cell::Text(interval(*values)),
            Cell::of_number(slope.map(|slope| slope.points), short),
            Cell::of_text(slope.map(|it| format!("{} from {} to {}", it.fact, short(it.from), short(it.to)))),
        ])
    };
    let has_slopes = !report.slopes.is_empty();
    let columns = vec![
        Column::name("dimension"),
        Column::text("values"),
        Column::number("points").shown_if(has_slopes),
        Column::text("steepest").shown_if(has_slopes),
    ];
    let caption = match has_slopes {
        true => "Values of each dimension, and points of the score in a step of 1/1000 where it is steepest",
        false => "Values that each dimension can take",
    };
    let dimensions = Table::new(caption, columns, report.readings.iter().map(row).collect());
    let rows = report.directions.iter().map(|(fact, direction)| {
        let (word, words) = direction_words(*direction);
        Row::from(vec![Cell::text(fact), Cell::Word(word, words)])
    });
    let columns = vec![Column::name("fact"), Column::text("score")];
    let facts = Table::new("When a fact grows, all else equal, the score", columns, rows.collect());
    vec![Part::Table(dimensions), Part::Table(facts)]
}

/// Returns a direction for programs, and for people.
fn direction_words(direction: Direction) -> (&'static str, &'static str) {
    match direction {
        Direction::Flat => ("flat", "does not move"),
        Direction::Up => ("up", "never falls"),
        Direction::Down => ("down", "never rises"),
        Direction::Both => ("both", "may go either way"),
    }
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
        .map(|(fact, direction)| (fact.clone(), json!(direction_words(*direction).0)))
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
            })
        })
        .collect();
    let top = report.top.at_most;
    json!({ "values": readings, "directions": directions, "cliffs": cliffs, "slopes": slopes, "top": top })
}
