//! `karat judge`: what runs submitted code.

mod doctor;

use crate::args::{Cli, JudgeArgs, JudgeVerb};
use crate::exit::Exit;
use crate::failure::Failure;

/// Runs a command about the judge.
pub fn run(args: &JudgeArgs, cli: &Cli) -> Result<Exit, Failure> {
    match &args.verb {
        JudgeVerb::Doctor(args) => doctor::run(args, cli),
    }
}
