//! `karat check`: its flags and help.

use clap::Args;

use karat_terminal::format::FormatArgs;

/// The project to check.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads karat.toml here or in a folder above: the scorecard, the inputs, the
baseline, the gates. Shows who ranks where and what changed since the baseline,
and ends with the status of the gravest gate that fails: 16 worse than the
baseline, 11 held by a gate of the scorecard, 10 below, 12 inconclusive.

karat.toml may name what lies below its folder; --allow-outside lets it name
files anywhere, which a change by a stranger must not.

Examples:
  karat check --project examples/project/karat.toml
  karat check --project examples/project/karat.toml --watch --times 1")]
pub struct CheckProjectArgs {
    /// The project file, instead of karat.toml here or above
    #[arg(long, value_name = "FILE")]
    pub project: Option<String>,
    /// Keep the inputs as the baseline of later runs
    #[arg(long, conflicts_with_all = ["watch", "format", "json"])]
    pub update_baseline: bool,
    /// Check again when a file of the project changes
    #[arg(long, conflicts_with_all = ["format", "json"])]
    pub watch: bool,
    /// End after N checks
    #[arg(long, value_name = "N", requires = "watch", value_parser = clap::value_parser!(u32).range(1..))]
    pub times: Option<u32>,
    /// Show every task that changed, not the first five
    #[arg(long)]
    pub all: bool,
    /// The format; the screen if none is asked for, in a pipe too
    #[command(flatten)]
    pub format: FormatArgs,
    /// No progress bar
    #[arg(long)]
    pub no_progress: bool,
}
