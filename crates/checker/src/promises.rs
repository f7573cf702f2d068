//! Promises that a card does not keep: weights that no value can earn (KC314), and weights of several dimensions for one
//! measurement (KC313).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::cliffs::points;
use super::declared::formulas;
use super::direction::{Reaches, has_weight};
use super::findings::{Findings, quoted};
use super::shares::{Shares, sets_of_weights};
use super::tops::Tops;
use karat_core::diagnostic::Code;
use karat_core::number::Decimal;
use karat_core::scorecard::{Dimension, FactDeclaration, Reporter, Scorecard};

/// The lack of a dimension at its highest that is not reported, as of one that only comes close to 1.
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
    let wholes: BTreeSet<usize> = card.facts.iter().filter_map(|fact| fact.max_fact).collect();
    let is_measured = |at: &usize| {
        let is_given = |fact: &FactDeclaration| matches!(fact.from, Reporter::Task | Reporter::Operator);
        !wholes.contains(at) && !card.facts.get(*at).is_some_and(is_given)
    };
    let mut counted: BTreeMap<_, Vec<(usize, &Dimension)>> = BTreeMap::new();
    for (at, dimension) in card.dimensions.iter().enumerate().filter(|(at, _)| has_weight(card, *at)) {
        let facts: Vec<usize> =
            reaches.facts_of(&formulas(dimension)).into_iter().filter(is_measured).collect();
        let text = dimension.formula.text.split_whitespace().filter(|_| facts.len() > 1);
        if !facts.is_empty() && card.family.is_none() {
            counted.entry((facts.clone(), text.collect::<String>())).or_default().push((at, dimension));
        }
    }
    for ((facts, _), members) in counted {
        let [(_, first), .., (_, last)] = members.as_slice() else { continue };
        let keys: Vec<&str> = members.iter().map(|(_, dimension)| dimension.key.as_str()).collect();
        let names: Vec<&str> =
            facts.iter().filter_map(|&at| card.facts.get(at)).map(|fact| fact.name.as_str()).collect();
        let of = |shares: &Shares| members.iter().filter_map(|(at, _)| shares.weight.get(*at)).sum::<f64>();
        let share = shares.iter().map(of).fold(0.0, f64::max);
        let weight: i64 = members.iter().map(|(_, dimension)| dimension.weight.millionths()).sum();
        let about: Vec<&str> = keys.iter().chain(&names).copied().collect();
        let message = format!(
            "{} rest on the same measurement, {}: it counts with {} % of the weight, under {} names",
            quoted(&keys, ", "),
            quoted(&names, ", "),
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
