//! The arguments of `karat judge`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use karat_terminal::format::FormatArgs;
use karat_terminal::output::Color;

/// The part of the command line of karat that is carried out here.
#[derive(Debug, Parser)]
#[command(name = "karat", max_term_width = 80, disable_help_subcommand = true)]
pub struct Program {
    /// Colour: auto, always or never
    #[arg(
        long,
        value_enum,
        default_value_t,
        global = true,
        value_name = "WHEN",
        hide_possible_values = true
    )]
    pub color: Color,
    /// The command
    #[command(subcommand)]
    pub verb: Verb,
}

/// The command.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run submitted code against the cases of a challenge
    Judge(Box<JudgeArgs>),
}

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

/// Commands about the judge and this machine.
#[derive(Debug, Subcommand)]
pub enum JudgeVerb {
    /// Say what this machine has to run code of others, and what it lacks
    Doctor(DoctorArgs),
}

/// The judge to look for, and the form of the answer.
#[derive(Debug, Args)]
#[command(after_help = "\
The layers keep programs from the rest of this machine. A strict sandbox
needs all of them; the judge needs none, and gives the same verdicts.

Examples:
  karat judge doctor --table
  karat judge doctor --json")]
pub struct DoctorArgs {
    /// End with status 1 if no strict sandbox can be had
    #[arg(long)]
    pub strict: bool,
    /// The program `karat-judge`
    #[arg(long, value_name = "PATH")]
    pub judge: Option<PathBuf>,
    /// The folder of its runtimes
    #[arg(long, value_name = "DIR")]
    pub runtimes: Option<PathBuf>,
    /// The findings as JSON (the default in a pipe)
    #[arg(long, conflicts_with = "table")]
    pub json: bool,
    /// A table (the default on a terminal)
    #[arg(long)]
    pub table: bool,
}
