//! Settings of questions, read and refused as flags are.

use std::sync::Arc;

use karat_core::diagnostic::nearest;
use karat_core::number::Decimal;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{Asking, File};
use crate::ask::answer::invalid;
use crate::ask::{Attempts, level, points};
use crate::card::CompiledCard;
use crate::error::Error;
use crate::text::clean;

/// Reads `attempts`: a number, or `first`.
pub(super) fn attempts(value: &Value) -> Result<Attempts, Error> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.parse().map_err(|expected: String| invalid(format!("`attempts`: {expected}")))
}

impl Asking {
    /// Reads the settings, of which all must be known.
    pub(super) fn settings<T: DeserializeOwned>(&self, known: &[&str]) -> Result<T, Error> {
        self.refuse_unknown(known)?;
        parsed(self.settings.clone())
    }

    pub(super) fn refuse_unknown(&self, known: &[&str]) -> Result<(), Error> {
        let Some(unknown) = self.settings.keys().find(|key| !known.contains(&key.as_str())) else {
            return Ok(());
        };
        let error = invalid(format!("`{}` is not a setting of {}", clean(unknown), self.question));
        let near = nearest(unknown, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        Err(error.hints_from(near).hint(format!("there are: {}", known.join(", "))))
    }

    /// Returns the scorecard: the one that is given as a text, or the released one of this name.
    pub(super) fn card(&self, name: Option<&str>) -> Result<Option<Arc<CompiledCard>>, Error> {
        match (&self.card_text, name) {
            (Some(text), _) => Ok(Some(Arc::new(CompiledCard::parse(text)?))),
            (None, Some(name)) => CompiledCard::released(name).map(Some),
            (None, None) => Ok(None),
        }
    }
}

pub(super) fn parsed<T: DeserializeOwned>(settings: Map<String, Value>) -> Result<T, Error> {
    serde_json::from_value(Value::Object(settings.clone())).map_err(|error| {
        // Alone it is wrong, too, and then it has a name.
        let is_wrong = |(key, value): &(String, Value)| {
            serde_json::from_value::<T>(json!({ key.as_str(): value })).is_err()
        };
        match settings.into_iter().find(is_wrong) {
            Some((key, value)) => invalid(format!("`{key}` is `{value}`: {error}")),
            None => invalid(error.to_string()),
        }
    })
}

pub(super) fn decimal(key: &str, value: &Value) -> Result<Decimal, Error> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    points(&text).map_err(|why| invalid(format!("`{key}` is `{text}`: {why}")))
}

/// Refuses what the flags refuse before a question is asked.
pub(super) fn within(asked: f64) -> Result<(), Error> {
    level(&asked.to_string()).map_err(|why| invalid(format!("`level` is `{asked}`: {why}")))?;
    Ok(())
}

pub(super) fn names(files: &[File]) -> Value {
    files.iter().map(|file| file.name.as_str()).collect()
}

/// Appends a value in TOML, whose strings are written as in JSON.
pub(super) fn toml(value: &Value, out: &mut String) {
    match value {
        Value::Array(all) => {
            out.push('[');
            for element in all {
                toml(element, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (at, (key, member)) in members.iter().filter(|(_, member)| !member.is_null()).enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(&format!("{} = ", Value::from(key.as_str())));
                toml(member, out);
            }
            out.push('}');
        }
        Value::String(_) | Value::Number(_) | Value::Bool(_) => out.push_str(&value.to_string()),
        Value::Null => out.push_str("\"null\""),
    }
}
