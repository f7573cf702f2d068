//! The common part of the programs `karat` and `karat-runner`: errors with their exit statuses, formats, screens, and
//! scorecards by their names.

pub mod cards;
pub mod diagnostics;
pub mod exit;
pub mod failure;
pub mod format;
pub mod input;
pub mod output;

use std::io::{Write as _, stdout};

use exit::Exit;
use failure::Failure;
use output::{Color, tell};

/// Reports how a command ended, and returns its exit status.
pub fn ended(done: Result<Exit, Failure>, color: Color) -> u8 {
    match done {
        Ok(exit) => exit as u8,
        Err(failure) => {
            tell(color, &failure);
            failure.exit() as u8
        }
    }
}

/// Prints the help, or the errors of the command line; returns the exit status.
pub fn unparsed(answer: &clap::Error) -> u8 {
    let printed = answer.print().and_then(|()| stdout().flush());
    match printed.map_err(Failure::from) {
        Err(failure) if !answer.use_stderr() => ended(Err(failure), Color::Auto),
        _ => u8::try_from(answer.exit_code()).unwrap_or(1),
    }
}

/// Prints a short message instead of a trace after a defect of the program itself, and ends it.
pub fn report_defects() {
    std::panic::set_hook(Box::new(|_| {
        if karat::inputs::frames::is_guarded() {
            return;
        }
        // There is nowhere else to report it.
        let _ = std::io::stderr().write_all(DEFECT.as_bytes());
        std::process::exit(i32::from(Exit::CouldNotRun as u8));
    }));
}

const DEFECT: &str = "\
error: karat stopped because of a bug in karat
  the last record may be incomplete; do not use it
  please report the command and the evidence that led here
";
