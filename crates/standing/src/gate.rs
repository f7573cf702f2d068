//! The security gate: what no other dimension can make up for (trust document, section 5, step 5).

pub use karat_core::scorecard::{GateStep, SecurityGate};

/// The facts that a gate reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GateFacts {
    /// The decayed reading, in billionths; none if it was never measured.
    pub reading: Option<i64>,
    /// True if a confirmed critical incident is open.
    pub has_critical_incident: bool,
    /// True if the subject is on hold.
    pub is_on_hold: bool,
}

/// The effect of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gated {
    /// The score before, in points.
    pub ungated_points: i64,
    /// The score after.
    pub points: i64,
    /// The lowest cap that holds; none if none does.
    pub cap_points: Option<i64>,
    /// Number of tiers that stay open; none for all.
    pub open_tiers: Option<usize>,
}

/// Returns the score and the tiers that the gate leaves.
pub fn apply(gate: &SecurityGate, points: i64, facts: &GateFacts) -> Gated {
    let holds = |step: &&GateStep| facts.reading.is_some_and(|reading| reading < step.below);
    let incident = gate.incident.iter().filter(|_| facts.has_critical_incident);
    let steps = || gate.steps.iter().filter(holds).chain(incident.clone());
    let unmeasured = gate.open_unmeasured.filter(|_| facts.reading.is_none());
    let on_hold = facts.is_on_hold.then_some(gate.open_on_hold);
    let cap_points = steps().map(|step| step.cap_points).min();
    Gated {
        ungated_points: points,
        points: cap_points.map_or(points, |cap| cap.min(points)),
        cap_points,
        open_tiers: steps().map(|step| step.open_tiers).chain(unmeasured).chain(on_hold).min(),
    }
}

/// Returns the smallest number of tiers that the gate can leave open.
pub fn least_open_tiers(gate: &SecurityGate) -> usize {
    let steps = gate.steps.iter().chain(&gate.incident).map(|step| step.open_tiers);
    steps.chain(gate.open_unmeasured).fold(gate.open_on_hold, usize::min)
}
