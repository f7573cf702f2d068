//! Rows of matches read to the end, with every problem in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use karat_core::timestamp::{Timestamp, TimestampError};
use karat_evidence::names::{self, NameFault};
use karat_reader::Kind;

use super::super::{Question, invalid, refused};
use super::cells::Cells;
use super::columns::{Columns, FILE, Field, unknown};
use super::covariates::Places;
use super::outcome::{Ended, Ending};
use super::solo;
use super::{LISTED, Matches, Row, problems};
use crate::engine::Wanted;
use crate::error::{Error, Place};
use crate::renames::Renames;
use crate::text::{clean, list};

/// Seconds since 1970 accepted as a time: 1973 to 5138. Smaller numbers are years or days, larger ones milliseconds.
const SECONDS: std::ops::Range<f64> = 1e8..1e11;

/// The matches of a question while their rows are read.
///
/// ```
/// use std::ops::ControlFlow;
/// use karat::engine::each_item;
/// use karat::ratings::{MatchReader, Question, SystemName, rate};
/// use karat::Layout;
///
/// let question = Question::new(SystemName::Elo);
/// let mut reader = MatchReader::new(&question)?;
/// let table = "first,second,result\nann,bob,first\nbob,cid,draw\n".as_bytes();
/// let wanted = reader.wanted();
/// let _ = each_item("matches.csv", table, Layout::Csv, &wanted, |place, row| {
///     reader.add(place, row);
///     ControlFlow::<()>::Continue(())
/// });
/// let rating = rate(&question, &reader.finish()?)?;
/// assert_eq!(rating.boards[0].competitors[0].name, "ann");
/// # Ok::<(), karat::Error>(())
/// ```
pub struct MatchReader<'q> {
    question: &'q Question,
    columns: Columns,
    covariates: Vec<Places>,
    renames: Renames<'q>,
    ending: Ending<'q>,
    matches: Matches,
    problems: Vec<String>,
    unlisted: usize,
    /// The names in the rows.
    seen: BTreeSet<String>,
    rows: u64,
    nobody: u64,
    without_time: Absent,
    without_id: Absent,
    latest: i64,
}

/// Rows that lack something.
#[derive(Default)]
struct Absent {
    count: usize,
    first: String,
}

impl Absent {
    fn add(&mut self, file: &str, line: u64) {
        if self.count == 0 {
            self.first = format!("{file}:{line}");
        }
        self.count += 1;
    }
}

impl<'q> MatchReader<'q> {
    /// Returns a reader of the matches that a question is about.
    ///
    /// # Errors
    /// If the question renames a competitor twice, or names a column of a covariate that it does not ask for.
    pub fn new(question: &'q Question) -> Result<Self, Error> {
        let mut columns = question.columns.clone();
        if question.arena {
            columns.add_solo();
        }
        for (field, column) in [(Field::Judge, &question.judge), (Field::Category, &question.by)] {
            column.iter().for_each(|column| columns.set(field, column));
        }
        let covariates = question.covariates.iter();
        let covariates = covariates.map(|it| Places::new(it, &mut columns)).collect();
        if let Some(name) = columns.untaken() {
            return Err(invalid(format!("--columns: {}", unknown(&clean(name))))
                .hint("or first_NAME and second_NAME, with --covariates NAME"));
        }
        Ok(Self {
            question,
            covariates,
            renames: Renames::new(&question.rename)?,
            ending: Ending::new(&columns, &question.skip),
            columns,
            matches: Matches::default(),
            problems: Vec::new(),
            unlisted: 0,
            seen: BTreeSet::new(),
            rows: 0,
            nobody: 0,
            without_time: Absent::default(),
            without_id: Absent::default(),
            latest: i64::MIN,
        })
    }

    /// Returns what marks the header of a table of matches.
    pub fn wanted(&self) -> Wanted {
        Wanted { kind: Kind::Facts, facts: Vec::new(), columns: self.columns.names.clone() }
    }

    /// Adds a row as a JSON object. Its problems are reported at the end.
    pub fn add(&mut self, place: &Place, row: Result<&[u8], Error>) {
        self.rows += 1;
        let problem = match row {
            Ok(bytes) => match self.row(&place.file, place.line.unwrap_or(1), bytes) {
                Ok(()) => return,
                Err(problem) => format!("{place}: {problem}"),
            },
            Err(error) => error.to_string(),
        };
        if self.problems.len() < LISTED {
            self.problems.push(problem);
        } else {
            self.unlisted += 1;
        }
    }

