//! The arguments of `karat standing`.

use clap::{ArgGroup, Args};

use super::many::FormArgs;
use karat::ask::Standing;

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
    /// The question
    #[command(flatten)]
    pub ask: Standing,
    /// The form
    #[command(flatten)]
    pub form: FormArgs,
    /// Records, or evidence with --card; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}
