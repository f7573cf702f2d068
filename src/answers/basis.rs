//! The basis of an answer about many items, and the estimates in it.

use karat_core::facts::Outcome as CoreOutcome;
use karat_core::record::ENGINE_VERSION;
use karat_stats::agreement;
use karat_stats::estimate;
use karat_stats::outcome::{self, Policy};
use karat_stats::ranks::{OtherRanking, RankRange};
use serde::{Deserialize, Serialize};

use super::{DecayMoment, IntervalMethod, Outcome, Treatment, points, share};
pub use crate::leaderboard::OutcomeSources;
use crate::leaderboard::Settings;
use crate::record::ScorecardReference;
use crate::rows::Rows;
use crate::trust::Trust;

/// The items an answer is about, the scorecards they were scored by, and how the answer was computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Basis {
    /// The version of the engine.
    pub engine: String,
    /// The scorecards of the items, by name.
    pub scorecards: Vec<ScorecardReference>,
    /// The best score of these scorecards; the worst is 0.
    #[cfg_attr(feature = "schema", schema(minimum = 1))]
    pub scale: u32,
    /// The items.
    pub items: ItemsUsed,
    /// The moment to which the evidence behind means is decayed; null for scorecards without decay.
    pub decay: Option<DecayMoment>,
    /// The confidence of each interval, and of all comparisons together; of no use in a census.
    #[cfg_attr(feature = "schema", schema(exclusive_minimum = 0, exclusive_maximum = 1, example = 0.95))]
    pub level: f64,
    /// The treatment of outcomes that are neither success nor failure.
    pub outcomes: OutcomePolicy,
    /// The origin of each of these choices.
    pub outcome_sources: OutcomeSources,
}

/// The items an answer is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ItemsUsed {
    /// The number of items considered.
    pub count: u64,
    /// The number of subjects they are about.
    pub subjects: u64,
    /// Items given again with the same content; they count once. Null for records of a log.
    pub repeated: Option<u64>,
    /// Items that the filters left out. Null for records of a log.
    pub left_out: Option<u64>,
    /// SHA-256 over scorecards, digests and ids of all items. Null if only the index of a log is read.
    pub digest: Option<String>,
    /// The number of items by trust class; they add up to `count`. All items of files are claimed, as no one vouches for them.
    #[serde(default)]
    pub trust: TrustCounts,
    /// True if only the first attempt of each subject at each task counts; left out if all do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first_attempts: bool,
    /// Things to know of the logs that the items are from; left out if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The number of items by trust class: whose word they rest on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TrustCounts {
    /// A server graded it.
    pub graded: u64,
    /// The key of a harness or task states every fact.
    pub measured: u64,
    /// The key of a judge or a third party states some fact, none is of a lower class.
    pub judged: u64,
    /// The subject or its operator states some fact, or no one says who does.
    pub claimed: u64,
}

/// The treatment of outcomes that are neither success nor failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OutcomePolicy {
    /// There is no verdict because the instrument failed.
    pub no_verdict: Treatment,
    /// The run was cancelled, or stopped at a limit.
    pub stopped: Treatment,
    /// The task does not apply to the subject.
    pub not_applicable: Treatment,
    /// The subject refused the task.
    pub refused: Treatment,
}

/// The number of items by how they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OutcomeCounts {
    /// The task was solved.
    pub succeeded: u64,
    /// The task was not solved.
    pub failed: u64,
    /// There is no verdict because the instrument failed.
    pub no_verdict: u64,
    /// The run was cancelled, or stopped at a limit.
    pub stopped: u64,
    /// The task does not apply to the subject.
    pub not_applicable: u64,
    /// The subject refused the task.
    pub refused: u64,
    /// The item does not say how it ended.
    pub unstated: u64,
    /// The task was solved, but the item has no score. It has no verdict, and is among `no-verdict` too.
    pub missing: u64,
}

/// A mean over tasks with its interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The lower end of the interval; null for a single task, which gives no interval, and in a census.
    pub low: Option<f64>,
    /// The upper end of the interval; null for a single task, which gives no interval, and in a census.
    pub high: Option<f64>,
    /// The method of the interval; null without an interval.
    pub method: Option<IntervalMethod>,
    /// The number of tasks.
    pub tasks: u64,
}

/// A measure with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Measure {
    /// The estimate.
    pub value: f64,
    /// The lower end of the interval; null where too little is known for one.
    pub low: Option<f64>,
    /// The upper end of the interval; null where too little is known for one.
    pub high: Option<f64>,
}

impl Measure {
    /// Creates a measure, rounded as answers are.
    pub(crate) fn new(value: f64, interval: Option<karat_stats::Interval>) -> Self {
        let (low, high) = (interval.map(|it| share(it.low)), interval.map(|it| share(it.high)));
        Self { value: share(value), low, high }
    }

    /// Returns a measure of a share in points.
    #[must_use]
    pub(crate) fn in_points(self, scale: u32) -> Self {
        let of = |share: f64| points(share, scale);
        Self { value: of(self.value), low: self.low.map(of), high: self.high.map(of) }
    }

    pub(crate) fn of(found: agreement::Measure) -> Self {
        Self::new(found.value, found.interval)
    }

    /// Returns both ends of the interval.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }
}

/// Ranks from 1, the best first: `[2, 4]`. Both are equal if no other subject shares the rank.
pub type Ranks = [u32; 2];

/// A subject whose rank changes under another choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MovedSubject {
    /// The subject.
    pub subject: String,
    /// Its ranks under the other choice; null if it has no rank there.
    #[cfg_attr(feature = "schema", schema(value_type = Option<Vec<u32>>, min_items = 2, max_items = 2))]
    pub rank: Option<Ranks>,
}

