//! An answer as one document: headings, notes with a tone, tables with typed cells, figures, test cases and findings.
//!
//! Each answer becomes one [`Document`], in one file of this folder, whatever the format; [`crate::write`] has the
//! writers, which decide nothing. A column is added where its document is made, and every writer has it.

mod behind;
pub mod brief;
mod card;
mod check;
mod comparison;
mod cost;
mod diff;
mod drawn;
mod explanation;
pub mod figure;
mod grading;
mod grid;
mod judgement;
mod judges;
mod leaderboard;
mod links;
mod push;
mod rating;
mod rescore;
pub mod sample;
mod standing;
mod stress;
mod tasks;
mod terms;
mod tiers;
mod trend;
mod tune;
mod verification;
pub mod what_if;

pub use behind::{behind, formulas};
pub use card::card;
pub use check::{check, quarantine};
pub use comparison::{View as ComparisonView, comparison, duel};
pub use diff::diff;
pub use explanation::{Proof, account, breakdown, explanation};
pub use grading::{evidence, grading};
pub use judgement::{identity as judge_identity, judgement};
pub use judges::judges;
pub use leaderboard::{Failing, View as LeaderboardView, cards, has_intervals, items, leaderboard};
pub use push::pushed;
pub use rating::ratings;
pub use rescore::rescored;

pub use grid::grid;
pub use standing::{drawn, in_full, standing, standings, tasks};
pub use stress::stress;
pub use tasks::of_tasks;
pub use trend::{COURSES, trend};
pub use tune::tune;
pub use verification::{Verified, verification};

use crate::answers::basis::Basis;
use crate::estimate::{Writing, whole_percent};
use crate::headline::Headline;
use crate::text::{Tone, count};
use figure::Figure;

/// An answer as a document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// The question, in a word: the title of what its notes become as annotations.
    pub name: &'static str,
    /// The title, short.
    pub title: String,
    /// The finding: the heading of a page, which has the title without one.
    pub headline: Headline,
    /// Sentences below it: the items, the method.
    pub lines: Vec<String>,
    /// Inputs that make the answer again: scorecard, digest, level, seed.
    pub about: Vec<(String, String)>,
    /// The command that makes the answer again; empty if it is not known.
    pub command: String,
    /// Headings, notes, tables and figures, in reading order. The first table is the one that CSV and JSON lines have.
    pub parts: Vec<Part>,
    /// The test cases.
    pub cases: Vec<Case>,
    /// The findings, the gravest first.
    pub findings: Vec<Finding>,
}

/// A part of a [`Document`].
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// A heading.
    Heading(String),
    /// A sentence.
    Note(Tone, String),
    /// Rows and columns.
    Table(Table),
    /// Names and what they are, below each other.
    List(Vec<Entry>),
    /// A drawing: a page has it.
    Figure(Box<Figure>),
}

/// An entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The number of entries that it is in.
    pub depth: usize,
    /// The name; empty without one.
    pub name: String,
    /// Text beside it.
    pub text: String,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The caption.
    pub caption: String,
    /// The tone of the caption on a screen.
    pub tone: Tone,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
    /// True if a screen has its first rows alone where it is asked to be short.
    pub is_list: bool,
    /// True if a screen leaves it out.
    pub is_detail: bool,
    /// True if the title of the document says what its caption does, so that a screen leaves that out.
    pub is_titled: bool,
    /// True if there are more rows than these, so that a page neither sorts nor searches them.
    pub is_part: bool,
    /// True if a figure has what it says, so that a page leaves it out.
    pub is_drawn: bool,
}

/// A row of a [`Table`].
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// A cell for each column.
    pub cells: Vec<Cell>,
    /// True if a screen leaves it out.
    pub is_detail: bool,
    /// The group; neighbours of one group belong together, such as tied subjects.
    pub group: Option<u32>,
    /// True if it cannot be the first: a page draws it in grey.
    pub is_behind: bool,
    /// Its place in the answer, a JSON pointer; empty if not told.
    pub pointer: String,
    /// Sentences on it.
    pub notes: Vec<(Tone, String)>,
}

/// A column of a [`Table`].
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name for programs.
    pub key: String,
    /// The name for people.
    pub label: String,
    /// The kind of its cells.
    pub kind: Kind,
    /// The readers that see it.
    pub readers: Readers,
    /// The places of its number and of both ends below that of the row; empty if not told.
    pub pointers: [String; 2],
    /// The address of a page with the rows in the order of this column, on pages of a server; empty without one.
    pub address: String,
    /// The meaning, for readers who meet the term for the first time.
    pub term: Option<&'static str>,
}

