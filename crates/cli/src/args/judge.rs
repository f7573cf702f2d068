//! The arguments of `karat judge`.

use clap::Args;

use super::doctor::JudgeVerb;

/// Commands about what runs submitted code.
#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// The command
    #[command(subcommand)]
    pub verb: JudgeVerb,
}
