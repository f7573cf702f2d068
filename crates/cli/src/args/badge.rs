//! The arguments of `karat badge`.

use clap::Args;

use karat::ask::{Items, Sure};
use karat::badge::Show;

/// The subject of a badge, and what it says.
#[derive(Debug, Args)]
#[command(after_help = "\
The colour shows in which band of the scorecard the score lies.

Examples:
  karat badge -s ibis -c examples/cards/task-run.toml \\
    examples/leaderboard/runs.csv
  karat badge -s ibis -c examples/cards/task-run.toml --endpoint \\
    examples/leaderboard/runs.csv")]
pub struct BadgeArgs {
    /// The scorecard of evidence; records name their own
    #[arg(long, short = 'c', value_name = "ID|FILE")]
    pub card: Option<String>,
    /// The subject, if there are several
    #[arg(long, short = 's', value_name = "NAME")]
    pub subject: Option<String>,
    /// Or score, rank, band, full
    #[arg(long, value_enum, default_value_t, hide_possible_values = true, value_name = "WHAT")]
    pub show: Show,
    /// official, mean, a dimension or a group
    #[arg(long, value_name = "KEY")]
    pub by: Option<String>,
    /// Events beside the evaluations
    #[arg(long, value_name = "FILE")]
    pub events: Option<String>,
    /// The text to the left, instead of the card
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// The JSON that shields.io reads, not SVG
    #[arg(long)]
    pub endpoint: bool,
    /// The items
    #[command(flatten)]
    pub items: Items,
    /// The confidence
    #[command(flatten)]
    pub sure: Sure,
    /// No progress bar
    #[arg(long)]
    pub no_progress: bool,
    /// Records, or evidence with --card; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}
