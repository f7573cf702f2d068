//! Matches from files: competitors, time, outcome, and judge.
//!
//! - `columns`, `covariates`: the columns of the fields and of covariates; `cells`: the cells of one row
//! - `outcome`, `solo`: a match of two competitors, and of an agent at a challenge, from cells
//! - `read`: rows to [`Matches`], with every problem in them

mod cells;
mod columns;
mod covariates;
mod outcome;
mod read;
pub(super) mod solo;

use std::collections::BTreeMap;

use karat_stats::rating::{Event, EventError, Outcome, Season};

use super::refused;
use crate::error::{Code, Error};
pub use columns::Columns;
pub(super) use columns::Field;
pub use covariates::Covariate;
pub use read::MatchReader;
use solo::Solo;

/// Most problems that are listed.
const LISTED: usize = 20;

/// Texts by number, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Names {
    list: Vec<String>,
    places: BTreeMap<String, u32>,
}

impl Names {
    /// Returns the number of a text, and adds it if it is new.
    fn place(&mut self, name: &str) -> u32 {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.push(name.to_owned());
        self.places.insert(name.to_owned(), place);
        place
    }

    fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the text with this number; empty for an unknown number.
    pub(super) fn name(&self, place: u32) -> &str {
        self.list.get(place as usize).map_or("", String::as_str)
    }

    /// Returns the number of a text, if it is known.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.places.get(name).copied()
    }

    /// Returns the texts in the order of their bytes, with their numbers.
    pub(super) fn sorted(&self) -> impl Iterator<Item = (&str, u32)> {
        self.places.iter().map(|(name, &place)| (name.as_str(), place))
    }
}

/// A match as its row gives it. Numbers are positions in the lists of [`Matches`].
#[derive(Debug)]
pub(super) struct Row {
    /// Its id; its position if rows have no id.
    pub(super) id: Box<str>,
    /// Milliseconds since 1970-01-01T00:00:00Z; the position of its id if rows have no time.
    pub(super) at_milliseconds: i64,
    pub(super) first: u32,
    pub(super) second: u32,
    pub(super) outcome: Outcome,
    /// The judge and the pair compared, if judges were asked for.
    pub(super) judge: Option<u32>,
    pub(super) pair: Option<u32>,
    /// Its category, if that was asked for.
    pub(super) category: Option<u32>,
    /// The values of both sides for each covariate that was asked for, or none.
    pub(super) covariates: Box<[Option<[f64; 2]>]>,
    /// The rest of a match of an agent, the first, at a challenge, the second.
    pub(super) solo: Option<Box<Solo>>,
    file: u32,
    line: u64,
}

/// All matches of some files, in the order of their rows.
#[derive(Debug, Default)]
pub struct Matches {
    pub(super) rows: Vec<Row>,
    /// The competitors.
    pub(super) names: Names,
    pub(super) judges: Names,
    pub(super) pairs: Names,
    pub(super) categories: Names,
    /// True if rows have a time. If not, they are in the order of time.
    pub(super) has_time: bool,
    /// Rows that are not matches, by their result.
    pub(super) skipped: u64,
    /// Rows after a row of a later time.
    pub(super) late: u64,
    pub(super) unread: Vec<String>,
    files: Vec<String>,
}

impl Matches {
    /// Returns the columns that no field reads, the first hundred.
    pub fn unread(&self) -> &[String] {
        &self.unread
    }

    /// Returns true if one of the columns that no field reads has the name of a field of matches at challenges.
    pub fn has_unread_challenges(&self) -> bool {
        Field::all().any(|field| field.is_solo() && self.unread.iter().any(|name| name == field.name()))
    }

    /// Returns the competitors of each match in the order of the rows, and the score of the first: 1 for a win, 0.5 for a
    /// draw.
    pub fn scores(&self) -> impl Iterator<Item = (&str, &str, f64)> {
        self.rows
            .iter()
            .map(|row| (self.names.name(row.first), self.names.name(row.second), row.outcome.score()))
    }

    /// Returns true if they are matches of agents at challenges.
    pub(super) fn is_solo(&self) -> bool {
        self.rows.first().is_some_and(|row| row.solo.is_some())
    }

    /// Returns file and line of a row.
    pub(super) fn place(&self, row: &Row) -> String {
        format!("{}:{}", self.files.get(row.file as usize).map_or("", String::as_str), row.line)
    }

    /// Returns the matches of the rows at these positions, in the order of time.
    ///
    /// # Errors
    /// If there is no match, or two different matches have one id.
    pub(super) fn season(&self, rows: &[usize]) -> Result<Season, Error> {
        let event = |&at: &usize| {
            let row = self.rows.get(at)?;
            Some(Event {
                id: &row.id,
                at_milliseconds: row.at_milliseconds,
                first: self.names.name(row.first),
                second: self.names.name(row.second),
                outcome: row.outcome,
            })
        };
        let events: Vec<Event<'_>> = rows.iter().filter_map(event).collect();
        Season::new(&events).map_err(|errors| {
            let row = |at: &usize| rows.get(*at).and_then(|&at| self.rows.get(at));
            let place = |at: &usize| row(at).map_or(String::new(), |row| self.place(row));
            let line = |error: &EventError| match error {
                EventError::TwoContents { id, first_place, second_place } => format!(
                    "{}: match `{id}` differs from that at {}, expected one content for one id",
                    place(second_place),
                    place(first_place)
                ),
                other => other.to_string(),
            };
            match errors.list.as_slice() {
                [] => nothing(),
                list => problems(list.iter().map(line).collect(), errors.omitted).hint(
                    "correct one of the two, or build the id from several columns: --columns id=match+judge",
                ),
            }
        })
    }
}

/// Returns the refusal of input without a match.
pub(super) fn nothing() -> Error {
    Error::new(Code::NoItems, "there is no match to rate")
}

/// Returns the refusal that lists problems, [`LISTED`] at most; `unlisted` are those that are only counted.
fn problems(mut problems: Vec<String>, unlisted: usize) -> Error {
    let count = problems.len() + unlisted;
    if count == 1 {
        return refused(problems.remove(0));
    }
    problems.truncate(LISTED);
    let error = refused(format!("{count} problems with the matches; nothing was rated")).hints_from(problems);
    match count.saturating_sub(LISTED) {
        0 => error,
        more => error.hint(format!("and {more} more")),
    }
}
