//! The arguments of the verbs that look at many scored items: leaderboard, compare, stress.

use clap::Args;
use karat_core::facts::Outcome;
use karat_core::number::Decimal;
use karat_core::timestamp::Timestamp;
use karat_stats::outcome::Treatment;

use super::moment::moment;
use super::{AsOf, FieldArgs, points};
use crate::format::FormatArgs;
use karat::answers::LeaderboardMethod;
use karat::answers::leaderboard::columns::Column;
use karat::answers::leaderboard::floor::On;
use karat::renames::Rename;
use karat::rows::filter::Filter;

/// The items to read, and how to read them.
#[derive(Debug, Clone, Default, Args)]
pub struct ItemArgs {
    /// The fields of an item that name something
    #[command(flatten)]
    pub fields: FieldArgs,
    /// A subject with two names; repeatable
    #[arg(long, value_name = "OLD=NEW")]
    pub rename: Vec<Rename>,
    /// Only items with this fact, task or outcome
    #[arg(long = "where", value_name = "FIELD=VALUE", value_parser = Filter::parse)]
    pub filters: Vec<Filter>,
    /// From this time on, such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub since: Option<Timestamp>,
    /// Before this time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub until: Option<Timestamp>,
    /// The time of the verdict, if it is needed
    #[arg(long, value_name = "TIME", value_parser = AsOf::parse)]
    pub as_of: Option<AsOf>,
    /// No progress bar
    #[arg(long)]
    pub no_progress: bool,
}

/// The confidence that an answer needs.
#[derive(Debug, Clone, Args)]
pub struct SureArgs {
    /// success, failure, excluded or scored
    #[arg(long = "count", value_name = "OUTCOME=AS", value_parser = treatment)]
    pub counts: Vec<(Outcome, Treatment)>,
    /// Confidence of intervals
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = level)]
    pub level: f64,
    /// Resamples of tasks and weights
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub resamples: u32,
    /// The seed of the resamples
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

impl Default for SureArgs {
    fn default() -> Self {
        Self { counts: Vec::new(), level: 0.95, resamples: 1000, seed: 1 }
    }
}

/// The form of the answer.
#[derive(Debug, Default, Args)]
pub struct FormArgs {
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
    /// Write a page for a browser, too
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
}

/// Subjects by rank.
#[derive(Debug, Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("floor").multiple(true))]
#[command(after_help = "  karat leaderboard -c examples/cards/task-run.toml examples/leaderboard/*.csv")]
pub struct LeaderboardArgs {
    /// The scorecard of evidence; records name their own
    #[arg(long, short = 'c', value_name = "ID|FILE")]
    pub card: Option<String>,
    /// The items
    #[command(flatten)]
    pub items: ItemArgs,
    /// official, mean, a dimension, or FACT:asc
    #[arg(long, value_name = "KEY")]
    pub by: Option<String>,
    /// The lowest value of the fact of `--by` is the best
    #[arg(long, requires = "by", conflicts_with = "higher_is_better", hide = true)]
    pub lower_is_better: bool,
    /// The highest value of the fact of `--by` is the best
    #[arg(long, requires = "by", hide = true)]
    pub higher_is_better: bool,
    /// More columns: cost_usd,cost_usd:p95,gates,tiers
    #[arg(long = "with", value_name = "LIST", value_parser = columns)]
    pub with: Option<Columns>,
    /// Events beside the evaluations
    #[arg(long, value_name = "FILE")]
    pub events: Option<String>,
    /// Rows by rank or another key
    #[arg(long, value_name = "KEY", default_value = "rank")]
    pub sort: String,
    /// A leaderboard for each value of a field
    #[arg(long, value_name = "FIELD")]
    pub group_by: Option<String>,
    /// bootstrap, student, or census: nothing is sampled
    #[arg(long, value_name = "METHOD", value_parser = method)]
    pub method: Option<LeaderboardMethod>,
    /// The same as `--method census`
    #[arg(long, conflicts_with = "method", hide = true)]
    pub census: bool,
    /// Fewest tasks for a rank
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub min_tasks: usize,
    /// Most rows on the screen; 0 for all
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// pass@k, pass^k up to K; --pass says from where
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub attempts: Option<u32>,
    /// Points at which an attempt passes
    #[arg(long, value_name = "POINTS", requires = "attempts", value_parser = points, hide = true)]
    pub pass: Option<Decimal>,
    /// Show how far the ranks depend on the card
    #[arg(long)]
    pub robustness: bool,
    /// Fail below MIN points, or DIMENSION=MIN
    #[arg(long, value_name = "MIN", value_parser = Floor::parse, group = "floor", allow_negative_numbers = true)]
    pub fail_under: Vec<Floor>,
    /// The same as `--fail-under DIMENSION=MIN`
    #[arg(long, value_name = "DIMENSION=MIN", value_parser = Floor::parse_dimension, hide = true, group = "floor")]
    pub fail_under_dimension: Vec<Floor>,
    /// mean, or the low end of the interval
    #[arg(long, value_name = "mean|low", default_value = "mean", hide_default_value = true, value_parser = on,
          requires = "floor")]
    pub on: On,
    /// Only these may fail; repeatable
    #[arg(long, short = 's', value_name = "NAME")]
    pub subject: Vec<String>,
    /// The confidence
    #[command(flatten)]
    pub sure: SureArgs,
    /// The form
    #[command(flatten)]
    pub form: FormArgs,
    /// Records, or evidence with --card; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}