/// The kind of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// The topic of the row, in one column of a table.
    Name,
    /// Words, to the left.
    Text,
    /// Letters of ties: rows that share one are joined by a bracket on a page.
    Ties,
    /// The places of evidence. Of one that is too long a screen has the end.
    Place,
    /// Numbers, to the right.
    Number,
    /// Ranks.
    Rank,
    /// The numbers by which the rows are ordered, emphasised.
    Leading,
    /// Shares of a whole, which a page draws.
    Share,
    /// Values from 0 to 1, on a ground that is darker the higher they are: [`Cell::Interval`] or [`Cell::Share`].
    Shade,
    /// Numbers, drawn from 0 to the best one: [`Cell::Interval`] without ends, or [`Cell::Total`].
    Bar(u32),
    /// Estimates with their ends on one axis, drawn: for programs three columns, of the estimate and of both ends.
    Interval {
        /// The words at both ends of the axis if it is one of differences: 0 is in its middle, as a line through all rows.
        sides: Option<(&'static str, &'static str)>,
        /// The confidence.
        level: f64,
    },
    /// Values over time: a page draws them.
    Trend {
        /// Both ends of the axis.
        range: (f64, f64),
        /// Decimals of the numbers.
        decimals: usize,
    },
    /// Totals of a sum, each drawn from the one before it, on an axis from 0 to the best score.
    Total(u32),
    /// Sentences in the last column, which may take several lines of a screen.
    Sentence,
    /// Sentences on a row: a screen has them below it.
    Notes,
}

/// The readers that see a column; a program sees all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Readers {
    /// Programs: CSV and JSON lines.
    Programs,
    /// Readers of Markdown and pages too.
    Documents,
    /// Those of a screen too.
    All,
}

/// The content of a row under a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// No value. Never a 0, never an empty text.
    Absent,
    /// No value, with the reason in a word or two.
    Without(String),
    /// Text with a link, on pages of a server.
    Link(String, String),
    /// Values, oldest first.
    Trend(Vec<f64>),
    /// A text.
    Text(String),
    /// A word as programs read it, and as people do.
    Word(&'static str, &'static str),
    /// A word as programs read it, and as people do, in the colour of its tone.
    Mark(Tone, &'static str, &'static str),
    /// The places of evidence, the most telling first.
    Places(Vec<String>),
    /// A number in full, and as people read it.
    Number(f64, String),
    /// A whole number.
    Count(u64),
    /// Yes or no.
    Flag(bool),
    /// A share of a whole, 0 to 1.
    Share(f64),
    /// An estimate with its ends.
    Interval(Span),
    /// The total of a sum after this row.
    Total(Total),
    /// Sentences.
    Notes(Vec<(Tone, String)>),
}

/// The total of a sum after one of its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Total {
    /// The total before.
    pub before: f64,
    /// The total after.
    pub after: f64,
    /// True if the part changes the sum of the others: a mean, a rule, a gate.
    pub is_step: bool,
    /// The total after, as people read it.
    pub shown: String,
}

/// An estimate and its ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The estimate.
    pub point: f64,
    /// The lower and the upper end.
    pub ends: Option<(f64, f64)>,
    /// The form in which people read them.
    pub writing: Writing,
    /// True if they are differences, which have a sign.
    pub is_signed: bool,
}

impl Span {
    /// Returns a number as people read it.
    pub fn number(&self, number: f64) -> String {
        let share = number / self.writing.value(1.0);
        if self.is_signed { self.writing.signed(share) } else { self.writing.number(share) }
    }

    /// Returns an end as people read it.
    pub fn end(&self, end: f64) -> String {
        let share = end / self.writing.value(1.0);
        if self.is_signed { self.writing.signed_end(share) } else { self.writing.number(share) }
    }
}

/// A test case.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The group of cases, such as the subject.
    pub class: String,
    /// The name.
    pub name: String,
    /// The result.
    pub result: CaseResult,
    /// The time that it took, if known.
    pub seconds: Option<f64>,
    /// The file and line of its evidence.
    pub place: Option<Place>,
    /// Lines about it: the score, the interval.
    pub output: Vec<String>,
}

