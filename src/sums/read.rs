//! Files of sums. A reader of another format needs only to give the rows, each as its named values, to a [`Loader`].

use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Loader, Sums, Value};
use crate::ask::Fields;
use crate::card::CompiledCard;
use crate::error::{Code, Error, Place};
use crate::inputs::{Inputs, Silent};

/// Reads files of sums (tables, JSON, and columns where the program reads them) and brings their rows together; `-` is standard input.
///
/// # Errors
/// If a file cannot be read, or [`Loader::finish`] refuses the rows.
pub fn load(card: Arc<CompiledCard>, fields: &Fields, paths: &[String]) -> Result<Sums, Error> {
    let inputs = Inputs::new(paths)?;
    let mut loader = Loader::new(card, fields);
    let wanted = loader.wanted();
    inputs.each(&wanted, &Silent, |place, row| {
        loader.take(place, row);
        Ok::<_, Error>(ControlFlow::Continue(()))
    })?;
    loader.finish()
}

impl Loader {
    /// Takes a row as a flat object, or the error in its place.
    pub fn take(&mut self, place: &Place, row: Result<&[u8], Error>) {
        let row = row.and_then(|row| {
            let parsed = serde_json::from_slice::<Row<'_>>(row);
            parsed.map_err(|error| Error::new(Code::EvidenceRefused, error.to_string()).at(place.clone()))
        });
        match row {
            Ok(row) => self.add(place, &row.0),
            Err(error) => self.refuse_file(error.to_string()),
        }
    }
}

/// An object as named values.
struct Row<'a>(Vec<(Cow<'a, str>, Value<'a>)>);

impl<'de> Deserialize<'de> for Row<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Row<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Row<'de>, A::Error> {
                let mut row = Vec::with_capacity(16);
                while let Some((name, value)) = members.next_entry::<Value<'de>, Value<'de>>()? {
                    // Names of members are texts.
                    if let Value::Text(name) = name {
                        row.push((name, value));
                    }
                }
                Ok(Row(row))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Value<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<Value<'de>, E> {
                Ok(Value::Missing)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Value<'de>, E> {
                Ok(Value::Other(value.to_string()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Value<'de>, E> {
                Ok(Value::Whole(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Value<'de>, E> {
                Ok(i64::try_from(value).map_or_else(|_| Value::Other(value.to_string()), Value::Whole))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Value<'de>, E> {
                // Beyond, a double may stand for another whole number.
                let is_whole = value.trunc() == value && value.abs() < (1u64 << 53) as f64;
                Ok(if is_whole { Value::Whole(value as i64) } else { Value::Other(value.to_string()) })
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
                Ok(Value::from(text))
            }

            fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
                Ok(Value::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Value<'de>, A::Error> {
                while all.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Value::Other(String::from("a list")))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Value<'de>, A::Error> {
                while all.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Value::Other(String::from("an object")))
            }
        }
        deserializer.deserialize_any(Any)
    }
}