impl Estimate {
    /// Returns an estimate of a share in points.
    #[must_use]
    pub(crate) fn in_points(self, scale: u32) -> Self {
        let of = |share: f64| points(share, scale);
        Self { mean: of(self.mean), low: self.low.map(of), high: self.high.map(of), ..self }
    }

    /// Returns both ends of the interval.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }
}

impl TrustCounts {
    /// Adds items of a class.
    pub const fn add(&mut self, trust: Trust, items: u64) {
        let count = match trust {
            Trust::Graded => &mut self.graded,
            Trust::Measured => &mut self.measured,
            Trust::Judged => &mut self.judged,
            Trust::Claimed => &mut self.claimed,
        };
        *count += items;
    }

    /// Adds the items of `rows`.
    pub fn add_rows(&mut self, rows: &Rows) {
        rows.rows.iter().for_each(|row| self.add(row.trust, 1));
    }

    /// Returns the number of all items.
    pub const fn sum(&self) -> u64 {
        self.graded + self.measured + self.judged + self.claimed
    }
}

impl ItemsUsed {
    /// Returns the items of `rows`.
    pub fn of(rows: &Rows) -> Self {
        let mut trust = TrustCounts::default();
        trust.add_rows(rows);
        Self {
            count: rows.rows.len() as u64,
            subjects: rows.subjects.len() as u64,
            repeated: Some(rows.repeated),
            left_out: Some(rows.filtered),
            digest: Some(rows.digest.to_string()),
            trust,
            first_attempts: rows.is_of_firsts,
            notes: rows.notes.clone(),
        }
    }
}

impl Basis {
    /// Returns the basis of an answer about `rows` that was computed with `settings`.
    pub fn new(rows: &Rows, settings: &Settings) -> Self {
        Self {
            engine: ENGINE_VERSION.to_owned(),
            scorecards: rows.scorers.iter().map(|scorer| ScorecardReference::of(scorer.card())).collect(),
            scale: rows.scale.max,
            items: ItemsUsed::of(rows),
            decay: rows.decay,
            level: settings.level,
            outcomes: settings.policy.into(),
            outcome_sources: settings.sources,
        }
    }

    /// Returns the names of the scorecards, `id@version`.
    pub fn card_names(&self) -> Vec<String> {
        self.scorecards.iter().map(ScorecardReference::name).collect()
    }
}

impl OutcomePolicy {
    /// Returns each of the four outcomes with its treatment.
    pub fn treatments(&self) -> [(Outcome, Treatment); 4] {
        [
            (Outcome::NoVerdict, self.no_verdict),
            (Outcome::Stopped, self.stopped),
            (Outcome::NotApplicable, self.not_applicable),
            (Outcome::Refused, self.refused),
        ]
    }
}

impl OutcomeCounts {
    /// Returns the number of items with this outcome.
    pub fn count(&self, outcome: Outcome) -> u64 {
        match outcome {
            Outcome::Succeeded => self.succeeded,
            Outcome::Failed => self.failed,
            Outcome::NoVerdict => self.no_verdict,
            Outcome::Stopped => self.stopped,
            Outcome::NotApplicable => self.not_applicable,
            Outcome::Refused => self.refused,
        }
    }
}

impl From<Policy> for OutcomePolicy {
    fn from(policy: Policy) -> Self {
        Self {
            no_verdict: policy.no_verdict,
            stopped: policy.stopped,
            not_applicable: policy.not_applicable,
            refused: policy.refused,
        }
    }
}

impl From<outcome::OutcomeCounts> for OutcomeCounts {
    fn from(counts: outcome::OutcomeCounts) -> Self {
        Self {
            succeeded: counts.count(CoreOutcome::Succeeded),
            failed: counts.count(CoreOutcome::Failed),
            no_verdict: counts.count(CoreOutcome::NoVerdict),
            stopped: counts.count(CoreOutcome::Stopped),
            not_applicable: counts.count(CoreOutcome::NotApplicable),
            refused: counts.count(CoreOutcome::Refused),
            unstated: counts.unstated,
            missing: counts.missing,
        }
    }
}

impl From<&estimate::Estimate> for Estimate {
    fn from(found: &estimate::Estimate) -> Self {
        let interval = found.interval.as_ref();
        Self {
            mean: share(found.mean),
            low: interval.map(|it| share(it.low)),
            high: interval.map(|it| share(it.high)),
            method: interval.map(|it| it.method),
            tasks: found.tasks as u64,
        }
    }
}

/// Returns ranks in the form that answers use.
pub(super) const fn ranks(range: RankRange) -> Ranks {
    [range.best, range.worst]
}

/// Returns the subjects that another ranking moves; `name` gives the name of a subject by its index.
pub(super) fn moved<'n>(ranking: &OtherRanking, name: impl Fn(usize) -> &'n str) -> Vec<MovedSubject> {
    let subject = |&at: &usize| MovedSubject {
        subject: name(at).to_owned(),
        rank: ranking.ranks.get(at).copied().flatten().map(ranks),
    };
    ranking.moved.iter().map(subject).collect()
}

/// Returns the subjects with rank 1 in another ranking.
pub(super) fn first<'n>(ranking: &OtherRanking, name: impl Fn(usize) -> &'n str) -> Vec<String> {
    let is_first = |(_, rank): &(usize, &Option<RankRange>)| rank.is_some_and(|rank| rank.best == 1);
    let first = ranking.ranks.iter().enumerate().filter(is_first);
    first.map(|(at, _)| name(at).to_owned()).collect()
}