    fn row(&mut self, file: &str, line: u64, bytes: &[u8]) -> Result<(), String> {
        let columns = &self.columns;
        let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
        let cells = Cells::read(bytes, columns, &stem, &mut self.seen)?;
        let is_solo = self.question.arena
            && (columns.tell_solo(|name| self.seen.contains(name))
                || cells.get(Field::Second).is_some_and(|second| solo::is_difficulty(&second)));
        let ended = if is_solo {
            solo::read(&cells, &self.ending)?.map(|(names, outcome, solo)| (names, outcome, Some(solo)))
        } else {
            match self.ending.of(&cells)? {
                Ended::Match(names, outcome) => Some((names, outcome, None)),
                Ended::NoMatch => None,
                Ended::Nobody => {
                    self.nobody += 1;
                    return Err(String::from(
                        "who met whom is missing, expected `first` and `second`, or `winner` and `loser`",
                    ));
                }
            }
        };
        let Some((names, outcome, solo)) = ended else {
            self.matches.skipped += 1;
            return Ok(());
        };
        if let Some(before) = self.matches.rows.last().filter(|before| before.solo.is_some() != is_solo) {
            let (kind, other) = ("a match at a challenge", "a match of two competitors");
            let (found, known) = if is_solo { (kind, other) } else { (other, kind) };
            let place = self.matches.place(before);
            return Err(format!("this is {found}, and {place} is {known}, expected one kind"));
        }
        let [first, second] = [&names[0], &names[1]].map(|name| self.renames.apply(name.trim()));
        check_names(first, second)?;
        let at_milliseconds = cells.get(Field::Time).map(|text| milliseconds(&text)).transpose()?;
        let needed = |field: Field, is_needed: bool| match cells.get(field) {
            None if is_needed => {
                let column = clean(&columns.column(field)).into_owned();
                Err(format!("there is no `{column}` for {}, expected one in every row", field.name()))
            }
            found => Ok(found.filter(|_| is_needed)),
        };
        let has_judges = self.question.judge.is_some();
        let judge = needed(Field::Judge, has_judges)?;
        let category = needed(Field::Category, self.question.by.is_some())?;
        let pair = needed(Field::Pair, has_judges && columns.is_mapped(Field::Pair))?;
        let pair = has_judges.then(|| match pair.or_else(|| cells.get(Field::Pair)) {
            Some(pair) => pair.into_owned(),
            None => format!("{}/{}", first.min(second), first.max(second)),
        });
        let covariates = self.covariates.iter().map(|it| it.read(columns, &cells));
        let covariates = covariates.collect::<Result<_, String>>()?;
        match at_milliseconds {
            Some(at) => {
                self.matches.late += u64::from(at < self.latest);
                self.latest = self.latest.max(at);
            }
            None => self.without_time.add(file, line),
        }
        let id = cells.get(Field::Id);
        if id.is_none() {
            self.without_id.add(file, line);
        }
        let matches = &mut self.matches;
        if matches.files.last().is_none_or(|last| last != file) {
            matches.files.push(file.to_owned());
        }
        matches.rows.push(Row {
            id: id.as_deref().unwrap_or_default().into(),
            at_milliseconds: at_milliseconds.unwrap_or_default(),
            first: matches.names.place(first),
            second: matches.names.place(second),
            outcome,
            judge: judge.map(|judge| matches.judges.place(&judge)),
            pair: pair.map(|pair| matches.pairs.place(&pair)),
            category: category.map(|category| matches.categories.place(&category)),
            covariates,
            solo: solo.map(Box::new),
            file: u32::try_from(matches.files.len() - 1).unwrap_or(u32::MAX),
            line,
        });
        Ok(())
    }

    /// Returns the matches. Checks for problems of all rows together, and numbers the rows if they have no ids or times.
    ///
    /// # Errors
    /// If rows have problems; all are counted, some twenty listed.
    pub fn finish(mut self) -> Result<Matches, Error> {
        if self.rows > 0 && self.nobody == self.rows {
            return Err(self.nobody_at_all());
        }
        let count = self.matches.rows.len();
        for (absent, what) in [(&self.without_time, "time"), (&self.without_id, "id")] {
            if absent.count > 0 && absent.count < count {
                self.problems.push(format!(
                    "{}: there is no {what}, which other rows have ({} have none), expected one in all rows or in none",
                    absent.first, absent.count
                ));
            }
        }
        for field in Field::all().filter(|field| count > 0 && self.columns.is_mapped(*field)) {
            let column = self.columns.column(field);
            let is_there = |name: &str| name == FILE || self.seen.contains(name);
            let missing = column.split('+').filter(|name| !is_there(name));
            let names: Vec<String> = missing.map(|name| format!("`{}`", clean(name))).collect();
            if !names.is_empty() {
                self.problems.push(format!(
                    "no row has {} for {}, expected one of the columns {}",
                    list(&names),
                    field.name(),
                    self.there_are()
                ));
            }
        }
        for places in self.covariates.iter().filter(|_| count > 0) {
            let absent = places.absent(&self.columns, |name| self.seen.contains(name));
            self.problems.extend(
                absent.map(|absent| format!("{absent}, expected some of the columns {}", self.there_are())),
            );
        }
        for old in self.renames.unfound().filter(|_| count > 0) {
            self.problems.push(format!("no match names `{}`, which --rename gives a new name", clean(old)));
        }
        if !self.problems.is_empty() {
            return Err(problems(self.problems, self.unlisted));
        }
        // An imported match names its source, which is not to be read.
        let is_read = |name: &str| name == "source" || self.columns.names.iter().any(|known| known == name);
        let mut matches = self.matches;
        matches.unread = self.seen.into_iter().filter(|name| !is_read(name)).collect();
        matches.has_time = self.without_time.count == 0;
        if self.without_id.count > 0 {
            for (place, row) in matches.rows.iter_mut().enumerate() {
                row.id = format!("{:010}", place + 1).into();
            }
        }
        if !matches.has_time {
            number(&mut matches.rows);
        }
        let found = other_circumstances(&matches);
        if found.is_empty() { Ok(matches) } else { Err(problems(found, 0)) }
    }

