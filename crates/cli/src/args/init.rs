//! `karat init`: its flags and help.

use clap::Args;
use karat::init::Question;

/// The data to profile, and the answers to the questions.
#[derive(Debug, Args)]
#[command(after_help = "\
Looks at every item, asks up to three questions (which field decides success,
which others count, what stops a release), and writes a scorecard with reasons
and a karat.toml. Without FILE it looks at the data in the current folder. Logs
of other tools take the released scorecard `run`.

Examples:
  karat init --yes --dry-run examples/leaderboard/runs.csv
  karat init --yes --dry-run --success solved --lower cost_usd \\
    examples/leaderboard/runs.csv")]
pub struct InitArgs {
    /// Ask nothing: take what the questions propose
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// The scorecard to write (scorecard.toml)
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
    /// The question
    #[command(flatten)]
    pub question: Question,
    /// Replace the files if they exist
    #[arg(long)]
    pub force: bool,
    /// Show the files and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Files, folders and patterns
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}
