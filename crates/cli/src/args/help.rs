//! The flags of `karat help`.

use clap::Args;

/// Words of a topic or a command.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  karat help\n  karat help exit-status\n  karat help card new")]
pub struct HelpArgs {
    /// A topic, or a command
    #[arg(value_name = "TOPIC|COMMAND")]
    pub words: Vec<String>,
}