/// The result of a test case; all but a pass say why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseResult {
    /// It passed.
    Passed,
    /// It failed.
    Failed(String),
    /// There is no verdict.
    Error(String),
    /// It does not apply.
    Skipped(String),
}

/// A file, and a line in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: Option<u64>,
}

/// A sentence to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its weight.
    pub level: Level,
    /// A title of a few words.
    pub title: String,
    /// The sentence.
    pub text: String,
    /// The place it is about.
    pub place: Option<Place>,
}

/// The weight of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A gate failed.
    Error,
    /// It may change what the answer means.
    Warning,
    /// It explains the answer.
    Notice,
}

impl Column {
    /// Returns a column of this kind.
    pub fn new(key: &str, kind: Kind) -> Self {
        Self {
            key: key.to_owned(),
            label: key.replace('_', " "),
            kind,
            readers: Readers::All,
            pointers: Default::default(),
            address: String::new(),
            term: None,
        }
    }

    /// Returns the column that names the rows.
    pub fn name(key: &str) -> Self {
        Self::new(key, Kind::Name)
    }

    /// Returns a column of text.
    pub fn text(key: &str) -> Self {
        Self::new(key, Kind::Text)
    }

    /// Returns a column of numbers.
    pub fn number(key: &str) -> Self {
        Self::new(key, Kind::Number)
    }

    /// Returns the column for programs alone.
    #[must_use]
    pub fn hidden(self) -> Self {
        Self { readers: Readers::Programs, ..self }
    }

    /// Returns the column for all but a screen, which has little room.
    #[must_use]
    pub fn wide(self) -> Self {
        Self { readers: Readers::Documents, ..self }
    }

    /// Returns the column, for programs alone unless `is_shown`.
    #[must_use]
    pub fn shown_if(self, is_shown: bool) -> Self {
        if is_shown { self } else { self.hidden() }
    }

    /// Returns the column with another name for people.
    #[must_use]
    pub fn labelled(self, label: &str) -> Self {
        Self { label: label.to_owned(), ..self }
    }

    /// Returns the column with the place of its number in the answer, and of the ends.
    #[must_use]
    pub fn at(self, number: &str, ends: &str) -> Self {
        Self { pointers: [number, ends].map(str::to_owned), ..self }
    }

    /// Returns whether its cells are numbers, which stand to the right.
    pub fn is_number(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Name | Kind::Text | Kind::Ties | Kind::Place | Kind::Sentence | Kind::Notes
        )
    }
}

impl Cell {
    /// Returns a text, or no value.
    pub fn of_text(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::Absent, |text| Self::Text(text.into()))
    }

    /// Returns a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns a number as `shown` writes it, or no value.
    pub fn of_number(number: Option<f64>, shown: impl Fn(f64) -> String) -> Self {
        number.filter(|it| it.is_finite()).map_or(Self::Absent, |number| Self::Number(number, shown(number)))
    }

    /// Returns a share, or no value.
    pub fn of_share(share: Option<f64>) -> Self {
        share.filter(|it| it.is_finite()).map_or(Self::Absent, Self::Share)
    }

    /// Returns an estimate on a scale with its ends, or no value.
    pub fn interval(point: Option<f64>, ends: Option<(f64, f64)>, writing: Writing, is_signed: bool) -> Self {
        let Some(point) = point.filter(|it| it.is_finite()) else { return Self::Absent };
        let ends = ends.filter(|(low, high)| low.is_finite() && high.is_finite());
        Self::Interval(Span { point, ends, writing, is_signed })
    }

    /// Returns the value in full: a number with all its digits; none without a value.
    pub fn full(&self) -> Option<String> {
        match self {
            Self::Absent | Self::Without(_) | Self::Trend(_) => None,
            Self::Text(text) | Self::Link(text, _) => Some(text.clone()),
            Self::Word(word, _) | Self::Mark(_, word, _) => Some((*word).to_owned()),
            Self::Places(places) => Some(places.join(", ")),
            Self::Number(number, _) | Self::Share(number) => Some(number.to_string()),
            Self::Interval(span) => Some(span.point.to_string()),
            Self::Count(count) => Some(count.to_string()),
            Self::Flag(flag) => Some(flag.to_string()),
            Self::Total(total) => Some(total.after.to_string()),
            Self::Notes(notes) => (!notes.is_empty()).then(|| joined(notes)),
        }
    }

    /// Returns the value as people read it.
    pub fn shown(&self) -> String {
        match self {
            Self::Absent => String::from("–"),
            Self::Trend(values) => crate::text::spark(values),
            Self::Text(text) | Self::Link(text, _) | Self::Without(text) => text.clone(),
            Self::Number(_, shown) => shown.clone(),
            Self::Share(share) => whole_percent(*share),
            Self::Word(_, word) | Self::Mark(_, _, word) => (*word).to_owned(),
            Self::Places(places) => match places.len() {
                0..=3 => places.join(", "),
                all => format!("{} and {} more", places.get(..3).unwrap_or_default().join(", "), all - 3),
            },
            Self::Interval(span) => span.number(span.point),
            Self::Count(count) => count.to_string(),
            Self::Flag(true) => String::from("yes"),
            Self::Flag(false) => String::from("no"),
            Self::Total(total) => total.shown.clone(),
            Self::Notes(notes) if notes.is_empty() => Self::Absent.shown(),
            Self::Notes(notes) => joined(notes),
        }
    }
}

