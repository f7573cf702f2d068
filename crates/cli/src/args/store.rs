//! The arguments of the verbs that look at receipts and at the databases that they come from: verify, log, rescore.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use karat_core::timestamp::Timestamp;

use super::GraderArgs;
use super::follow::{LogMonitorArgs, LogRotateArgs, LogWitnessArgs};
use karat::ask::Fields;
use karat::ask::moment::moment;
use karat_terminal::format::FormatArgs;

/// `karat verify`
#[derive(Debug, Args)]
#[command(after_help = "\
Without --key a receipt is only consistent (status 12): anyone can write one.
Take the key from the operator of the log, not from the sender of the receipt.

Examples:
  karat verify examples/receipt/receipt.json --key examples/receipt/log.key
  karat verify examples/run/evidence.json --key examples/run/recorder.key \\
    --rerun examples/run/recording.jsonl")]
pub struct VerifyArgs {
    /// Receipts; with --rerun evidence or records; `-` is stdin
    #[arg(value_name = "RECEIPT", required = true)]
    pub receipts: Vec<String>,
    /// Replay this recording, or judge this match again, and compare
    #[arg(long, value_name = "FILE", conflicts_with_all = ["evidence", "embedder", "cache", "subject_field", "task_field"])]
    pub rerun: Option<String>,
    /// The public key of log or recorder, `NAME+ID+KEY`, or its file
    #[arg(long, value_name = "KEY|FILE")]
    pub key: Option<String>,
    /// A receipt of a change of that key; repeatable
    #[arg(long, value_name = "RECEIPT", requires = "key")]
    pub rotation: Vec<String>,
    /// A witness that must have cosigned; repeatable
    #[arg(long, value_name = "KEY|FILE")]
    pub witness: Vec<String>,
    /// The evidence of the record, to score and compare
    #[arg(long, value_name = "FILE")]
    pub evidence: Option<String>,
    /// The scorecard, if it does not come with karat
    #[arg(long, short = 'c', value_name = "ID|FILE")]
    pub card: Option<String>,
    /// The inputs of graders, to grade that evidence again
    #[command(flatten)]
    pub graders: GraderArgs,
    /// The fields of the evidence that name something
    #[command(flatten)]
    pub fields: Fields,
    #[command(flatten)]
    pub format: FormatArgs,
    /// Write a page that checks them again
    #[arg(long, value_name = "FILE", conflicts_with = "rerun")]
    pub html: Option<String>,
}

/// Work on the log of a store.
#[derive(Debug, Subcommand)]
pub enum LogVerb {
    /// Show the contents of a store: size, root, kinds, moments
    Show(LogShowArgs),
    /// Check a whole store: every entry and tile, and the head
    Verify(LogVerifyArgs),
    /// Write the receipt of one item
    Receipt(LogReceiptArgs),
    /// Copy a store, also while a server writes to it
    Backup(LogBackupArgs),
    /// Cosign the head of a log, if it follows the last one
    Witness(LogWitnessArgs),
    /// Watch a log, and say when a head does not follow
    Monitor(LogMonitorArgs),
    /// Give a log a new key, which the old one signs
    Rotate(LogRotateArgs),
}

/// `karat log show`
#[derive(Debug, Args)]
#[command(after_help = "\
Entries of older logs do not say who sent them.

Examples:
  karat log show scores.db
  karat log show scores.db --sender 0123456789abcdef")]
pub struct LogShowArgs {
    /// The database, or the folder of a server
    #[arg(value_name = "DATABASE")]
    pub database: String,
    /// List what the key with this id sent, one entry per line
    #[arg(long, value_name = "KEY")]
    pub sender: Option<String>,
    /// Write all entries with their contents as JSON lines, for `reference/verify.py --log`
    #[arg(long, conflicts_with = "sender")]
    pub entries: bool,
    #[command(flatten)]
    pub format: FormatArgs,
    /// No progress bar
    #[arg(long)]
    pub no_progress: bool,
}

/// `karat log verify`
#[derive(Debug, Args)]
#[command(after_help = "\
A log that was rewritten as a whole, with its key, is found only by a head
that was kept elsewhere: give it with --head.

Example:
  karat log verify scores.db --key examples/receipt/log.key")]
pub struct LogVerifyArgs {
    /// The database or its folder; it is only read
    #[arg(value_name = "DATABASE")]
    pub database: String,
    /// The log's public key, `NAME+ID+KEY`, or its file
    #[arg(long, value_name = "KEY|FILE")]
    pub key: Option<String>,
    /// A checkpoint that was kept elsewhere; repeatable
    #[arg(long, value_name = "FILE")]
    pub head: Vec<String>,
    /// Score all evidence again: every record must come out
    #[arg(long)]
    pub replay: bool,
    /// Ask of every entry again whether its sender was allowed
    #[arg(long)]
    pub authority: bool,
    /// The folder of the model that embedded traces
    #[arg(long, value_name = "DIR", requires = "replay")]
    pub embedder: Option<String>,
    #[command(flatten)]
    pub format: FormatArgs,
    /// No progress bar
    #[arg(long)]
    pub no_progress: bool,
}

/// `karat log receipt`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  karat log receipt scores.db 17/run-worked-example/workflow@1.0.0")]
pub struct LogReceiptArgs {
    /// The database, or the folder of a server
    #[arg(value_name = "DATABASE")]
    pub database: String,
    /// The id of the item, or its position in the log
    #[arg(value_name = "ID")]
    pub id: String,
    /// Its kind: record, evidence or scorecard
    #[arg(long, value_name = "KIND", default_value = "record")]
    pub kind: String,
    /// Of the newest head that N witnesses cosigned
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub witnesses: Option<u16>,
    /// The file to write; standard output if not given
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
}

/// `karat log backup`
#[derive(Debug, Args)]
#[command(after_help = "\
The copy is of one moment, and appears when it is whole. Without --with-key it
has no secret: to serve it, put a copy of log.key into its folder.

Example:
  karat log backup karat-data backup-monday")]
pub struct LogBackupArgs {
    /// The database, or the folder of a server
    #[arg(value_name = "DATABASE")]
    pub database: String,
    /// The folder of the copy: new, or empty
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Copy the key that signs the log, too
    #[arg(long)]
    pub with_key: bool,
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `karat rescore`
#[derive(Debug, Args)]
#[command(after_help = "\
Nothing is written. The difference is split: engine, the same facts under the
old card today; evidence, the corrected item; rule, the new card.

Example:
  karat rescore scores.db --of workflow --card examples/receipt/stricter.toml")]
pub struct RescoreArgs {
    /// The database, or the folder of a server
    #[arg(value_name = "DATABASE")]
    pub database: String,
    /// The new scorecard: a released id or a file
    #[arg(long, short = 'c', value_name = "ID|FILE")]
    pub card: String,
    /// The id of the old scorecard, if it differs
    #[arg(long, value_name = "ID")]
    pub of: Option<String>,
    /// Only records of this subject
    #[arg(long, short = 's', value_name = "NAME")]
    pub subject: Option<String>,
    /// Only items known at this time: 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub known_at: Option<Timestamp>,
    /// The inputs of graders
    #[command(flatten)]
    pub graders: GraderArgs,
    /// Write the new records into the log of a stopped server
    #[arg(long, conflicts_with_all = ["known_at", "subject", "of"])]
    pub commit: bool,
    /// Number of movers to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    #[command(flatten)]
    pub format: FormatArgs,
    /// No progress bar
    #[arg(long)]
    pub no_progress: bool,
}
