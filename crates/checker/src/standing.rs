//! Traps of the section `[standing]`: settings that can never matter, tiers that no subject can reach, and a review that
//! many small changes pass.

use alloc::format;
use alloc::string::String;

use super::findings::Findings;
use karat_core::diagnostic::Code;
use karat_core::number::{BILLION, plain};
use karat_core::scorecard::Scorecard;

/// Returns whether the standing reads a dimension by itself: in its gate, a tier, or what confidence asks for.
pub(super) fn reads(card: &Scorecard, key: &str) -> bool {
    card.standing.as_ref().is_some_and(|standing| {
        standing.gate.as_ref().is_some_and(|gate| gate.dimension == key)
            || standing.tiers.iter().any(|tier| tier.floors.iter().any(|(floor, _)| floor == key))
            || standing.confidence.as_ref().is_some_and(|confidence| confidence.items_by.contains_key(key))
    })
}

/// Finds a review that holds one large change and lets it pass in small steps (KC310).
pub(super) fn small_steps(card: &Scorecard, findings: &mut Findings<'_>) {
    let Some(standing) = &card.standing else { return };
    let Some(review) = standing.review else { return };
    let scale = card.scale.max;
    let (swing, cumulative) = (review.swing_points, review.cumulative_points);
    // A review that never holds anything is reported as one that never matters.
    if swing >= scale {
        return;
    }
    let (message, help) = if !review.cumulative_holds {
        let message = format!(
            "the review holds changes over {swing} points and only flags their sum: in steps of up to {swing} points a score goes \
             from 0 to {scale} unheld"
        );
        (message, String::from("cumulative = \"hold\""))
    } else if cumulative >= scale {
        let message = format!(
            "no sum of changes is over {cumulative} points on a scale of {scale}: in steps of up to {swing} points a score goes from \
             0 to {scale} unheld"
        );
        (message, format!("cumulative_points = {}", (swing + swing.div_ceil(2)).min(scale - 1)))
    } else if review.cumulative_seconds == 0 {
        let message = format!(
            "the sum of changes looks back 0 days, so it is never more than one: in steps of up to {swing} points a score goes \
             from 0 to {scale} unheld"
        );
        (message, String::from("cumulative_days = 7"))
    } else {
        return;
    };
    let help = format!("write `{help}`, or keep it and say why");
    let span = standing.span.clone();
    findings.warn(Code::SmallSteps, span, &["standing", "review"], message, "small steps pass", &help);
}

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
