//! Values of Python as JSON. What a score cannot rest on is refused with its path, all of it at once: NaN, which would count as
//! missing; whole numbers that a double does not hold; times without a zone; sets; objects; cycles.

use std::borrow::Cow;
use std::io::Write as _;

use karat::Code;
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};

use crate::error::{KaratError, Wrong, exception};

/// The most levels of dictionaries and lists.
const MAX_DEPTH: usize = 128;
/// The end of a list of problems: the rest is more of the same.
const PROBLEMS_MAX: usize = 20;
/// The most characters of a key or a value that an error shows.
const SHOWN: usize = 60;
/// The largest whole number up to which each is a double.
const EXACT: u64 = 1 << 53;

static DECIMAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static DATETIME: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A walk: the JSON so far, and what is wrong.
struct Walk {
    out: Vec<u8>,
    wrong: Vec<Wrong>,
    root: String,
}

/// A place in a value, and those around it.
struct Place<'a> {
    around: Option<&'a Place<'a>>,
    step: Step<'a>,
    /// The dictionary or list that is open here.
    open: *const (),
    depth: usize,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

impl Place<'_> {
    fn write(&self, root: &str, path: &mut String) {
        match self.around {
            Some(around) => around.write(root, path),
            None => path.push_str(root),
        }
        match self.step {
            Step::Root => {}
            Step::Index(at) => path.push_str(&format!("[{at}]")),
            Step::Key(key) => {
                let is_word = !key.is_empty()
                    && key.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
                    && !key.starts_with(|it: char| it.is_ascii_digit());
                let key = cut(key);
                path.push_str(&if is_word { format!(".{key}") } else { format!("[{key:?}]") });
            }
        }
    }

    fn has(&self, open: *const ()) -> bool {
        self.open == open || self.around.is_some_and(|around| around.has(open))
    }
}

