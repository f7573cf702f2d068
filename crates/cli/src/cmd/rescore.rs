//! `karat rescore`
use crate::args::{Cli, RescoreArgs};
use karat_report::exit::Exit;
use karat_report::failure::Failure;
pub fn run(_args: &RescoreArgs, _cli: &Cli) -> Result<Exit, Failure> {
    Ok(Exit::Done)
}
