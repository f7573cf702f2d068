//! Settings about tiers and the gate in front of them.

use alloc::string::String;
use alloc::vec::Vec;

/// The requirements of a tier. A subject that holds it also meets every tier below it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TierRule {
    /// Its name.
    pub name: String,
    /// Published score at least, in points.
    pub points: i64,
    /// Coverage at least, in billionths.
    pub coverage: i64,
    /// Dimensions that must be measured, and the least decayed reading of each, in billionths.
    pub floors: Vec<(String, i64)>,
    /// Completed evaluations at least.
    pub evaluations: u64,
    /// Days on which they were completed, at least.
    pub distinct_days: u64,
    /// Confidence at least, in billionths.
    pub confidence: i64,
    /// Runners independent of the operator and of each other, at least.
    pub independent_runners: u64,
    /// Age of the newest full batch of evaluations, at most; no limit if none.
    pub newest_batch_seconds: Option<i64>,
}

/// A gate on one dimension that no other can make up for: below a line the score is capped and tiers are shut (trust document,
/// section 5, step 5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityGate {
    /// The steps, each of which holds on its own.
    pub steps: Vec<GateStep>,
    /// Number of tiers that stay open while the dimension was never measured; none for all.
    pub open_unmeasured: Option<usize>,
    /// The effect of an open confirmed critical incident, whatever the reading.
    pub incident: Option<GateStep>,
    /// Number of tiers that stay open while the subject is on hold: it demonstrably runs something else than it declares.
    pub open_on_hold: usize,
}

/// A step of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateStep {
    /// It holds for a decayed reading below this, in billionths.
    pub below: i64,
    /// The score is at most this, in points.
    pub cap_points: i64,
    /// Number of tiers that stay open.
    pub open_tiers: usize,
}

impl Default for SecurityGate {
    /// Returns the choice of this engine, as the document gives no number: below 0.50 at most bronze and 599 points,
    /// below 0.25 or with an open critical incident no tier and 399. The caps lie one point below the lines of silver
    /// and bronze.
    fn default() -> Self {
        let veto = GateStep { below: 250_000_000, cap_points: 399, open_tiers: 0 };
        Self {
            steps: alloc::vec![GateStep { below: 500_000_000, cap_points: 599, open_tiers: 1 }, veto.clone()],
            open_unmeasured: Some(1),
            incident: Some(veto),
            open_on_hold: 0,
        }
    }
}
