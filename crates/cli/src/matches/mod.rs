//! Matches from files: competitors, time, outcome, and judge.
//!
//! - `columns`: the columns of the fields; `row`: the cells of one row
//! - `ended`, `result`, `time`: outcomes and times from cells
//! - `solo`: matches of an agent at a challenge
//! - `read`: files to [`Matches`], with every problem in them

pub mod columns;
mod ended;
mod read;
mod result;
mod row;
pub mod solo;
mod time;

use std::collections::BTreeMap;

use karat_stats::rating::{Event, EventError, Outcome, Season};

use crate::failure::Failure;
pub use read::Reading;

/// Most problems that are listed.
const LISTED: usize = 20;

/// Texts by number, in the order in which they came.
#[derive(Debug, Default)]
pub struct Names {
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

    /// Returns true without any text.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the text with this number; empty for an unknown number.
    pub fn name(&self, place: u32) -> &str {
        self.list.get(place as usize).map_or("", String::as_str)
    }

    /// Returns the number of a text, if it is known.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.places.get(name).copied()
    }

    /// Returns the texts in the order of their bytes, with their numbers.
    pub fn sorted(&self) -> impl Iterator<Item = (&str, u32)> {
        self.places.iter().map(|(name, &place)| (name.as_str(), place))
    }
}

/// A match as its row gives it. Numbers are positions in the lists of [`Matches`].
#[derive(Debug)]
pub struct Row {
    /// Its id; its position if rows have no id.
    pub id: Box<str>,
    /// Milliseconds since 1970-01-01T00:00:00Z; the position of its id if rows have no time.
    pub at_milliseconds: i64,
    /// The first competitor.
    pub first: u32,
    /// The second.
    pub second: u32,
    /// The outcome.
    pub outcome: Outcome,
    /// Its judge, if that was asked for.
    pub judge: Option<u32>,
    /// The pair compared, if judges were asked for.
    pub pair: Option<u32>,
    /// Its category, if that was asked for.
    pub category: Option<u32>,
    /// The rest of a match of an agent, the first, at a challenge, the second.
    pub solo: Option<Box<solo::Solo>>,
    file: u32,
    line: u64,
}

/// All matches of some files, in the order of their rows.
#[derive(Debug, Default)]
pub struct Matches {
    /// The rows.
    pub rows: Vec<Row>,
    /// The competitors.
    pub names: Names,
    /// The judges.
    pub judges: Names,
    /// The pairs that judges compared.
    pub pairs: Names,
    /// The categories.
    pub categories: Names,
    /// True if rows have a time. If not, they are in the order of time.
    pub has_time: bool,
    /// Rows that are not matches, by their result.
    pub skipped: u64,
    /// Rows after a row of a later time.
    pub late: u64,
    /// Columns that no field reads, the first hundred.
    pub unread: Vec<String>,
    files: Vec<String>,
}

impl Matches {
    /// Returns true if they are matches of agents at challenges.
    pub fn is_solo(&self) -> bool {
        self.rows.first().is_some_and(|row| row.solo.is_some())
    }

    /// Returns file and line of a row.
    pub fn place(&self, row: &Row) -> String {
        format!("{}:{}", self.files.get(row.file as usize).map_or("", String::as_str), row.line)
    }

    /// Returns the matches of the rows at these positions, in the order of time.
    ///
    /// # Errors
    /// If there is no match, or two different matches have one id.
    pub fn season(&self, rows: &[usize]) -> Result<Season, Failure> {
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
            let lines: Vec<String> = errors
                .list
                .iter()
                .map(|error| match error {
                    EventError::TwoContents { id, first_place, second_place } => format!(
                        "{}: match `{id}` differs from that at {}, expected one content for one id",
                        place(second_place),
                        place(first_place)
                    ),
                    other => other.to_string(),
                })
                .collect();
            match lines.as_slice() {
                [] => Failure::new("there is no match to rate"),
                _ => refused(lines, errors.omitted).help(
                    "correct one of the two, or build the id from several columns: --columns id=match+judge",
                ),
            }
        })
    }
}

/// Returns the failure that lists problems, [`LISTED`] at most; `unlisted` are those that are only counted.
fn refused(problems: Vec<String>, unlisted: usize) -> Failure {
    let count = problems.len() + unlisted;
    let mut problems = problems.into_iter();
    if count == 1 {
        return Failure::new(problems.next().unwrap_or_default());
    }
    let failure = Failure::new(format!("{count} problems with the matches; nothing was rated"));
    let failure = problems.by_ref().take(LISTED).fold(failure, Failure::help);
    match count.saturating_sub(LISTED) {
        0 => failure,
        more => failure.help(format!("and {more} more")),
    }
}
