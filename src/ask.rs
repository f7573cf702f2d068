//! The questions that the command line, the server and project files ask alike, one struct each: which items, how sure, and
//! what is ranked, compared or judged.
//!
//! With the feature `cli` their fields are flags, with `schema` parameters of a query; a door adds only what the form of its
//! answers needs. Limits that protect a door, such as the most rows of a server, are its own.

pub mod about;
pub mod answer;
pub mod compare;
mod duel;
pub mod grid;
pub mod judges;
pub mod leaderboard;
pub mod moment;
pub mod standing;
pub mod stress;
pub mod tasks;
pub mod trend;

use std::fmt::Display;
use std::str::FromStr;

use karat_core::facts::Outcome;
use karat_core::number::Decimal;
use karat_core::timestamp::Timestamp;
use karat_stats::outcome::Treatment;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use crate::answers::LeaderboardMethod;
use crate::answers::leaderboard::columns::Column;
use crate::answers::leaderboard::floor::On;
use crate::error::Error;
use crate::leaderboard::Settings;
use crate::renames::Rename;
use crate::rows::attempts::numbers;
use crate::rows::filter::Filter;

pub use about::About;
pub use duel::Duel;
pub use grid::Grid;
pub use judges::Judges;
pub use moment::AsOf;
pub use standing::Standing;
pub use stress::Stress;
pub use tasks::Tasks;
pub use trend::Trend;

pub use crate::renames::renamed;
pub use crate::weights::weights;

/// The fields of an item of facts that name something.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip))]
pub struct Fields {
    /// The field of an item that names the subject
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD"))]
    pub subject_field: Option<String>,
    /// The field of an item that names the task
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD"))]
    pub task_field: Option<String>,
}

/// The items that count, and how to read them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip))]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct Items {
    /// The fields of an item that name something
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    #[cfg_attr(feature = "schema", param(ignore))]
    pub fields: Fields,
    /// Another name for a subject; repeatable
    #[serde(deserialize_with = "list")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "OLD=NEW"))]
    #[cfg_attr(feature = "schema", param(ignore))]
    pub rename: Vec<Rename>,
    /// Only items with this fact, task or outcome
    #[serde(rename = "where", deserialize_with = "list")]
    #[cfg_attr(feature = "cli", arg(long = "where", value_name = "FIELD=VALUE"))]
    #[cfg_attr(feature = "schema", param(value_type = Option<String>))]
    pub filters: Vec<Filter>,
    /// From this time on, such as 2026-01-31T12:00:00Z
    #[serde(deserialize_with = "timestamp")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TIME", value_parser = moment::moment))]
    #[cfg_attr(feature = "schema", param(value_type = Option<String>))]
    pub since: Option<Timestamp>,
    /// Before this time
    #[serde(deserialize_with = "timestamp")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TIME", value_parser = moment::moment))]
    #[cfg_attr(feature = "schema", param(value_type = Option<String>))]
    pub until: Option<Timestamp>,
    /// The time to score and rank at
    #[serde(deserialize_with = "text")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TIME"))]
    #[cfg_attr(feature = "schema", param(value_type = Option<String>))]
    pub as_of: Option<AsOf>,
}

impl Items {
    /// Returns the conditions that items must meet.
    pub(crate) fn wish(&self) -> crate::rows::filter::Wish<'_> {
        crate::rows::filter::Wish { filters: &self.filters, since: self.since, until: self.until }
    }
}

/// The confidence of intervals and comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip))]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct Confidence {
    /// Confidence of intervals
    #[serde(deserialize_with = "number")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SHARE", default_value_t = Settings::LEVEL, value_parser = level))]
    pub level: f64,
}

impl Default for Confidence {
    fn default() -> Self {
        Self { level: Settings::LEVEL }
    }
}

/// The sets of weights that a test of ranks draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip))]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct Draws {
    /// Sets of weights that are drawn
    #[serde(deserialize_with = "number")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = Settings::DRAWS, value_parser = clap::value_parser!(u32).range(1..=1_000_000)))]
    pub draws: u32,
    /// The seed of the weights
    #[serde(deserialize_with = "number")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 1))]
    pub seed: u64,
}

impl Default for Draws {
    fn default() -> Self {
        Self { draws: Settings::DRAWS, seed: 1 }
    }
}

impl Draws {
    /// Refuses a number of sets that no flag takes.
    pub(crate) fn check(self) -> Result<(), Error> {
        number_of("draws", self.draws.into())
    }
}

