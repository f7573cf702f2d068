//! Reasons why something could not be done, for the person who must act.

use std::{fmt, io};

use karat_core::diagnostic::{Diagnostic, Severity};
use karat_core::evaluate::FactError;
use karat_evidence::Problems;

use crate::text::clean;

karat_core::words! {
    /// The sort of an [`Error`]: stable, and what a program branches on.
    #[non_exhaustive]
    pub enum Code {
        /// No released scorecard has this name or version.
        UnknownScorecard = "unknown-scorecard",
        /// The text of a scorecard has errors; each is a [`Problem`].
        ScorecardRefused = "scorecard-refused",
        /// The scorecard is a family, which scores nothing itself: its challenges do.
        Family = "family",
        /// The evidence is of another kind than the scorecard reads.
        OtherKind = "other-kind",
        /// An item of evidence is refused; each reason is a [`Problem`].
        EvidenceRefused = "evidence-refused",
        /// An item of evidence names no subject.
        NoSubject = "no-subject",
        /// The scorecard takes no override, or this one is not well formed.
        OverrideRefused = "override-refused",
        /// The record is not well formed, or is not what its own facts give.
        RecordUnsound = "record-unsound",
        /// The record is of a version of the schema that this engine does not read.
        UnknownSchema = "unknown-schema",
        /// The scorecard that the record names is not at hand.
        MissingScorecard = "missing-scorecard",
        /// The scorecard is not the one that the record was made with.
        OtherScorecard = "other-scorecard",
        /// An option has a value that cannot be used with this scorecard or these items.
        InvalidOption = "invalid-option",
        /// There is nothing to answer with: no item, or none that meets the conditions.
        NoItems = "no-items",
        /// There are items, and no score among them that counts.
        NothingCounts = "nothing-counts",
        /// A file could not be read.
        Unreadable = "unreadable",
        /// A defect of karat itself.
        Internal = "internal",
    }
}

/// One of several things that are wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The part that is meant: a JSON path of an item such as `$.steps[3].type`, or a fact such as `facts.cost_usd`. Empty
    /// where the line says it all.
    pub path: String,
    /// The finding: what was found, what was expected, and a hint.
    pub detail: String,
    /// The line in the file, from 1, where it is known.
    pub line: Option<u64>,
    /// The column in characters, from 1, where it is known.
    pub column: Option<u64>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.detail)?;
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, " (line {line}, column {column})"),
            (Some(line), None) => write!(f, " (line {line})"),
            (None, _) => Ok(()),
        }
    }
}

/// The name of standard input in [`Place::file`].
pub(crate) const STANDARD_INPUT: &str = "standard input";

/// The location of an item in its input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, or `standard input`.
    pub file: String,
    /// The first line of the item, from 1, where files have several items.
    pub line: Option<u64>,
    /// The number of the item among those that begin on this line, from 1: an array may have all of them on one.
    pub nth: u64,
    /// True if the item is a row of a table, whose columns differ from the members of the JSON that was read.
    pub is_row: bool,
}

impl Place {
    /// Returns the id of an item that stands here and has none: `runs.csv:17`; `-:17` for standard input; `runs.json:1#2` for
    /// the second item of a line.
    pub fn name(&self) -> String {
        let mut name = String::new();
        self.write_name(&mut name);
        name
    }

    /// Appends that id.
    pub(crate) fn write_name(&self, out: &mut String) {
        out.push_str(if self.file == STANDARD_INPUT { "-" } else { &self.file });
        // Writing to a string cannot fail.
        let _ = self.write_line(out);
    }

