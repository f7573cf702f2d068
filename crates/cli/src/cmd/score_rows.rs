//! The forms in which `karat score` writes items: records, brief records, rows of a table, test cases, annotations.

use std::io::Write;
use std::sync::Arc;

use karat::answers;
use karat::engine::Scored;
use karat::error::Place;
use karat::report::brief::{self, Brief};
use karat::report::junit::Counts;
use karat::report::{CaseResult, Finding, Level, Report, Sheet, Value, csv, github, junit, markdown};
use karat_core::number::Decimal;
use karat_core::record::Record;

use super::listing::{Listing, Summary};
use crate::failure::Failure;
use crate::format::{self, Document};
use crate::render::table::Table;

/// The most findings and rows that are kept for annotations, which show fewer.
const KEPT: usize = 10_000;

/// The form of an item.
#[derive(Clone)]
pub enum Rows {
    /// Rows of a table on a screen.
    Screen(Arc<Table>),
    /// Canonical records, a line each.
    Records,
    /// Brief records, a line each.
    Brief,
    /// Parts of a document.
    Report(Document),
}

/// What an item adds to a document beside its text.
pub struct Written {
    result: CaseResult,
    finding: Option<Finding>,
    row: Vec<Value>,
}

/// The test cases, findings and rows of items.
#[derive(Default)]
pub struct Cases {
    counts: Counts,
    findings: Vec<Finding>,
    rows: Vec<Vec<Value>>,
}

impl Cases {
    /// Adds an item that is shown.
    pub fn see(&mut self, written: Option<Written>) {
        let Some(written) = written else { return };
        self.counts.see(&written.result);
        if self.findings.len() < KEPT {
            self.findings.extend(written.finding);
        }
        if self.rows.len() < github::ROWS && !written.row.is_empty() {
            self.rows.push(written.row);
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
    /// Returns the document that the items become, if they become one.
    pub fn document(&self) -> Option<Document> {
        match self {
            Self::Report(document) => Some(*document),
            _ => None,
        }
    }

    /// Returns what stands above the first item.
    pub fn head(&self, record: &Record<'_>) -> Option<String> {
        match self {
            Self::Screen(table) => Some(table.head(record.card)),
            Self::Report(Document::Csv) => Some(csv::head(&brief::columns())),
            Self::Report(Document::Markdown) => {
                let title = markdown::escaped(&record.card.name());
                Some(format!("## {title}\n\n{}", markdown::head(&brief::columns())))
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
            Self::Screen(table) => text.extend_from_slice(table.row(record, scored.notes()).as_bytes()),
            Self::Records => {
                scored.write(text);
                text.push(b'\n');
            }
            Self::Brief => {
                text.extend_from_slice(answers::write(&Brief::of(record)).as_bytes());
                text.push(b'\n');
            }
            Self::Report(Document::Csv) => {
                text.extend_from_slice(csv::row(&brief::row(&Brief::of(record))).as_bytes());
            }
            Self::Report(Document::Markdown | Document::Jsonl) => {
                let row = markdown::row(&brief::columns(), &brief::row(&Brief::of(record)));
                text.extend_from_slice(row.as_bytes());
            }
            Self::Report(Document::Junit) => {
                let case = brief::case(record, place, fail_under);
                text.extend_from_slice(junit::case(&case).as_bytes());
                return Some(Written { result: case.result, finding: None, row: Vec::new() });
            }
            Self::Report(Document::Github) => {
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
                let row = brief::row(&Brief::of(record));
                return Some(Written { result: case.result, finding, row });
            }
        }
        None
    }
}

/// The end of the output.
pub struct Ending {
    /// The name of the scorecard.
    pub title: String,
    /// The best score of the card.
    pub scale: u32,
    /// The document, if the items become one.
    pub document: Option<Document>,
}

impl Ending {
    /// Returns true if the text of items waits for the end.
    pub fn keeps(&self) -> bool {
        self.document == Some(Document::Junit)
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
        if let Some(width) = width {
            let text = summary.text(listing, shown, refused, self.scale, width);
            out.write_all(text.as_bytes())?;
            return Ok(());
        }
        match self.document {
            Some(Document::Junit) => {
                let text = junit::whole(&self.title, cases.counts, &String::from_utf8_lossy(kept));
                out.write_all(text.as_bytes())?;
            }
            Some(Document::Csv) if shown == 0 => {
                out.write_all(csv::head(&brief::columns()).as_bytes())?;
            }
            Some(Document::Markdown) => {
                if shown == 0 {
                    writeln!(out, "## {}", markdown::escaped(&self.title))?;
                }
                let lines = summary.lines(shown, refused, self.scale);
                writeln!(out)?;
                for (_, line) in lines {
                    writeln!(out, "{}  ", markdown::escaped(&line))?;
                }
            }
            Some(document @ Document::Github) => {
                let lines = summary.lines(shown, refused, self.scale);
                let report = Report {
                    title: self.title.clone(),
                    lines: lines.into_iter().map(|(_, line)| line).collect(),
                    sheets: vec![Sheet {
                        caption: String::new(),
                        columns: brief::columns(),
                        rows: cases.rows,
                    }],
                    cases: Vec::new(),
                    findings: cases.findings,
                };
                out.flush()?;
                format::emit(&report, document)?;
            }
            _ => {}
        }
        Ok(())
    }
}