/// Refuses a number that no flag takes.
pub(crate) fn number_of(key: &str, found: u64) -> Result<(), Error> {
    match found {
        1..=1_000_000 => Ok(()),
        other => Err(answer::invalid(format!("`{key}` is `{other}`, expected 1 to 1,000,000"))),
    }
}

/// The outcomes that count, and the confidence.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip))]
pub struct Sure {
    /// success, failure, excluded or scored
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long = "count", value_name = "OUTCOME=AS", value_parser = treatment))]
    pub counts: Vec<(Outcome, Treatment)>,
    /// The confidence
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub confidence: Confidence,
}

/// Subjects by rank.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip))]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct Leaderboard {
    /// The scorecard of evidence; records name their own
    #[cfg_attr(feature = "cli", arg(long, short = 'c', value_name = "ID|FILE"))]
    #[cfg_attr(feature = "schema", param(required = true, example = "workflow@1.0.0"))]
    pub card: Option<String>,
    /// The items
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    #[cfg_attr(feature = "schema", param(ignore))]
    pub items: Items,
    /// official, mean, a dimension, or FACT:asc
    #[cfg_attr(feature = "cli", arg(long, value_name = "KEY"))]
    pub by: Option<String>,
    /// The lowest value of the fact of `--by` is the best
    #[serde(skip)]
    #[cfg_attr(
        feature = "cli",
        arg(long, requires = "by", conflicts_with = "higher_is_better", hide = true)
    )]
    pub lower_is_better: bool,
    /// The highest value of the fact of `--by` is the best
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long, requires = "by", hide = true))]
    pub higher_is_better: bool,
    /// More columns: cost_usd,cost_usd:p95,gates,tiers
    #[serde(deserialize_with = "text")]
    #[cfg_attr(feature = "cli", arg(long = "with", value_name = "LIST"))]
    #[cfg_attr(feature = "schema", param(value_type = Option<String>, example = "cost_usd,cost_usd:p95,gates"))]
    pub with: Option<Columns>,
    /// A fact to hold quality against
    #[cfg_attr(feature = "cli", arg(long, value_name = "FACT"))]
    #[cfg_attr(feature = "schema", param(example = "cost_usd"))]
    pub cost: Option<String>,
    /// Events beside the evaluations
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub events: Option<String>,
    /// Rows by rank or another key
    #[cfg_attr(feature = "cli", arg(long, value_name = "KEY", default_value = "rank"))]
    #[cfg_attr(feature = "schema", param(ignore))]
    pub sort: String,
    /// A leaderboard for each value of a field
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD"))]
    pub group_by: Option<String>,
    /// pairs, means, or census: nothing is estimated
    #[cfg_attr(feature = "cli", arg(long, value_name = "METHOD", value_parser = method))]
    pub method: Option<LeaderboardMethod>,
    /// The same as `--method census`
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "method", hide = true))]
    pub census: bool,
    /// Fewest tasks for a rank
    #[serde(deserialize_with = "number")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 1))]
    pub min_tasks: usize,
    /// pass@k up to K; `first`: count first attempts
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "K|first"))]
    pub attempts: Option<Attempts>,
    /// Points at which an attempt passes
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "POINTS", requires = "attempts", value_parser = points, hide = true))]
    pub pass: Option<Decimal>,
    /// Show how far the ranks depend on the card
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long, hide = true))]
    pub robustness: bool,
    /// The weights that `--robustness` draws
    #[serde(skip)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub weights: Draws,
    /// The confidence
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    #[cfg_attr(feature = "schema", param(ignore))]
    pub sure: Sure,
}

impl Default for Leaderboard {
    fn default() -> Self {
        Self {
            card: None,
            items: Items::default(),
            by: None,
            lower_is_better: false,
            higher_is_better: false,
            with: None,
            cost: None,
            events: None,
            sort: String::from("rank"),
            group_by: None,
            method: None,
            census: false,
            min_tasks: 1,
            attempts: None,
            pass: None,
            robustness: false,
            weights: Draws::default(),
            sure: Sure::default(),
        }
    }
}

/// The attempts at a task that count, and what is asked of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempts {
    /// The first alone: its results do not depend on when a subject stops.
    First,
    /// All, and the chances of up to this number of them.
    UpTo(u32),
}

impl Attempts {
    /// Returns the fields that items must keep.
    pub fn kept(asked: Option<Self>) -> Vec<String> {
        if asked == Some(Self::First) { numbers() } else { Vec::new() }
    }
}

