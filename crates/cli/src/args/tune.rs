//! The arguments of `karat tune`.

use clap::{ArgGroup, Args};

use karat::ask::{Items, level};

use karat_terminal::format::FormatArgs;

/// The items, the outcome to predict, and the files to write.
#[derive(Debug, Args)]
#[command(
    override_usage = "karat tune [OPTIONS] --card <ID|FILE> --outcome <FACT> [FILE]...",
    group = ArgGroup::new("target").args(["outcome", "wins"]).required(true),
    after_help = "\
Tasks (else subjects, else items) are split by a hash of the seed. Weights
are found on one part and judged on the other, against those of the card.

Example:
  karat tune -c examples/tune/desk.toml --outcome kept examples/tune/runs.csv"
)]
pub struct TuneArgs {
    /// The scorecard: a released id or a file
    #[arg(long, short = 'c', value_name = "ID|FILE")]
    pub card: String,
    /// The fact to predict, or `outcome`; or else --wins
    #[arg(long, value_name = "FACT")]
    pub outcome: Option<String>,
    /// Pairs of ids or subjects: winner, loser
    #[arg(long, value_name = "FILE")]
    pub wins: Option<String>,
    /// The items
    #[command(flatten)]
    pub items: Items,
    /// No progress bar
    #[arg(long)]
    pub no_progress: bool,
    /// The share that judges the weights
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = level)]
    pub holdout: f64,
    /// Confidence of intervals
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = level)]
    pub level: f64,
    /// Bootstrap resamples
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub resamples: u32,
    /// The seed of split and resamples
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write weights for `score --override`
    #[arg(long, value_name = "FILE")]
    pub override_out: Option<String>,
    /// Write the event; needs --as-of
    #[arg(long, value_name = "FILE")]
    pub proposal_out: Option<String>,
    /// The proposer
    #[arg(long, value_name = "NAME", default_value = "karat tune", requires = "proposal_out")]
    pub proposer: String,
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
    /// Records or evidence; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}
