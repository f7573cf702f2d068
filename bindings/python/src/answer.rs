//! Questions about many items, and their answers.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::RecordBatch;
use karat::document::{self, Document, Proof};
use karat::engine::Wanted;
use karat::explanation::document::Explanation;
use karat::inputs::{Inputs, Silent};
use karat::json::{Answered, Feed, Feeds, Paths, Visit};
use karat::record::Record;
use karat::write::{Form, html, screen, text};
use karat::{CompiledCard, Error};
use karat_core::explain::nearest_change;
use karat_core::record::Record as Scoring;
use karat_frames::Items;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};

use crate::detached;
use crate::error::{guarded, raised};
use crate::frame::{reader, unwrapped};

/// The width of an answer as text.
const WIDTH: usize = 110;
/// The most rows of a list in a text or a notebook.
const MOST: usize = 30;

/// An answer: the document that the command prints with `--format json`, and what people read.
#[pyclass(frozen, module = "karat_score._native")]
pub struct Answer {
    json: Vec<u8>,
    document: Document,
}

#[pymethods]
impl Answer {
    /// The bytes that the command prints with `--format json`.
    #[getter]
    fn json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.json)
    }

    /// The main table as an object for each row, a line each.
    fn lines(&self) -> String {
        text(Form::Jsonl, &self.document)
    }

    /// The main table as CSV.
    fn csv(&self) -> String {
        text(Form::Csv, &self.document)
    }

    /// The whole as Markdown.
    fn markdown(&self) -> String {
        text(Form::Markdown, &self.document)
    }

    /// The whole as a page in one file.
    fn html(&self) -> String {
        text(Form::Html, &self.document)
    }

    /// The whole as text.
    fn text(&self) -> String {
        let all = "`.to_dict()` has all";
        screen::document(&self.document, screen::Layout { width: WIDTH, most: MOST, all })
    }

    /// The whole as a part of a page, for notebooks.
    pub fn fragment(&self) -> String {
        html::safe(html::body("karat", &self.document).into_string())
    }
}

impl From<Answered> for Answer {
    fn from(answered: Answered) -> Self {
        let Answered { json, document } = answered;
        Self { json, document }
    }
}

impl Answer {
    /// Explains a score.
    pub fn of_scoring(card: &Arc<CompiledCard>, record: &Scoring<'_>, proof: &Proof) -> Result<Self, Error> {
        let change = nearest_change(card.scorer()?, record);
        let explanation = Explanation::new(record, change.as_ref(), None, None)?;
        let document = document::explanation(record, change.as_ref(), proof);
        Ok(Self { json: karat::answers::write(&explanation).into_bytes(), document })
    }

    /// Explains the score of a record, computed again.
    pub fn of_record(bytes: &[u8], card: &Arc<CompiledCard>) -> Result<Self, Error> {
        let record = Record::parse(bytes)?
            .ok_or_else(|| Error::new(karat::Code::RecordUnsound, "this is not a record"))?;
        karat::recompute::recompute(&record, card, |scoring| {
            Self::of_scoring(card, scoring, &Proof::Verified)
        })?
    }
}

/// A source of items: a data frame, or files.
#[pyclass(frozen, module = "karat_score._native")]
pub struct Source(Held);

enum Held {
    Frame { name: String, batches: Vec<RecordBatch>, names: Vec<String> },
    Paths(Paths),
}

#[pymethods]
impl Source {
    /// Takes a stream of Arrow; the columns `names` hold names, whatever they are made of.
    #[staticmethod]
    fn of_frame(name: String, stream: &Bound<'_, PyCapsule>, names: Vec<String>) -> PyResult<Self> {
        let py = stream.py();
        let input = reader(stream)?;
        let batches = detached(py, || input.collect::<Result<Vec<RecordBatch>, _>>().map_err(unwrapped))?;
        Ok(Self(Held::Frame { name, batches, names }))
    }

    /// Takes files, folders and patterns.
    #[staticmethod]
    fn of_paths(py: Python<'_>, paths: Vec<String>) -> PyResult<Self> {
        Ok(Self(Held::Paths(detached(py, || Paths::new(&paths))?)))
    }
}

impl Feed for Source {
    fn each(&self, wanted: &Wanted, visit: &mut Visit<'_>) -> Result<Vec<String>, Error> {
        match &self.0 {
            Held::Paths(paths) => paths.each(wanted, visit),
            Held::Frame { name, batches, names } => {
                let items = Items { name, wanted, names };
                let mut before = 0;
                for batch in batches {
                    if items.each(batch, before, visit).is_break() {
                        break;
                    }
                    before += batch.num_rows() as u64;
                }
                Ok(Vec::new())
            }
        }
    }

    fn files(&self) -> &[String] {
        match &self.0 {
            Held::Paths(paths) => paths.files(),
            Held::Frame { .. } => &[],
        }
    }
}

/// Answers a question, with the sources that its files name; the rows of `counted` files are counted from 0 in errors, those of
/// others by their lines.
#[pyfunction]
pub fn ask(
    py: Python<'_>,
    question: &[u8],
    sources: &Bound<'_, PyDict>,
    counted: Vec<String>,
) -> PyResult<Answer> {
    let mut held: BTreeMap<String, Bound<'_, Source>> = BTreeMap::new();
    for (name, source) in sources {
        held.insert(name.extract()?, source.cast_into()?);
    }
    let sources: BTreeMap<String, &Source> =
        held.iter().map(|(name, source)| (name.clone(), source.get())).collect();
    let answered = py.detach(|| {
        guarded(|| {
            let feeds: Feeds<'_> =
                sources.iter().map(|(name, source)| (name.clone(), *source as &dyn Feed)).collect();
            karat::json::answered(question, &feeds).map(Answer::from)
        })
    });
    answered.map_err(|error| {
        let place = error.first().unwrap_or(&error).place();
        let row = place.filter(|place| counted.contains(&place.file)).and_then(|place| place.line);
        let raised = raised(py, &error);
        match row.map(|line| raised.value(py).setattr("row", line.saturating_sub(1))) {
            Some(Err(error)) => error,
            _ => raised,
        }
    })
}

/// Checks a receipt or a record.
#[pyfunction]
pub fn verify(py: Python<'_>, question: &[u8]) -> PyResult<Answer> {
    detached(py, || karat::json::verified(question).map(Answer::from))
}

/// Reads files as the items that they hold, a line each.
#[pyfunction]
pub fn import_items<'py>(
    py: Python<'py>,
    paths: Vec<String>,
    card_text: Option<String>,
) -> PyResult<Bound<'py, PyBytes>> {
    let lines = detached(py, || {
        let wanted = match card_text {
            Some(text) => Wanted::of(CompiledCard::parse(&text)?.card())?,
            None => Wanted::nothing(),
        };
        let mut lines = Vec::new();
        let inputs = Inputs::new(&paths)?;
        inputs.each(&wanted, &Silent, |_, item| {
            lines.extend_from_slice(item?);
            lines.push(b'\n');
            Ok::<_, Error>(ControlFlow::Continue(()))
        })?;
        Ok(lines)
    })?;
    Ok(PyBytes::new(py, &lines))
}
