//! `karat rate`: its flags and its help.

use clap::{Args, ValueEnum};

use crate::format::FormatArgs;
use crate::matches::columns::Columns;
use karat::renames::Rename;

/// Rate competitors from their matches.
#[derive(Debug, Args)]
#[command(after_help = "\
FILE is CSV or JSON lines of first, second and result; or of winner and loser;
or with first_score and second_score. time, id and pair are optional. --arena
also takes difficulty, verified, memoryless, attempt_number, category and state.

Examples:
  karat rate --system elo examples/matches/season.csv
  karat rate --system bradley-terry --judge judge examples/matches/votes.jsonl")]
pub struct RateArgs {
    /// elo, glicko2, weng-lin or bradley-terry
    #[arg(long, value_enum, hide_possible_values = true, value_name = "NAME")]
    pub system: SystemName,
    /// Other names of columns: first=home,id=date+home
    #[arg(long, value_name = "MAP", default_value = "", hide_default_value = true)]
    pub columns: Columns,
    /// Settings of the system: k=24, tau=0.5, prior=gaussian
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true)]
    pub set: String,
    /// The arena's Elo, with its bonus at challenges
    #[arg(long)]
    pub arena: bool,
    /// Continue from the ratings in this file
    #[arg(long, value_name = "FILE")]
    pub state: Option<String>,
    /// Write the ratings, to continue from them later
    #[arg(long, value_name = "FILE")]
    pub state_out: Option<String>,
    /// Predict the last SHARE of the matches, such as 0.2
    #[arg(long, value_name = "SHARE")]
    pub holdout: Option<f64>,
    /// Ratings for each value of a column
    #[arg(long, value_name = "COLUMN")]
    pub by: Option<String>,
    /// Compare who decided; rate what people decided
    #[arg(long, value_name = "COLUMN")]
    pub judge: Option<String>,
    /// Its entry for people
    #[arg(long, value_name = "NAME", default_value = "people", requires = "judge")]
    pub people: String,
    /// A competitor with two names; repeatable
    #[arg(long, value_name = "OLD=NEW")]
    pub rename: Vec<Rename>,
    /// A result that means no match; repeatable
    #[arg(long, value_name = "RESULT")]
    pub skip: Vec<String>,
    /// Bradley-Terry of all, or largest part
    #[arg(long, value_enum, default_value_t, hide_possible_values = true, value_name = "PART")]
    pub component: Component,
    /// Bradley-Terry: intervals by resamples
    #[arg(long)]
    pub bootstrap: bool,
    /// Bootstrap resamples
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "bootstrap", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub resamples: u64,
    /// The seed of the resamples
    #[arg(long, value_name = "N", default_value_t = 1, requires = "bootstrap")]
    pub seed: u64,
    /// Confidence of intervals and groups
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    pub level: f64,
    /// Rows of the table; 0 for all
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub top: usize,
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
    /// Write a page for a browser, too
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
    /// No progress bar
    #[arg(long)]
    pub no_progress: bool,
    /// Matches; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}

/// The rating systems by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SystemName {
    /// Elo.
    Elo,
    /// Glicko-2.
    Glicko2,
    /// Weng and Lin's.
    WengLin,
    /// Bradley-Terry with ties.
    BradleyTerry,
}

impl SystemName {
    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Elo => "elo",
            Self::Glicko2 => "glicko2",
            Self::WengLin => "weng-lin",
            Self::BradleyTerry => "bradley-terry",
        }
    }
}

/// The competitors that Bradley-Terry rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Component {
    /// All of them, or an error if some cannot be compared.
    #[default]
    All,
    /// The largest group whose members can be compared with each other.
    Largest,
}