fn joined(notes: &[(Tone, String)]) -> String {
    let notes: Vec<&str> = notes.iter().map(|(_, note)| note.as_str()).collect();
    notes.join("; ")
}

impl From<Vec<Cell>> for Row {
    fn from(cells: Vec<Cell>) -> Self {
        Self {
            cells,
            is_detail: false,
            group: None,
            is_behind: false,
            pointer: String::new(),
            notes: Vec::new(),
        }
    }
}

impl Table {
    /// Returns a table.
    pub fn new(caption: impl Into<String>, columns: Vec<Column>, rows: Vec<Row>) -> Self {
        Self {
            caption: caption.into(),
            tone: Tone::Plain,
            columns,
            rows,
            is_list: false,
            is_detail: false,
            is_titled: false,
            is_part: false,
            is_drawn: false,
        }
    }

    /// Puts the rows into the order of a column: numbers as such, rows without a value last.
    pub fn sort(&mut self, at: usize, is_up: bool) {
        let value = |row: &Row| {
            let full = row.cells.get(at).and_then(Cell::full)?;
            Some((full.parse::<f64>().ok(), full))
        };
        self.rows.sort_by(|one, other| {
            let order = match (value(one), value(other)) {
                (Some((Some(one), _)), Some((Some(other), _))) => one.total_cmp(&other),
                (Some((_, one)), Some((_, other))) => one.cmp(&other),
                (one, other) => return other.is_some().cmp(&one.is_some()),
            };
            if is_up { order } else { order.reverse() }
        });
    }

    /// Returns the notes on its rows, each with the name of its row.
    pub fn notes(&self) -> impl Iterator<Item = (Tone, String, &str)> {
        let at = self.columns.iter().position(|column| column.kind == Kind::Name);
        self.rows.iter().flat_map(move |row| {
            let name = at.and_then(|at| row.cells.get(at)).map_or_else(String::new, Cell::shown);
            row.notes.iter().map(move |(tone, text)| (*tone, name.clone(), text.as_str()))
        })
    }

    /// Returns the table with plain columns alone, as programs read it: an estimate is three of them.
    pub fn flat(&self) -> Self {
        let is_interval = |column: &Column| matches!(column.kind, Kind::Interval { .. });
        let columns = self.columns.iter().flat_map(|column| {
            let ends = ["low", "high"].map(|end| {
                // Where there are several intervals, each end says whose it is.
                let several = self.columns.iter().filter(|it| is_interval(it)).count() > 1;
                let key = if several { format!("{}_{end}", column.key) } else { end.to_owned() };
                Column { readers: column.readers, ..Column::number(&key) }
            });
            let own = match column.kind {
                Kind::Interval { .. } => Column { kind: Kind::Number, ..column.clone() },
                _ => column.clone(),
            };
            std::iter::once(own).chain(is_interval(column).then_some(ends).into_iter().flatten())
        });
        let row = |row: &Row| {
            let cells =
                self.columns.iter().zip(&row.cells).flat_map(|(column, cell)| match (column.kind, cell) {
                    (Kind::Interval { .. }, Cell::Interval(span)) => {
                        let number = |it: f64| Cell::Number(it, span.number(it));
                        let end = |end: Option<f64>| end.map_or(Cell::Absent, number);
                        vec![number(span.point), end(span.ends.map(|it| it.0)), end(span.ends.map(|it| it.1))]
                    }
                    (Kind::Interval { .. }, _) => vec![Cell::Absent, Cell::Absent, Cell::Absent],
                    (_, Cell::Total(total)) => vec![Cell::Number(total.after, total.shown.clone())],
                    (_, Cell::Notes(_)) => vec![Cell::of_text(cell.full())],
                    (_, cell) => vec![cell.clone()],
                });
            Row { cells: cells.collect(), ..row.clone() }
        };
        Self { columns: columns.collect(), rows: self.rows.iter().map(row).collect(), ..self.clone() }
    }
}

