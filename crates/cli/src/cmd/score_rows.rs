//! The forms in which `karat score` writes items: records, brief records, rows of a table, test cases, annotations.

use std::io::Write;
use std::sync::Arc;

use karat::answers;
use karat::card::CompiledCard;
use karat::document::brief::{self, Brief};
use karat::document::{CaseResult, Document, Finding, Level, Part, Row, Table};
use karat::engine::Scored;
use karat::error::Place;
use karat::text::{Tone, clean};
use karat::write::junit::Counts;
use karat::write::screen::Stream;
use karat::write::{Form, csv, github, junit, markdown};
use karat_core::number::Decimal;
use karat_core::record::Record;
use karat_core::scorecard::Scorecard;

use super::listing::{Listing, Summary};
use karat_terminal::failure::Failure;
use karat_terminal::format;
use karat_terminal::output::{FAINT, STRONG};

/// The most findings and rows that are kept for annotations, which show fewer.
const KEPT: usize = 10_000;

/// The form of an item.
#[derive(Clone)]
pub enum Rows {
    /// Rows of a table on a screen.
    Screen(Arc<Stream>),
    /// Canonical records, a line each.
    Records,
    /// Brief records, a line each.
    Brief,
    /// Parts of a document.
    Form(Form),
}

/// The parts of an item in a document beside its text.
pub struct Written {
    result: CaseResult,
    finding: Option<Finding>,
    row: Option<Row>,
}

/// The test cases, findings and rows of items.
#[derive(Default)]
pub struct Cases {
    counts: Counts,
    findings: Vec<Finding>,
    rows: Vec<Row>,
}

impl Cases {
    /// Adds an item that is shown.
    pub fn see(&mut self, written: Option<Written>) {
        let Some(written) = written else { return };
        self.counts.see(&written.result);
        if self.findings.len() < KEPT {
            self.findings.extend(written.finding);
        }
        if self.rows.len() < github::ROWS {
            self.rows.extend(written.row);
        }
    }

    /// Adds the next ones.
    pub fn add(&mut self, next: Self) {
        self.counts.add(next.counts);
        let (findings, rows) = (KEPT - self.findings.len().min(KEPT), github::ROWS - self.rows.len());
        self.findings.extend(next.findings.into_iter().take(findings));
        self.rows.extend(next.rows.into_iter().take(rows));
    }
}

impl Rows {
    /// Returns the form of the document that the items become, if they become one.
    pub fn form(&self) -> Option<Form> {
        match self {
            Self::Form(form) => Some(*form),
            _ => None,
        }
    }

    /// Returns what stands above the first item.
    pub fn head(&self, record: &Record<'_>) -> Option<String> {
        match self {
            Self::Screen(stream) => Some(title(record.card) + &stream.head()),
            Self::Form(Form::Csv) => Some(csv::head(&brief::columns(record.card))),
            Self::Form(Form::Markdown) => {
                let title = markdown::escaped(&record.card.name());
                Some(format!("## {title}\n\n{}", markdown::head(&brief::columns(record.card))))
            }
            _ => None,
        }
    }

    /// Writes an item.
    pub fn write(
        &self,
        place: &Place,
        scored: &Scored<'_>,
        fail_under: Option<Decimal>,
        text: &mut Vec<u8>,
    ) -> Option<Written> {
        let record = &scored.record;
        match self {
            Self::Screen(stream) => {
                text.extend_from_slice(stream.row(&brief::row(record, scored.notes())).as_bytes());
            }
            Self::Records => {
                scored.write(text);
                text.push(b'\n');
            }
            Self::Brief => {
                text.extend_from_slice(answers::write(&Brief::of(record)).as_bytes());
                text.push(b'\n');
            }
            Self::Form(Form::Csv) => {
                text.extend_from_slice(csv::row(&brief::row(record, &[]).cells).as_bytes());
            }
            Self::Form(Form::Markdown | Form::Jsonl) => {
                let row = markdown::row(&brief::columns(record.card), &brief::row(record, &[]).cells);
                text.extend_from_slice(row.as_bytes());
            }
            Self::Form(Form::Junit) => {
                let case = brief::case(record, place, fail_under);
                text.extend_from_slice(junit::case(&case).as_bytes());
                return Some(Written { result: case.result, finding: None, row: None });
            }
            Self::Form(Form::Github | Form::Html) => {
                let case = brief::case(record, place, fail_under);
                let finding = match &case.result {
                    CaseResult::Failed(why) | CaseResult::Error(why) => {
                        // Without a bar, nothing fails.
                        let level = if fail_under.is_some() { Level::Error } else { Level::Warning };
                        let text = format!("{}, item {}: {why}", case.class, case.name);
                        Some(Finding { place: case.place.clone(), ..Finding::new(level, "score", text) })
                    }
                    _ => None,
                };
                let row = Some(brief::row(record, scored.notes()));
                return Some(Written { result: case.result, finding, row });
            }
        }
        None
    }
}

/// Returns the line above a table of scores on a screen: the scorecard.
pub fn title(card: &Scorecard) -> String {
    format!("{STRONG}{}{STRONG:#}  {FAINT}{}{FAINT:#}\n", card.name(), clean(&card.title))
}

/// The end of the output.
pub struct Ending {
    /// The scorecard.
    pub card: Arc<CompiledCard>,
    /// The form of the document, if the items become one.
    pub form: Option<Form>,
}

impl Ending {
    /// Returns true if the text of items waits for the end.
    pub fn keeps(&self) -> bool {
        self.form == Some(Form::Junit)
    }

    /// Writes what follows the items: `kept` is their text if it waited, `width` the columns of a screen.
    pub fn write(
        &self,
        items: (Cases, &[u8]),
        (summary, shown, refused): (&Summary, u64, u64),
        listing: &Listing,
        width: Option<usize>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let (cases, kept) = items;
        let (card, title) = (self.card.card(), self.card.name());
        if let Some(width) = width {
            let text = summary.text(listing, shown, refused, card.scale.max, width);
            out.write_all(text.as_bytes())?;
            return Ok(());
        }
        match self.form {
            Some(Form::Junit) => {
                let text = junit::whole(&title, cases.counts, &String::from_utf8_lossy(kept));
                out.write_all(text.as_bytes())?;
            }
            Some(Form::Csv) if shown == 0 => {
                out.write_all(csv::head(&brief::columns(card)).as_bytes())?;
            }
            Some(Form::Markdown) => {
                if shown == 0 {
                    writeln!(out, "## {}", markdown::escaped(&title))?;
                }
                let lines = summary.lines(shown, refused, card.scale.max);
                writeln!(out)?;
                for (_, line) in lines {
                    writeln!(out, "{}  ", markdown::escaped(&line))?;
                }
            }
            Some(form @ (Form::Github | Form::Html)) => {
                let lines = summary.lines(shown, refused, card.scale.max);
                let more = shown.saturating_sub(cases.rows.len() as u64);
                let mut document = Document {
                    name: "score",
                    title,
                    lines: lines.into_iter().map(|(_, line)| line).collect(),
                    parts: vec![Part::Table(Table::new("", brief::columns(card), cases.rows))],
                    findings: cases.findings,
                    ..Document::default()
                };
                if more > 0 {
                    document.note(Tone::Plain, [format!("and {more} more: CSV and JSON have all")]);
                }
                out.flush()?;
                format::emit(&document, form)?;
            }
            _ => {}
        }
        Ok(())
    }
}
