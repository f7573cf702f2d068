//! The arguments of `karat judge doctor`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