    fn write_line(&self, out: &mut impl fmt::Write) -> fmt::Result {
        match self.line {
            Some(line) if self.nth > 1 => write!(out, ":{line}#{}", self.nth),
            Some(line) => write!(out, ":{line}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        self.write_line(f)
    }
}

/// A reason why something could not be done: where, what is wrong (all of it at once), and what to do about it.
///
/// ```
/// use karat::engine::Engine;
/// use karat::error::Code;
///
/// let mut engine = Engine::open("workflow")?;
/// let error = engine.score(br#"{"run_id": 7, "miner_uid": true}"#).unwrap_err();
/// assert_eq!(error.code(), Code::OtherKind);
/// assert!(error.problems().iter().any(|problem| problem.path == "$.miner_uid"));
/// # Ok::<(), karat::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Parts>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Parts {
    code: Code,
    place: Option<Place>,
    message: String,
    problems: Vec<Problem>,
    /// Problems beyond those listed.
    unlisted: usize,
    hints: Vec<String>,
    /// Of an error about several items that of the first.
    first: Option<Error>,
}

impl Error {
    /// Creates an error from one sentence.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let (message, problems, hints) = (message.into(), Vec::new(), Vec::new());
        Self(Box::new(Parts { code, place: None, message, problems, unlisted: 0, hints, first: None }))
    }

