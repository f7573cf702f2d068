//! Weights: those of the profiles, and whether those of every mean sum to what they must.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::members::groups_are_known;
use super::names::{unique, unknown};
use crate::diagnostic::Code;
use crate::number::{Decimal, MOST_WEIGHT_UNITS, common_unit};
use crate::scorecard::fields::{Report, Text};
use crate::scorecard::source::{Draft, DraftDimension, DraftFact, DraftProfile, DraftProfiles};
use crate::scorecard::{FactType, Group, Mean, Profiles, WeightSum};

pub(super) fn resolve_profiles(
    profiles: &DraftProfiles,
    draft: &Draft,
    report: &Report<'_>,
) -> Option<Profiles> {
    let by = profiles.by.as_ref().and_then(|name| {
        let is_text = |fact: &&DraftFact| fact.kind == FactType::Text;
        let found = draft.facts.iter().position(|fact| fact.name.value == name.value && is_text(&fact));
        if found.is_none() {
            let known = draft.facts.iter().filter(is_text).map(|fact| fact.name.value.as_str());
            unknown(name, known, "text fact", report);
        }
        found
    });
    let fallback = profiles.fallback.as_ref().and_then(|name| {
        let found = profiles.list.iter().position(|known| known.name.value == name.value);
        if found.is_none() && !profiles.list.is_empty() {
            unknown(name, profiles.list.iter().map(|known| known.name.value.as_str()), "profile", report);
        }
        found
    });
    unique(profiles.list.iter().map(|profile| &profile.name), "profile", report);
    if profiles.list.is_empty() {
        let (message, help) = ("profiles without weights".to_string(), "add `[profiles.weights.default]`");
        report.error_if_whole(Code::ProfileWeights, profiles.span.clone(), message, help);
    }
    let mut list = Vec::new();
    for profile in &profiles.list {
        let name = &profile.name;
        let keys = || draft.dimensions.iter().map(|dimension| dimension.key.value.as_str());
        let strangers = || profile.weights.iter().filter(|(key, _)| !keys().any(|known| known == key.value));
        strangers().for_each(|(key, _)| unknown(key, keys(), "dimension", report));
        // A dimension without a weight may be the one whose name is misspelt.
        if strangers().next().is_none() {
            for key in keys().filter(|key| weight_of(profile, key).is_none()) {
                let message = format!("profile `{}` has no weight for `{key}`", name.value);
                let help = "give it one, if only 0";
                report.error_if_whole(Code::ProfileWeights, name.span.clone(), message, help);
            }
        }
        let values = keys().map(|key| weight_of(profile, key).flatten().unwrap_or(Decimal::ZERO)).collect();
        list.push((name.value.clone(), values));
    }
    Some(Profiles { by: by?, fallback: fallback?, list })
}

/// Returns the weight of a dimension in a profile: none if it has none, none within if it was refused.
fn weight_of(profile: &DraftProfile, key: &str) -> Option<Option<Decimal>> {
    profile.weights.iter().find(|(known, _)| known.value == key).map(|&(_, weight)| weight)
}

/// Warns of a guard without effect: every sum passes it, or a weighted sum that could exceed 1 by more than its
/// tolerance.
pub(super) fn check_guards(draft: &Draft, mean: Mean, weight_sum: Option<WeightSum>, report: &Report<'_>) {
    let head = &draft.head;
    let overridden =
        draft.override_tolerance.map(|tolerance| ("override", WeightSum { target: Decimal::ONE, tolerance }));
    for (place, guard) in weight_sum.map(|guard| ("weights", guard)).into_iter().chain(overridden) {
        if mean.takes_weights_as_given() && guard.target != Decimal::ONE {
            let message =
                format!("the weights of a weighted sum must sum to 1, `{place}` says {}", guard.target);
            let help = "divide the weights by their sum, or use `mean = \"weighted-mean\"`";
            report.bad(head.clone(), message, help);
        } else if guard.tolerance >= guard.target {
            let message = format!(
                "the tolerance {} of `{place}` accepts any weights down to 0, as they must sum to {}",
                guard.tolerance, guard.target
            );
            report.bad(head.clone(), message, "tolerance = 0.001");
        }
    }
}