impl FromStr for Attempts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = || text.parse().ok().filter(|most| (1..=100).contains(most)).map(Self::UpTo);
        let found = if text == "first" { Some(Self::First) } else { number() };
        found.ok_or_else(|| String::from("expected a number from 1 to 100, or first"))
    }
}

/// The floors that subjects of a leaderboard must reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip), command(group = clap::ArgGroup::new("floor").multiple(true)))]
pub struct Floors {
    /// Fail below MIN points, or DIMENSION=MIN
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "MIN", group = "floor", allow_negative_numbers = true)
    )]
    pub fail_under: Vec<Floor>,
    /// The same as `--fail-under DIMENSION=MIN`
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIMENSION=MIN", value_parser = Floor::parse_dimension, hide = true, group = "floor"))]
    pub fail_under_dimension: Vec<Floor>,
    /// mean, or the low end of the interval
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            value_name = "mean|low",
            default_value = "mean",
            hide_default_value = true,
            hide = true,
            requires = "floor"
        )
    )]
    pub on: On,
    /// Only these may fail; repeatable
    #[cfg_attr(feature = "cli", arg(long, short = 's', value_name = "NAME"))]
    pub subject: Vec<String>,
}

impl Floors {
    /// Returns all floors.
    pub fn all(&self) -> impl Iterator<Item = &Floor> + Clone {
        self.fail_under.iter().chain(&self.fail_under_dimension)
    }
}

/// Two subjects to compare, or the subjects of two files.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip))]
pub struct Compare {
    /// A subject, or the file before
    #[cfg_attr(feature = "cli", arg(value_name = "A"))]
    pub first: String,
    /// The other subject, or the file after
    #[cfg_attr(feature = "cli", arg(value_name = "B"))]
    pub second: String,
    /// The scorecard of evidence; records name their own
    #[cfg_attr(feature = "cli", arg(long, short = 'c', value_name = "ID|FILE"))]
    pub card: Option<String>,
    /// Fail if B is worse by more than BY points (0)
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "BY", num_args = 0..=1, default_missing_value = "0", value_parser = margin, allow_negative_numbers = true))]
    pub fail_if_worse: Option<Decimal>,
    /// Fail unless it is shown that B is not
    #[cfg_attr(feature = "cli", arg(long, requires = "fail_if_worse"))]
    pub strict: bool,
    /// `first`: count the first attempt of a task alone
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "first", value_parser = first))]
    pub attempts: Option<Attempts>,
    /// The items
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub items: Items,
    /// Points at which a task is passed
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "POINTS", value_parser = points))]
    pub pass: Option<Decimal>,
    /// The confidence
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub sure: Sure,
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
    /// Reads `DIMENSION=MIN`.
    ///
    /// # Errors
    /// If the text has another form, or the value is not 0 to 1.
    pub(crate) fn parse_dimension(text: &str) -> Result<Self, String> {
        let expected = || String::from("expected a dimension and its least value, such as safety=0.99");
        let (key, least) = text.rsplit_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(expected)?;
        let least = points(least).map_err(|_| expected())?;
        match least.millionths() {
            0..=1_000_000 => Ok(Self { dimension: Some(key.to_owned()), least }),
            _ => Err(String::from("a dimension is 0 to 1")),
        }
    }
}

impl FromStr for Floor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.contains('=') {
            true => Self::parse_dimension(text),
            false => Ok(Self { dimension: None, least: points(text)? }),
        }
    }
}

/// A list of columns of a leaderboard, such as `cost_usd,gates`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns(pub Vec<Column>);

impl FromStr for Columns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Column::parse(text).map(Self)
    }
}

/// Reads points: a decimal that is not negative.
///
/// # Errors
/// If the text has another form, or more than six decimals.
pub fn points(text: &str) -> Result<Decimal, String> {
    match Decimal::parse(text) {
        Ok((points, true)) if points >= Decimal::ZERO => Ok(points),
        Ok((_, true)) => Err(String::from("points are not negative")),
        Ok((_, false)) => Err(String::from("at most six decimals")),
        Err(_) => Err(String::from("expected a decimal such as 700 or 0.75")),
    }
}

/// Reads a confidence.
///
/// # Errors
/// If it is not between 0 and 1.
pub fn level(text: &str) -> Result<f64, String> {
    let level = text.parse::<f64>().ok().filter(|level| *level > 0.0 && *level < 1.0);
    level.ok_or_else(|| String::from("expected a number above 0 and below 1, such as 0.95"))
}

