//! Errors of the command: those of the library with an exit status, and those of the command line.

use std::fmt;
use std::io;

use karat::error::{Code, Error, reason};
use karat::text::clean;
use karat_core::diagnostic::nearest;

use crate::exit::Exit;

/// A reason to stop.
#[derive(Debug)]
pub enum Failure {
    /// The reader of our output went away (`| head`), which is not an error.
    ReaderGone,
    /// The errors are printed already; only the status is left.
    Shown(Exit),
    /// A problem with its hints.
    Problem(Problem),
}

/// A message, hints, and the exit status.
#[derive(Debug)]
pub struct Problem {
    exit: Exit,
    message: String,
    help: Vec<String>,
}

impl Failure {
    /// Returns a failure to run, because of `message`.
    pub fn new(message: impl Into<String>) -> Self {
        Self::with_exit(Exit::CouldNotRun, message)
    }

    /// Returns a failure that ends with `exit`, because of `message`.
    pub fn with_exit(exit: Exit, message: impl Into<String>) -> Self {
        Self::Problem(Problem { exit, message: lines(&message.into()), help: Vec::new() })
    }

    /// Adds a hint.
    #[must_use]
    pub fn help(mut self, line: impl Into<String>) -> Self {
        if let Self::Problem(problem) = &mut self {
            problem.help.push(lines(&line.into()));
        }
        self
    }

    /// Adds the name that was most likely meant, if one is near.
    #[must_use]
    pub fn near<'n>(self, word: &str, names: impl IntoIterator<Item = &'n str>) -> Self {
        match nearest(word, names) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    /// Adds the name that was most likely meant, and all names that there are.
    #[must_use]
    pub fn one_of(self, word: &str, names: &[&str]) -> Self {
        self.near(word, names.iter().copied()).help(format!("there are: {}", names.join(", ")))
    }

    /// Returns the failure to open or read a file.
    pub fn reading(path: &str, error: &io::Error) -> Self {
        Error::reading(path, error).into()
    }

    /// Returns the failure to write a file.
    pub fn writing(path: &str, error: &io::Error) -> Self {
        Self::new(format!("cannot write `{}`: {}", clean(path), reason(error)))
    }

    /// Returns the exit status.
    pub fn exit(&self) -> Exit {
        match self {
            Self::ReaderGone => Exit::Done,
            Self::Shown(exit) => *exit,
            Self::Problem(problem) => problem.exit,
        }
    }
}

/// Makes a message safe for a terminal. No line begins with what a runner of pipelines takes for a command: a path or name in
/// it may have line ends.
fn lines(message: &str) -> String {
    let safe = message.split('\n').map(|line| match line.trim_start().strip_prefix("::") {
        Some(rest) => format!("\u{fffd}{}", clean(rest)),
        None => clean(line).into_owned(),
    });
    safe.collect::<Vec<_>>().join("\n")
}

impl From<Error> for Failure {
    /// Adds the exit status, and the flag to use.
    fn from(error: Error) -> Self {
        let exit = match error.code() {
            Code::ScorecardRefused => Exit::CardRefused,
            Code::RecordUnsound | Code::OtherScorecard => Exit::VerificationFailed,
            // Of nothing nothing is shown, whatever a gate asks.
            Code::NothingCounts => Exit::Inconclusive,
            _ => Exit::CouldNotRun,
        };
        let flag = match error.code() {
            Code::UnknownScorecard => "; `karat card new` writes one to start from",
            Code::MissingScorecard | Code::OtherScorecard => ": --card FILE",
            Code::NoSubject => ": --subject-field FIELD",
            _ => "",
        };
        let last = error.hints().len().saturating_sub(1);
        let hint =
            |(at, hint): (usize, &String)| if at == last { format!("{hint}{flag}") } else { hint.clone() };
        let hints = error.hints().iter().enumerate().map(hint);
        hints.fold(Self::with_exit(exit, error.summary()), Self::help)
    }
}

impl From<io::Error> for Failure {
    /// Converts an error of our own output; errors of input name their file and come from [`Failure::reading`].
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::new(format!("cannot write the output: {}", reason(&error))),
        }
    }
}

/// Writes the message and the hints, a line each; nothing if all is printed already.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Problem(problem) => f.write_str(problem.to_string().trim_end()),
            Self::ReaderGone | Self::Shown(_) => Ok(()),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.message)?;
        self.help.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}