impl Finding {
    /// Returns a finding without a place.
    pub fn new(level: Level, title: &str, text: impl Into<String>) -> Self {
        Self { level, title: title.to_owned(), text: text.into(), place: None }
    }
}

impl Document {
    /// Returns the tables.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.parts.iter().filter_map(|part| match part {
            Part::Table(table) => Some(table),
            _ => None,
        })
    }

    /// Returns the table that CSV and JSON lines have, with plain columns: the first, with the rows of those that have the
    /// same columns. An empty one without a table.
    pub fn main(&self) -> Table {
        let mut tables = self.tables();
        let Some(first) = tables.next() else { return Table::new("", Vec::new(), Vec::new()) };
        let mut main = first.flat();
        // Of several leaderboards, all.
        let is_same =
            |it: &&Table| it.columns.iter().map(|it| &it.key).eq(first.columns.iter().map(|it| &it.key));
        main.rows.extend(tables.filter(is_same).flat_map(|it| it.flat().rows));
        main
    }

    /// Joins documents that answer one question about several files, each under its title.
    pub fn joined(mut all: Vec<Self>) -> Self {
        if all.len() == 1 {
            return all.remove(0);
        }
        let name = all.first().map_or("", |it| it.name);
        let mut joined = Self { name, title: count(all.len(), "file"), ..Self::default() };
        for document in all {
            joined.parts.push(Part::Heading(document.title));
            joined.note(Tone::Plain, document.lines);
            joined.parts.extend(document.parts);
            joined.about.extend(document.about);
            joined.cases.extend(document.cases);
            joined.findings.extend(document.findings);
        }
        joined
    }

    /// Returns the findings and the notes, the gravest first.
    pub fn all_findings(&self) -> Vec<Finding> {
        let notes = self.parts.iter().filter_map(|part| match part {
            Part::Note(Tone::Plain | Tone::Good, text) => Some((Level::Notice, text)),
            Part::Note(Tone::Care, text) => Some((Level::Warning, text)),
            Part::Note(Tone::Bad, text) => Some((Level::Error, text)),
            _ => None,
        });
        let notes = notes.map(|(level, text)| Finding::new(level, self.name, text.clone()));
        let of_rows = self.tables().flat_map(Table::notes).map(|(tone, name, text)| {
            let level = if matches!(tone, Tone::Plain | Tone::Good) { Level::Notice } else { Level::Warning };
            Finding::new(level, self.name, format!("{name}: {text}"))
        });
        let mut all: Vec<Finding> = self.findings.iter().cloned().chain(notes).chain(of_rows).collect();
        all.sort_by_key(|finding| finding.level);
        all
    }

    /// Adds a list under its heading, if there is an entry.
    pub fn list(&mut self, heading: &str, entries: impl IntoIterator<Item = Entry>) {
        let entries: Vec<Entry> = entries.into_iter().collect();
        if !entries.is_empty() {
            self.parts.extend([Part::Heading(heading.to_owned()), Part::List(entries)]);
        }
    }

    /// Adds notes of one tone.
    pub fn note(&mut self, tone: Tone, lines: impl IntoIterator<Item = String>) {
        self.parts.extend(lines.into_iter().map(|line| Part::Note(tone, line)));
    }
}

/// Returns what it takes to make an answer again.
pub fn about(basis: &Basis) -> Vec<(String, String)> {
    let cards = basis.scorecards.iter();
    let mut about: Vec<(String, String)> =
        cards.map(|card| (format!("scorecard {}", card.name()), card.digest.to_string())).collect();
    let mut row = |label: &str, value: String| about.push((label.to_owned(), value));
    if let Some(digest) = &basis.items.digest {
        row("items", digest.clone());
    }
    row("level", basis.level.to_string());
    row("engine", basis.engine.clone());
    about
}
