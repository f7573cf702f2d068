//! The parts that follow the mean: rules, gates, bands and tiers, whose points must fit the scale.

use alloc::format;
use alloc::vec::Vec;

use super::members::dimension_at;
use super::names::{Names, Place, unique, unknown};
use crate::diagnostic::Code;
use crate::number::{Decimal, MILLION};
use crate::scorecard::fields::{Report, Text};
use crate::scorecard::source::Draft;
use crate::scorecard::{Band, Gate, Publish, Rule, Scale, Tier};

/// Points must be within the scale, and where scores are published on a grid, on that grid.
fn check_points(points: Decimal, name: &Text, what: &str, scale: Scale, report: &Report<'_>) {
    if points.millionths() > i64::from(scale.max) * MILLION {
        let message = format!("{what} `{}` is at {points}, the scale ends at {}", name.value, scale.max);
        report.error_if_whole(Code::BadValue, name.span.clone(), message, "");
    }
    let step = MILLION / 10i64.pow(scale.places.min(6));
    if scale.publish != Publish::Exact && points.millionths() % step != 0 {
        let message = format!(
            "{what} `{}` is at {points}, published scores have {} decimals",
            name.value, scale.places
        );
        report.error_if_whole(
            Code::BadValue,
            name.span.clone(),
            message,
            "round it, or give the scale more `places`",
        );
    }
}

pub(super) fn resolve_rules(draft: &Draft, names: &Names, report: &Report<'_>) -> Vec<Rule> {
    unique(draft.rules.iter().map(|rule| &rule.name), "rule", report);
    let mut rules = Vec::new();
    for rule in &draft.rules {
        let when = names.formula(&rule.when, Place::Verdict, report);
        let set = names.formula(&rule.set, Place::Verdict, report);
        if let (Some(when), Some(set)) = (when, set) {
            rules.push(Rule { name: rule.name.value.clone(), when, set, span: rule.name.span.clone() });
        }
    }
    rules
}

pub(super) fn resolve_gates(draft: &Draft, names: &Names, scale: Scale, report: &Report<'_>) -> Vec<Gate> {
    unique(draft.gates.iter().map(|gate| &gate.name), "gate", report);
    let mut gates = Vec::new();
    for gate in &draft.gates {
        if let Some(cap) = gate.cap {
            check_points(cap, &gate.name, "the cap of gate", scale, report);
        }
        let tier_limit = gate.tier.as_ref().and_then(|tier| {
            let found = if tier.value == "none" {
                Some(0)
            } else {
                draft.tiers.iter().position(|known| known.name.value == tier.value).map(|at| at + 1)
            };
            if found.is_none() {
                let known = draft.tiers.iter().map(|tier| tier.name.value.as_str()).chain(["none"]);
                unknown(tier, known, "tier", report);
            }
            found
        });
        if let Some(when) = names.formula(&gate.when, Place::Verdict, report) {
            gates.push(Gate {
                name: gate.name.value.clone(),
                when,
                cap: gate.cap,
                tier_limit,
                span: gate.name.span.clone(),
            });
        }
    }
    gates
}

pub(super) fn resolve_bands(draft: &Draft, scale: Scale, report: &Report<'_>) -> Vec<Band> {
    unique(draft.bands.iter().map(|(name, _)| name), "band", report);
    for (place, (name, from)) in draft.bands.iter().enumerate() {
        check_points(*from, name, "band", scale, report);
        match place.checked_sub(1).and_then(|before| draft.bands.get(before)) {
            None if *from != Decimal::ZERO => {
                let message = format!("scores below {from} have no band");
                report.error_if_whole(
                    Code::BandGap,
                    name.span.clone(),
                    message,
                    "the first band starts at 0",
                );
            }
            Some((before, lower)) if from <= lower => {
                let message = format!(
                    "band `{}` starts at {from}, not above `{}` at {lower}",
                    name.value, before.value
                );
                report.error_if_whole(
                    Code::BandGap,
                    name.span.clone(),
                    message,
                    "order the bands from the lowest to the highest",
                );
            }
            _ => {}
        }
    }
    draft
        .bands
        .iter()
        .map(|(name, from)| Band { name: name.value.clone(), from: *from, span: name.span.clone() })
        .collect()
}

pub(super) fn resolve_tiers(draft: &Draft, scale: Scale, report: &Report<'_>) -> Vec<Tier> {
    unique(draft.tiers.iter().map(|tier| &tier.name), "tier", report);
    let mut tiers: Vec<Tier> = Vec::new();
    let mut mandatory: Vec<usize> = Vec::new();
    for tier in &draft.tiers {
        check_points(tier.score, &tier.name, "tier", scale, report);
        let above_one =
            [tier.coverage, tier.floor].into_iter().chain(tier.require.iter().map(|&(_, floor)| floor));
        for share in above_one.filter(|&share| share > Decimal::ONE) {
            let message =
                format!("tier `{}` asks for {share}, a share of 1 is all there is", tier.name.value);
            report.bad(tier.name.span.clone(), message, "coverage and floors are between 0 and 1");
        }
        if let Some(lower) = tiers.last()
            && (tier.score < lower.score || tier.coverage < lower.coverage)
        {
            let message = format!("tier `{}` asks less than `{}`", tier.name.value, lower.name);
            report.error_if_whole(
                Code::TierOrder,
                tier.name.span.clone(),
                message,
                "order the tiers from the lowest to the highest",
            );
        }
        for key in &tier.mandatory {
            mandatory
                .extend(dimension_at(&draft.dimensions, key, report).filter(|at| !mandatory.contains(at)));
        }
        let mut floors: Vec<(usize, i64)> =
            mandatory.iter().map(|&at| (at, tier.floor.millionths() * 1000)).collect();
        for (key, floor) in &tier.require {
            let Some(at) = dimension_at(&draft.dimensions, key, report) else { continue };
            let floor = floor.millionths() * 1000;
            match floors.iter_mut().find(|(known, _)| *known == at) {
                Some((_, known)) => *known = floor.max(*known),
                None => floors.push((at, floor)),
            }
        }
        tiers.push(Tier {
            name: tier.name.value.clone(),
            score: tier.score,
            coverage: tier.coverage,
            floors,
            span: tier.name.span.clone(),
        });
    }
    tiers
}
