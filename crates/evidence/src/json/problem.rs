//! Problems of evidence items, for the person who must correct them.

use std::error::Error;
use std::fmt;

/// One problem of an item: where it is, what was found, what was expected, a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// JSON path of the value, such as `$.steps[3].type`.
    pub path: String,
    /// The value found.
    pub found: String,
    /// The value expected.
    pub expected: String,
    /// Advice on how to correct it; empty if the expectation says everything.
    pub hint: String,
    /// Line of the value, from 1, where it is known.
    pub line: Option<u64>,
    /// Column of the value in characters, from 1, where it is known.
    pub column: Option<u64>,
}

/// The beginning of the path of a problem that is one of the challenge, and not of the item.
pub const OF_CHALLENGE: &str = "challenge";

impl Problem {
    /// Returns true if the fault is one of the challenge that the item is a match of: no answer to it can be scored.
    pub fn is_of_challenge(&self) -> bool {
        self.path.starts_with(OF_CHALLENGE)
    }

    /// Returns a problem at a JSON path, where no line of a text is known.
    pub fn at(
        path: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let (path, found, expected, hint) = (path.into(), found.into(), expected.into(), hint.into());
        Self { path, found, expected, hint, line: None, column: None }
    }

    /// Returns the same problem at a line and column.
    pub fn on(self, line: u64, column: u64) -> Self {
        Self { line: Some(line), column: Some(column), ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found {}, expected {}", self.path, self.found, self.expected)?;
        if !self.hint.is_empty() {
            write!(f, "; {}", self.hint)?;
        }
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, " (line {line}, column {column})"),
            (Some(line), None) => write!(f, " (line {line})"),
            (None, _) => Ok(()),
        }
    }
}

impl Error for Problem {}

/// Everything that is wrong with one evidence item, in the order of its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    list: Vec<Problem>,
    omitted: usize,
}

impl Problems {
    /// More than this many problems of one item are only counted, so that a hostile item cannot fill the memory.
    pub const LISTED: usize = 100;

    /// Returns the problems that are listed.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.list.iter()
    }

    /// Returns how many problems there are, the unlisted ones included.
    pub fn len(&self) -> usize {
        self.list.len() + self.omitted
    }

    /// Returns whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the same problems after `change`.
    pub fn map(mut self, change: impl Fn(&mut Problem)) -> Self {
        self.list.iter_mut().for_each(change);
        self
    }

    /// Returns the same problems at the JSON path `to` instead of `from`.
    pub fn moved(self, from: &str, to: &str) -> Self {
        self.map(|problem| {
            if let Some(rest) = problem.path.strip_prefix(from)
                && (rest.is_empty() || rest.starts_with(['.', '[']))
            {
                problem.path = format!("{to}{rest}");
            }
        })
    }

    /// Returns one problem as the only one.
    pub fn one(
        path: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Problem::at(path, found, expected, hint).into()
    }

    /// Adds a problem whose line is not known.
    pub fn refuse(
        &mut self,
        path: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.add(|| Problem::at(path, found, expected, hint));
    }

    /// Adds all of `others`.
    pub fn extend(&mut self, others: &Self) {
        others.iter().for_each(|problem| self.add(|| problem.clone()));
        self.omitted += others.omitted;
    }

    /// Puts the problems into the order of the text.
    pub fn in_order(mut self) -> Self {
        self.list.sort_by_key(|problem| (problem.line, problem.column));
        self
    }

    /// Adds a problem; `make` runs only if it will be listed.
    pub fn add(&mut self, make: impl FnOnce() -> Problem) {
        if self.list.len() < Self::LISTED {
            self.list.push(make());
        } else {
            self.omitted += 1;
        }
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self { list: vec![problem], omitted: 0 }
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.list.iter().enumerate() {
            if at > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
        }
        if self.omitted > 0 {
            write!(f, "\nand {} more", self.omitted)?;
        }
        Ok(())
    }
}

impl Error for Problems {}

/// Puts `text` in backticks, cut to a length that fits a line.
pub fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut short: String = text
        .chars()
        .take(SHOWN)
        .map(|c| if karat_core::diagnostic::steers_terminal(c) { '\u{fffd}' } else { c })
        .collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    format!("`{short}`")
}

/// Returns the known name that `name` was most likely meant to be.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Returns a hint at the known name that `name` was most likely meant to be; empty without one.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!("did you mean {}?", quoted(near)))
}

/// Returns the Levenshtein distance without regard to case.
fn edit_distance(a: &str, b: &str) -> usize {
    /// Longer names are not typing errors of ours; the bound keeps a hostile name from costing time.
    const LONGEST: usize = 80;
    let start = |name: &str| name.chars().flat_map(char::to_lowercase).take(LONGEST).collect::<Vec<_>>();
    let [a, b] = [a, b].map(start);
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (to, above) in b.iter().zip(row.iter_mut().skip(1)) {
            let here = (diagonal + usize::from(from != to)).min(left + 1).min(*above + 1);
            diagonal = *above;
            *above = here;
            left = here;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distance_is_levenshtein() {
        for (a, b, distance) in [
            ("", "", 0),
            ("kitten", "sitting", 3),
            ("speed", "speed", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("Ab", "aB", 0),
        ] {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
        }
    }

    #[test]
    fn nearest_is_close_or_nothing() {
        assert_eq!(nearest("speed_scor", ["speed_score", "precision_score"]), Some("speed_score"));
        assert_eq!(nearest("colour", ["speed_score", "precision_score"]), None);
    }

    #[test]
    fn problems_beyond_the_limit_are_counted() {
        let mut problems = Problems::default();
        for _ in 0..Problems::LISTED + 5 {
            problems.refuse("$", "x", "y", "");
        }
        assert_eq!(problems.len(), Problems::LISTED + 5);
        assert!(problems.to_string().ends_with("\nand 5 more"));
    }
}
