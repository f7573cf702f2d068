//! Files of matches read to the end, with every problem in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use karat_evidence::names::{self, NameFault};
use karat_reader::Kind;

use super::columns::{Columns, Field};
use super::ended::{Ended, Ending};
use super::row::Cells;
use super::{LISTED, Matches, Row, refused, solo, time};
use crate::evidence::{Files, Flow};
use crate::failure::Failure;
use crate::progress::Progress;
use karat::engine::Wanted;
use karat::renames::{Rename, Renames};
use karat::text::{clean, list};

/// The options for reading files of matches.
#[derive(Debug)]
pub struct Reading<'a> {
    /// The columns of the fields.
    pub columns: &'a Columns,
    /// Competitors with two names.
    pub renames: &'a [Rename],
    /// Results that mean no match.
    pub skip: &'a [String],
    /// True if every row must have a judge.
    pub with_judges: bool,
    /// True if every row must have a category.
    pub with_categories: bool,
    /// True if rows may be matches of an agent at a challenge of the arena.
    pub with_solo: bool,
}

/// The state while rows are read.
struct Reader<'a> {
    reading: &'a Reading<'a>,
    renames: Renames<'a>,
    ending: Ending<'a>,
    matches: Matches,
    problems: Vec<String>,
    unlisted: usize,
    /// Returns the names in the rows.
    seen: BTreeSet<String>,
    rows: u64,
    nobody: u64,
    /// Rows without a time, and without an id.
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
    fn add(&mut self, place: &str) {
        if self.count == 0 {
            place.clone_into(&mut self.first);
        }
        self.count += 1;
    }
}

impl Reading<'_> {
    /// Reads all files.
    ///
    /// # Errors
    /// If rows have problems; all are counted, some twenty listed.
    pub fn read(&self, files: &Files, progress: &Progress) -> Result<Matches, Failure> {
        let wanted = Wanted { kind: Kind::Facts, facts: Vec::new(), columns: self.columns.names.clone() };
        let mut reader = Reader {
            reading: self,
            renames: Renames::new(self.renames)?,
            ending: Ending::new(self.columns, self.skip),
            matches: Matches::default(),
            problems: Vec::new(),
            unlisted: 0,
            seen: BTreeSet::new(),
            rows: 0,
            nobody: 0,
            without_time: Absent::default(),
            without_id: Absent::default(),
            latest: i64::MIN,
        };
        files.each(&wanted, progress, &mut |place, bytes| {
            reader.rows += 1;
            match bytes {
                Ok(bytes) => {
                    if let Err(problem) = reader.row(&place.file, place.line.unwrap_or(1), bytes) {
                        reader.problem(|| format!("{place}: {problem}"));
                    }
                }
                Err(refusal) => reader.problem(|| refusal.to_string()),
            }
            Ok(Flow::Continue)
        })?;
        reader.finish()
    }
}

