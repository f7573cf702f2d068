//! What is wrong with items, so that all of it can be told at once.

use crate::error::{Code, Error};

/// Most problems that are listed.
const LISTED: usize = 20;

/// What is wrong with items, so that all of it can be told at once.
#[derive(Default)]
pub struct Problems {
    first: Vec<String>,
    more: usize,
    /// A record is not what its facts give: scripts look for that.
    is_tampering: bool,
}

impl Problems {
    /// A record that was refused, and where it stands.
    pub fn add_error(&mut self, place: &str, error: &Error) {
        self.is_tampering |= matches!(error.code(), Code::RecordUnsound | Code::OtherScorecard);
        self.add(format!("{place}: {error}"));
    }

    /// What is wrong with an item, with its place.
    pub fn add(&mut self, problem: String) {
        if self.first.len() < LISTED {
            self.first.push(problem);
        } else {
            self.more += 1;
        }
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// Ends the collection.
    ///
    /// # Errors
    ///
    /// If anything is wrong: all of it, with a `hint`.
    pub fn end(self, hint: &str) -> Result<(), Error> {
        let count = self.first.len() + self.more;
        let code = if self.is_tampering { Code::RecordUnsound } else { Code::EvidenceRefused };
        let mut problems = self.first.iter();
        let error = match count {
            0 => return Ok(()),
            1 => Error::new(code, problems.next().cloned().unwrap_or_default()),
            _ => Error::new(code, format!("{count} items are refused")),
        };
        // The lines of a problem stand below its first.
        let error = problems.fold(error, |error, it| error.hint(it.replace('\n', "\n  ")));
        let error = if self.more > 0 { error.hint(format!("and {} more", self.more)) } else { error };
        Err(error.hint(hint))
    }
}
