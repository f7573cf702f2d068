//! The document of checks of receipts, records and logs: a row and a test case each, and the verdict of all below.

use super::{Case, CaseResult, Cell, Column, Document, Kind, Part, Row, Table};
use crate::answers::{CheckOutcome, VerificationStatus};
use crate::headline::what_changed;
use crate::text::{Tone, list};
use crate::verification::{Check, causes, status};

/// The words around checks.
#[derive(Debug, Clone, Copy)]
pub struct Verified<'a> {
    /// The file.
    pub file: &'a str,
    /// Its item, and the log that has it.
    pub about: Option<&'a (String, String)>,
    /// The words if all checks pass.
    pub verified: &'a str,
}

/// Returns the document of checks in their order.
pub fn verification(checks: &[Check], about: Verified<'_>) -> Document {
    let file = if about.file == "-" { "standard input" } else { about.file };
    let row = |check: &Check| {
        let shown = &check.shown;
        let (tone, mark) = match shown.outcome {
            CheckOutcome::Verified => (Tone::Good, "✓"),
            CheckOutcome::Failed => (Tone::Bad, "✗"),
            CheckOutcome::Inconclusive => (Tone::Care, "?"),
            CheckOutcome::Skipped => (Tone::Plain, "·"),
        };
        let details = shown.details.iter().map(|it| (Tone::Plain, it.clone())).collect();
        let cells = vec![
            Cell::text(file),
            Cell::Mark(tone, shown.outcome.name(), mark),
            Cell::text(shown.name.as_ref()),
            Cell::text(&shown.says),
            Cell::Notes(details),
        ];
        Row::from(cells)
    };
    let columns = vec![
        Column::text("file").hidden(),
        Column::text("outcome").labelled(""),
        Column::name("check"),
        Column::new("finding", Kind::Sentence),
        Column::new("details", Kind::Notes),
    ];
    let case = |check: &Check| {
        let says = check.shown.says.clone();
        let result = match check.shown.outcome {
            CheckOutcome::Verified => CaseResult::Passed,
            CheckOutcome::Failed => CaseResult::Failed(says),
            CheckOutcome::Inconclusive => CaseResult::Error(says),
            CheckOutcome::Skipped => CaseResult::Skipped(says),
        };
        let name = check.shown.name.clone().into_owned();
        Case { class: file.to_owned(), name, result, seconds: None, place: None, output: Vec::new() }
    };
    let mut document = Document {
        name: "verify",
        title: about.about.map_or_else(|| file.to_owned(), |(what, _)| format!("{file}: {what}")),
        lines: about.about.map(|(_, log)| log.clone()).into_iter().collect(),
        parts: vec![Part::Table(Table::new("", columns, checks.iter().map(row).collect()))],
        cases: checks.iter().map(case).collect(),
        ..Document::default()
    };
    let (tone, verdict) = verdict(checks, about.verified);
    document.note(tone, [verdict]);
    document
}

/// Returns the verdict of all checks together.
fn verdict(checks: &[Check], verified: &str) -> (Tone, String) {
    match status(checks) {
        VerificationStatus::Verified => (Tone::Good, format!("verified: {verified}")),
        VerificationStatus::Consistent => {
            let is_lacking = |check: &&Check| check.shown.outcome == CheckOutcome::Inconclusive;
            let lacking: Vec<&str> =
                checks.iter().filter(is_lacking).map(|check| check.shown.name.as_ref()).collect();
            let words = "consistent, not verified: no contradiction found; not checked:";
            (Tone::Care, format!("{words} {}", list(&lacking)))
        }
        VerificationStatus::Failed => {
            let causes: Vec<&str> = causes(checks).into_iter().map(what_changed).collect();
            let why = if causes.is_empty() { String::new() } else { format!(": {}", list(&causes)) };
            (Tone::Bad, format!("failed{why}"))
        }
    }
}
