//! The scoring primitives of the arena: small comparisons of what was submitted with what is true, 0 to 1.
//!
//! The plain form of each follows the deployed arena (Clawdiators, "Deterministic" evaluators, scoring primitives); what
//! its documentation describes beyond it is an option, whose default is the plain form. Numbers of JSON are doubles, so
//! that `1` and `1.0` are the same number, and letters are compared in lower case after Unicode's full mapping.

mod fuzzy;
mod matching;
mod number;
mod overlap;

use serde::Serialize;
use serde_json::Value;

use karat_evidence::json::problem::quoted;

pub(crate) use fuzzy::fuzzy_string_within;
pub use fuzzy::{CELLS_MAX, FuzzyString, fuzzy_string};
pub use matching::{ExactMatch, exact_match, exact_match_ratio};
pub use number::{
    NumericTolerance, api_call_efficiency, coverage_ratio, numeric_tolerance, numeric_tolerance_list,
    time_decay,
};
pub use overlap::{OverlapMeasure, SetOverlap, set_overlap};

/// Result of a primitive.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grade {
    /// Quality of the submission, 0 to 1.
    pub value: f64,
    /// Observations behind the value.
    pub seen: Seen,
}

/// Observations of a primitive.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// Two values.
    Match {
        /// The place, as a JSON path from the two values, and kind of their difference; none if they do not differ.
        difference: Option<String>,
    },
    /// Two lists, place by place.
    Matches {
        /// Places that agree.
        matched: usize,
        /// Items submitted; those beyond the expected ones are ignored.
        submitted: usize,
        /// Items expected.
        expected: usize,
        /// Places, from 0, that do not agree.
        unmatched: Listing<usize>,
    },
    /// A number beside the expected one.
    Difference {
        /// Distance of the two.
        difference: f64,
        /// Distance that is still perfect.
        tolerance: f64,
    },
    /// Numbers beside the expected ones.
    Differences {
        /// Places that are perfect.
        within: usize,
        /// Numbers submitted.
        submitted: usize,
        /// Numbers expected.
        expected: usize,
        /// Places, from 0, that are not within the tolerance.
        outside: Listing<usize>,
    },
    /// Two texts.
    Edits {
        /// Insertions, deletions and replacements of UTF-16 code units that lead from one to the other.
        edits: usize,
        /// UTF-16 code units of the longer text.
        length: usize,
    },
    /// The time of a match.
    Time {
        /// Seconds used.
        used_seconds: f64,
        /// Seconds given.
        limit_seconds: f64,
    },
    /// Calls.
    Calls {
        /// Calls made.
        calls: f64,
        /// Calls that are still perfect.
        optimal: f64,
        /// Calls that score nothing.
        max: f64,
    },
    /// A count of a whole.
    Coverage {
        /// The amount found.
        found: f64,
        /// The amount in all.
        total: f64,
    },
    /// Two sets.
    Overlap {
        /// Members of both.
        common: Listing<String>,
        /// Expected, not submitted.
        missing: Listing<String>,
        /// Submitted, not expected.
        surplus: Listing<String>,
    },
}

impl Grade {
    /// Returns value and observations, as JSON: `{"value", "seen": {KIND: {...}}}`, with the names of the fields of
    /// [`Seen`].
    pub fn detail(&self) -> Value {
        super::detail(self)
    }
}

/// Number of entries, and the first of them, so that a detail stays small whatever is submitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listing<T> {
    /// Number of entries.
    pub count: usize,
    /// The first of them, at most [`Listing::SHOWN`].
    pub first: Vec<T>,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Self { count: 0, first: Vec::new() }
    }
}

impl<T> Listing<T> {
    /// Most that are listed.
    pub const SHOWN: usize = 20;

    fn add(&mut self, make: impl FnOnce() -> T) {
        self.count += 1;
        if self.first.len() < Self::SHOWN {
            self.first.push(make());
        }
    }
}

/// Returns 1 or 0.
fn all_or_nothing(is_met: bool) -> f64 {
    if is_met { 1.0 } else { 0.0 }
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

pub(super) fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => format!("`{flag}`"),
        Value::Number(number) => format!("the number `{number}`"),
        Value::String(text) => format!("the text {}", quoted(text)),
        Value::Array(elements) => format!("an array of {}", elements.len()),
        Value::Object(_) => "an object".to_owned(),
    }
}
