//! The forms in which `karat score` writes items: records, brief records, rows of a table, parts of a document.

use std::io::Write;
use std::sync::Arc;

use karat::answers;
use karat::card::CompiledCard;
use karat::document::brief::{self, Brief};
use karat::document::{Case, CaseResult, Document, Finding, Level, Part, Row, Table};
use karat::engine::Scored;
use karat::error::Place;
use karat::text::{Tone, clean};
use karat::write::screen::Stream;
use karat::write::{Form, csv, github};
use karat_core::number::Decimal;
use karat_core::record::Record;
use karat_core::scorecard::Scorecard;
use karat_terminal::failure::Failure;
use karat_terminal::format;
use karat_terminal::output::{FAINT, STRONG};

use super::listing::{Listing, Summary};
use crate::frames;

/// The form of an item.
#[derive(Clone)]
pub enum Rows {
    /// Rows of a table on a screen.
    Screen(Arc<Stream>),
    /// Canonical records, a line each.
    Records,
    /// Brief records, a line each.
    Brief,
    /// Rows of CSV.
    Csv,
    /// Parts of a document, which is written at the end.
    Document(Form),
    /// Rows of a file of columns.
    Columns,
}

/// The parts of an item in a document.
pub struct Written {
    case: Case,
    row: Row,
}

impl Rows {
    /// Returns what stands above the first item.
    pub fn head(&self, card: &Scorecard) -> Option<String> {
        match self {
            Self::Screen(stream) => Some(title(card) + &stream.head()),
            Self::Csv => Some(csv::head(&brief::columns(card))),
            _ => None,
        }
    }

    /// Writes an item, or returns its parts.
    pub fn write(
        &self,
        place: &Place,
        scored: &Scored<'_>,
        fail_under: Option<Decimal>,
        text: &mut Vec<u8>,
    ) -> Option<Written> {
        let record = &scored.record;
        let row = |record: &Record<'_>| brief::row(record, scored.notes());
        let line = match self {
            Self::Screen(stream) => stream.row(&row(record)),
            Self::Records => {
                scored.write(text);
                String::from("\n")
            }
            Self::Brief => answers::write(&Brief::of(record)) + "\n",
            Self::Csv => csv::row(&row(record).cells),
            Self::Document(_) => {
                return Some(Written { case: brief::case(record, place, fail_under), row: row(record) });
            }
            Self::Columns => {
                frames::row(Ok(record), text);
                return None;
            }
        };
        text.extend_from_slice(line.as_bytes());
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
    /// The form of the items.
    pub rows: Rows,
    /// The points below which an item fails.
    pub fail_under: Option<Decimal>,
}

impl Ending {
    /// Writes what follows the items: on a screen of `width` columns a summary, the head of a table without rows, or the document.
    pub fn write(
        &self,
        items: Vec<Written>,
        (summary, shown, refused): (&Summary, u64, u64),
        listing: &Listing,
        width: usize,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let card = self.card.card();
        match self.rows {
            Rows::Screen(_) => {
                let text = summary.text(listing, shown, refused, card.scale.max, width);
                out.write_all(text.as_bytes())?;
            }
            Rows::Csv if shown == 0 => out.write_all(csv::head(&brief::columns(card)).as_bytes())?,
            Rows::Document(form) => {
                out.flush()?;
                let lines = summary.lines(shown, refused, card.scale.max);
                let lines = lines.into_iter().map(|(_, line)| line).collect();
                format::emit(&self.document(items, lines, form), form)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn document(&self, items: Vec<Written>, lines: Vec<String>, form: Form) -> Document {
        let (mut cases, mut rows): (Vec<Case>, Vec<Row>) =
            items.into_iter().map(|it| (it.case, it.row)).unzip();
        let mut findings = Vec::new();
        let mut more = 0;
        match form {
            Form::Github | Form::Html => {
                findings.extend(std::mem::take(&mut cases).into_iter().filter_map(|it| self.finding(it)));
                more = rows.len().saturating_sub(github::ROWS);
                rows.truncate(github::ROWS);
            }
            _ => rows.iter_mut().for_each(|row| row.notes.clear()),
        }
        let mut document = Document {
            name: "score",
            title: self.card.name(),
            lines,
            parts: vec![Part::Table(Table::new("", brief::columns(self.card.card()), rows))],
            cases,
            findings,
            ..Document::default()
        };
        let more = (more > 0).then(|| format!("and {more} more: CSV and JSON have all"));
        document.note(Tone::Plain, more);
        document
    }

    /// Returns the finding about an item that does not pass.
    fn finding(&self, case: Case) -> Option<Finding> {
        let (CaseResult::Failed(why) | CaseResult::Error(why)) = case.result else { return None };
        // Without a bar, nothing fails.
        let level = if self.fail_under.is_some() { Level::Error } else { Level::Warning };
        let text = format!("{}, item {}: {why}", case.class, case.name);
        Some(Finding { place: case.place, ..Finding::new(level, "score", text) })
    }
}
