//! Weights: those of the profiles, and whether those of every mean sum to what they must.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

use super::names::{unique, unknown};
use crate::diagnostic::Code;
use crate::number::Decimal;
use crate::scorecard::fields::Report;
use crate::scorecard::source::{DraftDimension, DraftProfiles};
use crate::scorecard::{FactType, Mean, Profiles, Scorecard, WeightSum};
use crate::weights::{MOST_WEIGHT_UNITS, gcd};

pub(super) fn resolve_profiles(draft: &DraftProfiles, card: &mut Scorecard, report: &mut Report<'_>) {
    let by = draft.by.as_ref().and_then(|name| {
        let found = card.facts.iter().position(|fact| fact.name == name.value && fact.kind == FactType::Text);
        if found.is_none() {
            let known =
                card.facts.iter().filter(|fact| fact.kind == FactType::Text).map(|fact| fact.name.as_str());
            unknown(name, known, "text fact", report);
        }
        found
    });
    let fallback = draft.fallback.as_ref().and_then(|name| {
        let found = draft.list.iter().position(|(known, _)| known.value == name.value);
        if found.is_none() {
            unknown(name, draft.list.iter().map(|(known, _)| known.value.as_str()), "profile", report);
        }
        found
    });
    unique(draft.list.iter().map(|(name, _)| name), "profile", report);
    if draft.list.is_empty() {
        let help = "add `[profiles.weights.default]`";
        report.error(Code::ProfileWeights, draft.span.clone(), "profiles without weights".to_string(), help);
    }
    let mut list = Vec::new();
    for (name, weights) in &draft.list {
        for (key, _) in weights.iter().filter(|(key, _)| !card.dimensions.iter().any(|d| d.key == key.value))
        {
            unknown(key, card.dimensions.iter().map(|dimension| dimension.key.as_str()), "dimension", report);
        }
        let mut values = Vec::new();
        for dimension in &card.dimensions {
            match weights.iter().find(|(key, _)| key.value == dimension.key) {
                Some((_, weight)) => values.push(*weight),
                None => {
                    let message = format!("profile `{}` has no weight for `{}`", name.value, dimension.key);
                    report.error(Code::ProfileWeights, name.span.clone(), message, "give it one, if only 0");
                }
            }
        }
        list.push((name.value.clone(), values));
    }
    if let (Some(by), Some(fallback)) = (by, fallback) {
        if let Some((_, weights)) = list.get(fallback) {
            for (dimension, weight) in card.dimensions.iter_mut().zip(weights) {
                dimension.weight = *weight;
            }
        }
        card.profiles = Some(Profiles { by, fallback, list });
    }
}

pub(super) fn check_weights(
    card: &Scorecard,
    drafts: &[DraftDimension],
    head: &Range<usize>,
    report: &mut Report<'_>,
) {
    for draft in drafts {
        // A weight that was given and refused has been spoken of; its place is its own, not that of the key.
        let is_absent = draft.weight.is_none() && draft.weight_span == draft.key.span;
        if card.profiles.is_none() && is_absent {
            let message = format!("dimension `{}` needs `weight`", draft.key.value);
            report.error(Code::MissingField, draft.key.span.clone(), message, "weight = 0.25");
        } else if card.profiles.is_some() && draft.weight.is_some() {
            let message = format!("the profiles give `{}` its weight", draft.key.value);
            report.error(Code::ProfileWeights, draft.weight_span.clone(), message, "remove `weight`");
        }
    }
    // Weights that could not be read, or belong to a dimension that could not, leave nothing to add up.
    let is_whole = !drafts.is_empty()
        && card.dimensions.len() == drafts.len()
        && (card.profiles.is_some() || drafts.iter().all(|draft| draft.weight.is_some()));
    if !is_whole {
        return;
    }
    let base: Vec<Decimal> = card.dimensions.iter().map(|dimension| dimension.weight).collect();
    let sets: Vec<(Option<&str>, &[Decimal])> = match &card.profiles {
        Some(profiles) => {
            profiles.list.iter().map(|(name, weights)| (Some(name.as_str()), weights.as_slice())).collect()
        }
        None => alloc::vec![(None, base.as_slice())],
    };
    for (profile, weights) in sets {
        for node in core::iter::once(None).chain((0..card.groups.len()).map(Some)) {
            check_node(card, profile, weights, node, head, report);
        }
    }
}

/// Checks the weights of the members of one group, or of the top level.
fn check_node(
    card: &Scorecard,
    profile: Option<&str>,
    weights: &[Decimal],
    node: Option<usize>,
    head: &Range<usize>,
    report: &mut Report<'_>,
) {
    let members = card.dimensions.iter().zip(weights).filter(|(dimension, _)| dimension.group == node);
    let member_groups = card.groups.iter().filter(|group| group.parent == node);
    let all: Vec<Decimal> =
        members.clone().map(|(_, &weight)| weight).chain(member_groups.map(|group| group.weight)).collect();
    let group = node.and_then(|at| card.groups.get(at));
    let place = match (group, members.clone().next(), members.clone().last()) {
        (Some(group), ..) => group.span.clone(),
        (None, Some((first, _)), Some((last, _))) if first.weight_span.start < last.weight_span.end => {
            first.weight_span.start..last.weight_span.end
        }
        _ => head.clone(),
    };
    let whose = match (profile, group) {
        (Some(profile), _) => format!("the weights of profile `{profile}`"),
        (None, Some(group)) => format!("the weights in group `{}`", group.key),
        (None, None) => "the weights".to_string(),
    };
    let sum = crate::weights::sum(all.iter().copied()).unwrap_or(Decimal::from_millionths(i64::MAX));
    let one = WeightSum { target: Decimal::ONE, tolerance: Decimal::ZERO };
    let guard = match group {
        Some(group) => (group.mean == Mean::WeightedSum).then_some(one),
        None => card.weight_sum,
    };
    if let Some(guard) = guard.filter(|guard| !guard.accepts(sum)) {
        let apart = if sum > guard.target { "too much" } else { "too little" };
        let off = Decimal::from_millionths(sum.millionths().saturating_sub(guard.target.millionths()).abs());
        let message = format!("{whose} sum to {sum}, they must sum to {}", guard.target);
        report.error(Code::WeightSum, place, message, format!("that is {off} {apart}"));
    } else if sum == Decimal::ZERO {
        report.error(Code::WeightSum, place, format!("{whose} are all zero"), "give a dimension a weight");
    } else {
        let unit = all.iter().fold(0, |unit, weight| gcd(unit, weight.millionths())).max(1);
        if sum.millionths() / unit > MOST_WEIGHT_UNITS {
            let message = format!(
                "{whose} are too fine for their size: {} units of {}",
                sum.millionths() / unit,
                Decimal::from_millionths(unit)
            );
            report.error(
                Code::WeightPrecision,
                place,
                message,
                "scale them to sum to 1, or use fewer places",
            );
        }
    }
}
