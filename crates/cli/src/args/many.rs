//! The arguments of the commands that look at many scored items: the question, and the form of the answer.

use clap::Args;

use karat::ask::{Compare, Draws, Floors, Items, Leaderboard, Sure};
use karat_terminal::format::FormatArgs;

/// The form of the answer.
#[derive(Debug, Default, Args)]
pub struct FormArgs {
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
    /// Write a page for a browser, too
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
    /// No progress bar
    #[arg(long)]
    pub no_progress: bool,
}

/// Subjects by rank.
#[derive(Debug, Default, Args)]
#[group(skip)]
#[command(after_help = "  karat leaderboard -c examples/cards/task-run.toml examples/leaderboard/*.csv")]
pub struct LeaderboardArgs {
    /// The question
    #[command(flatten)]
    pub ask: Leaderboard,
    /// Most rows on the screen; 0 for all
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// The gate
    #[command(flatten)]
    pub floors: Floors,
    /// The form
    #[command(flatten)]
    pub form: FormArgs,
    /// Records, or evidence with --card; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}

/// Two subjects to compare, or the subjects of two files.
#[derive(Debug, Default, Args)]
#[group(skip)]
#[command(after_help = "\
Without FILE, A and B are files or folders, the one before and the one after:
of one subject each, or every subject that both have.

Examples:
  karat compare heron ibis -c examples/cards/task-run.toml \\
    examples/leaderboard/runs.csv --fail-if-worse 50 --strict
  karat compare examples/compare/base.csv examples/compare/new.csv \\
    -c examples/cards/task-run.toml")]
pub struct CompareArgs {
    /// The question
    #[command(flatten)]
    pub ask: Compare,
    /// Show every task that changed, not the first ten
    #[arg(long)]
    pub all: bool,
    /// The form
    #[command(flatten)]
    pub form: FormArgs,
    /// Records, or evidence with --card
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}

/// The scorecard to vary, and the items to rank.
#[derive(Debug, Args)]
#[command(after_help = "\
Random weights lie near those of the card (Dirichlet), or anywhere.

Example:
  karat stress examples/cards/task-run.toml examples/leaderboard/runs.csv")]
pub struct StressArgs {
    /// The scorecard: a released id or a file
    #[arg(value_name = "CARD")]
    pub card: String,
    /// Closeness of random weights: at 20, one of five equal weights becomes 13 to 28 %
    #[arg(long, value_name = "N", default_value_t = karat::leaderboard::stress::CONCENTRATION, value_parser = concentration)]
    pub concentration: f64,
    /// The items
    #[command(flatten)]
    pub items: Items,
    /// The random weights
    #[command(flatten)]
    pub weights: Draws,
    /// The confidence
    #[command(flatten)]
    pub sure: Sure,
    /// The form
    #[command(flatten)]
    pub form: FormArgs,
    /// Records or evidence; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}

fn concentration(text: &str) -> Result<f64, String> {
    let found = text.parse::<f64>().ok().filter(|found| *found > 0.0 && found.is_finite());
    found.ok_or_else(|| String::from("expected a number above 0, such as 20"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_concentration_is_above_0() {
        assert_eq!(concentration("20"), Ok(20.0));
        for wrong in ["0", "-1", "NaN", "much"] {
            assert!(concentration(wrong).is_err(), "{wrong}");
        }
    }
}