    /// Creates the error that a file cannot be opened or read.
    pub fn reading(path: &str, error: &io::Error) -> Self {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => "check the spelling; paths are relative to the current folder",
            io::ErrorKind::IsADirectory => "name the files in it, or all of them with `*`",
            io::ErrorKind::PermissionDenied => "the current user may not read it",
            _ => "",
        };
        let error = Self::new(Code::Unreadable, format!("cannot read `{}`: {}", clean(path), reason(error)));
        if hint.is_empty() { error } else { error.hint(hint) }
    }

    /// Adds a line on what to do about it.
    #[must_use]
    pub fn hint(mut self, line: impl Into<String>) -> Self {
        self.0.hints.push(line.into());
        self
    }

    /// Adds several hints.
    #[must_use]
    pub(crate) fn hints_from<T: Into<String>>(self, lines: impl IntoIterator<Item = T>) -> Self {
        lines.into_iter().fold(self, Self::hint)
    }

    /// Sets the location of the item. Lines of problems, which are counted within the item, become lines of the file.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        for problem in &mut self.0.problems {
            let before = place.line.unwrap_or(1).saturating_sub(1);
            problem.line = problem.line.map(|line| line.saturating_add(before));
            if place.is_row {
                problem.column = None;
            }
        }
        self.0.place = Some(place);
        self
    }

    /// Collects what is wrong with an item of evidence, or with the challenge that it is a match of.
    pub fn refused(problems: &Problems) -> Self {
        let (code, what) = match problems.iter().any(karat_evidence::Problem::is_of_challenge) {
            true => (Code::ScorecardRefused, "the challenge"),
            false => (Code::EvidenceRefused, "the item"),
        };
        Self::of(code, what, problems)
    }

    /// Collects what is wrong with the files of a challenge.
    pub(crate) fn broken_challenge(problems: &Problems) -> Self {
        Self::of(Code::ScorecardRefused, "the challenge", problems)
    }

    fn of(code: Code, what: &str, problems: &Problems) -> Self {
        let list = problems.iter().map(|problem| {
            let hint = if problem.hint.is_empty() { String::new() } else { format!("; {}", problem.hint) };
            Problem {
                path: problem.path.clone(),
                detail: format!("found {}, expected {}{hint}", problem.found, problem.expected),
                line: problem.line,
                column: problem.column,
            }
        });
        Self::listing(code, what, list.collect(), problems.len())
    }

    /// Collects the facts that break their declarations.
    pub(crate) fn broken_facts(errors: &[FactError]) -> Self {
        let list = errors.iter().map(|error| Problem {
            path: format!("facts.{}", error.fact),
            detail: format!("found {}, expected {}", error.found, error.expected),
            line: None,
            column: None,
        });
        Self::listing(Code::EvidenceRefused, "the item", list.collect(), errors.len())
    }

    /// Collects what is wrong with a row of a table, by column.
    pub fn row(problems: Vec<Problem>) -> Self {
        let count = problems.len();
        Self::listing(Code::EvidenceRefused, "the item", problems, count)
    }

    /// Collects what is wrong with the columns of a table.
    pub(crate) fn table(problems: Vec<Problem>) -> Self {
        let count = problems.len();
        Self::listing(Code::EvidenceRefused, "the table", problems, count)
    }

    /// Collects the errors of a scorecard called `name` with this `text`.
    pub(crate) fn refused_card(name: &str, text: &str, diagnostics: &[Diagnostic]) -> Self {
        Self::refused_text(Code::ScorecardRefused, &format!("the scorecard `{name}`"), text, diagnostics)
    }

    /// Collects the errors of a project file called `name` with this `text`.
    pub(crate) fn refused_project(name: &str, text: &str, diagnostics: &[Diagnostic]) -> Self {
        Self::refused_text(Code::InvalidOption, &format!("the project file `{name}`"), text, diagnostics)
    }

    fn refused_text(code: Code, what: &str, text: &str, diagnostics: &[Diagnostic]) -> Self {
        let errors = diagnostics.iter().filter(|found| found.severity == Severity::Error);
        let list: Vec<Problem> = errors
            .map(|found| {
                let before = text.get(..found.span.start).unwrap_or_default();
                let line = before.matches('\n').count() as u64 + 1;
                let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u64 + 1;
                let hint = if found.help.is_empty() { String::new() } else { format!("; {}", found.help) };
                let detail = format!("{}{hint} [{}]", found.message, found.code.as_str());
                Problem { path: String::new(), detail, line: Some(line), column: Some(column) }
            })
            .collect();
        let count = list.len();
        Self::listing(code, what, list, count)
    }

    fn listing(code: Code, what: &str, problems: Vec<Problem>, count: usize) -> Self {
        let unlisted = count - problems.len();
        let message = match (count, unlisted) {
            (1, _) => format!("{what} has a problem"),
            (_, 0) => format!("{what} has {count} problems"),
            _ => format!("{what} has {count} problems, of which the first {} are listed", problems.len()),
        };
        let mut error = Self::new(code, message);
        (error.0.problems, error.0.unlisted) = (problems, unlisted);
        error
    }

    /// Sets the error of the first of the items that this is about.
    pub(crate) fn since(mut self, first: Option<Self>) -> Self {
        self.0.first = first;
        self
    }

    /// Replaces the code.
    #[must_use]
    pub(crate) fn with_code(mut self, code: Code) -> Self {
        self.0.code = code;
        self
    }

    /// The sort of error.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The location of the item, if it is about one whose location is known.
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }

    /// The sentence without place, problems and hints.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Of an error about items of a list the error of the first that is refused.
    pub fn first(&self) -> Option<&Self> {
        self.0.first.as_ref()
    }

    /// Everything that is wrong, in the order of the text; empty where the message says it all.
    pub fn problems(&self) -> &[Problem] {
        &self.0.problems
    }

    /// The number of problems beyond those listed.
    pub fn unlisted(&self) -> usize {
        self.0.unlisted
    }

    /// Returns what to do about it, a line each.
    pub fn hints(&self) -> &[String] {
        &self.0.hints
    }

    /// The place, the message and the problems, without the hints. The first line is a whole sentence.
    pub fn summary(&self) -> String {
        let Parts { place, message, problems, unlisted, .. } = &*self.0;
        let mut text = place.as_ref().map_or_else(String::new, |place| format!("{place}: "));
        match (problems.as_slice(), unlisted) {
            ([], _) => text.push_str(message),
            ([only], 0) => text.push_str(&only.to_string()),
            (several, unlisted) => {
                text.push_str(&format!("{} problems", several.len() + unlisted));
                several.iter().for_each(|problem| text.push_str(&format!("\n  {problem}")));
                if *unlisted > 0 {
                    text.push_str(&format!("\n  and {unlisted} more"));
                }
            }
        }
        text
    }
}

/// Returns the reason in our words, or in those of the operating system.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => String::from("there is no such file"),
        io::ErrorKind::IsADirectory => String::from("it is a folder"),
        io::ErrorKind::PermissionDenied => String::from("permission denied"),
        io::ErrorKind::InvalidData => String::from("it is not UTF-8 text"),
        _ => error.to_string(),
    }
}

/// The summary, then each hint on a line.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary())?;
        self.0.hints.iter().try_for_each(|hint| write!(f, "\n  {hint}"))
    }
}

impl std::error::Error for Error {}
