//! An answer as rows, test cases and findings: what CSV, Markdown, JUnit and the annotations of GitHub are written
//! from.
//!
//! A verb builds one [`Report`] from its answer, whatever the format. The files here write it down and compute nothing:
//! `csv`, `json`, `markdown`, `junit`, `github`, `badge`. Names come from outside and may be hostile: each file says
//! how it writes them.

pub mod badge;
pub mod brief;
mod check;
mod comparison;
pub mod csv;
pub mod github;
pub mod json;
pub mod junit;
mod leaderboard;
pub mod markdown;
mod one;
mod standing;

pub use check::check;
pub use comparison::{comparison, comparisons};
pub use leaderboard::{by, cards, has_intervals, items, leaderboard, resamples};
pub use one::{explanation, stress};
pub use standing::{standings, tasks};

/// An answer for programs and documents.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// The title, short.
    pub title: String,
    /// Sentences below it: the items, the method, what is odd about them.
    pub lines: Vec<String>,
    /// The tables. The first is the one that CSV and JSON lines have.
    pub sheets: Vec<Sheet>,
    /// The test cases.
    pub cases: Vec<Case>,
    /// The findings, the gravest first.
    pub findings: Vec<Finding>,
}

/// A table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sheet {
    /// The caption.
    pub caption: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, a value for each column.
    pub rows: Vec<Vec<Value>>,
}

/// A column of a [`Sheet`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The name for programs.
    pub key: String,
    /// The name for people.
    pub label: String,
    /// True if it is of numbers, which stand to the right.
    pub is_number: bool,
    /// True if it is for programs alone: Markdown leaves it out.
    pub is_hidden: bool,
}

/// A value in a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// No value. Never a 0, never an empty text.
    Absent,
    /// A text.
    Text(String),
    /// A number in full, and as people read it.
    Number(f64, String),
    /// A whole number.
    Count(u64),
    /// Yes or no.
    Flag(bool),
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
    /// Returns a column of text.
    #[must_use]
    pub fn text(key: &str) -> Self {
        Self { key: key.to_owned(), label: key.replace('_', " "), is_number: false, is_hidden: false }
    }

    /// Returns a column of numbers.
    #[must_use]
    pub fn number(key: &str) -> Self {
        Self { is_number: true, ..Self::text(key) }
    }

    /// Returns the column for programs alone.
    #[must_use]
    pub fn hidden(self) -> Self {
        Self { is_hidden: true, ..self }
    }

    /// Returns the column with another name for people.
    #[must_use]
    pub fn labelled(self, label: &str) -> Self {
        Self { label: label.to_owned(), ..self }
    }
}

impl Value {
    /// Returns a text, or no value.
    #[must_use]
    pub fn of_text(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::Absent, |text| Self::Text(text.into()))
    }

    /// Returns a number as `shown` writes it, or no value.
    #[must_use]
    pub fn of_number(number: Option<f64>, shown: impl Fn(f64) -> String) -> Self {
        number.filter(|it| it.is_finite()).map_or(Self::Absent, |number| Self::Number(number, shown(number)))
    }

    /// Returns the value in full: a number with all its digits; none without a value.
    #[must_use]
    pub fn full(&self) -> Option<String> {
        match self {
            Self::Absent => None,
            Self::Text(text) => Some(text.clone()),
            Self::Number(number, _) => Some(number.to_string()),
            Self::Count(count) => Some(count.to_string()),
            Self::Flag(flag) => Some(flag.to_string()),
        }
    }

    /// Returns the value as people read it.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Absent => String::from("–"),
            Self::Text(text) => text.clone(),
            Self::Number(_, shown) => shown.clone(),
            Self::Count(count) => count.to_string(),
            Self::Flag(true) => String::from("yes"),
            Self::Flag(false) => String::from("no"),
        }
    }
}

impl Finding {
    /// Returns a finding without a place.
    #[must_use]
    pub fn new(level: Level, title: &str, text: impl Into<String>) -> Self {
        Self { level, title: title.to_owned(), text: text.into(), place: None }
    }
}

impl Report {
    /// Returns the table that CSV and JSON lines have; an empty one without a table.
    #[must_use]
    pub fn main(&self) -> Sheet {
        self.sheets.first().cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