    fn nobody_at_all(&self) -> Error {
        refused("no row says who met whom, expected `first` and `second`, or `winner` and `loser`")
            .hint(format!("the columns are {}", self.there_are()))
            .hint("name the columns: --columns first=COLUMN,second=COLUMN,result=COLUMN")
    }

    /// Returns the names in the rows.
    fn there_are(&self) -> String {
        let names: Vec<String> =
            self.seen.iter().take(LISTED).map(|name| format!("`{}`", clean(name))).collect();
        let more = self.seen.len().saturating_sub(names.len());
        if more > 0 { format!("{} and {more} more", names.join(", ")) } else { list(&names) }
    }
}

fn check_names(first: &str, second: &str) -> Result<(), String> {
    if first.is_empty() || second.is_empty() {
        return Err(String::from("a competitor has no name"));
    }
    for name in [first, second] {
        if let Some(NameFault { expected, hint }) = names::fault(name) {
            return Err(format!("the competitor `{}`, expected {expected}: {hint}", clean(name)));
        }
    }
    if first == second {
        return Err(format!("`{}` meets itself, expected two different competitors", clean(first)));
    }
    Ok(())
}

/// Reads a timestamp as [`Timestamp::parse_lenient`] does, or a number of seconds, as milliseconds since
/// 1970-01-01T00:00:00Z.
///
/// # Errors
/// If the text is neither; the error says what was expected.
fn milliseconds(text: &str) -> Result<i64, String> {
    let text = text.trim();
    let seconds = || text.parse::<f64>().ok().filter(|seconds| SECONDS.contains(seconds));
    Timestamp::parse_lenient(text).map(|time| time.milliseconds).or_else(|error| {
        if let Some(seconds) = seconds() {
            return Ok((seconds * 1000.0).round_ties_even() as i64);
        }
        let hint = match error {
            TimestampError::Form => String::new(),
            error => format!("; {}", error.hint()),
        };
        Err(format!(
            "`{text}` is not a time, expected such as `2026-03-18T09:30:00Z`, `2026-03-18 09:30:00`, `2026-03-18` or \
             seconds since 1970{hint}"
        ))
    })
}

/// Gives rows the positions of their ids as times, so that they are in the order of time and a repeated row is one
/// match.
fn number(rows: &mut [Row]) {
    let mut places: BTreeMap<&str, i64> = BTreeMap::new();
    for row in rows {
        let next = places.len() as i64;
        row.at_milliseconds = *places.entry(&row.id).or_insert(next);
    }
}

/// Returns the rows that repeat the id of an earlier one, but with another judge, pair, category or covariate.
fn other_circumstances(matches: &Matches) -> Vec<String> {
    let has_covariates = matches.rows.first().is_some_and(|row| !row.covariates.is_empty());
    if matches.judges.is_empty() && matches.categories.is_empty() && !has_covariates && !matches.is_solo() {
        return Vec::new();
    }
    let mut first: BTreeMap<&str, &Row> = BTreeMap::new();
    let mut problems = Vec::new();
    for row in &matches.rows {
        let known = *first.entry(&row.id).or_insert(row);
        let parts = |row: &Row| (row.judge, row.pair, row.category);
        if parts(known) != parts(row) || known.solo != row.solo || known.covariates != row.covariates {
            let what = match row.solo {
                Some(_) => "other facts",
                None if has_covariates => "another judge, pair, category or covariate",
                None => "another judge, pair or category",
            };
            problems.push(format!(
                "{}: match `{}` has {what} than at {}, expected one content for one id",
                matches.place(row),
                clean(&row.id),
                matches.place(known)
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_one_time() {
        for text in [
            "2001-09-09T01:46:40Z", "2001-09-09 01:46:40", "2001-09-09T01:46:40", "1000000000", "1e9",
            "2001-09-09 03:46:40+02:00",
        ] {
            assert_eq!(milliseconds(text), Ok(1_000_000_000_000), "{text}");
        }
        assert_eq!(milliseconds("1970-01-02"), Ok(86_400_000));
        assert_eq!(milliseconds("1000000000.25"), Ok(1_000_000_000_250));
    }

    #[test]
    fn a_text_that_says_no_time_is_refused() {
        for text in ["", "2012", "yesterday", "2012-02-30", "1682351591000", "09/11/2001", "NaN", "-1e9"] {
            assert!(milliseconds(text).unwrap_err().contains("is not a time"), "{text}");
        }
    }
}
