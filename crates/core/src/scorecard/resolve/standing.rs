//! The section `[standing]`: its dimensions, tiers and gates bound to those of the card.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::members::dimension_at;
use super::names::{unique, unknown};
use crate::diagnostic::Code;
use crate::number::{Decimal, MILLION};
use crate::scorecard::fields::{Report, Text};
use crate::scorecard::source::{Draft, DraftGateStep, DraftStanding, DraftStandingGate, DraftStandingTier};
use crate::scorecard::{
    ConfidenceRule, GateStep, Scale, SecurityGate, Standing, StandingGate, StandingScore, Tier, TierRule,
};

pub(super) fn resolve_standing(
    section: &DraftStanding,
    draft: &Draft,
    tiers: &[Tier],
    scale: Scale,
    report: &Report<'_>,
) -> Standing {
    let rules = &section.rules;
    if rules.score == StandingScore::Latest {
        check_shape(draft, &rules.span, report);
    }
    let tiers = resolve_tiers(section, draft, tiers, scale, report);
    let gate = section.gate.as_ref().and_then(|gate| resolve_gate(gate, draft, &tiers, scale, report));
    let confidence = section.confidence.as_ref().map(|confidence| {
        let known = |(key, _): &&(Text, u32)| dimension_at(&draft.dimensions, key, report).is_some();
        let items_by = confidence.items_by.iter().filter(known);
        let items_by = items_by.map(|(key, items)| (key.value.clone(), *items)).collect();
        ConfidenceRule { items: confidence.items, items_by, freshness: confidence.freshness }
    });
    if draft.family.is_some() {
        let names_some = gate.is_some()
            || confidence.as_ref().is_some_and(|confidence| !confidence.items_by.is_empty())
            || tiers.iter().any(|tier| !tier.floors.is_empty());
        if names_some {
            let message =
                "the standing of a family names dimensions that its challenges may leave out".to_string();
            let help = "a family's standing has no `gate`, `items_by`, `mandatory` or `require`";
            report.error_if_whole(Code::BadValue, rules.span.clone(), message, help);
        }
    }
    Standing { gate, tiers, confidence, ..rules.clone() }
}

/// Checks the shape: the newest readings, each with its own age, only have a mean where the card is one weighted mean.
fn check_shape(draft: &Draft, place: &Range<usize>, report: &Report<'_>) {
    let found = [
        (draft.mean.is_some_and(|mean| !mean.is_weighted_average()), "another mean"),
        (!draft.groups.is_empty(), "groups"),
        (draft.profiles.is_some(), "weight profiles"),
        (draft.family.is_some(), "a palette"),
    ];
    for (_, what) in found.into_iter().filter(|&(there, _)| there) {
        let message =
            format!("score = \"latest\" needs one weighted mean over all dimensions, the card has {what}");
        report.error_if_whole(Code::BadValue, place.clone(), message, "take score = \"window\"");
    }
}

/// Returns the tiers of the section; one that the card has too asks what it asks there as well. Those of the card
/// where the section has none.
fn resolve_tiers(
    section: &DraftStanding,
    draft: &Draft,
    of_card: &[Tier],
    scale: Scale,
    report: &Report<'_>,
) -> Vec<TierRule> {
    let key = |place: usize| draft.dimensions.get(place).map(|dimension| dimension.key.value.clone());
    let inherited = |tier: &Tier, place: &Range<usize>, report: &Report<'_>| TierRule {
        name: tier.name.clone(),
        points: whole_points(tier.score, &tier.name, place, scale, report),
        coverage: tier.coverage.millionths() * 1000,
        floors: tier.floors.iter().filter_map(|&(at, floor)| Some((key(at)?, floor))).collect(),
        ..TierRule::default()
    };
    if section.tiers.is_empty() {
        return of_card.iter().map(|tier| inherited(tier, &section.rules.span, report)).collect();
    }
    unique(section.tiers.iter().map(|tier| &tier.name), "tier", report);
    let mut mandatory: Vec<String> = Vec::new();
    let mut rules: Vec<TierRule> = Vec::new();
    for tier in &section.tiers {
        let DraftStandingTier { name, .. } = tier;
        let known = of_card.iter().find(|known| known.name == name.value);
        let mut rule = known.map_or_else(
            || TierRule { name: name.value.clone(), ..TierRule::default() },
            |known| inherited(known, &name.span, report),
        );
        if let Some(score) = tier.score {
            rule.points = whole_points(score, &name.value, &name.span, scale, report);
        } else if known.is_none() {
            let message = format!("tier `{}` needs `score`", name.value);
            report.error_if_whole(
                Code::MissingField,
                name.span.clone(),
                message,
                "the card has no such tier to take it from",
            );
        }
        rule.coverage = tier.coverage.unwrap_or(rule.coverage);
        for key in &tier.mandatory {
            if dimension_at(&draft.dimensions, key, report).is_some() && !mandatory.contains(&key.value) {
                mandatory.push(key.value.clone());
            }
        }
        for key in &mandatory {
            raise(&mut rule.floors, key, tier.floor);
        }
        for (key, floor) in &tier.require {
            if dimension_at(&draft.dimensions, key, report).is_some() {
                raise(&mut rule.floors, &key.value, *floor);
            }
        }
        rule.evaluations = tier.evaluations.into();
        rule.distinct_days = tier.distinct_days.into();
        rule.confidence = tier.confidence;
        rule.independent_runners = tier.independent_runners.into();
        rule.newest_batch_seconds = tier.newest_batch_seconds.map(i64::from);
        if let Some(lower) = rules.last()
            && let Some(what) = asks_less(lower, &rule)
        {
            let message = format!("tier `{}` asks for less {what} than `{}`", rule.name, lower.name);
            let help = "order the tiers from the lowest to the highest";
            report.error_if_whole(Code::TierOrder, name.span.clone(), message, help);
        }
        rules.push(rule);
    }
    rules
}

