//! Comparison of what a case gave with what was expected: the primitives of the arena, and `tokens` for texts.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::arena::evaluator::{Comparison, Outcome, comparison};
use crate::arena::members::{Member, Members};
use crate::execution::Compare;
use karat_evidence::json::problem::{Problems, did_you_mean};

/// The primitive for texts: the same words, whatever white space is between them.
const TOKENS: &str = "tokens";
const PRIMITIVES: [&str; 7] = [
    "exact_match", "exact_match_ratio", "numeric_tolerance", "fuzzy_string", "set_overlap", "coverage_ratio",
    TOKENS,
];

/// A comparison whose primitive is known.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Method {
    Tokens,
    Primitive(Comparison),
}

impl Compare {
    /// Returns the comparison of results unless a case says otherwise: equal in every part, letters as they are.
    pub fn exact() -> Self {
        let options = ["case_sensitive", "deep"].map(|option| (option.to_owned(), Value::Bool(true)));
        Self { primitive: "exact_match".to_owned(), options: options.into() }
    }

    /// Returns the comparison of standard output unless a case says otherwise: the same words.
    pub fn tokens() -> Self {
        Self { primitive: TOKENS.to_owned(), options: BTreeMap::new() }
    }

    /// Reads `{ primitive = "...", ... }`. Where values are compared for equality, `deep` and `case_sensitive` are true
    /// unless they are given: what a program gives is right or not.
    pub(super) fn read(table: &Member<'_>, problems: &mut Problems) -> Option<Self> {
        let members = table.members(problems)?;
        let expected = format!("one of {}", PRIMITIVES.join(", "));
        let primitive = members.require("primitive", &expected, problems)?;
        let name = primitive.text(problems)?.to_owned();
        let Some((known, _)) = method(&members, &name, problems) else {
            primitive.refuse(&expected, &did_you_mean(&name, PRIMITIVES), problems);
            return None;
        };
        members.refuse_unknown(&[&["primitive"], known].concat(), problems);
        let given = members.map().iter().filter(|(name, _)| *name != "primitive");
        let mut options: BTreeMap<String, Value> =
            given.map(|(name, value)| (name.clone(), value.clone())).collect();
        for option in ["case_sensitive", "deep"] {
            if name.starts_with("exact_match") && known.contains(&option) {
                options.entry(option.to_owned()).or_insert(Value::Bool(true));
            }
        }
        Some(Self { primitive: name, options })
    }

    /// Refuses an expected value that cannot be compared so.
    pub(super) fn check(&self, expected: &Member<'_>, problems: &mut Problems) {
        match self.method(&mut Problems::default()) {
            Some(Method::Tokens) if !expected.value.is_string() => {
                expected.refuse("a text, for `tokens`", "", problems)
            }
            Some(Method::Primitive(comparison)) => drop(comparison.check(expected, problems)),
            _ => {}
        }
    }

    /// Compares: 1 if all that was expected was found, 0 if nothing of it or if it cannot be compared; none if the texts are
    /// beyond `cells_max`, the product of their lengths.
    ///
    /// # Errors
    ///
    /// If there is no such primitive, an option does not fit it, or the expected value cannot be compared so: a fault of the
    /// challenge, which its reader finds before.
    pub fn value(&self, found: &Value, expected: &Value, cells_max: usize) -> Result<Option<f64>, Problems> {
        let mut problems = Problems::default();
        let method = self.method(&mut problems);
        self.check(&Member { value: expected, path: "$.expect".to_owned() }, &mut problems);
        let method = method.filter(|_| problems.is_empty()).ok_or(problems)?;
        let value = match method {
            Method::Tokens => match (found.as_str(), expected.as_str()) {
                (Some(found), Some(expected)) => {
                    f64::from(u8::from(found.split_whitespace().eq(expected.split_whitespace())))
                }
                _ => 0.0,
            },
            Method::Primitive(comparison) => match comparison.compare(found, expected, cells_max) {
                Ok(grade) => grade.value,
                Err(Outcome::Limit(_)) => return Ok(None),
                Err(_) => 0.0,
            },
        };
        // NaN is not agreement.
        Ok(Some(if value > 0.0 { value.min(1.0) } else { 0.0 }))
    }

    fn method(&self, problems: &mut Problems) -> Option<Method> {
        let options = Value::Object(
            self.options.iter().map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>(),
        );
        let table = Member { value: &options, path: "$.compare".to_owned() };
        let members = table.members(problems)?;
        let Some((known, method)) = method(&members, &self.primitive, problems) else {
            table.refuse(&format!("a primitive: one of {}", PRIMITIVES.join(", ")), "", problems);
            return None;
        };
        members.refuse_unknown(known, problems);
        Some(method)
    }
}

fn method(
    members: &Members<'_>,
    name: &str,
    problems: &mut Problems,
) -> Option<(&'static [&'static str], Method)> {
    if name == TOKENS {
        return Some((&[], Method::Tokens));
    }
    comparison(members, name, problems).map(|(known, comparison)| (known, Method::Primitive(comparison)))
}
