//! Problems with items, collected so that all are reported at once.

use std::fs::{Metadata, metadata};

use karat_importers::Input;

use crate::error::{Code, Error, Place};

/// The largest number of problems listed.
const LISTED: usize = 20;

/// A collection of problems with items.
#[derive(Default)]
pub struct Problems {
    first: Vec<String>,
    more: usize,
    /// The error of the first item, if it is one.
    error: Option<Error>,
    /// The sort that scripts look for, if one of them is of it: a record that does not follow from its facts, else a
    /// scorecard that is refused.
    code: Option<Code>,
}

impl Problems {
    /// Adds a rejected record and its location.
    pub fn add_error(&mut self, place: &Place, error: &Error) {
        self.add_as(&error.clone().at(place.clone()), format!("{place}: {error}"));
    }

    /// Adds an error in the words for it.
    pub(crate) fn add_as(&mut self, error: &Error, words: String) {
        if self.is_empty() {
            self.error = Some(error.clone());
        }
        match error.code() {
            Code::RecordUnsound | Code::OtherScorecard => self.code = Some(Code::RecordUnsound),
            code @ Code::ScorecardRefused => self.code = self.code.or(Some(code)),
            _ => {}
        }
        self.add(words);
    }

    /// Adds a problem with an item, with its location.
    pub fn add(&mut self, problem: String) {
        if self.first.len() < LISTED {
            self.first.push(problem);
        } else {
            self.more += 1;
        }
    }

    /// Returns true if there is no problem.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// Ends the collection.
    ///
    /// # Errors
    ///
    /// If there is any problem: all of them, with `hint`.
    pub fn end(self, hint: &str) -> Result<(), Error> {
        self.end_of("items are refused", hint)
    }

    /// Does the same with other words for several problems.
    ///
    /// # Errors
    ///
    /// If [`Self::end`] fails.
    pub(crate) fn end_of(self, what: &str, hint: &str) -> Result<(), Error> {
        let count = self.first.len() + self.more;
        let code = self.code.unwrap_or(Code::EvidenceRefused);
        let mut problems = self.first.iter();
        let error = match count {
            0 => return Ok(()),
            1 => Error::new(code, problems.next().cloned().unwrap_or_default()),
            _ => Error::new(code, format!("{count} {what}")),
        };
        // The further lines of a problem are indented.
        let error = problems.fold(error, |error, it| error.hint(it.replace('\n', "\n  ")));
        let error = if self.more > 0 { error.hint(format!("and {} more", self.more)) } else { error };
        Err(error.hint(hint).since(self.error))
    }
}

/// Returns whether two files are one under two names: regular ones with the same bytes.
pub(super) fn are_copies(one: &str, other: &str) -> bool {
    let length = |path| metadata(path).ok().filter(Metadata::is_file).map(|about| about.len());
    let digest = |path: &str| Input::file(path).digest().ok();
    let is_as_long = length(one).is_some() && length(one) == length(other);
    one != other && is_as_long && digest(one).is_some_and(|own| digest(other) == Some(own))
}
