//! `karat`: scores about AI agents that anyone can check.

mod args;
mod cards;
mod cmd;
mod conform;
mod evidence;
mod graders;
mod input;
mod load;
mod matches;
mod origin;
mod output;
mod progress;
mod receipt;
mod render;
mod store;

use std::io::{Write as _, stdout};
use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|_| karat_report::failure::last_resort()));
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) => return tell(&answer),
    };
    match cmd::run(&cli) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output::tell(cli.color, &failure);
            failure.exit().into()
        }
    }
}

/// Prints the help, or what is wrong with the command line.
fn tell(answer: &clap::Error) -> ExitCode {
    let printed = answer.print().and_then(|()| stdout().flush());
    match printed.map_err(karat_report::failure::Failure::from) {
        Err(failure) if !answer.use_stderr() => {
            output::tell(output::Color::Auto, &failure);
            failure.exit().into()
        }
        _ => u8::try_from(answer.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from),
    }
}
