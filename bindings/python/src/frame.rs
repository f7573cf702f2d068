//! Data frames through the C interface of Arrow: streams of batches in and out, nothing copied.

#![allow(unsafe_code, reason = "the C interface hands over pointers")]

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use karat::{Code, Engine, Error, Place, Problem};
use karat_frames::{Answer, Frame, score};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::{guarded, invalid, raised};
use crate::stream::Stream;

/// The name of a capsule with a stream.
const STREAM: &std::ffi::CStr = c"arrow_array_stream";

/// Takes the stream of a capsule.
pub fn reader(capsule: &Bound<'_, PyCapsule>) -> PyResult<Stream> {
    let pointer = capsule.pointer_checked(Some(STREAM))?;
    // SAFETY: a capsule of this name holds a stream, which is moved out of it: it is marked as released there.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) };
    let opened = guarded(|| Stream::new(stream).map_err(|error| refused(&error)));
    opened.map_err(|error| raised(capsule.py(), &error))
}

/// Returns the error of karat that an error of Arrow is or holds.
pub fn unwrapped(error: ArrowError) -> Error {
    match error {
        ArrowError::ExternalError(error) => match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(error) => Error::new(Code::Unreadable, error.to_string()),
        },
        error => Error::new(Code::Unreadable, error.to_string()),
    }
}

fn refused(error: &ArrowError) -> Error {
    Error::new(Code::InvalidOption, format!("this is not a stream of a table of Arrow: {error}"))
}

/// A stream of batches, for Polars, PyArrow, pandas, DuckDB. It can be taken once.
#[pyclass(frozen)]
pub struct Batches(Mutex<Option<Box<dyn RecordBatchReader + Send>>>);

#[pymethods]
impl Batches {
    /// Returns the stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer that asks for another schema casts by itself, which the interface allows.
        drop(requested_schema);
        let reader = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let reader = reader.ok_or_else(|| invalid(py, "these batches were taken before"))?;
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
    }
}

impl Batches {
    pub fn new(reader: Box<dyn RecordBatchReader + Send>) -> Self {
        Self(Mutex::new(Some(reader)))
    }

    /// Holds batches that are there.
    pub fn of(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self::new(Box::new(RecordBatchIterator::new(batches.into_iter().map(Ok), schema)))
    }
}

/// Scores of batches, as they are read.
pub struct Scores<R> {
    engine: Engine,
    input: R,
    answer: Asked,
    rows: usize,
    schema: SchemaRef,
}

/// The question about a frame.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub answer: Answer,
    /// Columns of the frame that stay beside the scores.
    pub keep: Vec<String>,
    /// True to stop at a broken row.
    pub refuses_broken: bool,
}

impl<R: RecordBatchReader> Scores<R> {
    /// Scores nothing yet, but says what the columns will be.
    ///
    /// # Errors
    /// If the columns of the input do not fit the scorecard.
    pub fn new(mut engine: Engine, input: R, answer: Asked) -> Result<Self, Error> {
        let empty = RecordBatch::new_empty(input.schema());
        let schema = answer.of(&mut engine, &empty, 0)?.schema();
        Ok(Self { engine, input, answer, rows: 0, schema })
    }
}

impl<R: RecordBatchReader> Iterator for Scores<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match self.input.next()? {
            Ok(batch) => batch,
            Err(error) => return Some(Err(error)),
        };
        let scored = guarded(|| self.answer.of(&mut self.engine, &batch, self.rows));
        self.rows += batch.num_rows();
        Some(scored.map_err(|error| ArrowError::ExternalError(Box::new(error))))
    }
}

impl<R: RecordBatchReader> RecordBatchReader for Scores<R> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Asked {
    /// Scores a batch with `before` rows before it.
    pub fn of(&self, engine: &mut Engine, batch: &RecordBatch, before: usize) -> Result<RecordBatch, Error> {
        let (scored, broken) = score(engine, &Frame::new(batch), &self.answer)?;
        if let Some(first) = broken.first().filter(|_| self.refuses_broken) {
            let row = first.row + before;
            let place = Place { file: String::from("row"), line: Some(row as u64), nth: 1, is_row: true };
            let problem = Problem {
                path: first.error.fact.clone(),
                detail: first.to_string(),
                line: None,
                column: None,
            };
            return Err(Error::row(vec![problem])
                .at(place)
                .hint("on_broken=\"mark\" keeps such rows, with their reasons"));
        }
        if self.keep.is_empty() {
            return Ok(scored);
        }
        let given = batch.schema();
        let mut fields = Vec::new();
        let mut columns = Vec::new();
        for name in &self.keep {
            let (at, field) = given.column_with_name(name).ok_or_else(|| {
                Error::new(
                    Code::InvalidOption,
                    format!("the frame has no column `{name}`, which `keep` names"),
                )
            })?;
            if scored.schema().column_with_name(name).is_some() {
                let message = format!("`keep` names `{name}`, which is a column of the answer");
                return Err(Error::new(Code::InvalidOption, message).hint("rename it before"));
            }
            fields.push(field.clone());
            columns.push(Arc::clone(batch.column(at)));
        }
        let schema = scored.schema();
        fields.extend(schema.fields().iter().map(|field| field.as_ref().clone()));
        columns.extend(scored.columns().iter().cloned());
        let schema = arrow_schema::Schema::new_with_metadata(fields, schema.metadata().clone());
        RecordBatch::try_new(schema.into(), columns)
            .map_err(|error| Error::new(Code::InvalidOption, error.to_string()))
    }
}
