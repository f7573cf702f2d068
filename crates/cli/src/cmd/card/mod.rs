//! `karat card`: work on scorecards.

mod challenge;
pub mod check;
mod code;
mod diff;
mod list;
mod new;
mod show;

use std::io::Write as _;

use crate::args::{CardVerb, Cli};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Screen;

/// Runs a command of `karat card`.
pub fn run(verb: &CardVerb, cli: &Cli) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout(cli.color);
    let exit = match verb {
        CardVerb::List(args) => list::run(args, &mut screen),
        CardVerb::Show(args) => show::run(args, &mut screen, cli.color),
        CardVerb::Check(args) => check::run(args, &mut screen),
        CardVerb::New(args) => new::run(args, &mut screen, cli.color),
        CardVerb::Diff(args) => diff::run(args, &mut screen, cli),
    }?;
    screen.flush()?;
    Ok(exit)
}
