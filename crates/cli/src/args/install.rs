//! The flags of what an installation takes from the program: completions and man pages.

use clap::Args;
use clap_complete::Shell;

/// `karat completions`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  karat completions bash
  karat completions fish

Where a shell looks for it: `karat help install`.")]
pub struct CompletionsArgs {
    /// bash, zsh, fish, elvish or powershell
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    pub shell: Shell,
}

/// `karat man`
#[derive(Debug, Args)]
#[command(after_help = "\
Man pages that are there already are replaced; any other file is left as it is.

Example:
  karat man man1")]
pub struct ManArgs {
    /// The folder to write them to; made if missing
    #[arg(value_name = "DIR")]
    pub folder: String,
}
