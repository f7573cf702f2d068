//! The arguments of `karat standing`.

use clap::{ArgGroup, Args};

use karat_core::number::Decimal;

use super::many::FormArgs;
use karat::ask::{Confidence, Items, points};

/// The items, the events and the moment of a standing.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("moment").args(["as_of"]).required(true),
    after_help = "\
Items after the moment do not count. Events are JSON lines: reviews, incidents.

Examples:
  karat standing -c examples/cards/task-run.toml \\
    --as-of 2026-06-01T00:00:00Z examples/leaderboard/runs.csv
  karat standing -c examples/cards/support-agent.toml \\
    --as-of 2026-03-10T00:00:00Z --events examples/standing/events.jsonl \\
    examples/standing/agents.jsonl
  karat standing --tasks -c examples/cards/practice.toml \\
    --as-of 2026-06-09T00:00:00Z examples/standing/practice.csv"
)]
pub struct StandingArgs {
    /// The scorecard of evidence; records name their own
    #[arg(long, short = 'c', value_name = "ID|FILE")]
    pub card: Option<String>,
    /// Events beside the evaluations
    #[arg(long, value_name = "FILE")]
    pub events: Option<String>,
    /// One subject in full
    #[arg(long, short = 's', value_name = "NAME")]
    pub subject: Option<String>,
    /// Fail where an official score is below POINTS
    #[arg(long, value_name = "POINTS", value_parser = points, conflicts_with = "tasks")]
    pub fail_under: Option<Decimal>,
    /// Show tasks instead: difficulty, and whether they are useful
    #[arg(long, conflicts_with_all = ["events", "subject", "html"])]
    pub tasks: bool,
    /// The items
    #[command(flatten)]
    pub items: Items,
    /// The confidence
    #[command(flatten)]
    pub sure: Confidence,
    /// The form
    #[command(flatten)]
    pub form: FormArgs,
    /// Records, or evidence with --card; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}
