//! Traps of the section `[standing]`: settings that can never matter, and tiers that no subject can reach.

use alloc::format;
use alloc::string::String;

use super::findings::Findings;
use crate::diagnostic::Code;
use crate::number::{BILLION, plain};
use crate::scorecard::Scorecard;

/// Finds settings of the standing that can never matter (KC307).
pub(super) fn never_matters(card: &Scorecard, findings: &mut Findings<'_>) {
    let Some(standing) = &card.standing else { return };
    let mut warn = |name: &str, message: String, help: &str| {
        let about = ["standing", name];
        findings.warn(Code::NeverMatters, standing.span.clone(), &about, message, "never matters", help);
    };
    if let Some(review) = standing.review {
        let scale = card.scale.max;
        for (points, what) in [(review.swing_points, "swing"), (review.cumulative_points, "cumulative swing")]
        {
            if points >= scale {
                let message =
                    format!("no {what} is over {points} points on a scale of {scale}: nothing is ever held");
                warn("review", message, "take a limit below `scale.max`");
            }
        }
    }
    let surest = if standing.confidence.is_some() { BILLION } else { 0 };
    for tier in &standing.tiers {
        // A sample of any size leaves some doubt, so a confidence of 1 is never reached.
        if tier.confidence > 0 && tier.confidence >= surest {
            let asked = plain(tier.confidence, 9);
            let why = if surest == 0 { "is not known without `confidence`" } else { "stays below 1" };
            let message = format!(
                "tier `{}` asks for a confidence of {asked}, which {why}: no subject reaches it",
                tier.name
            );
            warn(&tier.name, message, "add `confidence = { items = 10 }`, or ask for less");
        }
    }
    if standing.gate.as_ref().is_some_and(|gate| gate.rule.steps.iter().any(|step| step.below == 0)) {
        let message = String::from("a step of the gate holds below 0, where no reading is");
        warn("gate", message, "raise `below`, or remove the step");
    }
}
