//! `karat rate`: its flags and its help.

use clap::Args;
use karat::ratings::Question;

use super::FormArgs;

/// Rate competitors from their matches.
#[derive(Debug, Args)]
#[command(after_help = "\
FILE is CSV or JSON lines: first, second, result; winner, loser; or first_score,
second_score. Optional: time, id, pair; of a covariate first_NAME, second_NAME;
of --arena difficulty, verified, memoryless, attempt_number, category, state.

Examples:
  karat rate --system elo examples/matches/season.csv
  karat rate --system bradley-terry --judge judge examples/matches/votes.jsonl")]
pub struct RateArgs {
    /// The question
    #[command(flatten)]
    pub question: Question,
    /// Continue from the ratings in this file
    #[arg(long, value_name = "FILE")]
    pub state: Option<String>,
    /// Write the ratings, to continue from them later
    #[arg(long, value_name = "FILE")]
    pub state_out: Option<String>,
    /// Rows of the table; 0 for all
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub top: usize,
    /// The form
    #[command(flatten)]
    pub form: FormArgs,
    /// Matches; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}
