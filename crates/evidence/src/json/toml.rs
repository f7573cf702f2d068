//! TOML files as JSON, and the place of each value in them.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::locate;
use super::problem::{Problem, Problems};

/// Reads the tables of a TOML file that `wanted` names. Every value that JSON does not have is added to `odd`: it becomes `null`,
/// or a text if it is a date.
///
/// # Errors
///
/// If the text is not TOML.
pub fn read(text: &str, wanted: impl Fn(&str) -> bool, odd: &mut Problems) -> Result<Value, Problems> {
    let table = DeTable::parse(text).map_err(|error| {
        let place = error.span().map(|span| locate::line_and_column(text, span.start));
        let (line, column) = place.unzip();
        let problem = Problem::at("$", error.message().to_owned(), "a TOML file", "");
        Problems::from(Problem { line, column, ..problem })
    })?;
    let mut conversion = Conversion { path: Vec::new(), odd };
    let mut tables = Map::new();
    for (key, value) in table.get_ref().iter().filter(|(key, _)| wanted(key.get_ref())) {
        let json = conversion.within(Step::Member(key.get_ref()), value);
        tables.insert(key.get_ref().to_string(), json);
    }
    Ok(Value::Object(tables))
}

/// Returns the same problems with their lines and columns: those of the value at the path, or of the closest table around
/// what is not there.
pub fn located(text: &str, problems: &Problems) -> Problems {
    // What was read before is read again only where something is wrong with it.
    let Ok(table) = DeTable::parse(text) else { return problems.clone() };
    let members = || table.get_ref().iter().map(|(key, value)| (Step::Member(key.get_ref()), value));
    problems.clone().map(|problem| {
        if problem.line.is_some() {
            return;
        }
        let offset = offset(members(), &problem.path);
        let (line, column) = offset.map(|offset| locate::line_and_column(text, offset)).unzip();
        (problem.line, problem.column) = (line, column);
    })
}

/// A step from a value to one of its parts.
#[derive(Clone, Copy)]
enum Step<'t> {
    Member(&'t str),
    Element(usize),
}

impl Step<'_> {
    fn push(self, path: &mut String) {
        match self {
            Self::Member(key) => locate::push_member(path, key),
            // Writing to a string cannot fail.
            Self::Element(at) => drop(write!(path, "[{at}]")),
        }
    }
}

struct Conversion<'t, 'p> {
    path: Vec<Step<'t>>,
    odd: &'p mut Problems,
}

impl<'t> Conversion<'t, '_> {
    // Recursion goes as deep as the file, which the parser limits.
    fn within(&mut self, step: Step<'t>, value: &'t Spanned<DeValue<'_>>) -> Value {
        self.path.push(step);
        let json = self.convert(value.get_ref());
        self.path.pop();
        json
    }

    fn convert(&mut self, value: &'t DeValue<'_>) -> Value {
        match value {
            DeValue::String(text) => Value::from(text.as_ref()),
            DeValue::Boolean(flag) => Value::from(*flag),
            DeValue::Integer(integer) => {
                let exact = i64::from_str_radix(integer.as_str(), integer.radix());
                exact.map_or_else(
                    |_| {
                        let found = format!("the integer `{}`", integer.as_str());
                        self.refuse(&found, "an integer of 64 bits", "write it as a text")
                    },
                    Value::from,
                )
            }
            DeValue::Float(float) => {
                let number = float.as_str().parse().ok().and_then(Number::from_f64);
                number.map_or_else(
                    || self.refuse(&format!("`{}`", float.as_str()), "a finite number", ""),
                    Value::Number,
                )
            }
            DeValue::Datetime(moment) => {
                self.refuse(&format!("the date `{moment}`"), "a value that JSON has", "put it in quotes");
                Value::from(moment.to_string())
            }
            DeValue::Array(elements) => elements
                .iter()
                .enumerate()
                .map(|(at, element)| self.within(Step::Element(at), element))
                .collect(),
            DeValue::Table(table) => table
                .iter()
                .map(|(key, value)| {
                    (key.get_ref().to_string(), self.within(Step::Member(key.get_ref()), value))
                })
                .collect(),
        }
    }

    fn refuse(&mut self, found: &str, expected: &str, hint: &str) -> Value {
        let steps = &self.path;
        self.odd.add(|| {
            let mut path = "$".to_owned();
            steps.iter().for_each(|step| step.push(&mut path));
            Problem::at(&path, found.to_owned(), expected, hint)
        });
        Value::Null
    }
}

/// Returns the byte at which the value of a path begins, or the closest one around what is not there.
fn offset<'t>(
    parts: impl Iterator<Item = (Step<'t>, &'t Spanned<DeValue<'t>>)>,
    wanted: &str,
) -> Option<usize> {
    let mut here = "$".to_owned();
    let (mut value, mut found) = (find(parts, &mut here, wanted)?, None);
    loop {
        found = Some(value.span().start).or(found);
        let next = match value.get_ref() {
            DeValue::Array(elements) => {
                let parts = elements.iter().enumerate().map(|(at, element)| (Step::Element(at), element));
                find(parts, &mut here, wanted)
            }
            DeValue::Table(table) => {
                let parts = table.iter().map(|(key, value)| (Step::Member(key.get_ref()), value));
                find(parts, &mut here, wanted)
            }
            _ => None,
        };
        let Some(next) = next else { return found };
        value = next;
    }
}

/// Finds the part that the path `wanted` goes through, and makes `here` its path.
fn find<'t>(
    parts: impl Iterator<Item = (Step<'t>, &'t Spanned<DeValue<'t>>)>,
    here: &mut String,
    wanted: &str,
) -> Option<&'t Spanned<DeValue<'t>>> {
    let length = here.len();
    for (step, value) in parts {
        step.push(here);
        let rest = wanted.strip_prefix(here.as_str());
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '['])) {
            return Some(value);
        }
        here.truncate(length);
    }
    None
}
