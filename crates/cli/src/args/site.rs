//! The arguments of `karat site`.

use clap::Args;

use karat::ask::Leaderboard;

/// The leaderboard, and the folder for its site.
#[derive(Debug, Default, Args)]
#[group(skip)]
#[command(after_help = "  karat site out -c examples/cards/task-run.toml examples/leaderboard/runs.csv")]
pub struct SiteArgs {
    /// The folder: a new one, or a site, which is replaced
    #[arg(value_name = "DIR")]
    pub folder: String,
    /// The question
    #[command(flatten)]
    pub ask: Leaderboard,
    /// Read a server; without --card all its boards
    #[arg(long, value_name = "URL", conflicts_with = "files")]
    pub from: Option<String>,
    /// A file with a key that may read there
    #[arg(long, value_name = "FILE", requires = "from")]
    pub key_file: Option<String>,
    /// No progress bar
    #[arg(long)]
    pub no_progress: bool,
    /// Records, or evidence with --card
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}
