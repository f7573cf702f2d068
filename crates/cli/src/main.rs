//! `karat`: scores about AI agents that anyone can check.

mod args;
mod cards;
mod cmd;
mod evidence;
mod exit;
mod failure;
#[cfg(feature = "server")]
mod follow;
mod format;
mod graders;
mod input;
mod load;
mod logs;
mod origin;
mod output;
mod progress;
mod project;
mod push;
mod receipt;
mod render;
#[cfg(feature = "server")]
mod runner;
#[cfg(feature = "server")]
mod store;
mod topics;

use std::io::{Write as _, stdout};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::FromArgMatches as _;
use karat_core::timestamp::Timestamp;
use mimalloc::MiMalloc;

/// A server allocates on one thread and frees on another, where the allocator of the platform makes threads wait for
/// each other.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|_| last_resort()));
    karat::ask::moment::set_clock(now);
    let parsed = args::menu::command().try_get_matches();
    let mut cli = match parsed.and_then(|matches| args::Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(answer) => return tell(&answer),
    };
    match cmd::run(&mut cli) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output::tell(cli.color, &failure);
            failure.exit().into()
        }
    }
}

/// Returns the time of the clock of this machine, to the millisecond. A clock before 1970 shows 1970.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { milliseconds: i64::try_from(since.as_millis()).unwrap_or(i64::MAX) }
}

/// Prints the help, or the errors of the command line.
fn tell(answer: &clap::Error) -> ExitCode {
    let printed = answer.print().and_then(|()| stdout().flush());
    match printed.map_err(failure::Failure::from) {
        Err(failure) if !answer.use_stderr() => {
            output::tell(output::Color::Auto, &failure);
            failure.exit().into()
        }
        _ => u8::try_from(answer.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from),
    }
}

/// Prints a short message instead of a trace after a defect of the program itself.
fn last_resort() {
    let mut stderr = std::io::stderr();
    // There is nowhere else to report it.
    let _ = stderr.write_all(DEFECT.as_bytes());
    std::process::exit(i32::from(exit::Exit::CouldNotRun as u8));
}

const DEFECT: &str = "\
error: karat stopped because of a bug in karat
  the last record may be incomplete; do not use it
  please report the command and the evidence that led here
";