impl Reader<'_> {
    fn problem(&mut self, problem: impl FnOnce() -> String) {
        if self.problems.len() < LISTED {
            self.problems.push(problem());
        } else {
            self.unlisted += 1;
        }
    }

    fn row(&mut self, file: &str, line: u64, bytes: &[u8]) -> Result<(), String> {
        let columns = self.reading.columns;
        let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
        let cells = Cells::read(bytes, columns, &stem, &mut self.seen)?;
        let is_solo = self.reading.with_solo
            && (columns.tells_solo(|name| self.seen.contains(name))
                || cells.get(Field::Second).is_some_and(|second| solo::is_difficulty(&second)));
        let ended = match is_solo {
            true => {
                solo::read(&cells, &self.ending)?.map(|(names, outcome, solo)| (names, outcome, Some(solo)))
            }
            false => match self.ending.of(&cells)? {
                Ended::Match(names, outcome) => Some((names, outcome, None)),
                Ended::NoMatch => None,
                Ended::Nobody => {
                    self.nobody += 1;
                    return Err(String::from(
                        "who met whom is missing, expected `first` and `second`, or `winner` and `loser`",
                    ));
                }
            },
        };
        let Some((names, outcome, solo)) = ended else {
            self.matches.skipped += 1;
            return Ok(());
        };
        if let Some(before) = self.matches.rows.last().filter(|before| before.solo.is_some() != is_solo) {
            let (kind, other) = ("a match at a challenge", "a match of two competitors");
            let (found, known) = if is_solo { (kind, other) } else { (other, kind) };
            return Err(format!(
                "this is {found}, and {} is {known}, expected one kind",
                self.matches.place(before)
            ));
        }
        let names = [names[0].trim(), names[1].trim()];
        let [first, second] = names.map(|name| self.renames.apply(name));
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
        let at_milliseconds = cells.get(Field::Time).map(|text| time::milliseconds(&text)).transpose()?;
        let needed = |field: Field, is_needed: bool| match cells.get(field) {
            None if is_needed => {
                let column = clean(&columns.column(field)).into_owned();
                Err(format!("there is no `{column}` for {}, expected one in every row", field.name()))
            }
            found => Ok(found.filter(|_| is_needed)),
        };
        let judge = needed(Field::Judge, self.reading.with_judges)?;
        let category = needed(Field::Category, self.reading.with_categories)?;
        let has_pairs = self.reading.with_judges && columns.is_mapped(Field::Pair);
        let pair = match needed(Field::Pair, has_pairs)?.or_else(|| cells.get(Field::Pair)) {
            Some(pair) => pair.into_owned(),
            None => format!("{}/{}", first.min(second), first.max(second)),
        };
        let pair = self.reading.with_judges.then_some(pair);
        let place = || format!("{file}:{line}");
        match at_milliseconds {
            Some(at) => {
                self.matches.late += u64::from(at < self.latest);
                self.latest = self.latest.max(at);
            }
            None => self.without_time.add(&place()),
        }
        let id = cells.get(Field::Id);
        if id.is_none() {
            self.without_id.add(&place());
        }
        let matches = &mut self.matches;
        let file = match matches.files.last() {
            Some(last) if last == file => matches.files.len() - 1,
            _ => {
                matches.files.push(file.to_owned());
                matches.files.len() - 1
            }
        };
        matches.rows.push(Row {
            id: id.as_deref().unwrap_or_default().into(),
            at_milliseconds: at_milliseconds.unwrap_or_default(),
            first: matches.names.place(first),
            second: matches.names.place(second),
            outcome,
            judge: judge.map(|judge| matches.judges.place(&judge)),
            pair: pair.map(|pair| matches.pairs.place(&pair)),
            category: category.map(|category| matches.categories.place(&category)),
            solo: solo.map(Box::new),
            file: u32::try_from(file).unwrap_or(u32::MAX),
            line,
        });
        Ok(())
    }

    /// Checks for problems of all rows together, and numbers the rows if they have no ids or times.
    fn finish(mut self) -> Result<Matches, Failure> {
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
        let columns = self.reading.columns;
        for field in Field::ALL {
            let column = columns.column(field);
            let is_there = |name: &str| name == super::columns::FILE || self.seen.contains(name);
            let missing: Vec<&str> = column.split('+').filter(|name| !is_there(name)).collect();
            if columns.is_mapped(field) && count > 0 && !missing.is_empty() {
                let names: Vec<String> = missing.iter().map(|name| format!("`{}`", clean(name))).collect();
                self.problems.push(format!(
                    "no row has {} for {}, expected one of the columns {}",
                    list(&names),
                    field.name(),
                    self.there_are()
                ));
            }
        }
        for old in self.renames.unfound().filter(|_| count > 0) {
            self.problems.push(format!("no match names `{}`, which --rename gives a new name", clean(old)));
        }
        if !self.problems.is_empty() {
            return Err(refused(self.problems, self.unlisted));
        }
        // An imported match names its source, which is not to be read.
        let is_read = |name: &str| name == "source" || columns.names.iter().any(|known| known == name);
        let unread = self.seen.iter().filter(|name| !is_read(name)).cloned().collect();
        let mut matches = Matches { unread, ..self.matches };
        matches.has_time = self.without_time.count == 0;
        if self.without_id.count > 0 {
            for (place, row) in matches.rows.iter_mut().enumerate() {
                row.id = format!("{:010}", place + 1).into();
            }
        }
        if !matches.has_time {
            number(&mut matches.rows);
        }
        let problems = other_circumstances(&matches);
        if problems.is_empty() { Ok(matches) } else { Err(refused(problems, 0)) }
    }

    fn nobody_at_all(&self) -> Failure {
        let message = "no row says who met whom, expected `first` and `second`, or `winner` and `loser`";
        let failure = Failure::new(message).help(format!("the columns are {}", self.there_are()));
        match self.seen.iter().any(|name| name.contains([';', '\t', '|'])) {
            true => failure.help("save the table as CSV, with commas between the columns"),
            false => failure.help("name the columns: --columns first=COLUMN,second=COLUMN,result=COLUMN"),
        }
    }

    /// Returns the names in the rows.
    fn there_are(&self) -> String {
        let names: Vec<String> =
            self.seen.iter().take(LISTED).map(|name| format!("`{}`", clean(name))).collect();
        let more = self.seen.len().saturating_sub(names.len());
        if more > 0 { format!("{} and {more} more", names.join(", ")) } else { list(&names) }
    }
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

/// Returns the rows that repeat the id of an earlier one, but with another judge, pair or category.
fn other_circumstances<'a>(matches: &'a Matches) -> Vec<String> {
    if matches.judges.is_empty() && matches.categories.is_empty() && !matches.is_solo() {
        return Vec::new();
    }
    let mut first: BTreeMap<&str, &Row> = BTreeMap::new();
    let mut problems = Vec::new();
    for row in &matches.rows {
        let known = *first.entry(&row.id).or_insert(row);
        let parts = |row: &'a Row| (row.judge, row.pair, row.category, row.solo.as_deref());
        if parts(known) != parts(row) {
            let what = if row.solo.is_some() { "other facts" } else { "another judge, pair or category" };
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
