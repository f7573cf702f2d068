//! `karat`: scores about AI agents that anyone can check.

mod args;
mod cards;
mod cmd;
mod conform;
mod evidence;
mod exit;
mod explanation;
mod failure;
mod input;
mod output;
mod progress;
mod render;
mod session;
mod verify;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|_| failure::last_resort()));
    let cli = args::Cli::parse();
    match cmd::run(&cli) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output::tell(cli.color, &failure);
            failure.exit().into()
        }
    }
}
