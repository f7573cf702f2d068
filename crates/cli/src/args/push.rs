//! The flags of `karat push`.

use clap::Args;
use karat_terminal::format::FormatArgs;

use karat::ask::{AsOf, Fields};

/// The items to send, and where to.
#[derive(Debug, Args)]
#[command(after_help = "\
Items that are there already are counted and change nothing: after an
interruption, run the same command again. An item without an id is named by its
file and line, as in `karat score`; --name takes the place of the file. It tries
again for a minute when the server is away or asks to wait.

Example:
  karat push -c run@1.0.0 --to https://scores.example.org \\
    --key-file key.txt runs.jsonl results.eval")]
pub struct PushArgs {
    /// The address of the server: https://HOST
    #[arg(long, value_name = "URL")]
    pub to: String,
    /// The scorecard: a file, or an id, here or there
    #[arg(long, short = 'c', value_name = "ID|FILE")]
    pub card: String,
    /// A file with the key; without one, none is sent
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<String>,
    /// Send it in the clear, too: over plain HTTP
    #[arg(long, requires = "key_file")]
    pub insecure: bool,
    /// The fields of an item that name something
    #[command(flatten)]
    pub fields: Fields,
    /// The time of the verdict; goes into the records
    #[arg(long, value_name = "TIME")]
    pub as_of: Option<AsOf>,
    /// Names items without an id: NAME:LINE
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Give up after this many attempts at one request
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub attempts: u32,
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
    /// No progress bar
    #[arg(long)]
    pub no_progress: bool,
    /// Evidence, or logs of other tools; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}