impl Default for LeaderboardArgs {
    fn default() -> Self {
        Self {
            card: None,
            items: ItemArgs::default(),
            by: None,
            lower_is_better: false,
            higher_is_better: false,
            with: None,
            events: None,
            sort: String::from("rank"),
            group_by: None,
            method: None,
            census: false,
            min_tasks: 1,
            top: None,
            attempts: None,
            pass: None,
            robustness: false,
            fail_under: Vec::new(),
            fail_under_dimension: Vec::new(),
            on: On::Mean,
            subject: Vec::new(),
            sure: SureArgs::default(),
            form: FormArgs::default(),
            files: Vec::new(),
        }
    }
}

/// Two subjects to compare, or the subjects of two files.
#[derive(Debug, Default, Args)]
#[command(after_help = "\
Without FILE, A and B are files or folders, the one before and the one after:
of one subject each, or every subject that both have.

Examples:
  karat compare heron ibis -c examples/cards/task-run.toml \\
    examples/leaderboard/runs.csv --fail-if-worse 50 --strict
  karat compare examples/compare/base.csv examples/compare/new.csv \\
    -c examples/cards/task-run.toml")]
pub struct CompareArgs {
    /// A subject, or the file before
    #[arg(value_name = "A")]
    pub first: String,
    /// The other subject, or the file after
    #[arg(value_name = "B")]
    pub second: String,
    /// The scorecard of evidence; records name their own
    #[arg(long, short = 'c', value_name = "ID|FILE")]
    pub card: Option<String>,
    /// Fail if B is worse by more than BY points (0)
    #[arg(long, value_name = "BY", num_args = 0..=1, default_missing_value = "0", value_parser = margin, allow_negative_numbers = true)]
    pub fail_if_worse: Option<Decimal>,
    /// Fail unless it is shown that B is not
    #[arg(long, requires = "fail_if_worse")]
    pub strict: bool,
    /// Show every task that changed, not the first ten
    #[arg(long)]
    pub all: bool,
    /// The items
    #[command(flatten)]
    pub items: ItemArgs,
    /// Points at which a task is passed
    #[arg(long, value_name = "POINTS", value_parser = points)]
    pub pass: Option<Decimal>,
    /// The confidence
    #[command(flatten)]
    pub sure: SureArgs,
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
    pub items: ItemArgs,
    /// The confidence
    #[command(flatten)]
    pub sure: SureArgs,
    /// The form
    #[command(flatten)]
    pub form: FormArgs,
    /// Records or evidence; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}

pub(super) fn level(text: &str) -> Result<f64, String> {
    let level = text.parse::<f64>().ok().filter(|level| *level > 0.0 && *level < 1.0);
    level.ok_or_else(|| String::from("expected a number above 0 and below 1, such as 0.95"))
}

/// The least that a subject must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Floor {
    /// The dimension or group; none for the score.
    pub dimension: Option<String>,
    /// The least, in points or as a value.
    pub least: Decimal,
}

