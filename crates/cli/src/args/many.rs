//! The arguments of the commands that look at many scored items: the question, and the form of the answer.

use clap::Args;

use karat::ask::{Compare, Floors, Leaderboard};
use karat_terminal::format::FormatArgs;

/// The form of the answer.
#[derive(Debug, Clone, Default, Args)]
pub struct FormArgs {
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
    /// Write a page for a browser, too
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
    /// No progress bar
    #[arg(long)]
    pub no_progress: bool,
}

/// The picture of an answer.
#[derive(Debug, Clone, Default, Args)]
pub struct PictureArgs {
    /// Draw it for sharing, too: x.png or x.svg
    #[arg(long, value_name = "FILE")]
    pub picture: Option<String>,
}

/// A question about many items.
#[derive(Debug, Default, Args)]
#[group(skip)]
pub struct QuestionArgs<Q: Args> {
    /// The question
    #[command(flatten)]
    pub ask: Q,
    /// The form
    #[command(flatten)]
    pub form: FormArgs,
    /// Records, or evidence with --card; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}

/// Subjects by rank.
#[derive(Debug, Default, Args)]
#[group(skip)]
#[command(after_help = "  karat leaderboard -c examples/cards/task-run.toml examples/leaderboard/*.csv")]
pub struct LeaderboardArgs {
    /// The question
    #[command(flatten)]
    pub ask: Leaderboard,
    /// Most rows on the screen; 0 for all
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// The gate
    #[command(flatten)]
    pub floors: Floors,
    /// The form
    #[command(flatten)]
    pub form: FormArgs,
    /// A picture of it
    #[command(flatten)]
    pub picture: PictureArgs,
    /// Sums of `karat card sql --sums` in place of items
    #[arg(long, value_name = "SUMS", num_args = 1.., requires = "card", conflicts_with = "files", hide = true)]
    pub from: Vec<String>,
    /// Records, or evidence with --card; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}

/// Two subjects to compare, or the subjects of two files; more of them, side by side.
#[derive(Debug, Default, Args)]
#[group(skip)]
#[command(after_help = "\
Without FILE, A and B are files or folders, the one before and the one after:
of one subject each, or every subject that both have. Of more: `karat grid`.

Examples:
  karat compare heron ibis -c examples/cards/task-run.toml \\
    examples/leaderboard/runs.csv --fail-if-worse 50 --strict
  karat compare examples/compare/base.csv examples/compare/new.csv \\
    -c examples/cards/task-run.toml")]
pub struct CompareArgs {
    /// The question
    #[command(flatten)]
    pub ask: Compare,
    /// Show every task that changed, not the first ten
    #[arg(long)]
    pub all: bool,
    /// The form
    #[command(flatten)]
    pub form: FormArgs,
    /// A picture of it
    #[command(flatten)]
    pub picture: PictureArgs,
    /// Records, or evidence with --card
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}
