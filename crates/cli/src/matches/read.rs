//! Files of matches read to the end, with everything that is wrong with them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use karat_core::rating::Outcome;
use karat_evidence::Kind;

use super::columns::{Columns, Field, Rename};
use super::result::{self, Sides};
use super::row::Cells;
use super::{LISTED, Matches, Row, refused, time};
use crate::evidence::{Files, Flow, Wanted};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::render::text::{clean, list};

/// How files of matches are read.
#[derive(Debug)]
pub struct Reading<'a> {
    /// Which column says what.
    pub columns: &'a Columns,
    /// Competitors that go by two names.
    pub renames: &'a [Rename],
    /// Results that mean that there was no match.
    pub skip: &'a [String],
    /// Whether every row must say who decided.
    pub with_judges: bool,
    /// Whether every row must have a category.
    pub with_categories: bool,
}

/// What one row turned out to be.
enum Found {
    Match,
    /// Its result says that there was no match.
    None,
    /// It does not say who met whom.
    Nobody,
}

/// What is known while rows are read.
struct Reader<'a> {
    reading: &'a Reading<'a>,
    renames: BTreeMap<&'a str, (&'a str, bool)>,
    /// The columns of the two competitors.
    sides: [String; 2],
    matches: Matches,
    problems: Vec<String>,
    unlisted: usize,
    /// The names that rows have.
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
    /// What is wrong with the rows: all of it, of which some twenty are listed.
    pub fn read(&self, files: &Files, progress: &Progress) -> Result<Matches, Failure> {
        let wanted = Wanted { kind: Kind::Facts, facts: Vec::new(), columns: self.columns.names.clone() };
        let mut reader = Reader {
            reading: self,
            renames: self.renames()?,
            sides: [Field::First, Field::Second].map(|field| self.columns.column(field)),
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
                    let row = reader.row(place.file, place.line.unwrap_or(1), bytes);
                    match row {
                        Ok(Found::Match) => {}
                        Ok(Found::None) => reader.matches.skipped += 1,
                        Ok(Found::Nobody) => {
                            reader.nobody += 1;
                            reader.problem(|| format!("{place}: who met whom is missing, expected `first` and `second`, or `winner` and `loser`"));
                        }
                        Err(problem) => reader.problem(|| format!("{place}: {problem}")),
                    }
                }
                Err(refusal) => reader.problem(|| refusal.to_string()),
            }
            Ok(Flow::Continue)
        })?;
        reader.finish()
    }

    /// The new name of every old one.
    fn renames(&self) -> Result<BTreeMap<&str, (&str, bool)>, Failure> {
        let mut renames = BTreeMap::new();
        for Rename { old, new } in self.renames {
            if renames.insert(old.as_str(), (new.as_str(), false)).is_some() {
                return Err(Failure::new(format!("--rename gives `{}` two new names", clean(old))));
            }
        }
        match self.renames.iter().find(|rename| renames.contains_key(rename.new.as_str())) {
            Some(Rename { old, new }) => Err(Failure::new(format!(
                "--rename leads from `{}` to `{}` and on from there",
                clean(old),
                clean(new)
            ))
            .help("name the last name for each of the old ones")),
            None => Ok(renames),
        }
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

    fn row(&mut self, file: &str, line: u64, bytes: &[u8]) -> Result<Found, String> {
        let columns = self.reading.columns;
        let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
        let cells = Cells::read(bytes, columns, &stem, &mut self.seen)?;
        let skip = self.reading.skip;
        let is_skipped =
            |text: Option<&str>| skip.iter().any(|skip| skip.trim() == text.unwrap_or_default().trim());
        let (first, second) = (cells.get(Field::First), cells.get(Field::Second));
        let (winner, loser) = (cells.get(Field::Winner), cells.get(Field::Loser));
        // Beside two competitors, the winner is a result by another name.
        let result = cells
            .get(Field::Result)
            .or_else(|| winner.clone().filter(|_| first.is_some() && second.is_some()));
        let scores = [cells.get(Field::FirstScore), cells.get(Field::SecondScore)];
        let (names, outcome) = match (&first, &second, &winner, &loser) {
            (Some(first), Some(second), ..) => {
                let sides =
                    Sides { columns: [&self.sides[0], &self.sides[1]], names: [first.trim(), second.trim()] };
                let outcome = match (&result, &scores) {
                    (Some(result), _) if is_skipped(Some(result)) => return Ok(Found::None),
                    (Some(result), _) => result::outcome(result, &sides)?,
                    (None, scores) if scores.iter().any(|score| is_skipped(score.as_deref())) => {
                        return Ok(Found::None);
                    }
                    (None, [Some(first), Some(second)]) => result::by_scores(first, second)?,
                    (None, _) => {
                        return Err(String::from(
                            "how it ended is missing, expected `result`, or `first_score` and `second_score`; where there \
                             was no match, --skip ''",
                        ));
                    }
                };
                (sides.names, outcome)
            }
            (None, None, Some(winner), Some(loser)) => {
                let sides = Sides { columns: ["winner", "loser"], names: [winner.trim(), loser.trim()] };
                let outcome = match &result {
                    Some(result) if is_skipped(Some(result)) => return Ok(Found::None),
                    Some(result) => result::outcome(result, &sides)?,
                    None => Outcome::Win,
                };
                if outcome == Outcome::Loss {
                    return Err(String::from("the loser won, expected `win` or `draw` as the result"));
                }
                (sides.names, outcome)
            }
            _ => return Ok(Found::Nobody),
        };
        let [first, second] = names.map(|name| match self.renames.get_mut(name) {
            Some((new, is_used)) => {
                *is_used = true;
                *new
            }
            None => name,
        });
        if first.is_empty() || second.is_empty() {
            return Err(String::from("a competitor has no name"));
        }
        if first == second {
            return Err(format!("`{}` meets itself, expected two different competitors", clean(first)));
        }
        let at_milliseconds = cells.get(Field::Time).map(|text| time::milliseconds(&text)).transpose()?;
        let lacks = |field: Field, flag: &str| {
            let column = columns.column(field);
            format!("there is no `{}`, which {flag} asks for in every row", clean(&column))
        };
        let judge = self
            .reading
            .with_judges
            .then(|| cells.get(Field::Judge).ok_or_else(|| lacks(Field::Judge, "--judge")));
        let judge = judge.transpose()?;
        let category = self
            .reading
            .with_categories
            .then(|| cells.get(Field::Category).ok_or_else(|| lacks(Field::Category, "--by")));
        let category = category.transpose()?;
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
        let pair = self.reading.with_judges.then(|| match cells.get(Field::Pair) {
            Some(pair) => pair.into_owned(),
            None => format!("{}/{}", first.min(second), first.max(second)),
        });
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
            file: u32::try_from(file).unwrap_or(u32::MAX),
            line,
        });
        Ok(Found::Match)
    }

    /// Checks what only shows when all rows are read, and gives places where rows have no ids or times.
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
            if column != field.name() && count > 0 && !missing.is_empty() {
                let names: Vec<String> = missing.iter().map(|name| format!("`{}`", clean(name))).collect();
                self.problems.push(format!(
                    "no row has {} for {}, expected one of the columns {}",
                    list(&names),
                    field.name(),
                    self.there_are()
                ));
            }
        }
        for (old, (_, is_used)) in &self.renames {
            if !is_used && count > 0 {
                self.problems
                    .push(format!("no match names `{}`, which --rename gives a new name", clean(old)));
            }
        }
        if !self.problems.is_empty() {
            return Err(refused(self.problems, self.unlisted));
        }
        let mut matches = self.matches;
        matches.has_time = self.without_time.count == 0;
        if self.without_id.count > 0 {
            for (place, row) in matches.rows.iter_mut().enumerate() {
                row.id = format!("{:010}", place + 1).into();
            }
        }
        if !matches.has_time {
            number(&mut matches.rows);
        }
        Ok(matches)
    }

    fn nobody_at_all(&self) -> Failure {
        let message = "no row says who met whom, expected `first` and `second`, or `winner` and `loser`";
        let failure = Failure::new(message).help(format!("the columns are {}", self.there_are()));
        match self.seen.iter().any(|name| name.contains([';', '\t', '|'])) {
            true => failure.help("save the table as CSV, with commas between the columns"),
            false => failure.help("say which is which: --columns first=COLUMN,second=COLUMN,result=COLUMN"),
        }
    }

    /// The names that rows have.
    fn there_are(&self) -> String {
        let names: Vec<String> =
            self.seen.iter().take(LISTED).map(|name| format!("`{}`", clean(name))).collect();
        let more = self.seen.len().saturating_sub(names.len());
        if more > 0 { format!("{} and {more} more", names.join(", ")) } else { list(&names) }
    }
}

/// Gives rows the places of their ids as times, so that the order of the rows is that of time and a repeated row is one
/// match.
fn number(rows: &mut [Row]) {
    let mut places: BTreeMap<&str, i64> = BTreeMap::new();
    for row in rows {
        let next = places.len() as i64;
        row.at_milliseconds = *places.entry(&row.id).or_insert(next);
    }
}
