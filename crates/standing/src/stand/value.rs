//! The results of standings.

use alloc::string::String;
use alloc::vec::Vec;

use super::input::Change;
use super::series::Look;
use super::spread::Spread;
use crate::certification::{Certificate, Certified, TierChange};
use crate::gate::Gated;
use crate::overrides::{OverrideLog, OverrideRefusal};
use crate::ratio::Ratio;
use crate::review::{History, Refusal, Transition};
use crate::shares::ShareCase;
use crate::tiers::{Rung, TierFacts, TierStanding};
use karat_core::number::{BILLION, Decimal, Score, apportion, round_ratio};
use karat_core::record::Published;
use karat_core::scorecard::{Standing, StandingScore};
use karat_stats::outcome::OutcomeCounts;

/// The standings of all subjects at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Standings {
    /// The subjects, sorted by name.
    pub subjects: Vec<SubjectStanding>,
    /// The shares of the whole, for a card with shares.
    pub shared: Option<Shared>,
    /// The proposals of weights, and those in force.
    pub overrides: OverrideLog,
    /// Events about weights that changed nothing: their indices, and why.
    pub override_refusals: Vec<(usize, OverrideRefusal)>,
    /// Items that were given again, with the same content.
    pub repeated: u64,
    /// Items of after the moment: left out.
    pub after: u64,
    /// Events of after the moment: left out.
    pub events_after: u64,
    /// Items without a time under a card that follows time or order, as indices of those given: their subjects have no score.
    pub without_time: Vec<usize>,
    /// True when no item has a time, and the ids are the order.
    pub by_id: bool,
}

/// A summary of the shares of the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shared {
    /// The case that applied.
    pub case: ShareCase,
    /// Number of subjects that have a score above zero.
    pub positive: usize,
    /// Number of subjects that get the cap.
    pub capped: usize,
    /// The part that stays unassigned.
    pub unassigned: Score,
}

/// The standing of one subject.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SubjectStanding {
    /// The subject.
    pub subject: String,
    /// The party that operates it, if an event says so.
    pub operator: Option<String>,
    /// Number of items that count, and how all of them ended.
    pub counts: Counts,
    /// The items that count now, as indices of those given, oldest first.
    pub window: Vec<usize>,
    /// All items that were looked at, left out or not, as indices of those given, oldest first.
    pub items: Vec<usize>,
    /// The moments of the oldest and the newest item that counts; none without one, or without times.
    pub span_seconds: Option<(i64, i64)>,
    /// True if items of it have no time: all count as of one moment, and none of its history has one.
    pub is_untimed: bool,
    /// The exact score: the mean over the window, or that of the newest readings after decay. None without a score.
    pub score: Option<Ratio>,
    /// The exact score of the newest readings before decay; none for a mean over a window.
    pub undecayed_score: Option<Ratio>,
    /// The tasks that the score is the mean over, for its interval; none for the newest readings.
    pub spread: Option<Spread>,
    /// The score as the card publishes it, before the gate.
    pub ungated: Option<Published>,
    /// The score in whole points, before and after the gate.
    pub gated: Option<Gated>,
    /// The dimensions of the card, in its order.
    pub dimensions: Vec<DimensionStanding>,
    /// The official score, in whole points: without review that of the moment, else the last one accepted.
    pub points: Option<i64>,
    /// The score that gates, tiers and shares see, in whole points: the lowest of the official one, a held one and that
    /// of the moment.
    pub gating_points: Option<i64>,
    /// The reviews, for a card with them.
    pub review: Option<ReviewStanding>,
    /// The facts that tiers compare.
    pub facts: TierFacts,
    /// The tier, for a card with tiers.
    pub tier: Option<TierHeld>,
    /// Incidents that are open.
    pub incidents: Vec<String>,
    /// True while a gate of the newest item says that an incident is open.
    pub has_incident_gate: bool,
    /// True while the subject is on hold.
    pub is_on_hold: bool,
    /// The events of the subject beside evaluations, in order.
    pub changes: Vec<(i64, Change)>,
    /// The part of a new subject's score that counts, for a card with a warm-up.
    pub warm_up: Option<WarmUpStanding>,
    /// Its share, for a card with shares.
    pub share: Option<ShareStanding>,
    /// The score at each moment at which something changed, oldest first.
    pub history: Vec<Point>,
}

/// Number of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Items that count ever.
    pub seen: u64,
    /// Items that count now.
    pub in_window: u64,
    /// The largest number of items in the window, if it is limited by number.
    pub window_tasks: Option<u32>,
    /// The number of tasks of the items that count now; 0 unless the score is the mean over a window.
    pub distinct_tasks: u64,
    /// The number of items of the task that most of them are of; 0 unless the score is the mean over a window.
    pub largest_task_items: u64,
    /// The outcomes of the items that state one.
    pub outcomes: OutcomeCounts,
    /// Items without an outcome.
    pub outcome_unstated: u64,
    /// Items left out because of their outcome.
    pub excluded: u64,
    /// Items that arrived late, counted or not.
    pub late: u64,
    /// Items left out because they arrived late.
    pub late_excluded: u64,
    /// Seconds after its own time from which on an item arrives late.
    pub late_after_seconds: u32,
    /// Items left out because they have no score, or no reading.
    pub unscored: u64,
}

