//! Errors of karat as exceptions of Python.

use std::panic::{AssertUnwindSafe, catch_unwind};

use karat::{Code, Error};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

create_exception!(
    karat_score,
    KaratError,
    PyValueError,
    "What karat refuses: `code` says what sort of error it is, `path` and `problems` where, `row` in which row, `hints` what to do."
);

/// Something that is wrong, by its place.
pub struct Wrong {
    pub path: String,
    pub detail: String,
}

/// Returns the exception for an error.
pub fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let about = error.first().unwrap_or(error);
    let wrong: Vec<Wrong> = about
        .problems()
        .iter()
        .map(|problem| Wrong { path: problem.path.clone(), detail: problem.to_string() })
        .collect();
    let row = about.place().and_then(|place| place.line);
    exception(py, error.code().name(), &error.to_string(), &wrong, row, error.hints())
}

/// Returns an exception.
pub fn exception(
    py: Python<'_>,
    code: &str,
    message: &str,
    wrong: &[Wrong],
    row: Option<u64>,
    hints: &[String],
) -> PyErr {
    let error = KaratError::new_err(message.to_owned());
    let filled = || -> PyResult<()> {
        let value = error.value(py);
        let problems = PyList::empty(py);
        for it in wrong {
            let problem = PyDict::new(py);
            problem.set_item("path", &it.path)?;
            problem.set_item("detail", &it.detail)?;
            problems.append(problem)?;
        }
        value.setattr("code", code)?;
        value.setattr("path", wrong.first().map(|it| it.path.as_str()).filter(|path| !path.is_empty()))?;
        value.setattr("problems", problems)?;
        value.setattr("row", row)?;
        value.setattr("hints", hints)
    };
    match filled() {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// Returns the exception for an item that is refused for one reason.
pub fn evidence(py: Python<'_>, path: &str, detail: &str) -> PyErr {
    let wrong = [Wrong { path: path.to_owned(), detail: detail.to_owned() }];
    exception(py, Code::EvidenceRefused.name(), &format!("{path}: {detail}"), &wrong, None, &[])
}

/// Returns the exception for what the Python part of the package refuses, to be raised.
#[pyfunction]
#[pyo3(signature = (message, *, row=None))]
pub fn refusal(py: Python<'_>, message: &str, row: Option<u64>) -> PyErr {
    exception(py, Code::InvalidOption.name(), message, &[], row, &[])
}

/// Gives the class of errors the attributes that other code does not set.
pub fn complete(py: Python<'_>) -> PyResult<()> {
    let class = py.get_type::<KaratError>();
    class.setattr("code", Code::InvalidOption.name())?;
    class.setattr("path", py.None())?;
    class.setattr("problems", PyTuple::empty(py))?;
    class.setattr("row", py.None())?;
    class.setattr("hints", PyTuple::empty(py))
}

/// Returns the exception for a setting that cannot be used.
pub fn invalid(py: Python<'_>, message: &str) -> PyErr {
    exception(py, Code::InvalidOption.name(), message, &[], None, &[])
}

/// Runs `work`; a defect becomes an error, so that no panic reaches the interpreter.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Error::new(Code::Internal, "karat stopped because of a bug in karat")
            .hint("please report the call and the evidence that led here"))
    })
}
