//! Settings about one subject over time: window, late items, decay, review, certification, freshness.

use core::num::NonZeroU32;

use crate::number::BILLION;

const DAY_SECONDS: u32 = 86_400;

/// The limits of a window. With both the narrower one counts; with neither the window has all scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowLimits {
    /// The most scores, from the newest.
    pub tasks: Option<NonZeroU32>,
    /// The span in seconds: only scores less than this much older than the latest moment count.
    pub span_seconds: Option<NonZeroU32>,
    /// True if each task counts once, by its newest item: else `tasks` is a number of items, several of which may be of one
    /// task. The document's "equal weight per task" allows for both.
    pub is_distinct: bool,
}

impl Default for WindowLimits {
    /// Returns the last 100 tasks (workflow document, 3.2, "Score Aggregation").
    fn default() -> Self {
        Self { tasks: NonZeroU32::new(100), span_seconds: None, is_distinct: false }
    }
}

/// Seconds of a week.
pub const WEEK_SECONDS: u32 = 604_800;

/// The loss of points with age.
///
/// The document says "1 point per week after a 7-day grace period" of each dimension's contribution. It leaves open what a
/// point is, and whether a part of a week counts; both are settings. The default is the reading under which evidence of one
/// age loses as much as the composite would: a point is one of a thousand, and weeks are exact, so that there is no
/// moment at which the score jumps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecayRule {
    /// Seconds for which nothing is lost.
    pub grace_seconds: u32,
    /// Seconds of a period.
    pub period_seconds: NonZeroU32,
    /// Points that each period after the grace takes.
    pub points_per_period: u32,
    /// The size of a point, in billionths of a perfect score: 1,000,000 for one of 1000, 10,000,000 for one of 100.
    pub point_billionths: u32,
    /// The loss in a part of a period.
    pub periods: Periods,
    /// The part of the score that loses points.
    pub scope: DecayScope,
}

/// The part of the score that loses points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecayScope {
    /// Each dimension, by the age of the evidence for it.
    Dimension,
    /// The composite, by the age of the newest evidence; readings keep their value.
    Composite,
}

/// The loss in a part of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Periods {
    /// In proportion.
    Exact,
    /// Nothing, until it is over.
    Whole,
}

impl Default for DecayRule {
    fn default() -> Self {
        Self {
            grace_seconds: WEEK_SECONDS,
            period_seconds: NonZeroU32::MIN.saturating_add(WEEK_SECONDS - 1),
            points_per_period: 1,
            point_billionths: 1_000_000,
            periods: Periods::Exact,
            scope: DecayScope::Dimension,
        }
    }
}

/// The rules by which a score is held and may pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewRules {
    /// A change of more points than this, up or down, is a swing.
    pub swing_points: u32,
    /// A distance of more points than this from the lowest or highest score of the last days is a cumulative swing: many small
    /// steps are one large one.
    pub cumulative_points: u32,
    /// Seconds that cumulative swings look back.
    pub cumulative_seconds: u32,
    /// True if a cumulative swing alone holds a score, or is only flagged.
    pub cumulative_holds: bool,
    /// Seconds within which a held score must be decided on.
    pub deadline_seconds: u32,
    /// Reviewers that must approve a score that rises.
    pub approvals: u32,
    /// Reviewers that must approve a score that rises into the highest tier.
    pub approvals_into_top: u32,
}

impl Default for ReviewRules {
    /// Defaults to over 200 points at once (the document), over 300 within seven days, three days for a decision by one
    /// reviewer, or two where the highest tier is at stake.
    fn default() -> Self {
        Self {
            swing_points: 200,
            cumulative_points: 300,
            cumulative_seconds: 7 * 86_400,
            cumulative_holds: true,
            deadline_seconds: 72 * 3600,
            approvals: 1,
            approvals_into_top: 2,
        }
    }
}

/// The delay with which the held tier follows the earned tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CertificationRules {
    /// A higher tier must be earned at two moments at least this far apart, and at all between them; with 0 one is enough.
    pub confirm_seconds: u32,
    /// At most one tier up within this time.
    pub promotion_seconds: u32,
    /// A tier that is lost only to decay is held this long: time for fresh evidence.
    pub at_risk_seconds: u32,
    /// If the evidence is too old for the tier, one tier is lost for each such time without a full batch.
    pub silence_seconds: u32,
}

impl Default for CertificationRules {
    /// Defaults to confirmed after 24 hours, one tier up in 7 days, 14 days of notice, one tier down for 90 days of
    /// silence.
    fn default() -> Self {
        Self {
            confirm_seconds: DAY_SECONDS,
            promotion_seconds: 7 * DAY_SECONDS,
            at_risk_seconds: 14 * DAY_SECONDS,
            silence_seconds: 90 * DAY_SECONDS,
        }
    }
}

/// The loss of worth with age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreshnessRule {
    /// The age up to which evidence has full worth.
    pub full_until_seconds: u32,
    /// The age from which it is worth `least`; between the two its worth falls in a line.
    pub least_from_seconds: u32,
    /// The worth of the oldest evidence, in billionths.
    pub least: i64,
}

impl Default for FreshnessRule {
    /// Returns all of it up to 30 days, half of it from 180 days on.
    fn default() -> Self {
        Self {
            full_until_seconds: 30 * DAY_SECONDS,
            least_from_seconds: 180 * DAY_SECONDS,
            least: BILLION / 2,
        }
    }
}

/// The treatment of items that arrived long after they took place. A store knows when an item arrived; in files all items are on
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LateRules {
    /// An item is late if it arrived more than this many seconds after its own time.
    pub after_seconds: u32,
    /// The treatment of late items.
    pub treatment: LateTreatment,
}

crate::words! {
    /// The treatment of late items.
    pub enum LateTreatment {
        /// They are as old as they say.
        AsStated = "as-stated",
        /// They are as old as if they had taken place when they arrived.
        AsArrived = "as-arrived",
        /// They do not count.
        Excluded = "excluded",
    }
}

impl Default for LateRules {
    /// Defaults to seven days, and ages as stated: the documents know no arrival.
    fn default() -> Self {
        Self { after_seconds: 7 * DAY_SECONDS, treatment: LateTreatment::AsStated }
    }
}