/// One dimension of a standing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DimensionStanding {
    /// The dimension.
    pub key: String,
    /// Its weight, of the card or of an accepted override.
    pub weight: Decimal,
    /// False while the newest item that says anything of it says that it does not apply.
    pub applies: bool,
    /// The measured value, in billionths: the newest reading, or the mean over the window; none without either.
    pub measured: Option<i64>,
    /// The value after decay, in billionths.
    pub reading: Option<i64>,
    /// The points that age took.
    pub points_lost: Option<Ratio>,
    /// The age of its newest evidence.
    pub age_seconds: Option<i64>,
    /// Items that measured it, within the window.
    pub items: u64,
    /// The confidence, in billionths, for a card with confidence.
    pub confidence: Option<i64>,
}

/// The reviews of a subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewStanding {
    /// The state of the scores: the official one, and one that may be held.
    pub history: History,
    /// The outcome of each score, in order.
    pub transitions: Vec<Transition>,
    /// Decisions that changed nothing: their indices among the events, and why.
    pub refusals: Vec<(usize, Refusal)>,
    /// The parts of the official score; none before the first.
    pub official: Option<OfficialParts>,
}

/// The parts of an official score that is reviewed, at the moment of the standing: those of a held score are other ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfficialParts {
    /// The dimensions of the card, in its order.
    pub dimensions: Vec<OfficialDimension>,
    /// The points that the gate takes, 0 or less: with those of the dimensions they add up to the score. None where those have none.
    pub gate_points: Option<i64>,
}

/// A dimension of an official score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfficialDimension {
    /// The dimension.
    pub key: String,
    /// Its weight, of the card or of an accepted override.
    pub weight: Decimal,
    /// The value after decay, in billionths; none if it was not measured.
    pub reading: Option<i64>,
    /// Its points, in proportion to weight and value, whole by largest remainder. None for a mean over a window: rules and gates of
    /// its items are in no dimension.
    pub points: Option<i64>,
}

impl OfficialParts {
    /// Returns the parts of an official score of `points`, from the look at what it rests on.
    pub(super) fn new(rules: &Standing, look: &Look, points: i64) -> Self {
        let ungated = look.gated.map_or(points, |gated| gated.ungated_points);
        let part = |it: &DimensionStanding| {
            i128::from(it.weight.millionths()) * i128::from(it.reading.unwrap_or_default())
        };
        let sum = look.dimensions.iter().map(part).sum();
        let whole: Vec<i128> = look.dimensions.iter().map(|it| part(it) * i128::from(ungated)).collect();
        let has_points = rules.score == StandingScore::Latest;
        let dimension = |(it, points): (&DimensionStanding, i64)| OfficialDimension {
            key: it.key.clone(),
            weight: it.weight,
            reading: it.reading,
            points: has_points.then_some(points),
        };
        Self {
            dimensions: look.dimensions.iter().zip(apportion(ungated, &whole, sum)).map(dimension).collect(),
            gate_points: has_points.then(|| points.saturating_sub(ungated)),
        }
    }
}

/// A tier and what is in the way of the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierHeld {
    /// The tier that is held: of the certificate, or the one that is earned. None for no tier.
    pub name: Option<String>,
    /// Number of tiers that are held.
    pub held: usize,
    /// The earned tier, and what blocks the next.
    pub earned: TierStanding,
    /// Every tier with what it asks, lowest first; empty in a standing [in brief](super::stand_in_brief).
    pub ladder: Vec<Rung>,
    /// The certificate and what the last recomputation showed, for a card with certification.
    pub certificate: Option<(Certificate, Certified)>,
    /// Every change of the tier that is held, with its moment.
    pub changes: Vec<(i64, TierChange)>,
}

/// The part of a new subject's score that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarmUpStanding {
    /// Items seen.
    pub seen: u64,
    /// Items after which it counts in full.
    pub needed: u32,
    /// The part that counts, in billionths.
    pub factor: i64,
}

/// A share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareStanding {
    /// The part of the whole.
    pub share: Score,
    /// The share as a whole number, for a card that asks for it.
    pub whole: Option<u64>,
}

/// The score at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// The moment; that of the standing where items have none.
    pub at_seconds: i64,
    /// The score of the moment, in whole points, after the gate.
    pub points: Option<i64>,
    /// True if the gate leaves less than the score.
    pub is_lowered: bool,
    /// The official score after it.
    pub canonical: Option<i64>,
    /// The exact score of the moment.
    pub score: Option<Ratio>,
    /// Number of tiers that are held after it; none for a card without tiers.
    pub tier: Option<usize>,
}

impl SubjectStanding {
    /// Returns the official score in points: as it is published, unless a gate or a review made it whole points.
    pub fn official_points(&self) -> Option<f64> {
        let points = self.points? as f64;
        let shown = self.gated.zip(self.ungated).filter(|_| self.review.is_none());
        Some(shown.map_or(points, |(gated, published)| gated.shown(published, false)))
    }

    /// Returns the score that shares are made of ([`share_out`](super::share_out)): that of the moment, but no more than gates see of it; times what the
    /// warm-up leaves. Nothing without a score.
    pub fn shared_score(&self, scale_max: u32) -> Score {
        let Some(score) = self.score else { return Score::ZERO };
        let seen = match (self.gating_points, self.gated) {
            (Some(seen), Some(gated)) if seen < gated.ungated_points => {
                Ratio::new(i128::from(seen), i128::from(scale_max)).map_or(Score::ZERO, Ratio::score)
            }
            _ => score.score(),
        };
        let factor = self.warm_up.map_or(BILLION, |warm_up| warm_up.factor);
        let units = round_ratio(i128::from(seen.units()) * i128::from(factor), i128::from(BILLION));
        Score::from_units(i64::try_from(units).unwrap_or(i64::MAX))
    }
}
