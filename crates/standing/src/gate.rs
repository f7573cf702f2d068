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
    Gated {
        ungated_points: points,
        points: steps().map(|step| step.cap_points).fold(points, i64::min),
        open_tiers: steps().map(|step| step.open_tiers).chain(unmeasured).chain(on_hold).min(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_core::number::BILLION;

    #[test]
    fn the_gate_has_two_steps_and_looks_past_none() {
        let gate = SecurityGate::default();
        let at = |reading| {
            let gated = apply(&gate, 950, &GateFacts { reading, ..GateFacts::default() });
            (gated.points, gated.open_tiers)
        };
        assert_eq!(at(Some(500_000_000)), (950, None));
        assert_eq!(at(Some(499_999_999)), (599, Some(1)));
        assert_eq!(at(Some(250_000_000)), (599, Some(1)));
        assert_eq!(at(Some(249_999_999)), (399, Some(0)));
        assert_eq!(at(None), (950, Some(1)));
        let incident = GateFacts { reading: Some(BILLION), has_critical_incident: true, is_on_hold: false };
        assert_eq!(
            apply(&gate, 950, &incident),
            Gated { ungated_points: 950, points: 399, open_tiers: Some(0) }
        );
        assert_eq!(apply(&gate, 100, &incident).points, 100, "a cap lifts no score");
        let hold = GateFacts { has_critical_incident: false, is_on_hold: true, ..incident };
        assert_eq!(apply(&gate, 950, &hold), Gated { ungated_points: 950, points: 950, open_tiers: Some(0) });
    }
}
