//! `karat card`: work on scorecards.

mod challenge;
pub mod check;
mod code;
mod diff;
mod list;
mod new;
mod show;
mod sql;

use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;

use crate::args::{CardVerb, Cli};

/// Runs a command of `karat card`.
pub fn run(verb: &CardVerb, cli: &Cli) -> Result<Exit, Failure> {
    match verb {
        CardVerb::List(args) => list::run(args, cli.color),
        CardVerb::Show(args) => show::run(args, cli.color),
        CardVerb::Check(args) => check::run(args, cli.color),
        CardVerb::New(args) => new::run(args, cli.color),
        CardVerb::Diff(args) => diff::run(args, cli),
        CardVerb::Sql(args) => sql::run(args, cli.color),
    }
}
