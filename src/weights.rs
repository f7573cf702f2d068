//! Overrides as text: weights by dimension.

use std::fmt;

use karat_core::number::{Decimal, DecimalError};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::text::{clean, fit};

/// Reads weights by dimension from a JSON object: every name once, every value a decimal of at most six places.
///
/// # Errors
///
/// If it is anything else: the message is half a sentence.
pub fn weights(text: &str) -> Result<Vec<(String, Decimal)>, String> {
    let Members(members) = serde_json::from_str(text).map_err(|error| match error.classify() {
        Category::Data => String::from("it is JSON, but not an object"),
        _ => format!("it is not JSON, from line {}, column {} on", error.line(), error.column()),
    })?;
    let mut weights: Vec<(String, Decimal)> = Vec::with_capacity(members.len());
    for (name, weight) in members {
        if weights.iter().any(|(known, _)| *known == name) {
            return Err(format!("`{}` is given twice", clean(&name)));
        }
        let problem = match Decimal::parse(weight.get()) {
            Ok((decimal, true)) => {
                weights.push((name, decimal));
                continue;
            }
            Ok((_, false)) => ": at most six decimals",
            Err(DecimalError::TooLarge) => ", which is too large",
            Err(DecimalError::Malformed) => ", expected a number",
        };
        return Err(format!(
            "the weight of `{}` is {}{problem}",
            clean(&name),
            fit(&weight.to_string(), 60).trim_end()
        ));
    }
    Ok(weights)
}

/// The members of a JSON object as written: repeated names included, where a map would silently keep the last, and
/// numbers in their own digits, as a double cannot hold all of them.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of weights by dimension")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_decimals_of_six_places() {
        let read = weights(r#"{"accuracy":0.12,"safety":1e-6}"#).unwrap();
        assert_eq!(read[0], ("accuracy".to_owned(), Decimal::from_millionths(120_000)));
        assert_eq!(read[1], ("safety".to_owned(), Decimal::from_millionths(1)));
        for (bad, why) in [
            (r#"{"a": 0.1234567}"#, "six decimals"),
            (r#"{"a": "0.5"}"#, "the weight of `a` is \"0.5\", expected a number"),
            (r#"{"a": 0.1, "b": 1e999}"#, "the weight of `b` is 1e999, which is too large"),
            (r#"{"b": -1e99999999999}"#, "the weight of `b` is -1e99999999999, which is too large"),
            (r#"{"b": 1e20}"#, "too large"),
            (r#"{"b": [1e999]}"#, "expected a number"),
            (r#"{"a": 0.5, "a": 0.1}"#, "twice"),
            ("[0.5]", "not an object"),
            ("{\"a\": 0.5", "column 9"),
        ] {
            assert!(weights(bad).unwrap_err().contains(why), "{bad}");
        }
    }
}