/// Puts a floor under a dimension, unless there is a higher one.
fn raise(floors: &mut Vec<(String, i64)>, key: &str, floor: i64) {
    match floors.iter_mut().find(|(known, _)| known == key) {
        Some((_, known)) => *known = floor.max(*known),
        None => floors.push((key.to_string(), floor)),
    }
}

/// Returns what a tier asks less of than the one below it.
fn asks_less(lower: &TierRule, higher: &TierRule) -> Option<&'static str> {
    // An age that no batch may pass is the stricter the smaller it is.
    let age = |rule: &TierRule| rule.newest_batch_seconds.unwrap_or(i64::MAX);
    let asked = [
        (higher.points < lower.points, "score"),
        (higher.coverage < lower.coverage, "coverage"),
        (higher.evaluations < lower.evaluations, "evaluations"),
        (higher.distinct_days < lower.distinct_days, "distinct days"),
        (higher.confidence < lower.confidence, "confidence"),
        (higher.independent_runners < lower.independent_runners, "independent runners"),
        (age(higher) > age(lower), "freshness"),
    ];
    asked.into_iter().find(|&(less, _)| less).map(|(_, what)| what)
}

fn resolve_gate(
    gate: &DraftStandingGate,
    draft: &Draft,
    tiers: &[TierRule],
    scale: Scale,
    report: &Report<'_>,
) -> Option<StandingGate> {
    let open = |tier: &Text, report: &Report<'_>| {
        let at = tiers.iter().position(|known| known.name == tier.value).map(|at| at + 1);
        let found = if tier.value == "none" { Some(0) } else { at };
        if found.is_none() {
            let known = tiers.iter().map(|tier| tier.name.as_str()).chain(["none"]);
            unknown(tier, known, "tier", report);
        }
        found
    };
    let step = |step: &DraftGateStep, name: &str, report: &Report<'_>| {
        if step.cap.is_none() && step.tier.is_none() {
            let help = "give `cap` (points) or `tier` (a tier or \"none\")";
            let message = "a step of a gate that does nothing".to_string();
            report.error_if_whole(Code::MissingField, step.span.clone(), message, help);
        }
        let cap_points = step.cap.map_or(i64::MAX, |cap| whole_points(cap, name, &step.span, scale, report));
        let open_tiers = step.tier.as_ref().and_then(|tier| open(tier, report)).unwrap_or(tiers.len());
        GateStep { below: step.below, cap_points, open_tiers }
    };
    let steps = gate.steps.iter().map(|one| step(one, "step", report)).collect();
    let incident = gate.incident.as_ref().map(|one| step(one, "incident", report));
    let incident_gate = gate.incident_gate.as_ref().filter(|name| {
        let known = draft.gates.iter().map(|gate| gate.name.value.as_str());
        let is_known = known.clone().any(|known| known == name.value);
        if !is_known {
            unknown(name, known, "gate", report);
        }
        is_known
    });
    let rule = SecurityGate {
        steps,
        open_unmeasured: gate.unmeasured.as_ref().and_then(|tier| open(tier, report)),
        incident,
        open_on_hold: gate.on_hold.as_ref().and_then(|tier| open(tier, report)).unwrap_or_default(),
    };
    let dimension = gate.dimension.as_ref()?;
    dimension_at(&draft.dimensions, dimension, report)?;
    let incident_gate = incident_gate.map(|name| name.value.clone());
    Some(StandingGate { dimension: dimension.value.clone(), rule, incident_gate })
}

/// Points that a standing compares are whole: of published parts of a point it takes the whole ones.
fn whole_points(points: Decimal, name: &str, place: &Range<usize>, scale: Scale, report: &Report<'_>) -> i64 {
    if points.millionths() > i64::from(scale.max) * MILLION {
        let message = format!("`{name}` is at {points}, the scale ends at {}", scale.max);
        report.error_if_whole(Code::BadValue, place.clone(), message, "");
    } else if points.millionths() % MILLION != 0 {
        let message = format!("`{name}` is at {points}, standings compare whole points");
        let help = "round it, or give the card a `scale` of more points";
        report.error_if_whole(Code::BadValue, place.clone(), message, help);
    }
    points.millionths() / MILLION
}