/// Reads the points of `--fail-if-worse`, which takes the next word.
#[cfg(feature = "cli")]
fn margin(text: &str) -> Result<Decimal, String> {
    points(text).map_err(|why| format!("{why}; a file goes before it, or give the points: --fail-if-worse=0"))
}

#[cfg(feature = "cli")]
fn first(text: &str) -> Result<Attempts, String> {
    if text == "first" { Ok(Attempts::First) } else { Err(String::from("expected first")) }
}

#[cfg(feature = "cli")]
fn method(text: &str) -> Result<LeaderboardMethod, String> {
    LeaderboardMethod::from_name(text).ok_or_else(|| String::from("expected pairs, means or census"))
}

/// Reads `stopped=failure`.
///
/// # Errors
/// If the outcome is certain or unknown, or it is not said how it counts.
#[cfg(any(test, feature = "cli"))]
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

/// Values of a parameter: one, or a list of them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Given<T> {
    One(T),
    Several(Vec<T>),
}

/// Reads one text or several.
pub(crate) fn list<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
    source: D,
) -> Result<Vec<T>, D::Error> {
    let all = match Given::<String>::deserialize(source)? {
        Given::One(text) => vec![text],
        Given::Several(all) => all,
    };
    all.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
}

/// Reads names: a list, or one text with commas between them.
pub(crate) fn names<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<String>, D::Error> {
    let all = list::<D, String>(source)?;
    let names = all.iter().flat_map(|text| text.split(',')).map(|name| name.trim().to_owned());
    Ok(names.filter(|name| !name.is_empty()).collect())
}

/// Reads a text that may be absent.
pub(crate) fn text<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
    source: D,
) -> Result<Option<T>, D::Error> {
    let text = Option::<String>::deserialize(source)?;
    text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
}

/// Reads points that may be absent, as a number or its text.
pub(crate) fn points_of<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Decimal>, D::Error> {
    let written = Option::<serde_json::Value>::deserialize(source)?;
    let text = written.map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
    text.map(|text| points(&text).map_err(D::Error::custom)).transpose()
}

/// Reads a moment that may be absent.
fn timestamp<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(source)?;
    text.map(|text| moment::moment(&text).map_err(D::Error::custom)).transpose()
}

/// Reads a number, which in a query is a text.
fn number<'de, D: Deserializer<'de>, T>(source: D) -> Result<T, D::Error>
where
    T: FromStr<Err: Display> + Deserialize<'de>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written<T> {
        Number(T),
        Text(String),
    }
    match Written::deserialize(source)? {
        Written::Number(number) => Ok(number),
        Written::Text(text) => text.parse().map_err(D::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn outcomes_levels_and_points_are_read() {
        assert_eq!(treatment("stopped=failure"), Ok((Outcome::Stopped, Treatment::Failure)));
        for wrong in ["stopped", "failed=success", "stopped=nothing", "=", ""] {
            assert!(treatment(wrong).unwrap_err().contains("no-verdict, stopped"), "{wrong}");
        }
        assert_eq!(level("0.9"), Ok(0.9));
        for wrong in ["0", "1", "95", "NaN", "much"] {
            assert!(level(wrong).is_err(), "{wrong}");
        }
        assert_eq!(points("0.75"), Ok(Decimal::from_millionths(750_000)));
        for bad in ["-1", "0.1234567", "many", "NaN", ""] {
            assert!(points(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_question_is_read_from_json_with_the_defaults_of_the_command_line() {
        let asked: Leaderboard = from_value(json!({})).unwrap();
        assert_eq!(asked, Leaderboard::default());
        let asked: Leaderboard = from_value(json!({
            "card": "workflow", "where": ["domain=shop", "task!=a"], "rename": "old=new", "with": "cost_usd:p95",
            "as_of": "2026-01-31T12:00:00Z", "level": "0.9", "min_tasks": 3
        }))
        .unwrap();
        assert_eq!((asked.items.filters.len(), asked.items.rename.len(), asked.min_tasks), (2, 1, 3));
        assert_eq!(asked.sure.confidence.level, 0.9);
        assert!(asked.with.is_some() && asked.items.as_of.is_some());
        for wrong in [json!({"where": "x"}), json!({"level": "high"}), json!({"as_of": "soon"})] {
            assert!(from_value::<Leaderboard>(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
