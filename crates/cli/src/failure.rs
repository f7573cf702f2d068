//! Reasons why the command could not do what was asked: an error of the library with an exit status, or one of its own.

use std::fmt;
use std::io;

use karat::error::{Code, Error};

use crate::exit::Exit;

/// A reason to stop.
#[derive(Debug)]
pub enum Failure {
    /// Whoever read our output went away (`| head`): nothing to say, nothing wrong.
    ReaderGone,
    /// Everything has been said already; only the status is left.
    Told(Exit),
    /// A problem and how to mend it.
    Problem(Problem),
}

/// What is wrong, and how to mend it.
#[derive(Debug)]
pub struct Problem {
    exit: Exit,
    message: String,
    help: Vec<String>,
}

impl Failure {
    /// Could not run, because of `message`.
    pub fn new(message: impl Into<String>) -> Self {
        Self::with_exit(Exit::CouldNotRun, message)
    }

    /// Ends with `exit`, because of `message`.
    pub fn with_exit(exit: Exit, message: impl Into<String>) -> Self {
        Self::Problem(Problem { exit, message: message.into(), help: Vec::new() })
    }

    /// Adds a line on how to mend it.
    #[must_use]
    pub fn help(mut self, line: impl Into<String>) -> Self {
        if let Self::Problem(problem) = &mut self {
            problem.help.push(line.into());
        }
        self
    }

    /// A file that could not be opened or read.
    pub fn reading(path: &str, error: &io::Error) -> Self {
        let help = match error.kind() {
            io::ErrorKind::NotFound => "check the spelling; paths are relative to the current folder",
            io::ErrorKind::IsADirectory => "name the files in it, or all of them with `*`",
            io::ErrorKind::PermissionDenied => "the current user may not read it",
            _ => return Self::new(format!("cannot read `{path}`: {}", reason(error))),
        };
        Self::new(format!("cannot read `{path}`: {}", reason(error))).help(help)
    }

    /// A file that could not be written.
    pub fn writing(path: &str, error: &io::Error) -> Self {
        Self::new(format!("cannot write `{path}`: {}", reason(error)))
    }

    /// The status it ends with.
    pub fn exit(&self) -> Exit {
        match self {
            Self::ReaderGone => Exit::Done,
            Self::Told(exit) => *exit,
            Self::Problem(problem) => problem.exit,
        }
    }
}

/// The reason in our words; the operating system's where we have none.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => String::from("there is no such file"),
        io::ErrorKind::IsADirectory => String::from("it is a folder"),
        io::ErrorKind::PermissionDenied => String::from("permission denied"),
        io::ErrorKind::InvalidData => String::from("it is not UTF-8 text"),
        _ => error.to_string(),
    }
}

impl From<Error> for Failure {
    /// Adds the exit status, and which flag to use.
    fn from(error: Error) -> Self {
        let exit = match error.code() {
            Code::ScorecardRefused => Exit::CardRefused,
            Code::RecordUnsound | Code::OtherScorecard => Exit::VerificationFailed,
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
    /// An error of our own output; errors of input name their file and come from [`Failure::reading`].
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::new(format!("cannot write the output: {}", reason(&error))),
        }
    }
}

/// The message and the hints, a line each; nothing where all is said.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Problem(problem) => f.write_str(problem.to_string().trim_end()),
            Self::ReaderGone | Self::Told(_) => Ok(()),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.message)?;
        self.help.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}
