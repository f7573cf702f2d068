//! The competitors and the outcome of a match, from the cells of a row.

use std::borrow::Cow;

use karat_stats::rating::Outcome;

use super::columns::{Columns, Field};
use super::result::{self, Sides};
use super::row::Cells;

/// The contents of a row.
pub enum Ended<'c> {
    /// The two competitors, and the outcome.
    Match([Cow<'c, str>; 2], Outcome),
    /// A result that means no match.
    NoMatch,
    /// A row without competitors.
    Nobody,
}

/// The reading of rows.
pub struct Ending<'a> {
    /// The columns of the two competitors.
    sides: [String; 2],
    /// Results that mean that there was no match.
    skip: &'a [String],
}

impl<'a> Ending<'a> {
    /// Returns the reading of rows with these columns.
    pub fn new(columns: &Columns, skip: &'a [String]) -> Self {
        Self { sides: [Field::First, Field::Second].map(|field| columns.column(field)), skip }
    }

    /// Reads a row.
    ///
    /// # Errors
    /// If its result cannot be read.
    pub fn of<'c>(&self, cells: &'c Cells<'_>) -> Result<Ended<'c>, String> {
        let competitors = cells.get(Field::First).zip(cells.get(Field::Second));
        let has_neither = cells.get(Field::First).or(cells.get(Field::Second)).is_none();
        let (result, winner) = (cells.get(Field::Result), cells.get(Field::Winner));
        match (competitors, winner, cells.get(Field::Loser)) {
            // With two competitors, the winner is a result under another name.
            (Some((first, second)), winner, _) => self.between(cells, first, second, result.or(winner)),
            (None, Some(winner), Some(loser)) if has_neither => self.won(winner, loser, result),
            _ => Ok(Ended::Nobody),
        }
    }

    /// Returns a match of two competitors with a result, or with two scores.
    fn between<'c>(
        &self,
        cells: &Cells<'_>,
        first: Cow<'c, str>,
        second: Cow<'c, str>,
        result: Option<Cow<'_, str>>,
    ) -> Result<Ended<'c>, String> {
        let outcome = match (result, cells.get(Field::FirstScore), cells.get(Field::SecondScore)) {
            (Some(result), ..) if self.is_skipped(&result) => return Ok(Ended::NoMatch),
            (Some(result), ..) => {
                let columns = [self.sides[0].as_str(), self.sides[1].as_str()];
                result::outcome(&result, &Sides { columns, names: [first.trim(), second.trim()] })?
            }
            (None, one, other)
                if [&one, &other].iter().any(|it| self.is_skipped(it.as_deref().unwrap_or(""))) =>
            {
                return Ok(Ended::NoMatch);
            }
            (None, Some(one), Some(other)) => result::by_scores(&one, &other)?,
            (None, ..) => {
                return Err(String::from(
                    "how it ended is missing, expected `result`, or `first_score` and `second_score`; where there was no \
                     match, --skip ''",
                ));
            }
        };
        Ok(Ended::Match([first, second], outcome))
    }

    /// Returns a match of a winner and a loser, or of two who drew.
    fn won<'c>(
        &self,
        winner: Cow<'c, str>,
        loser: Cow<'c, str>,
        result: Option<Cow<'_, str>>,
    ) -> Result<Ended<'c>, String> {
        let outcome = match result {
            Some(result) if self.is_skipped(&result) => return Ok(Ended::NoMatch),
            Some(result) => {
                let sides = Sides { columns: ["winner", "loser"], names: [winner.trim(), loser.trim()] };
                result::outcome(&result, &sides)?
            }
            None => Outcome::Win,
        };
        match outcome {
            Outcome::Loss => Err(String::from("the loser won, expected `win` or `draw` as the result")),
            _ => Ok(Ended::Match([winner, loser], outcome)),
        }
    }

    /// Returns the columns of the two competitors.
    pub fn sides(&self) -> [&str; 2] {
        [&self.sides[0], &self.sides[1]]
    }

    /// Returns true if a result means that there was no match.
    pub fn is_skipped(&self, text: &str) -> bool {
        self.skip.iter().any(|skip| skip.trim() == text.trim())
    }
}
