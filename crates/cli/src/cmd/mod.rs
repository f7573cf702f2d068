//! The verbs, one file each.

mod badge;
mod cache;
pub mod card;
mod check;
mod compare;
mod demo;
mod explain;
mod export;
mod grade;
mod help;
mod import;
mod init;
mod install;
mod leaderboard;
mod listing;
#[cfg(feature = "server")]
mod log;
#[cfg(feature = "server")]
mod monitor;
mod picture;
mod push;
mod question;
pub mod rate;
mod rerun;
#[cfg(feature = "server")]
pub mod rescore;
#[cfg(feature = "server")]
mod rotate;
mod run;
mod schema;
mod score;
mod score_rows;
#[cfg(feature = "server")]
mod serve;
mod site;
pub mod standing;
mod tune;
mod verify;
#[cfg(feature = "server")]
mod witness;

use std::ffi::OsStr;
use std::io::Write as _;

use crate::args::{Cli, JudgeArgs, Verb};
use crate::runner::hand_over;
use crate::take::take;
use karat::ask::moment;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::output::{CARE, Color, Screen};

/// Runs the command of the command line.
pub fn run(cli: &mut Cli) -> Result<Exit, Failure> {
    take(&mut cli.verb, cli.allow_outside, cli.color)?;
    let cli = &*cli;
    for note in moment::notes() {
        writeln!(Screen::stderr(cli.color), "{CARE}note{CARE:#}: {note}")?;
    }
    match &cli.verb {
        Verb::Init(args) => init::run(args, cli),
        Verb::Check(args) => check::run(args, cli),
        Verb::Import(args) => import::run(args, cli),
        Verb::Score(args) => score::run(args, cli),
        Verb::Explain(args) => explain::run(args, cli),
        Verb::Leaderboard(args) => leaderboard::run(args, cli),
        Verb::Standing(args) => standing::run(args, cli),
        Verb::Compare(args) => compare::run(args, cli),
        Verb::Stress(args) => question::run(args, cli),
        Verb::Judges(args) => question::run(args, cli),
        Verb::Tasks(args) => question::run(args, cli),
        Verb::Trend(args) => question::run(args, cli),
        Verb::Grid(args) => question::run(args, cli),
        Verb::Tune(args) => tune::run(args, cli),
        Verb::Card(verb) => card::run(verb, cli),
        Verb::Grade(args) => grade::run(args, cli),
        Verb::Cache(verb) => cache::run(verb, cli),
        Verb::Rate(args) => rate::run(args, cli),
        Verb::Run(args) => run::run(args, cli),
        Verb::Judge(args) => Err(judge(args, cli.color)),
        Verb::Verify(args) => verify::run(args, cli),
        #[cfg(feature = "server")]
        Verb::Log(verb) => log::run(verb, cli),
        #[cfg(feature = "server")]
        Verb::Rescore(args) => rescore::run(args, cli),
        #[cfg(feature = "server")]
        Verb::Serve(args) => serve::run(args, cli),
        #[cfg(not(feature = "server"))]
        Verb::Log(_) | Verb::Rescore(_) | Verb::Serve(_) => Err(Failure::new(
            "`serve`, `log` and `rescore` need the server, and this karat was built without it",
        )
        .help("build it with `cargo build --release --locked --package karat-cli`")),
        Verb::Export(args) => export::run(args, cli),
        Verb::Site(args) => site::run(args, cli),
        Verb::Badge(args) => badge::run(args, cli),
        Verb::Demo => demo::run(cli),
        Verb::Help(args) => help::run(args, cli),
        Verb::Push(args) => push::run(args, cli),
        Verb::Schema(args) => schema::run(args, cli),
        Verb::Completions(args) => install::completions(args),
        Verb::Man(args) => install::man(args),
    }
}

/// Hands over to `karat judge`, which is in the program that runs code of others.
fn judge(args: &JudgeArgs, color: Color) -> Failure {
    let color = format!("--color={}", color.name());
    hand_over(
        [color.as_ref(), OsStr::new("judge")].into_iter().chain(args.arguments.iter().map(AsRef::as_ref)),
    )
}
