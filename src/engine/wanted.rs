//! Inputs cut into items: which facts are wanted says how the cells of a table are read.

use std::io::BufRead;
use std::ops::ControlFlow;
use std::path::Path;

use karat_core::scorecard::{FactType, FieldPath, Scorecard};
use karat_evidence::json::parse::Limits;
use karat_evidence::source::{Layout, Source};
use karat_importers::Importer;
use karat_reader::Kind;

use super::kind;
use crate::cards::wanted_facts;
use crate::error::{Code, Error, Place};

/// The kind of some evidence and the facts that are wanted of it, which say how the cells of a table are read.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The kind.
    pub kind: Kind,
    /// The facts by the fields that give them, in the order of the scorecard: names, or paths, which begin with `$`.
    pub facts: Vec<(String, FactType)>,
    /// Other names that mark the header of a table.
    pub columns: Vec<String>,
}

impl Wanted {
    /// The facts of records and of evidence of any names: nothing in particular.
    pub fn nothing() -> Self {
        Self { kind: Kind::Facts, facts: Vec::new(), columns: Vec::new() }
    }

    /// Returns what an engine of `card` reads.
    ///
    /// # Errors
    ///
    /// If karat has no such kind of evidence.
    pub fn of(card: &Scorecard) -> Result<Self, Error> {
        Ok(Self { kind: kind(card)?, facts: wanted_facts(card), columns: Vec::new() })
    }

    /// Returns whether a log of another tool is to be imported: battles where matches are read, unless their columns were named;
    /// runs elsewhere.
    pub(crate) fn is_for(&self, importer: &Importer) -> bool {
        let has_own_names = self.columns.iter().any(|name| name == "model_a");
        self.columns.is_empty() != importer.is_matches() && !has_own_names
    }

    /// Adds the facts of `other`.
    pub fn add(&mut self, other: Self) {
        for (name, fact_type) in other.facts {
            if !self.facts.iter().any(|(known, _)| *known == name) {
                self.facts.push((name, fact_type));
            }
        }
    }

    /// Returns the layout of a stream, whose name says nothing: from the first bytes of `input`, which stay there. For
    /// facts, a first line that is not JSON and has one of their names is the header of a table.
    ///
    /// # Errors
    ///
    /// If the stream cannot be read.
    pub(crate) fn layout_of_stream(&self, input: &mut impl BufRead) -> std::io::Result<Layout> {
        if self.kind != Kind::Facts {
            return Ok(Layout::Auto);
        }
        let head = input.fill_buf()?;
        let header = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let header = String::from_utf8_lossy(header.strip_prefix(b"\xef\xbb\xbf").unwrap_or(header));
        let column =
            |field: &String| FieldPath::parse(field).map_or_else(|_| field.clone(), |path| path.column());
        let columns: Vec<String> = self.facts.iter().map(|(field, _)| column(field)).collect();
        let is_name = |cell: &str| {
            let cell = cell.trim().trim_matches('"');
            cell == "subject"
                || columns.iter().any(|name| name == cell)
                || self.columns.iter().any(|name| name == cell)
        };
        let is_table =
            !header.trim_start().starts_with(['{', '[']) && header.split([',', ';', '\t', '|']).any(is_name);
        Ok(if is_table { Layout::Csv } else { Layout::Auto })
    }

    /// Returns the layout of a file by the end of its name.
    ///
    /// # Errors
    ///
    /// If it is a table and the evidence is of a kind that tables do not hold.
    pub(crate) fn layout_of_file(&self, path: &str) -> Result<Layout, Error> {
        let layout = Layout::of_path(Path::new(path));
        if layout == Layout::Csv && self.kind != Kind::Facts {
            let message =
                format!("`{path}` is a table, which evidence of kind `{}` is not", self.kind.name());
            return Err(Error::new(Code::OtherKind, message)
                .hint("tables hold evidence of kind `facts`; give JSON instead"));
        }
        Ok(layout)
    }
}

/// Cuts `input` into items and hands each to `visit` with its place, or the reason why one could not be cut out; one item
/// is in memory at a time.
pub fn each_item<B>(
    file: &str,
    input: impl BufRead,
    layout: Layout,
    wanted: &Wanted,
    mut visit: impl FnMut(&Place, Result<&[u8], Error>) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut place = Place { file: file.to_owned(), line: None, nth: 1, is_row: layout == Layout::Csv };
    let mut source = Source::new(input, layout, &wanted.facts, Limits::default().max_bytes);
    let mut before = (0, 0);
    while let Some(item) = source.next_item() {
        match item {
            Ok(item) => {
                before = (item.line, if before.0 == item.line { before.1 + 1 } else { 1 });
                (place.line, place.nth) = (Some(before.0), before.1);
                visit(&place, Ok(item.bytes))?;
            }
            Err(failure) => {
                (place.line, place.nth) = (failure.problem.line, 1);
                let is_over = !failure.resumable;
                let error = Error::new(Code::EvidenceRefused, failure.to_string()).at(place.clone());
                visit(&place, Err(error))?;
                if is_over {
                    break;
                }
            }
        }
    }
    ControlFlow::Continue(())
}
