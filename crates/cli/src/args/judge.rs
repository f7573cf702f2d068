//! The arguments of `karat judge`.

use std::path::PathBuf;

use clap::Args;

use super::doctor::JudgeVerb;
use crate::format::FormatArgs;

/// A challenge, and what was submitted to it.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
SUBMISSION is an answer as JSON, a match as it was played, a folder with the
files of the submission, or its only file: a source or a .wasm. No time is
measured, and no log of steps is checked: play a match for that.

--self-check runs the reference and an empty answer: the first must pass every
case, the second must not.

Examples:
  karat judge examples/judge/pell/challenge.toml \\
    examples/judge/pell/wrong-float.py
  karat judge examples/judge/pell/challenge.toml --self-check \\
    --reference examples/judge/pell/reference.py"
)]
pub struct JudgeArgs {
    /// Another command than to judge
    #[command(subcommand)]
    pub verb: Option<JudgeVerb>,
    /// The scorecard of the challenge: a released id or a file
    #[arg(value_name = "CHALLENGE", required = true)]
    pub challenge: Option<String>,
    /// The submission
    #[arg(value_name = "SUBMISSION", required_unless_present = "self_check", conflicts_with = "self_check")]
    pub submission: Option<String>,
    /// The right answer as JSON, if a part looks at it
    #[arg(long, value_name = "FILE")]
    pub truth: Option<String>,
    /// Check the challenge itself
    #[arg(long, requires = "reference")]
    pub self_check: bool,
    /// An answer that is right
    #[arg(long, value_name = "FILE", requires = "self_check")]
    pub reference: Option<String>,
    /// The program `karat-judge`
    #[arg(long, value_name = "PATH")]
    pub judge: Option<PathBuf>,
    /// The folder of its runtimes
    #[arg(long, value_name = "DIR")]
    pub runtimes: Option<PathBuf>,
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
}
