//! The program `karat`, as a function: scores about AI agents that anyone can check.

mod args;
mod attempts;
mod client;
mod cmd;
#[cfg(feature = "server")]
mod follow;
mod frames;
mod gate;
mod graders;
mod load;
mod progress;
mod project;
mod push;
mod receipt;
mod runner;
#[cfg(feature = "server")]
mod started;
#[cfg(feature = "server")]
mod store;
mod take;
mod topics;

use std::ffi::OsString;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::FromArgMatches as _;
use karat_core::timestamp::Timestamp;
use karat_terminal::{ended, report_defects, unparsed};

/// Runs the program with these arguments, the first of which is its name; returns its exit status. A defect ends the process.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    report_defects();
    karat::ask::moment::set_clock(now);
    frames::install();
    let parsed = args::menu::command().try_get_matches_from(arguments);
    let mut cli = match parsed.and_then(|matches| args::Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(answer) => return unparsed(&answer),
    };
    let done = cmd::run(&mut cli);
    ended(done, cli.color)
}

/// Returns the time of the clock of this machine, to the millisecond. A clock before 1970 shows 1970.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { milliseconds: i64::try_from(since.as_millis()).unwrap_or(i64::MAX) }
}
