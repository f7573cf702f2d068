//! The section `[standing]`: how the scores of a subject over time become what people act on (`docs/guide/standing.md`).
//!
//! Plain settings, with the names of the card resolved. The crate `karat-standing` computes with them.

mod shares;
mod tasks;
mod tiers;
mod time;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

pub use shares::{ShareRules, TooFew};
pub use tasks::{CalibrationRules, CalibrationStep, Difficulty, LifecycleRules};
pub use tiers::{GateStep, SecurityGate, TierRule};
pub use time::{
    CertificationRules, DecayRule, DecayScope, FreshnessRule, LateRules, LateTreatment, Periods, ReviewRules,
    WEEK_SECONDS, WindowLimits,
};

use crate::outcome::{Outcome, Policy};

/// The section `[standing]`: the settings by which many scored items become one standing. A step without settings is skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The basis of the standing.
    pub score: StandingScore,
    /// The limits of the window.
    pub window: WindowLimits,
    /// The treatment of items that ended in neither success nor failure.
    pub outcomes: Policy,
    /// The outcomes whose treatment the card states; that of the others is the default.
    pub stated_outcomes: Vec<Outcome>,
    /// The treatment of items that arrived long after they took place.
    pub late: LateRules,
    /// The part of a new subject's score that counts for shares.
    pub warm_up: Option<WarmUp>,
    /// The decay with age; only where the newest readings are taken.
    pub decay: Option<DecayRule>,
    /// The swings that are held, and the approvals that let them pass.
    pub review: Option<ReviewRules>,
    /// The gate that no other dimension can make up for.
    pub gate: Option<StandingGate>,
    /// The requirements of each tier, lowest first.
    pub tiers: Vec<TierRule>,
    /// The delay with which the held tier follows the earned one; without it they are the same.
    pub certification: Option<CertificationRules>,
    /// The confidence that an amount of evidence gives.
    pub confidence: Option<ConfidenceRule>,
    /// The number of evaluations in a full batch, whose age is what tiers ask for.
    pub batch_evaluations: u32,
    /// The settings of shares of a whole.
    pub shares: Option<SharePolicy>,
    /// The rates from which a task counts as easy or hard.
    pub calibration: Option<CalibrationRules>,
    /// The rules by which a task is retired.
    pub lifecycle: Option<TaskLifecycle>,
    /// The section in the file.
    pub span: Range<usize>,
}

crate::words! {
    /// The basis of the score of a standing.
    pub enum StandingScore {
        /// The mean of the scores in the window, each with the same weight.
        Window = "window",
        /// The newest reading of each dimension, and the weighted mean of these.
        Latest = "latest",
    }
}

/// A subject with few tasks gets a part of its share: `tasks seen / tasks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarmUp {
    /// Tasks after which its score counts in full.
    pub tasks: u32,
    /// Seconds since its first task after which its score counts in full, however few they are; never if none.
    pub period_seconds: Option<u32>,
}

/// A gate on one dimension, and what it takes from the card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingGate {
    /// The dimension.
    pub dimension: String,
    /// The effect.
    pub rule: SecurityGate,
    /// The gate of single items that holds while an incident is open.
    pub incident_gate: Option<String>,
}

/// The confidence that an amount of evidence gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfidenceRule {
    /// Items that a dimension asks for.
    pub items: u32,
    /// Items that these dimensions ask for instead.
    pub items_by: BTreeMap<String, u32>,
    /// The loss of worth with age.
    pub freshness: FreshnessRule,
}

/// The settings of shares, and of their form as whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharePolicy {
    /// The cap.
    pub rules: ShareRules,
    /// Shares as whole numbers too.
    pub whole: Option<WholeShares>,
}

/// Shares as whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WholeShares {
    /// Whole numbers with this sum, by largest remainder.
    Sum(u32),
    /// The largest is 65,535, the others in proportion.
    SixteenBit,
}

/// The life of tasks, judged by period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskLifecycle {
    /// The rules by which a period counts against a task.
    pub rules: LifecycleRules,
    /// Seconds of a period, from the first second of 1970.
    pub period_seconds: u32,
}
