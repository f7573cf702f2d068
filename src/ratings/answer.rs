//! The answer: the ratings of each pool of competitors, with everything that a screen, a page and JSON say of them.

use std::collections::BTreeMap;

use karat_evidence::canonical_json;
use karat_stats::proportion::Proportion;
use karat_stats::rating::Outcome;
use karat_stats::rating::bradley_terry::Gaussian;
use karat_stats::rating::covariates::Contrast;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SystemName;
use crate::answers::arena::{Career, Rating as RatingChange};
use crate::answers::skill::Skill;
use crate::answers::{Voucher, answer};

/// Settings by their names in `--set`.
pub(super) type Settings = BTreeMap<String, Value>;

answer!(Rating, RatingSchema = "karat/rating/2", "ratings");

/// Ratings of competitors from their matches. Points, shares and losses have 6 decimal places.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Rating {
    /// The schema of this object.
    pub schema: RatingSchema,
    /// The system.
    pub system: SystemName,
    /// Every setting by its name in `--set`, given or not.
    #[cfg_attr(feature = "schema", schema(value_type = BTreeMap<String, serde_json::Value>))]
    pub settings: BTreeMap<String, Value>,
    /// The confidence of intervals and groups.
    pub level: f64,
    /// The source of intervals.
    pub intervals: IntervalSource,
    /// The number of bootstrap resamples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resamples: Option<u64>,
    /// The unit of the resamples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<Drawn>,
    /// The seed of the resamples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Rows that are not matches, by their result.
    pub skipped_rows: u64,
    /// Rows after a row of a later time, sorted by time.
    pub late_rows: u64,
    /// Columns that nothing reads.
    pub unread_columns: Vec<String>,
    /// The pools, by category; one pool without categories.
    pub boards: Vec<Board>,
    /// The careers of agents, from matches at challenges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arena: Option<Careers>,
    /// The agreement of judges with people, if that was asked for.
    pub judges: Option<Agreement>,
}

/// The source of intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum IntervalSource {
    /// No intervals: the system does not estimate its uncertainty.
    None,
    /// The deviation that the system keeps.
    Deviation,
    /// The sandwich estimator.
    Sandwich,
    /// The posterior of a prior, as a normal distribution.
    Posterior,
    /// Bootstrap resamples.
    Bootstrap,
}

/// The unit of resamples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Drawn {
    /// Pairs, each with all its votes.
    Pairs,
    /// Matches.
    Matches,
}

/// A pool of competitors, rated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Board {
    /// The category of the matches; null for all matches.
    pub category: Option<String>,
    /// The matches that were rated.
    pub input: Input,
    /// The number of groups; null for a system without uncertainty.
    pub groups: Option<u32>,
    /// The competitors, the highest rating first. With covariates, the ratings are of sides that are alike in them.
    pub competitors: Vec<Competitor>,
    /// The effects of covariates, if some were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub covariates: Vec<CovariateEffect>,
    /// The matches for each parameter of the fit with covariates; below 10 its intervals are too narrow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches_per_parameter: Option<f64>,
    /// The change of the mean of the pool; null if it is fixed.
    pub drift: Option<Drift>,
    /// Davidson's tie parameter, for Bradley-Terry.
    pub tie: Option<f64>,
    /// The number of parts that no match connects, for Bradley-Terry; above 1 only with a prior.
    pub parts: Option<u64>,
    /// Competitors whose matches all ended alike, of which a bootstrap cannot tell how sure their ratings are.
    pub one_sided: Vec<String>,
    /// Bootstrap resamples whose matches had no fit; null without a bootstrap.
    pub resamples_without_fit: Option<u64>,
    /// The competitors and matches that are not rated.
    pub left_out: LeftOut,
    /// The quality of predicting the last matches from the others, if that was asked for.
    pub holdout: Option<Holdout>,
}

/// The matches of a pool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Input {
    /// The digest of the matches in their order, each as one canonical line.
    pub digest: String,
    /// Their number.
    pub matches: u64,
    /// The numbers that the first competitor won, neither, the second.
    pub outcomes: Tally,
    /// Rows that repeat another one, and count once.
    pub repeated_rows: u64,
    /// The end of the first match; null without times.
    pub first_time: Option<String>,
    /// The end of the last match.
    pub last_time: Option<String>,
}

/// Matches by their end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Tally {
    /// Won.
    pub won: u64,
    /// Drawn.
    pub drawn: u64,
    /// Lost.
    pub lost: u64,
}

