//! The tables of a TOML file as JSON, and the place of each value.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Evaluator, read};
use crate::grade::arena::members::{located, refuse};
use crate::json::locate;
use crate::json::problem::Problems;

pub(super) fn read(text: &str, picked: &[&str]) -> Result<Evaluator, Problems> {
    let table = DeTable::parse(text).map_err(|error| {
        let mut problems = Problems::default();
        refuse(&mut problems, "$", error.message().to_owned(), "a TOML file", "");
        let place = error.span().map(|span| locate::line_and_column(text, span.start));
        located(&problems, |_| place)
    })?;
    let mut places = Places { offsets: BTreeMap::new() };
    let mut challenge = Map::new();
    for (key, value) in table.get_ref() {
        if matches!(key.get_ref().as_ref(), "evaluator" | "format") {
            let path = format!("$.{}", key.get_ref());
            challenge.insert(key.get_ref().to_string(), places.convert(value, path));
        }
    }
    read::read(&Value::Object(challenge), picked).map_err(|problems| {
        located(&problems, |path| places.of(path).map(|offset| locate::line_and_column(text, offset)))
    })
}

/// The places of the values of a file: byte offsets by JSON path.
struct Places {
    offsets: BTreeMap<String, usize>,
}

impl Places {
    /// Returns the place of a value, or of the closest table around what is not there.
    fn of(&self, path: &str) -> Option<usize> {
        let mut path = path;
        loop {
            if let Some(offset) = self.offsets.get(path) {
                return Some(*offset);
            }
            path = path.get(..path.rfind(['.', '['])?)?;
        }
    }

    // The depth of recursion is that of the file, which the parser limits.
    fn convert(&mut self, value: &Spanned<DeValue<'_>>, path: String) -> Value {
        let json = match value.get_ref() {
            DeValue::String(text) => Value::from(text.as_ref()),
            DeValue::Boolean(flag) => Value::from(*flag),
            DeValue::Integer(integer) => {
                i64::from_str_radix(integer.as_str(), integer.radix()).map_or(Value::Null, Value::from)
            }
            // A number that is not finite does not exist in JSON, and is refused as `null` where a number is expected.
            DeValue::Float(float) => {
                let float = float.as_str().parse().ok().and_then(Number::from_f64);
                float.map_or(Value::Null, Value::Number)
            }
            DeValue::Datetime(moment) => Value::from(moment.to_string()),
            DeValue::Array(elements) => elements
                .iter()
                .enumerate()
                .map(|(at, element)| self.convert(element, format!("{path}[{at}]")))
                .collect(),
            DeValue::Table(table) => {
                let mut members = Map::new();
                for (key, value) in table {
                    let mut path = path.clone();
                    locate::push_member(&mut path, key.get_ref());
                    members.insert(key.get_ref().to_string(), self.convert(value, path));
                }
                Value::Object(members)
            }
        };
        self.offsets.insert(path, value.span().start);
        json
    }
}
