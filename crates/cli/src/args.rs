//! The command line: verbs, flags, help.

use clap::{Args, Parser, Subcommand};
use karat_core::number::Decimal;

use crate::exit;
use crate::output::Color;

/// Scores about AI agents that anyone can check.
#[derive(Debug, Parser)]
#[command(
    name = "karat",
    version,
    about = "Scores about AI agents that anyone can check.",
    after_help = format!("New here? Run `karat demo`.\n\n{}", exit::HELP),
    max_term_width = 100,
    disable_help_subcommand = true,
    propagate_version = false
)]
pub struct Cli {
    /// When to use colour
    #[arg(long, value_enum, default_value_t, global = true, value_name = "WHEN")]
    pub color: Color,
    /// Use the instruction path that every processor has
    #[arg(long, global = true, hide = true)]
    pub portable: bool,
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Score evidence: one record per item
    Score(ScoreArgs),
    /// Say why a score is what it is, and check a record against its own facts
    Explain(ExplainArgs),
    /// List, show, check, start and compare scorecards
    #[command(subcommand)]
    Card(CardVerb),
    /// Check the engine against cases that say what the answer is
    Conform(ConformArgs),
    /// Score the built-in examples; needs no files
    Demo,
}

/// Where evidence comes from and how it is judged.
#[derive(Debug, Args)]
pub struct ScoreArgs {
    /// The scorecard: a released id (`workflow`, `workflow@1.0.0`) or a file
    #[arg(long, short = 'c', value_name = "ID|FILE")]
    pub card: String,
    /// The field of an item that says who is scored
    #[arg(long, value_name = "FIELD")]
    pub subject_field: Option<String>,
    /// A JSON file of weights by dimension, for a card that accepts them
    #[arg(long = "override", value_name = "FILE")]
    pub override_file: Option<String>,
    /// The moment of the verdict, written into the records
    #[arg(long, value_name = "TIME")]
    pub as_of: Option<String>,
    /// Fail when a published score is below this many points
    #[arg(long, value_name = "POINTS", value_parser = points)]
    pub fail_under: Option<Decimal>,
    /// One canonical JSON record per line (the default in a pipe)
    #[arg(long, conflicts_with = "table")]
    pub json: bool,
    /// A table (the default on a terminal)
    #[arg(long)]
    pub table: bool,
    /// Score the good items and list the bad ones at the end
    #[arg(long)]
    pub keep_going: bool,
    /// No progress bar
    #[arg(long)]
    pub no_progress: bool,
    /// Evidence; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}

/// What to explain.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A record, or evidence to score first; `-` reads standard input
    #[arg(value_name = "RECORD|EVIDENCE", default_value = "-")]
    pub file: String,
    /// The scorecard: a released id or a file; a record names its own
    #[arg(long, short = 'c', value_name = "ID|FILE")]
    pub card: Option<String>,
    /// Which subject, where the file has several
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    /// The field of an item that says who is scored
    #[arg(long, value_name = "FIELD")]
    pub subject_field: Option<String>,
    /// One JSON object (the default in a pipe)
    #[arg(long, conflicts_with = "table")]
    pub json: bool,
    /// The screen (the default on a terminal)
    #[arg(long)]
    pub table: bool,
}

/// Cases to answer.
#[derive(Debug, Args)]
#[command(after_help = "\
A case is one line {\"id\", \"fn\", \"input\", \"expected\"}, with a \"tolerance\" for its numbers where 2e-9 will not do.
The exit status is 1 when a case failed or a line holds no case; what is refused or unknown did not pass either, and is
counted on its own.")]
pub struct ConformArgs {
    /// Print one line {"id", "fn", "output"} per case instead, or {"id", "fn", "refused"}; compares nothing
    #[arg(long, conflicts_with_all = ["json", "table"])]
    pub emit: bool,
    /// One JSON object (the default in a pipe)
    #[arg(long, conflicts_with = "table")]
    pub json: bool,
    /// A table (the default on a terminal)
    #[arg(long)]
    pub table: bool,
    /// Cases, one JSON object per line; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}

/// Work on scorecards.
#[derive(Debug, Subcommand)]
pub enum CardVerb {
    /// List the scorecards that come with karat
    List(ListArgs),
    /// Show a scorecard in full
    Show(ShowArgs),
    /// Check scorecard files: everything that is wrong or a trap, and how to mend it
    Check(CheckArgs),
    /// Write a commented scorecard to start from
    New(NewArgs),
    /// Score the same evidence under two scorecards and say who moves, and why
    Diff(DiffArgs),
}

/// `karat card list`
#[derive(Debug, Args)]
pub struct ListArgs {
    /// One JSON array
    #[arg(long)]
    pub json: bool,
}

/// `karat card show`
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A released id or a file
    #[arg(value_name = "ID|FILE")]
    pub card: String,
    /// The file itself
    #[arg(long)]
    pub toml: bool,
}

/// `karat card check`
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Scorecard files, or released ids
    #[arg(value_name = "FILE", required = true)]
    pub cards: Vec<String>,
    /// One JSON object per card
    #[arg(long)]
    pub json: bool,
}

/// `karat card new`
#[derive(Debug, Args)]
pub struct NewArgs {
    /// Its name: lower-case letters, digits, hyphens; starts with a letter
    pub id: String,
    /// The kind of evidence that it reads
    #[arg(long, value_name = "KIND", default_value = "facts")]
    pub kind: String,
    /// The file to write; standard output if not given
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
}

/// `karat card diff`
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The scorecard before: a released id or a file
    #[arg(value_name = "CARD_A")]
    pub before: String,
    /// The scorecard after
    #[arg(value_name = "CARD_B")]
    pub after: String,
    /// Evidence
    #[arg(value_name = "EVIDENCE", required = true)]
    pub files: Vec<String>,
    /// The field of an item that says who is scored
    #[arg(long, value_name = "FIELD")]
    pub subject_field: Option<String>,
    /// How many of the largest movers to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// A number of points as people write it.
fn points(text: &str) -> Result<Decimal, String> {
    match Decimal::parse(text) {
        Ok((points, true)) if points >= Decimal::ZERO => Ok(points),
        Ok((_, true)) => Err(String::from("points are not negative")),
        Ok((_, false)) => Err(String::from("at most six decimals")),
        Err(_) => Err(String::from("expected a decimal such as 700 or 0.75")),
    }
}