/// A competitor in a pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Competitor {
    /// Its name.
    pub name: String,
    /// The rank by points; equal points share it.
    pub rank: u32,
    /// The ranks that it may have; null if the system has no uncertainty, and for too many competitors.
    pub rank_range: Option<RankRange>,
    /// The tie group: the competitors that are tied with its leader.
    pub group: Option<u32>,
    /// The rating.
    pub points: f64,
    /// Its standard deviation or error.
    pub deviation_points: Option<f64>,
    /// Its interval.
    pub interval: Option<Ends>,
    /// The expected movement of the strength, for Glicko-2.
    pub volatility: Option<f64>,
    /// Its matches.
    pub matches: Tally,
    /// Its rating from the same matches without covariates, if some were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_covariates: Option<Uncontrolled>,
}

/// A rating without covariates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Uncontrolled {
    /// The rank by points.
    pub rank: u32,
    /// The ranks that it may have; null for too many competitors.
    pub rank_range: Option<RankRange>,
    /// The rating.
    pub points: f64,
    /// Its interval.
    pub interval: Option<Ends>,
}

/// The effect of a covariate: an association, which may have another cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CovariateEffect {
    /// Its name.
    pub name: String,
    /// The comparison of the values of the two sides.
    pub contrast: Contrast,
    /// Matches of the pool that lack it.
    pub matches_without: u64,
    /// The standard deviation of the contrast around 0, with 7 digits.
    pub deviation: f64,
    /// The coefficient: what a contrast of one deviation adds to the log-odds of that side.
    pub log_odds: f64,
    /// The same in points.
    pub points: f64,
    /// The interval of the points.
    pub interval: Ends,
    /// The points of a side with twice the value of the other; null for a difference.
    pub double_points: Option<f64>,
}

/// The ranks that a competitor may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RankRange {
    /// The best.
    pub best: u32,
    /// The worst.
    pub worst: u32,
}

/// The ends of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Ends {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The change of the mean of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Drift {
    /// Competitors, newcomers included.
    pub competitors: u64,
    /// The mean before the matches; a newcomer counts with the rating that it started from.
    pub mean_before_points: f64,
    /// The mean after them.
    pub mean_after_points: f64,
    /// The difference.
    pub points: f64,
}

/// The competitors and matches that are not rated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LeftOut {
    /// The competitors.
    pub competitors: Vec<String>,
    /// The matches with one of them.
    pub matches: u64,
    /// The matches between the others that lack a covariate, if some were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches_without_covariates: Option<u64>,
}

/// Predictions of matches that the ratings have not seen. All forecasts are of the same matches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Holdout {
    /// Matches behind the ratings.
    pub trained_matches: u64,
    /// Matches after them that were predicted.
    pub predicted_matches: u64,
    /// Matches with a competitor that is in none of the first matches.
    pub skipped_unknown: u64,
    /// Matches between competitors that the first matches do not connect; 0 but for Bradley-Terry.
    pub skipped_incomparable: u64,
    /// The forecasts that are worse than a reference without ratings, in words.
    pub warnings: Vec<String>,
    /// The forecasts: of the base rate, of Elo, and of the system that was asked for; empty if nothing was predicted.
    pub forecasts: Vec<Forecaster>,
}

/// The quality of one forecast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Forecaster {
    /// The base rate, or a system.
    pub name: String,
    /// The mean log-loss in nats; lower is better.
    pub log_loss: f64,
    /// The Brier score; lower is better.
    pub brier: f64,
    /// The references without ratings that it is worse than.
    pub worse_than: Vec<Reference>,
    /// Its log-loss minus that of the base rate; null for the base rate itself, and for fewer than two matches.
    pub beside_base_rate: Option<Loss>,
    /// Its log-loss minus that of Elo; null for Elo itself, and for fewer than two matches.
    pub beside_elo: Option<Loss>,
}

/// A prediction that needs no rating, and that a forecast may be worse than.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Reference {
    /// The mean score of the first competitors.
    BaseRate,
    /// One half for every match.
    Coin,
}

/// A difference of log-losses, match by match, with its normal interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Loss {
    /// The mean.
    pub log_loss: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Every judge compared with the people, over the pairs that both decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Agreement {
    /// The people, each vote against the majority of the others on that pair; the name marks their votes.
    pub people: Judge,
    /// Pairs with a vote of people.
    pub pairs: u64,
    /// Pairs on which no outcome has the most votes of people; judges are not compared on them.
    pub pairs_without_majority: u64,
    /// The other judges, by name.
    pub judges: Vec<Judge>,
}