impl Floor {
    fn parse(text: &str) -> Result<Self, String> {
        match text.contains('=') {
            true => Self::parse_dimension(text),
            false => Ok(Self { dimension: None, least: points(text)? }),
        }
    }

    fn parse_dimension(text: &str) -> Result<Self, String> {
        let expected = || String::from("expected a dimension and its least value, such as safety=0.99");
        let (key, least) = text.rsplit_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(expected)?;
        let least = points(least).map_err(|_| expected())?;
        match least.millionths() {
            0..=1_000_000 => Ok(Self { dimension: Some(key.to_owned()), least }),
            _ => Err(String::from("a dimension is 0 to 1")),
        }
    }
}

/// A list of columns of a leaderboard.
pub type Columns = std::sync::Arc<Vec<Column>>;

fn columns(text: &str) -> Result<Columns, String> {
    Column::parse(text).map(Columns::new)
}

fn on(text: &str) -> Result<On, String> {
    match text {
        "mean" => Ok(On::Mean),
        "low" => Ok(On::Low),
        _ => Err(String::from("expected mean or low")),
    }
}

/// Reads the points of `--fail-if-worse`, which takes the next word.
fn margin(text: &str) -> Result<Decimal, String> {
    points(text).map_err(|why| format!("{why}; a file goes before it, or give the points: --fail-if-worse=0"))
}

fn method(text: &str) -> Result<LeaderboardMethod, String> {
    LeaderboardMethod::from_name(text).ok_or_else(|| String::from("expected bootstrap, student or census"))
}

fn concentration(text: &str) -> Result<f64, String> {
    let found = text.parse::<f64>().ok().filter(|found| *found > 0.0 && found.is_finite());
    found.ok_or_else(|| String::from("expected a number above 0, such as 20"))
}

/// Reads `stopped=failure`.
fn treatment(text: &str) -> Result<(Outcome, Treatment), String> {
    const UNCERTAIN: [Outcome; 4] =
        [Outcome::NoVerdict, Outcome::Stopped, Outcome::NotApplicable, Outcome::Refused];
    const TREATMENTS: [Treatment; 4] =
        [Treatment::Success, Treatment::Failure, Treatment::Excluded, Treatment::Scored];
    let expected = || {
        let outcomes = UNCERTAIN.map(Outcome::name).join(", ");
        let treatments = TREATMENTS.map(Treatment::name).join(", ");
        format!("expected OUTCOME=AS with one of {outcomes}, and one of {treatments}")
    };
    let (outcome, treatment) = text.split_once('=').ok_or_else(expected)?;
    let outcome = UNCERTAIN.into_iter().find(|it| it.name() == outcome);
    let treatment = TREATMENTS.into_iter().find(|it| it.name() == treatment);
    outcome.zip(treatment).ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_and_levels_are_read() {
        assert_eq!(treatment("stopped=failure"), Ok((Outcome::Stopped, Treatment::Failure)));
        for wrong in ["stopped", "failed=success", "stopped=nothing", "=", ""] {
            assert!(treatment(wrong).unwrap_err().contains("no-verdict, stopped"), "{wrong}");
        }
        assert_eq!(level("0.9"), Ok(0.9));
        for wrong in ["0", "1", "95", "NaN", "much"] {
            assert!(level(wrong).is_err() && concentration("-1").is_err(), "{wrong}");
        }
    }
}
