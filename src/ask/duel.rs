//! Two subjects of one scorecard against each other, as a question of a query.

use karat_core::number::Decimal;
use serde::Deserialize;

use super::answer::{invalid, subject};
use super::compare::Asked;
use super::{About, Compare};
use crate::answers::comparison::{Comparison, ComparisonAnswer};
use crate::error::Error;
use crate::rows::Rows;

/// Two subjects to compare.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct Duel {
    /// A subject
    #[cfg_attr(feature = "schema", param(required = true))]
    pub first: String,
    /// The other subject
    #[cfg_attr(feature = "schema", param(required = true))]
    pub second: String,
    /// Points at which a task is passed
    #[serde(deserialize_with = "super::points_of")]
    #[cfg_attr(feature = "schema", param(value_type = Option<f64>))]
    pub pass: Option<Decimal>,
    /// Scorecard, items and confidence
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", param(ignore))]
    pub about: About,
}

impl Duel {
    /// Returns the fields whose values the items must keep: none.
    pub fn kept(&self) -> Vec<String> {
        Vec::new()
    }

    /// Refuses a question that does not name two subjects.
    ///
    /// # Errors
    /// If one is not named, or both are one.
    pub fn check(&self) -> Result<(), Error> {
        if self.first.is_empty() || self.second.is_empty() || self.first == self.second {
            return Err(invalid("two different subjects are compared: `first` and `second` name them"));
        }
        self.about.check()
    }

    /// Compares both on the tasks that they share, as `karat compare` does.
    ///
    /// # Errors
    /// If one is unknown, or they share too few tasks.
    pub fn answer(&self, rows: &Rows) -> Result<Comparison, Error> {
        let compare = Compare { pass: self.pass, sure: self.about.sure.clone(), ..Compare::default() };
        let pair = (subject(rows, &self.first)?, subject(rows, &self.second)?);
        match compare.answer(rows, Asked::Pair(pair))? {
            ComparisonAnswer::Pair(found) => Ok(*found),
            ComparisonAnswer::Several(_) => Err(invalid("two subjects are compared")),
        }
    }
}
