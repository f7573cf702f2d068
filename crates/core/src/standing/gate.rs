//! The security gate: what no other dimension can make up for (trust document, section 5, step 5).

use alloc::vec::Vec;

/// A gate on one dimension that no other can make up for: below a line the score is capped and tiers are shut (trust document,
/// section 5, step 5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityGate {
    /// The steps, each of which holds on its own.
    pub steps: Vec<GateStep>,
    /// How many tiers stay open while the dimension was never measured; none for all.
    pub open_unmeasured: Option<usize>,
    /// What an open confirmed critical incident does, whatever the reading.
    pub incident: Option<GateStep>,
    /// How many tiers stay open while the subject is on hold: it demonstrably runs something else than it declares.
    pub open_on_hold: usize,
}

/// A step of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateStep {
    /// It holds for a decayed reading below this, in billionths.
    pub below: i64,
    /// The score is at most this, in points.
    pub cap_points: i64,
    /// How many tiers stay open.
    pub open_tiers: usize,
}

impl Default for SecurityGate {
    /// The choice of this engine, as the document gives no number: below 0.50 at most bronze and 599 points, below 0.25 or with
    /// an open critical incident no tier and 399. The caps lie one point below the lines of silver and bronze.
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

/// What a gate looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GateFacts {
    /// The decayed reading, in billionths; none if it was never measured.
    pub reading: Option<i64>,
    /// Whether a confirmed critical incident is open.
    pub has_critical_incident: bool,
    /// Whether the subject is on hold.
    pub is_on_hold: bool,
}

/// What a gate does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gated {
    /// The score before, in points.
    pub ungated_points: i64,
    /// The score after.
    pub points: i64,
    /// How many tiers stay open; none for all.
    pub open_tiers: Option<usize>,
}

impl SecurityGate {
    /// The score and the tiers that the gate leaves.
    ///
    /// ```
    /// use karat_core::standing::gate::{GateFacts, SecurityGate};
    /// let weak = GateFacts { reading: Some(400_000_000), ..GateFacts::default() };
    /// let gated = SecurityGate::default().apply(880, &weak);
    /// assert_eq!((gated.points, gated.open_tiers), (599, Some(1)));
    /// ```
    #[must_use]
    pub fn apply(&self, points: i64, facts: &GateFacts) -> Gated {
        let holds = |step: &&GateStep| facts.reading.is_some_and(|reading| reading < step.below);
        let incident = self.incident.iter().filter(|_| facts.has_critical_incident);
        let steps = || self.steps.iter().filter(holds).chain(incident.clone());
        let unmeasured = self.open_unmeasured.filter(|_| facts.reading.is_none());
        let on_hold = facts.is_on_hold.then_some(self.open_on_hold);
        Gated {
            ungated_points: points,
            points: steps().map(|step| step.cap_points).fold(points, i64::min),
            open_tiers: steps().map(|step| step.open_tiers).chain(unmeasured).chain(on_hold).min(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::BILLION;

    #[test]
    fn the_gate_has_two_steps_and_looks_past_none() {
        let gate = SecurityGate::default();
        let at = |reading| {
            let gated = gate.apply(950, &GateFacts { reading, ..GateFacts::default() });
            (gated.points, gated.open_tiers)
        };
        assert_eq!(at(Some(500_000_000)), (950, None));
        assert_eq!(at(Some(499_999_999)), (599, Some(1)));
        assert_eq!(at(Some(250_000_000)), (599, Some(1)));
        assert_eq!(at(Some(249_999_999)), (399, Some(0)));
        assert_eq!(at(None), (950, Some(1)));
        let incident = GateFacts { reading: Some(BILLION), has_critical_incident: true, is_on_hold: false };
        assert_eq!(
            gate.apply(950, &incident),
            Gated { ungated_points: 950, points: 399, open_tiers: Some(0) }
        );
        assert_eq!(gate.apply(100, &incident).points, 100, "a cap lifts nobody");
        let hold = GateFacts { has_critical_incident: false, is_on_hold: true, ..incident };
        assert_eq!(gate.apply(950, &hold), Gated { ungated_points: 950, points: 950, open_tiers: Some(0) });
    }
}
