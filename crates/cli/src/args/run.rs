//! The arguments of `karat run`.

use std::path::PathBuf;

use clap::Args;
use karat_terminal::format::FormatArgs;

/// A plan, a task, and where the answers come from.
#[derive(Debug, Args)]
#[command(after_help = "\
A live run calls the executors, and costs what they cost. A replay calls
nothing, and gives the same evidence, byte for byte.

Examples:
  karat run examples/run/plan.json --task examples/run/task.json \\
    --replay examples/run/recording.jsonl
  karat run examples/run/plan.json --task examples/run/task.json \\
    --executors examples/run/executors.toml")]
pub struct RunArgs {
    /// The plan, by itself or in an answer with `workflow_plan`
    #[arg(value_name = "PLAN")]
    pub plan: String,
    /// The task that the plan is for
    #[arg(long, value_name = "FILE")]
    pub task: String,
    /// The file that says who carries out the steps
    #[arg(long, value_name = "FILE", required_unless_present = "replay", conflicts_with = "replay")]
    pub executors: Option<String>,
    /// Keep every attempt in FILE; a folder: by digest
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub record: Option<String>,
    /// Sign the recording with the key in FILE
    #[arg(long, value_name = "FILE", requires = "record")]
    pub sign: Option<String>,
    /// Take every attempt from the recording in FILE
    #[arg(long, value_name = "FILE")]
    pub replay: Option<String>,
    /// Public key of the recorder, `NAME+ID+KEY`, or its file
    #[arg(long, value_name = "KEY|FILE", requires = "replay")]
    pub key: Option<String>,
    /// The program `karat-judge`, for executors of its kind
    #[arg(long, value_name = "PATH", requires = "executors")]
    pub judge: Option<PathBuf>,
    /// The folder of its runtimes
    #[arg(long, value_name = "DIR", requires = "executors")]
    pub runtimes: Option<PathBuf>,
    /// The author of the plan, if it does not say so
    #[arg(long, short = 's', value_name = "NAME")]
    pub subject: Option<String>,
    /// The format; `json` is the evidence
    #[command(flatten)]
    pub format: FormatArgs,
    /// Show no step while it is carried out
    #[arg(long)]
    pub no_progress: bool,
}