/// The votes of a judge compared with the majority of people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Judge {
    /// Its name.
    pub name: String,
    /// All votes, compared or not: counts for the first, neither, the second competitor.
    pub votes: Tally,
    /// The votes on pairs with a majority that are the same of the three outcomes.
    pub same_outcome: Share,
    /// Of these, where neither the vote nor the majority is a draw, those with the same winner.
    pub same_winner: Share,
}

/// A number of a total, as a share with its Wilson interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Share {
    /// Votes that agree.
    pub agreed: u64,
    /// Votes that were compared.
    pub compared: u64,
    /// The share; null if none was compared.
    pub share: Option<f64>,
    /// Its interval.
    pub interval: Option<Ends>,
}

/// The careers of agents, from matches at challenges.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Careers {
    /// The agents by name.
    pub agents: Vec<Agent>,
    /// The matches in the order in which they counted.
    pub matches: Vec<Played>,
    /// Members that the rows left open, and how they were taken.
    pub notes: Vec<String>,
}

/// An agent after its matches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Agent {
    /// Its name.
    pub agent_id: String,
    /// Its results.
    pub career: Career,
    /// Its skill under Glicko-2.
    pub skill: Skill,
    /// The titles that it has, the highest first.
    pub titles: Vec<String>,
}

/// One match at a challenge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Played {
    /// Its id.
    pub match_id: String,
    /// The agent.
    pub agent_id: String,
    /// The challenge.
    pub challenge: String,
    /// `win`, `draw`, `loss` or `expired`.
    pub result: String,
    /// The difficulty, if it is stated.
    pub difficulty: Option<String>,
    /// The difficulty that matches showed.
    pub calibrated_difficulty: Option<String>,
    /// True with a valid trajectory.
    pub verified: bool,
    /// The voucher of the trajectory.
    pub verified_by: Option<Voucher>,
    /// True if the agent played without its memory.
    pub memoryless: bool,
    /// The number of the attempt, from 1.
    pub attempt_number: Option<u64>,
    /// The change of the rating, step by step.
    pub rating: RatingChange,
}

impl Rating {
    /// Returns the deviation of the gaussian prior in points, and the draws that say as much; `None` without a prior.
    pub fn prior(&self) -> Option<(f64, f64)> {
        let points = self.settings.get("prior_deviation")?.as_f64()?;
        Some((points, Gaussian::of_points(points).draws()))
    }

    /// Returns the settings for people: `factor_new 32, initial_points 1000`.
    pub fn described_settings(&self) -> String {
        described(&self.settings)
    }
}

/// Returns settings for people.
pub(super) fn described(settings: &Settings) -> String {
    let member = |(name, value): (&String, &Value)| match value {
        Value::Null => None,
        Value::String(text) => Some(format!("{name} {text}")),
        other => Some(format!("{name} {}", canonical_json(other))),
    };
    settings.iter().filter_map(member).collect::<Vec<_>>().join(", ")
}

impl Competitor {
    /// Returns a competitor without a rank and without uncertainty.
    pub(super) fn new(name: String, points: f64, matches: Tally) -> Self {
        Self {
            name,
            rank: 0,
            rank_range: None,
            group: None,
            points,
            deviation_points: None,
            interval: None,
            volatility: None,
            matches,
            without_covariates: None,
        }
    }
}

impl Tally {
    /// Counts a match.
    pub(super) fn add(&mut self, outcome: Outcome) {
        *self.count(outcome) += 1;
    }

    pub(super) fn count(&mut self, outcome: Outcome) -> &mut u64 {
        match outcome {
            Outcome::Win => &mut self.won,
            Outcome::Draw => &mut self.drawn,
            Outcome::Loss => &mut self.lost,
        }
    }

    /// Returns true if all of them ended alike.
    pub(super) fn is_one_sided(self) -> bool {
        [self.won, self.drawn, self.lost].iter().filter(|count| **count > 0).count() == 1
    }

    /// Returns their number.
    pub const fn matches(self) -> u64 {
        self.won + self.drawn + self.lost
    }
}

impl Ends {
    pub(super) fn new(low: f64, high: f64) -> Self {
        Self { low: shown(low), high: shown(high) }
    }
}

impl Share {
    /// Returns a number of a total with its interval of confidence `level`.
    pub(super) fn new(agreed: u64, compared: u64, level: f64) -> Self {
        let proportion = Proportion::new(agreed, compared).unwrap_or_default();
        let interval = proportion.wilson(level).ok().map(|found| Ends::new(found.low, found.high));
        Self { agreed, compared, share: proportion.share().map(shown), interval }
    }
}

/// Returns a number as answers have it: to 6 decimal places.
pub(super) fn shown(number: f64) -> f64 {
    (number * 1e6).round_ties_even() / 1e6
}
