//! The flags of `karat schema`.

use clap::Args;

/// The schema to print.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  karat schema
  karat schema card
  karat schema record

How an editor uses that of a scorecard: `karat help editors`.")]
pub struct SchemaArgs {
    /// The name of a schema; without one they are listed
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}
