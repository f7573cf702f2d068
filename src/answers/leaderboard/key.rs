//! The key by which subjects are ranked: the official score, the mean, a dimension, or a field of the items.

use karat_checker::{Direction, check};
use karat_core::scorecard::Scorecard;

use super::{MEAN, OFFICIAL};
use crate::error::{Code, Error};
use crate::rows::Rows;
use crate::text::clean;

/// A key that is asked for, such as `cost_usd:asc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// True if the lowest value is the best, false if the highest is; none to take the direction in which the score moves.
    pub is_lower_better: Option<bool>,
}

impl Key {
    /// Reads a key, with `:asc` or `:desc` at its end if it is of a field.
    pub fn parse(text: &str) -> Self {
        for (end, is_lower) in [(":asc", true), (":desc", false)] {
            if let Some(name) = text.strip_suffix(end) {
                return Self { name: name.to_owned(), is_lower_better: Some(is_lower) };
            }
        }
        Self { name: text.to_owned(), is_lower_better: None }
    }

    /// Returns the field that items must keep, unless the key is the official score or the mean.
    pub fn field(&self) -> Option<&str> {
        Some(self.name.as_str()).filter(|name| ![OFFICIAL, MEAN].contains(name))
    }

    /// Ranks by the field with this name, and returns true; false if no item has it, so that the key may be a dimension
    /// misspelt. `flag` names the option in errors.
    ///
    /// # Errors
    /// If the direction is not known, or an item has something else than a number there.
    pub fn rank(&self, rows: &mut Rows, flag: &str) -> Result<bool, Error> {
        let is_asked = self.is_lower_better.is_some();
        if rows.kept_field(&self.name).is_none() && !is_asked {
            return Ok(false);
        }
        let is_lower = match self.is_lower_better.or_else(|| direction(rows, &self.name)) {
            Some(is_lower) => is_lower,
            None => {
                let field = clean(&self.name);
                let sign = if flag.starts_with('-') { ' ' } else { '=' };
                let message = format!(
                    "{flag}{sign}{field}: the scorecard does not say whether more or less of it is better"
                );
                return Err(Error::new(Code::InvalidOption, message)
                    .hint(format!("lowest first: {flag}{sign}{field}:asc"))
                    .hint(format!("highest first: {flag}{sign}{field}:desc")));
            }
        };
        rows.rank_by(&self.name, is_lower, flag)?;
        Ok(true)
    }
}

/// Returns true if less of a fact gives more points under every card, false if more does; none if neither is proved.
fn direction(rows: &Rows, fact: &str) -> Option<bool> {
    let of = |card: &Scorecard| {
        let found = check(card).1.directions.into_iter().find(|(name, _)| name == fact)?;
        match found.1 {
            Direction::Up => Some(false),
            Direction::Down => Some(true),
            Direction::Flat | Direction::Both => None,
        }
    };
    let mut all = rows.scorers.iter().map(|scorer| of(scorer.card()));
    let first = all.next()??;
    all.all(|other| other == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_is_read_from_the_end_alone() {
        for (text, name, is_lower_better) in [
            ("cost_usd", "cost_usd", None),
            ("cost_usd:asc", "cost_usd", Some(true)),
            ("a:desc:desc", "a:desc", Some(false)),
            ("official", "official", None),
        ] {
            assert_eq!(Key::parse(text), Key { name: name.to_owned(), is_lower_better }, "{text}");
        }
        assert_eq!(Key::parse("mean").field(), None);
        assert_eq!(Key::parse("mean:asc").field(), None);
        assert_eq!(Key::parse("metrics.cost:asc").field(), Some("metrics.cost"));
    }
}