/// Writes a value as JSON; a text or bytes given as the whole value are JSON already.
///
/// # Errors
/// If it has parts that evidence cannot have, up to twenty of them.
pub fn to_json(value: &Bound<'_, PyAny>, root: &str) -> PyResult<Vec<u8>> {
    if let Ok(text) = value.cast::<PyString>() {
        // One that is not Unicode is refused below, as inside of a value.
        if let Ok(text) = text.to_str() {
            return Ok(text.as_bytes().to_vec());
        }
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    if let Ok(bytes) = value.cast::<PyByteArray>() {
        return Ok(bytes.to_vec());
    }
    let mut walk = Walk { out: Vec::with_capacity(512), wrong: Vec::new(), root: root.to_owned() };
    let place = Place { around: None, step: Step::Root, open: std::ptr::null(), depth: 0 };
    walk.write(value, &place)?;
    if walk.wrong.is_empty() {
        return Ok(walk.out);
    }
    let shown: Vec<String> = walk.wrong.iter().map(|it| format!("{}: {}", it.path, it.detail)).collect();
    let message = match shown.as_slice() {
        [only] => only.clone(),
        several => format!("{} problems\n  {}", several.len(), several.join("\n  ")),
    };
    Err(exception(value.py(), Code::EvidenceRefused.name(), &message, &walk.wrong, None, &[]))
}

impl Walk {
    fn refuse(&mut self, place: &Place<'_>, detail: impl Into<String>) {
        if self.wrong.len() < PROBLEMS_MAX {
            let mut path = String::new();
            place.write(&self.root, &mut path);
            self.wrong.push(Wrong { path, detail: detail.into() });
        }
    }

    fn write(&mut self, value: &Bound<'_, PyAny>, place: &Place<'_>) -> PyResult<()> {
        if let Ok(text) = value.cast::<PyString>() {
            self.text(text, place);
        } else if value.is_none() {
            self.out.extend_from_slice(b"null");
        } else if let Ok(flag) = value.cast::<PyBool>() {
            self.out.extend_from_slice(if flag.is_true() { b"true" } else { b"false" });
        } else if let Ok(number) = value.cast::<PyFloat>() {
            self.double(number.value(), place);
        } else if let Ok(number) = value.cast::<PyInt>() {
            self.whole(number, place);
        } else if let Ok(members) = value.cast::<PyDict>() {
            self.object(members, place)?;
        } else if let Ok(list) = value.cast::<PyList>() {
            if self.enters(value, place) {
                self.list(list.iter(), value, place)?;
            }
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            if self.enters(value, place) {
                self.list(tuple.iter(), value, place)?;
            }
        } else {
            self.other(value, place)?;
        }
        Ok(())
    }

    fn text(&mut self, text: &Bound<'_, PyString>, place: &Place<'_>) {
        match text.to_str() {
            // Writing to a vector cannot fail.
            Ok(text) => _ = serde_json::to_writer(&mut self.out, text),
            Err(_) => self.refuse(place, "found a text with half of a surrogate pair, expected Unicode"),
        }
    }

    fn double(&mut self, number: f64, place: &Place<'_>) {
        if number.is_finite() {
            let _ = serde_json::to_writer(&mut self.out, &number);
        } else if number.is_nan() {
            self.refuse(
                place,
                "found NaN, expected a number: leave it out, or give None where it was not measured",
            );
        } else {
            self.refuse(place, "found infinity, expected a number");
        }
    }

    fn whole(&mut self, number: &Bound<'_, PyInt>, place: &Place<'_>) {
        match number.extract::<i64>() {
            Ok(number) if number.unsigned_abs() <= EXACT => _ = write!(self.out, "{number}"),
            _ => self.refuse(
                place,
                "found a whole number beyond 2^53, which a double does not hold; an id is a text",
            ),
        }
    }

    /// Returns true if a dictionary or list may be opened here.
    fn enters(&mut self, value: &Bound<'_, PyAny>, place: &Place<'_>) -> bool {
        if place.has(value.as_ptr() as *const ()) {
            self.refuse(place, "found a value that holds itself");
            return false;
        }
        if place.depth >= MAX_DEPTH {
            self.refuse(place, format!("found more than {MAX_DEPTH} levels"));
            return false;
        }
        true
    }

    fn object(&mut self, members: &Bound<'_, PyDict>, place: &Place<'_>) -> PyResult<()> {
        if !self.enters(members, place) {
            return Ok(());
        }
        self.out.push(b'{');
        let mut is_first = true;
        // A copy of the pairs: a value whose methods are called may change the dictionary.
        for pair in members.items() {
            let pair = pair.cast_into::<PyTuple>()?;
            let (key, value) = (pair.get_item(0)?, pair.get_item(1)?);
            let Ok(key) = key.cast::<PyString>() else {
                let kind = type_name(&key);
                self.refuse(place, format!("found a key of type {kind}, expected texts: {}", short(&key)));
                continue;
            };
            let Ok(name) = key.to_str() else {
                self.refuse(place, "found a key with half of a surrogate pair, expected Unicode");
                continue;
            };
            if !is_first {
                self.out.push(b',');
            }
            is_first = false;
            let _ = serde_json::to_writer(&mut self.out, name);
            self.out.push(b':');
            let open = members.as_ptr() as *const ();
            let inner = Place { around: Some(place), step: Step::Key(name), open, depth: place.depth + 1 };
            self.write(&value, &inner)?;
        }
        self.out.push(b'}');
        Ok(())
    }

    fn list<'py>(
        &mut self,
        values: impl Iterator<Item = Bound<'py, PyAny>>,
        owner: &Bound<'py, PyAny>,
        place: &Place<'_>,
    ) -> PyResult<()> {
        self.out.push(b'[');
        for (at, value) in values.enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            let open = owner.as_ptr() as *const ();
            let inner = Place { around: Some(place), step: Step::Index(at), open, depth: place.depth + 1 };
            self.write(&value, &inner)?;
        }
        self.out.push(b']');
        Ok(())
    }

    /// Writes a value of a type that is not Python's own; what its methods raise is a reason to refuse it.
    fn other(&mut self, value: &Bound<'_, PyAny>, place: &Place<'_>) -> PyResult<()> {
        let py = value.py();
        match self.foreign(value, place) {
            Err(error)
                if error.is_instance_of::<PyException>(py) && !error.is_instance_of::<KaratError>(py) =>
            {
                let (name, raised) = (type_name(value), type_name(error.value(py)));
                self.refuse(place, format!("found a value of type {name}, whose methods raise {raised}"));
                Ok(())
            }
            done => done,
        }
    }

    /// Writes numbers of NumPy, decimals and times.
    fn foreign(&mut self, value: &Bound<'_, PyAny>, place: &Place<'_>) -> PyResult<()> {
        let py = value.py();
        if value.is_instance(DECIMAL.import(py, "decimal", "Decimal")?)? {
            let text = value.str()?;
            // Digits as they are, where a double is near to their number.
            match text.to_str().ok().filter(|text| serde_json::from_str::<f64>(text).is_ok()) {
                Some(text) => self.out.extend_from_slice(text.as_bytes()),
                None => self.refuse(place, format!("found {}, expected a number", short(value))),
            }
            return Ok(());
        }
        if value.is_instance(DATETIME.import(py, "datetime", "datetime")?)? {
            return self.time(value, place);
        }
        let kind = value.get_type();
        let is_of_numpy =
            kind.getattr(intern!(py, "__module__"))?.extract::<String>().is_ok_and(|it| it == "numpy");
        if is_of_numpy && value.hasattr(intern!(py, "item"))? {
            if value.getattr(intern!(py, "ndim"))?.extract::<usize>()? > 0 {
                self.refuse(place, "found an array of NumPy, expected a list: give `.tolist()`");
                return Ok(());
            }
            let dtype = value.getattr(intern!(py, "dtype"))?;
            // A moment would give the number of its units.
            let is_moment = dtype.getattr(intern!(py, "kind"))?.extract::<String>()? == "M";
            let is_span = dtype.getattr(intern!(py, "kind"))?.extract::<String>()? == "m";
            if is_moment {
                self.without_zone(value, place);
                return Ok(());
            }
            let plain = value.call_method0(intern!(py, "item"))?;
            // `longdouble` gives itself, and an array of objects whatever is in it.
            let is_plain = plain.is_exact_instance_of::<PyBool>()
                || plain.is_exact_instance_of::<PyInt>()
                || plain.is_exact_instance_of::<PyFloat>()
                || plain.is_exact_instance_of::<PyString>();
            if is_plain && !is_span {
                return self.write(&plain, place);
            }
        }
        let name = type_name(value);
        self.refuse(place, format!("found a value of type {name}, expected what JSON has: {}", short(value)));
        Ok(())
    }

    fn time(&mut self, value: &Bound<'_, PyAny>, place: &Place<'_>) -> PyResult<()> {
        let py = value.py();
        // A value that is not a time has no zone either, such as `NaT` of pandas.
        if value.call_method0(intern!(py, "utcoffset")).is_ok_and(|offset| !offset.is_none()) {
            self.text(&value.call_method0(intern!(py, "isoformat"))?.cast_into()?, place);
        } else {
            self.without_zone(value, place);
        }
        Ok(())
    }

    fn without_zone(&mut self, value: &Bound<'_, PyAny>, place: &Place<'_>) {
        let found = short(value);
        self.refuse(place, format!("found a time without a zone, {found}: say which, such as timezone.utc"));
    }
}

fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| String::from("?"), |name| name.to_string_lossy().into_owned())
}

/// Returns how Python writes a value, cut; nothing where that fails.
fn short(value: &Bound<'_, PyAny>) -> String {
    value.repr().map(|text| cut(&text.to_string_lossy()).into_owned()).unwrap_or_default()
}

/// Returns the beginning of a long text.
fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}
