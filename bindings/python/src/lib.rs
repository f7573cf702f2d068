//! The native part of the Python package `karat-score`: values of Python as JSON, scorecards, data frames as columns, answers.
//!
//! Nothing here panics into the interpreter: an error of karat is a `KaratError`, and a defect is one with the code `internal`.

// Bound objects are passed by reference: the macros of the binding ask for it.
#![allow(clippy::needless_pass_by_value, reason = "arguments of Python are owned")]

mod answer;
mod card;
mod error;
mod frame;
mod stream;
mod walk;

use std::ffi::OsString;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::answer::{Answer, Source};
use crate::card::{Record, Scorecard};
use crate::error::{KaratError, guarded, raised};
use crate::frame::Batches;

/// Writes a value as JSON.
#[pyfunction]
fn to_json<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(value.py(), &walk::to_json(value, "$")?))
}

/// Writes the items of an iterable as lines of JSON, one each.
#[pyfunction]
fn to_lines<'py>(items: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let mut lines = Vec::new();
    for (at, item) in items.try_iter()?.enumerate() {
        let item = item?;
        let root = format!("[{at}]");
        let json = walk::to_json(&item, &root).and_then(|json| match json.trim_ascii().is_empty() {
            true => Err(error::evidence(item.py(), &root, "found an empty text, expected JSON")),
            false => Ok(json),
        });
        let mut json = json.or_else(|error| {
            error.value(item.py()).setattr("row", at)?;
            Err(error)
        })?;
        // In a text that is JSON already the ends of lines are space.
        json.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        lines.extend(json);
        lines.push(b'\n');
    }
    Ok(PyBytes::new(items.py(), &lines))
}

/// Runs the program `karat` with these arguments, the first of which is its name; returns its exit status.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| karat_command::run(arguments))
}

/// Returns the scorecards that come with karat, by their names.
#[pyfunction]
fn scorecards() -> Vec<&'static str> {
    karat::cards::EMBEDDED.iter().map(|card| card.name).collect()
}

/// The native module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    karat_frames::files::install();
    module.add_class::<Scorecard>()?;
    module.add_class::<Record>()?;
    module.add_class::<Answer>()?;
    module.add_class::<Batches>()?;
    module.add_class::<Source>()?;
    module.add("KaratError", module.py().get_type::<KaratError>())?;
    error::complete(module.py())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(to_json, module)?)?;
    module.add_function(wrap_pyfunction!(to_lines, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(error::refusal, module)?)?;
    module.add_function(wrap_pyfunction!(scorecards, module)?)?;
    module.add_function(wrap_pyfunction!(answer::ask, module)?)?;
    module.add_function(wrap_pyfunction!(answer::verify, module)?)?;
    module.add_function(wrap_pyfunction!(answer::import_items, module)?)?;
    module.add_function(wrap_pyfunction!(card::record, module)?)?;
    module.add_function(wrap_pyfunction!(card::check, module)?)
}

/// Runs `work` without the interpreter.
fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, karat::Error> + Send) -> PyResult<T> {
    py.detach(|| guarded(work)).map_err(|error| raised(py, &error))
}
