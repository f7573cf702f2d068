//! The arguments of `karat export`.

use clap::Args;

use super::GraderArgs;
use karat::ask::Fields;

/// The items to export, and the format.
#[derive(Debug, Args)]
#[command(after_help = "\
TO is every-eval-ever (samples, and a record of means for each subject),
inspect (a log for each subject and benchmark) or otel (OTLP in JSON, with an
event gen_ai.evaluation.result for each score). `karat import` reads each.
Without --out there must be one file, or of every-eval-ever one of samples.

Examples:
  karat export --to otel --quiet -c run examples/import/swe-bench.json
  karat export --to inspect -c examples/cards/task-run.toml --subject ibis \\
    --quiet examples/leaderboard/runs.csv")]
pub struct ExportArgs {
    /// every-eval-ever, inspect or otel
    #[arg(long, value_name = "TO", value_parser = ["every-eval-ever", "inspect", "otel"], hide_possible_values = true)]
    pub to: String,
    /// The scorecard of evidence; records name their own
    #[arg(long, short = 'c', value_name = "ID|FILE")]
    pub card: Option<String>,
    /// Only this subject
    #[arg(long, short = 's', value_name = "NAME")]
    pub subject: Option<String>,
    /// The folder for the files, new or empty
    #[arg(long, value_name = "DIR")]
    pub out: Option<String>,
    /// The fields of an item that name something
    #[command(flatten)]
    pub fields: Fields,
    /// The inputs of graders
    #[command(flatten)]
    pub graders: GraderArgs,
    /// No summary of what was left out
    #[arg(long)]
    pub quiet: bool,
    /// Records, or evidence with --card; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}
