//! `karat`: scores about AI agents that anyone can check.

mod args;
mod attempts;
mod client;
mod cmd;
#[cfg(feature = "server")]
mod follow;
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

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::FromArgMatches as _;
use karat_core::timestamp::Timestamp;
use karat_terminal::{ended, report_defects, unparsed};
use mimalloc::MiMalloc;

/// A server allocates on one thread and frees on another, where the allocator of the platform makes threads wait for
/// each other.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    report_defects();
    karat::ask::moment::set_clock(now);
    let parsed = args::menu::command().try_get_matches();
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
