//! Dimensions and groups.

use alloc::format;
use alloc::vec::Vec;

use super::names::{Names, Place, unknown};
use crate::diagnostic::Code;
use crate::number::Decimal;
use crate::scorecard::fields::{Report, Text};
use crate::scorecard::source::{Draft, DraftDimension};
use crate::scorecard::{Dimension, EvidenceAge, FactType, Group, Mean};

pub(super) fn resolve_dimensions(
    draft: &Draft,
    names: &Names,
    report: &Report<'_>,
) -> (Vec<Dimension>, Vec<usize>) {
    let mut dimensions = Vec::new();
    for (place, dimension) in draft.dimensions.iter().enumerate() {
        let formula = match &dimension.formula {
            Some(text) => names.formula(text, Place::OwnFormula(place), report),
            None if names.facts.contains_key(&dimension.key.value) => {
                names.formula(&dimension.key, Place::OwnFormula(place), report)
            }
            None => {
                let message = format!("dimension `{}` needs `formula`", dimension.key.value);
                let help = "or declare a fact of the same name";
                report.error_if_whole(Code::MissingField, dimension.key.span.clone(), message, help);
                None
            }
        };
        let condition = |text: &Option<Text>| {
            text.as_ref().and_then(|text| names.formula(text, Place::Condition, report))
        };
        let (when, applies) = (condition(&dimension.when), condition(&dimension.applies));
        let group = dimension.group.as_ref().and_then(|key| group_at(draft, key, report));
        let age = dimension.age.as_ref().and_then(|name| age_fact(draft, names, name, report));
        let Some(formula) = formula else { continue };
        dimensions.push(Dimension {
            key: dimension.key.value.clone(),
            label: dimension.label.clone(),
            description: dimension.description.clone(),
            color: dimension.color.clone(),
            weight: dimension.weight.unwrap_or(Decimal::ZERO),
            formula,
            when,
            applies,
            missing: dimension.missing,
            group,
            age: age.map_or(EvidenceAge::OfItem, EvidenceAge::Fact),
            span: dimension.key.span.clone(),
            weight_span: dimension.weight_span.as_ref().unwrap_or(&dimension.key.span).clone(),
        });
    }
    (dimensions, names.reading_order.clone())
}

/// Returns the place of the fact that says how old the evidence for a dimension is.
fn age_fact(draft: &Draft, names: &Names, name: &Text, report: &Report<'_>) -> Option<usize> {
    let Some(&place) = names.facts.get(&name.value) else {
        unknown(name, draft.facts.iter().map(|fact| fact.name.value.as_str()), "fact", report);
        return None;
    };
    let fact = draft.facts.get(place)?;
    if fact.kind != FactType::Number || fact.unit.as_deref() != Some("s") {
        let message = format!("the age `{}` is not in seconds", name.value);
        let help = format!("declare it so: {} = {{ unit = \"s\", min = 0 }}", name.value);
        report.error_if_whole(Code::UnitMismatch, name.span.clone(), message, help);
    }
    if draft.standing.as_ref().is_none_or(|standing| standing.rules.decay.is_none()) {
        let message = format!("`age = \"{}\"` is of no use: the card has no decay", name.value);
        let help = "add `decay` to the section `[standing]`, or remove the age";
        report.error_if_whole(Code::BadValue, name.span.clone(), message, help);
    }
    Some(place)
}

fn group_at(draft: &Draft, key: &Text, report: &Report<'_>) -> Option<usize> {
    let found = draft.groups.iter().position(|group| group.key.value == key.value);
    if found.is_none() {
        unknown(key, draft.groups.iter().map(|group| group.key.value.as_str()), "group", report);
    }
    found
}

/// Returns whether every group that a dimension or group says it is in is there; if not, that group has more members
/// than it seems.
pub(super) fn groups_are_known(draft: &Draft) -> bool {
    let parents = draft.groups.iter().filter_map(|group| group.parent.as_ref());
    let mut named = draft.dimensions.iter().filter_map(|dimension| dimension.group.as_ref()).chain(parents);
    named.all(|name| draft.groups.iter().any(|group| group.key.value == name.value))
}

pub(super) fn resolve_groups(draft: &Draft, mean: Mean, report: &Report<'_>) -> Vec<Group> {
    let mut groups = Vec::new();
    let is_known = groups_are_known(draft);
    for (place, group) in draft.groups.iter().enumerate() {
        let parent = group.parent.as_ref().and_then(|key| group_at(draft, key, report));
        if let (Some(parent), Some(name)) = (parent, &group.parent)
            && parent >= place
        {
            let message = format!("group `{}` comes before its parent `{}`", group.key.value, name.value);
            report.error(Code::Cycle, name.span.clone(), message, "put a parent before its members");
        }
        let has_member =
            draft.dimensions.iter().any(|d| d.group.as_ref().is_some_and(|g| g.value == group.key.value))
                || draft.groups.iter().any(|g| g.parent.as_ref().is_some_and(|p| p.value == group.key.value));
        if !has_member && is_known {
            report.error_if_whole(
                Code::DimensionCount,
                group.key.span.clone(),
                format!("group `{}` has no member", group.key.value),
                "",
            );
        }
        groups.push(Group {
            key: group.key.value.clone(),
            label: group.label.clone(),
            weight: group.weight.unwrap_or(Decimal::ZERO),
            mean: group.mean.unwrap_or(mean),
            parent,
            span: group.key.span.clone(),
        });
    }
    groups
}

pub(super) fn dimension_at(dimensions: &[DraftDimension], key: &Text, report: &Report<'_>) -> Option<usize> {
    let found = dimensions.iter().position(|dimension| dimension.key.value == key.value);
    if found.is_none() {
        unknown(key, dimensions.iter().map(|dimension| dimension.key.value.as_str()), "dimension", report);
    }
    found
}
