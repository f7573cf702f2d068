//! The verbs, one file each.

pub mod card;

use crate::args::{Cli, Verb};
use crate::exit::Exit;
use crate::failure::Failure;

/// Does what the command line asks.
pub fn run(cli: &Cli) -> Result<Exit, Failure> {
    match &cli.verb {
        Verb::Card(verb) => card::run(verb, cli),
        _ => Ok(Exit::Done),
    }
}