/// Checks that every weight is where it belongs, and what the weights of every mean sum to. All of it on the draft: a
/// dimension whose formula is refused still has its weight.
pub(super) fn check_weights(draft: &Draft, groups: &[Group], guard: Option<WeightSum>, report: &Report<'_>) {
    for dimension in &draft.dimensions {
        let key = &dimension.key;
        match (&draft.profiles, &dimension.weight_span) {
            (None, None) => {
                let message = format!("dimension `{}` needs `weight`", key.value);
                report.error_if_whole(Code::MissingField, key.span.clone(), message, "weight = 0.25");
            }
            (Some(_), Some(place)) => {
                let message = format!("the profiles give `{}` its weight", key.value);
                report.error(Code::ProfileWeights, place.clone(), message, "remove `weight`");
            }
            _ => {}
        }
    }
    if report.is_partial() || !groups_are_known(draft) {
        return;
    }
    let profiles: Vec<Option<&DraftProfile>> = match &draft.profiles {
        None => alloc::vec![None],
        Some(profiles) => profiles.list.iter().map(Some).collect(),
    };
    for profile in profiles {
        for node in core::iter::once(None).chain((0..groups.len()).map(Some)) {
            check_node(draft, groups, guard, profile, node, report);
        }
    }
}

/// Checks the weights of the members of one group, or of the top level, where all of them are known.
fn check_node(
    draft: &Draft,
    groups: &[Group],
    guard: Option<WeightSum>,
    profile: Option<&DraftProfile>,
    node: Option<usize>,
    report: &Report<'_>,
) {
    let group = node.and_then(|at| groups.get(at));
    let is_member =
        |name: &Option<Text>| name.as_ref().map(|name| &name.value) == group.map(|group| &group.key);
    let dimensions = || draft.dimensions.iter().filter(|dimension| is_member(&dimension.group));
    let member_groups = draft.groups.iter().filter(|group| is_member(&group.parent));
    let weight = |dimension: &DraftDimension| match profile {
        Some(profile) => weight_of(profile, &dimension.key.value).flatten(),
        None => dimension.weight,
    };
    let all = dimensions().map(weight).chain(member_groups.map(|group| group.weight));
    let Some(all) = all.collect::<Option<Vec<Decimal>>>().filter(|all| !all.is_empty()) else { return };
    let weight_span =
        |dimension: &DraftDimension| dimension.weight_span.as_ref().unwrap_or(&dimension.key.span).clone();
    let place = match (group, dimensions().map(weight_span).next(), dimensions().map(weight_span).next_back())
    {
        (Some(group), ..) => group.span.clone(),
        (None, Some(first), Some(last)) if first.start < last.end => first.start..last.end,
        _ => draft.head.clone(),
    };
    let whose = match (profile, group) {
        (Some(profile), _) => format!("the weights of profile `{}`", profile.name.value),
        (None, Some(group)) => format!("the weights in group `{}`", group.key),
        (None, None) => "the weights".to_string(),
    };
    let Some(sum) = crate::number::sum(all.iter().copied()) else {
        let message = format!("{whose} sum to more than {}", Decimal::from_millionths(i64::MAX));
        report.error(Code::WeightPrecision, place, message, "scale them to sum to 1");
        return;
    };
    let one = WeightSum { target: Decimal::ONE, tolerance: Decimal::ZERO };
    let guard = match group {
        Some(group) => group.mean.takes_weights_as_given().then_some(one),
        None => guard,
    };
    if let Some(guard) = guard.filter(|guard| !guard.accepts(sum)) {
        let apart = if sum > guard.target { "too much" } else { "too little" };
        let off = Decimal::from_millionths(sum.millionths().saturating_sub(guard.target.millionths()).abs());
        let message = format!("{whose} sum to {sum}, they must sum to {}", guard.target);
        report.error(Code::WeightSum, place, message, format!("that is {off} {apart}"));
    } else if sum == Decimal::ZERO {
        report.error(Code::WeightSum, place, format!("{whose} are all zero"), "give a dimension a weight");
    } else {
        let unit = common_unit(all.iter().copied());
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
