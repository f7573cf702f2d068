//! What is wrong with items, so that all of it can be told at once.

use crate::exit::Exit;
use crate::failure::Failure;

/// Most problems that are listed.
const LISTED: usize = 20;

/// The lines of a failure, as one text.
pub fn said(failure: &Failure) -> String {
    match failure {
        Failure::Problem(problem) => problem.to_string().trim_end().to_owned(),
        Failure::ReaderGone | Failure::Told(_) => String::new(),
    }
}

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
    pub fn add_failure(&mut self, place: &str, failure: &Failure) {
        self.is_tampering |= failure.exit() == Exit::VerificationFailed;
        self.add(format!("{place}: {}", said(failure)));
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

    /// All that is wrong, and how to mend it.
    pub fn end(self, mend: &str) -> Result<(), Failure> {
        let count = self.first.len() + self.more;
        let exit = if self.is_tampering { Exit::VerificationFailed } else { Exit::CouldNotRun };
        let mut problems = self.first.iter();
        let failure = match count {
            0 => return Ok(()),
            1 => Failure::with_exit(exit, problems.next().cloned().unwrap_or_default()),
            _ => Failure::with_exit(exit, format!("{count} items are refused")),
        };
        // The lines of a problem stand below its first.
        let failure = problems.fold(failure, |failure, it| failure.help(it.replace('\n', "\n  ")));
        let failure = if self.more > 0 { failure.help(format!("and {} more", self.more)) } else { failure };
        Err(failure.help(mend))
    }
}
