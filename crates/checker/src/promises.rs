//! Promises that a card does not keep: weights that no value can earn (KC314), and weights of several dimensions for one
//! measurement (KC313).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::cliffs::points;
use super::declared::formulas;
use super::direction::{Reaches, has_weight, is_same};
use super::findings::Findings;
use super::shares::{Shares, sets_of_weights};
use super::tops::Tops;
use karat_core::diagnostic::Code;
use karat_core::number::Decimal;
use karat_core::scorecard::{Reporter, Scorecard};

/// What a dimension may lack of its highest value, as one that only comes close to 1 does.
const SHORT: f64 = 0.02;

/// Finds dimensions that cannot earn their weight, and sums of weights below 1.
pub(super) fn out_of_reach(card: &Scorecard, tops: &Tops<'_, '_>, findings: &mut Findings<'_>) {
    if card.family.is_some() {
        return;
    }
    let scale = f64::from(card.scale.max);
    let top = tops.of_score().at_most;
    let so = if top < 1.0 - 1e-9 {
        format!("no score is above {} of {scale}", points(top * scale, scale))
    } else {
        String::from("it cannot earn all of its weight")
    };
    for (at, dimension) in card.dimensions.iter().enumerate().filter(|(at, _)| has_weight(card, *at)) {
        let highest = tops.of_dimension(at).map_or(1.0, |top| top.at_most);
        if highest <= 0.0 || highest >= 1.0 - SHORT {
            continue;
        }
        let formula = &dimension.formula.text;
        let help = format!("write `formula = \"min(1, ({formula}) / {highest})\"`, or keep it and say why");
        let message = format!("`{}` is {} at most: {so}", dimension.key, points(highest, 1.0));
        findings.warn(Code::OutOfReach, dimension.span.clone(), &[&dimension.key], message, "never 1", &help);
    }
    let levels = (0..card.groups.len()).map(Some).chain([None]);
    for level in levels {
        let group = level.and_then(|at| card.groups.get(at));
        if !group.map_or(card.mean, |group| group.mean).takes_weights_as_given() {
            continue;
        }
        for (profile, weights) in sets_of_weights(card) {
            let members = card.dimensions.iter().zip(&weights).filter(|(it, _)| it.group == level);
            let members: Vec<_> = members.collect();
            let below = card.groups.iter().filter(|group| group.parent == level).map(|group| group.weight);
            let all = members.iter().map(|(_, weight)| **weight).chain(below).map(Decimal::millionths);
            let (sum, count) = all.fold((0, 0), |(sum, count), weight| (sum + weight, count + 1));
            // Thirds and sixths are written as decimals.
            let (Some((last, weight)), true) = (members.last(), sum < 1_000_000 - count) else { continue };
            let lacking = Decimal::from_millionths(1_000_000 - sum);
            let help = format!(
                "let them sum to 1: `weight = {}` of `{}`, or keep it and say why",
                Decimal::from_millionths(weight.millionths() + lacking.millionths()),
                last.key
            );
            let of = if profile.is_empty() { profile } else { format!(" of profile `{profile}`") };
            let message = format!("the weights{of} sum to {}: {so}", Decimal::from_millionths(sum));
            let span = last.weight_span.clone();
            findings.warn(Code::OutOfReach, span, &[&last.key], message, "less than 1", &help);
        }
    }
}

/// Finds dimensions that rest on one measurement: the same single fact, or the same formula over several. What the task or the
/// operator says, and what is the `max` of another fact, is what something is measured by.
pub(super) fn counted_twice(
    card: &Scorecard,
    reaches: &Reaches,
    shares: &[Shares],
    findings: &mut Findings<'_>,
) {
    let is_measured = |at: &usize| {
        let is_whole = card.facts.iter().any(|fact| fact.max_fact == Some(*at));
        let from = card.facts.get(*at).map(|fact| fact.from);
        !is_whole && !matches!(from, Some(Reporter::Task | Reporter::Operator))
    };
    let weighted = (0..card.dimensions.len()).filter(|&at| has_weight(card, at) && card.family.is_none());
    let mut counted: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    for at in weighted {
        let Some(dimension) = card.dimensions.get(at) else { continue };
        let facts: Vec<usize> =
            reaches.facts_of(&formulas(dimension)).into_iter().filter(is_measured).collect();
        let is_alike = |other: &usize| {
            let other = card.dimensions.get(*other);
            facts.len() == 1
                || other.is_some_and(|other| is_same(&other.formula.expr, &dimension.formula.expr))
        };
        match counted.iter_mut().find(|(known, members)| *known == facts && members.iter().all(is_alike)) {
            Some((_, members)) => members.push(at),
            None if facts.is_empty() => {}
            None => counted.push((facts, [at].into())),
        }
    }
    for (facts, members) in counted.iter().filter(|(_, members)| members.len() > 1) {
        let dimensions: Vec<_> = members.iter().filter_map(|&at| card.dimensions.get(at)).collect();
        let Some(([.., last], first)) = Some(&dimensions[..]).zip(dimensions.first()) else { continue };
        let quoted =
            |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let keys: Vec<&str> = dimensions.iter().map(|dimension| dimension.key.as_str()).collect();
        let names: Vec<&str> =
            facts.iter().filter_map(|&at| card.facts.get(at)).map(|fact| fact.name.as_str()).collect();
        let of = |shares: &Shares| members.iter().filter_map(|&at| shares.weight.get(at)).sum::<f64>();
        let share = shares.iter().map(of).fold(0.0, f64::max);
        let weight: i64 = dimensions.iter().map(|dimension| dimension.weight.millionths()).sum();
        let about: Vec<&str> = keys.iter().chain(&names).copied().collect();
        let message = format!(
            "{} rest on the same measurement, {}: it counts with {} % of the weight, under {} names",
            quoted(&keys),
            quoted(&names),
            points(share * 100.0, 100.0),
            keys.len()
        );
        let help = format!(
            "leave `{}` alone, with `weight = {}`, or keep it and say why",
            first.key,
            Decimal::from_millionths(weight)
        );
        findings.warn(Code::CountedTwice, last.span.clone(), &about, message, "measured before", &help);
    }
}
