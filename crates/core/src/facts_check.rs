//! Step 1 in words: which fact of a refused item or row breaks its declaration, and how.
//!
//! The plan finds out that something is wrong; only then is it looked for here.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::facts::{Fact, Item};
use crate::plan::Columns;
use crate::scorecard::{FactDeclaration, FactType};
use crate::scorer::Scorer;

/// A fact that breaks its declaration: the item is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("fact `{fact}` is {found}, expected {expected}")]
pub struct FactError {
    /// The fact.
    pub fact: String,
    /// The value in the evidence.
    pub found: String,
    /// The declaration of the card.
    pub expected: String,
}

/// A table that cannot be scored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ColumnsError {
    /// Columns, profiles and results are not all as long as each other, or a column is not there.
    #[error("the columns are not all there, or not of one length")]
    Length,
    /// A row asks for a profile that the card does not have.
    #[error("row {row}: the card has no profile of this number")]
    Profile {
        /// The row, from 0.
        row: usize,
    },
}

/// A row of a table that breaks a declaration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("row {row}: {error}")]
pub struct BrokenRow {
    /// The row, from 0.
    pub row: usize,
    /// The first fact that does.
    pub error: FactError,
}

impl Scorer {
    /// Returns the rows of a block that break a declaration.
    pub(crate) fn broken_rows(
        &self,
        columns: &Columns<'_>,
        start: usize,
        end: usize,
    ) -> impl Iterator<Item = BrokenRow> {
        (start..end).filter_map(|row| {
            let at = |fact: usize| columns.facts.get(fact).map_or(f64::NAN, |column| column.row(row));
            let mut facts =
                self.card.facts.iter().enumerate().filter(|(_, fact)| fact.kind != FactType::Text);
            let error = facts.find_map(|(place, fact)| self.check_number(fact, at(place), &at))?;
            Some(BrokenRow { row, error })
        })
    }

    /// Returns everything that is wrong with the facts of one item; `row` has the facts that are numbers or
    /// conditions.
    pub(crate) fn check_facts(&self, item: &Item<'_>, row: &[f64]) -> Vec<FactError> {
        let mut errors = Vec::new();
        let at = |place: usize| row.get(place).copied().unwrap_or(f64::NAN);
        for (place, declared) in self.card.facts.iter().enumerate() {
            let expected = match declared.kind {
                FactType::Number => "a number",
                FactType::Boolean => "true or false",
                FactType::Text => "a text",
            };
            let error = |found: String| FactError {
                fact: declared.name.clone(),
                found,
                expected: expected.to_string(),
            };
            match (item.facts.get(place), declared.kind) {
                (None | Some(Fact::Missing), _)
                | (Some(Fact::Flag(_)), FactType::Boolean)
                | (Some(Fact::Text(_)), FactType::Text) => {}
                (Some(Fact::Number(value)), FactType::Number) if !value.is_finite() => {
                    errors.push(error("not a finite number".to_string()));
                }
                (Some(Fact::Number(_)), FactType::Number) => {
                    errors.extend(self.check_number(declared, at(place), &at));
                }
                (Some(Fact::Number(value)), _) => errors.push(error(format!("the number {value}"))),
                (Some(Fact::Flag(flag)), _) => errors.push(error(format!("{flag}"))),
                (Some(Fact::Text(text)), _) => errors.push(error(format!("the text `{text}`"))),
            }
        }
        errors
    }

    /// Returns what is wrong with a number, if anything.
    fn check_number(
        &self,
        declared: &FactDeclaration,
        value: f64,
        at: &dyn Fn(usize) -> f64,
    ) -> Option<FactError> {
        if value.is_nan() || Some(value) == declared.unknown {
            return None;
        }
        let measured = |&(other, bound): &(usize, f64)| {
            self.card.facts.get(other).is_some_and(|fact| fact.unknown != Some(bound))
        };
        let bound = declared.max_fact.map(|other| (other, at(other))).filter(measured);
        let whole = declared.kind == FactType::Boolean || declared.integer;
        let (min, max) =
            if declared.kind == FactType::Boolean { (0.0, 1.0) } else { (declared.min, declared.max) };
        let expected = if !value.is_finite() {
            "a finite number".to_string()
        } else if value < min {
            format!("at least {min}")
        } else if value > max {
            format!("at most {max}")
        } else if whole && value != libm::trunc(value) {
            "a whole number".to_string()
        } else if let Some((other, bound)) = bound.filter(|&(_, bound)| value > bound) {
            let name = self.card.facts.get(other).map_or("", |fact| &fact.name);
            format!("at most `{name}`, which is {bound}")
        } else {
            return None;
        };
        Some(FactError { fact: declared.name.clone(), found: format!("{value}"), expected })
    }
}
