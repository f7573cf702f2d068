//! The arguments of the verbs that follow a log from outside, and that change its key.

use std::path::PathBuf;

use clap::Args;
use karat_terminal::format::FormatArgs;

#[cfg(feature = "server")]
use crate::client::KeyFile;

/// The key for a server that is followed.
#[derive(Debug, Args)]
pub struct ApiKeyArgs {
    /// A file with a key, if the server asks for one
    #[arg(long, value_name = "FILE")]
    pub api_key: Option<String>,
    /// Send it in the clear, too: over plain HTTP
    #[arg(long, requires = "api_key")]
    pub insecure: bool,
}

#[cfg(feature = "server")]
impl ApiKeyArgs {
    /// Returns the key, and how it may travel.
    pub fn of(&self) -> KeyFile<'_> {
        KeyFile { path: self.api_key.as_deref(), is_insecure: self.insecure }
    }
}

/// `karat log witness`
#[derive(Debug, Args)]
#[command(after_help = "\
The cosigned head goes to standard output. A head that does not follow the last
one is refused with status 14. Keep the files of --key and --state.

Example:
  karat log witness http://127.0.0.1:7373 --key witness.key \\
    --state witness.json --log-key log.pub --send")]
pub struct LogWitnessArgs {
    /// The address of a server, a database or its folder
    #[arg(value_name = "LOG")]
    pub log: String,
    /// The secret key of the witness; made if missing
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// The file that keeps the last head, one for each log
    #[arg(long, value_name = "FILE")]
    pub state: PathBuf,
    /// The name of a new key; at random if not given
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The log's public key; needed the first time
    #[arg(long, value_name = "KEY|FILE")]
    pub log_key: Option<String>,
    /// Send the cosigned head to the server
    #[arg(long)]
    pub send: bool,
    /// The key, if the server asks for one
    #[command(flatten)]
    pub key_file: ApiKeyArgs,
}

/// `karat log monitor`
#[derive(Debug, Args)]
#[command(after_help = "\
Ends with status 14 when a head does not follow, and keeps both as files.

Example:
  karat log monitor http://127.0.0.1:7373 --state scores.json --every 300")]
pub struct LogMonitorArgs {
    /// The address of a server, a database or its folder
    #[arg(value_name = "LOG")]
    pub log: String,
    /// The log's public key; at first taken from the log
    #[arg(long, value_name = "KEY|FILE")]
    pub key: Option<String>,
    /// The file that keeps the heads, one for each log
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// A witness that must have cosigned; repeatable
    #[arg(long, value_name = "KEY|FILE")]
    pub witness: Vec<String>,
    /// Look once
    #[arg(long, conflicts_with = "every")]
    pub once: bool,
    /// Seconds between two looks (60)
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub every: Option<u32>,
    /// The key, if the server asks for one
    #[command(flatten)]
    pub key_file: ApiKeyArgs,
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `karat log rotate`
#[derive(Debug, Args)]
#[command(after_help = "\
The server must be stopped. The secret of the old key is deleted; receipts that
it signed stay valid.

Example:
  karat log rotate karat-data")]
pub struct LogRotateArgs {
    /// The folder of a server
    #[arg(value_name = "FOLDER")]
    pub folder: String,
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
}
