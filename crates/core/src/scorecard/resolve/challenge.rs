//! The card of a challenge on its family.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::diagnostic::{Code, nearest};
use crate::facts::Digest;
use crate::number::Decimal;
use crate::scorecard::Scorecard;
use crate::scorecard::family::{self, Description};
use crate::scorecard::fields::Report;
use crate::scorecard::source::Draft;

/// Builds the card of a challenge on its family.
pub(in crate::scorecard) fn resolve_challenge(
    draft: Draft,
    base: &Scorecard,
    digest: Digest,
    report: &Report<'_>,
) -> Option<Scorecard> {
    let place = draft.base.as_ref().map_or_else(|| draft.head.clone(), |base| base.span.clone());
    if base.family.is_none() {
        report.error(
            Code::UnknownBase,
            place.clone(),
            format!("`{}` is not a family", base.name()),
            "it has no `[family]`",
        );
        return None;
    }
    let own = [
        (draft.mean.is_some(), "mean"),
        (draft.scale.is_some(), "scale"),
        (!draft.facts.is_empty(), "facts"),
        (!draft.constants.is_empty(), "const"),
        (!draft.lets.is_empty(), "let"),
        (!draft.dimensions.is_empty(), "dimension"),
        (!draft.groups.is_empty(), "group"),
        (draft.profiles.is_some(), "profiles"),
        (!draft.rules.is_empty(), "rule"),
        (!draft.gates.is_empty(), "gate"),
        (!draft.bands.is_empty(), "band"),
        (!draft.tiers.is_empty(), "tier"),
        (draft.family.is_some(), "family"),
        (draft.weight_sum.is_some(), "weights"),
        (draft.override_tolerance.is_some(), "override"),
        (draft.evidence.is_some(), "evidence"),
        (draft.standing.is_some(), "standing"),
    ];
    for (_, name) in own.into_iter().filter(|&(there, _)| there) {
        let message = format!("a challenge takes `{name}` from its base");
        report.bad(draft.head.clone(), message, format!("remove `{name}`, or write a card without `base`"));
    }
    let keys = || base.dimensions.iter().map(|dimension| dimension.key.as_str());
    for (key, ..) in draft.dims.iter().filter(|(key, ..)| !keys().any(|known| known == key.value)) {
        let near = nearest(&key.value, keys());
        let help = near.map_or_else(
            || format!("it has {}", keys().collect::<Vec<_>>().join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        report.error(
            Code::UnknownName,
            key.span.clone(),
            format!("`{}` has no dimension `{}`", base.name(), key.value),
            help,
        );
    }
    let descriptions: Vec<Description> = draft
        .describe
        .iter()
        .map(|other| {
            if !draft.dims.iter().any(|(key, ..)| key.value == other.key.value) {
                let message = format!("`{}` is described but not picked in `[dims]`", other.key.value);
                report.warn(Code::Unused, other.key.span.clone(), message, "");
            }
            Description {
                key: other.key.value.clone(),
                label: other.label.clone(),
                description: other.description.clone(),
                color: other.color.clone(),
            }
        })
        .collect();
    let weights: Vec<(String, Decimal)> =
        draft.dims.iter().map(|(key, weight, _)| (key.value.clone(), *weight)).collect();
    let chosen = family::dims(base, &weights, &descriptions);
    let dims_place = match (draft.dims.first(), draft.dims.last()) {
        (Some((first, ..)), Some((.., last))) => first.span.start..last.end,
        _ => draft.head.clone(),
    };
    let of_choice = family::problems_of_choice(base, &chosen).into_iter();
    let of_sum = family::problem_of_sum(base, &chosen).into_iter();
    let problems = of_choice.map(|problem| (Code::DimensionCount, problem));
    for (code, problem) in problems.chain(of_sum.map(|problem| (Code::WeightSum, problem))) {
        report.error_if_whole(code, dims_place.clone(), problem, "change the weights in `[dims]`");
    }
    // The texts of the base are checked where they are written.
    let described = |info: &family::DimensionInfo| draft.describe.iter().find(|it| it.key.value == info.key);
    for (info, other) in chosen.iter().filter_map(|info| Some((info, described(info)?))) {
        for problem in family::problems_of_texts(info) {
            let help = format!("change it in `[describe.{}]`", info.key);
            report.bad(other.key.span.clone(), problem, help);
        }
    }
    if report.failed() {
        return None;
    }
    let mut card = match family::challenge(base, &chosen) {
        Ok(card) => card,
        Err(problems) => {
            for problem in problems {
                report.error(
                    Code::UnknownName,
                    dims_place.clone(),
                    problem,
                    "pick it, or take another dimension",
                );
            }
            return None;
        }
    };
    for (dimension, (key, _, weight_span)) in card.dimensions.iter_mut().zip(&draft.dims) {
        dimension.span = key.span.clone();
        dimension.weight_span = weight_span.clone();
    }
    // What comes from the base is meant by the line that names the base.
    for formula in card.formulas_mut() {
        formula.span = place.clone();
    }
    card.facts.iter_mut().for_each(|fact| fact.span = place.clone());
    card.rules.iter_mut().for_each(|rule| rule.span = place.clone());
    card.gates.iter_mut().for_each(|gate| gate.span = place.clone());
    card.bands.iter_mut().for_each(|band| band.span = place.clone());
    card.tiers.iter_mut().for_each(|tier| tier.span = place.clone());
    card.keeps.iter_mut().for_each(|keep| keep.span = place.clone());
    card.standing.iter_mut().for_each(|standing| standing.span = place.clone());
    card.keeps.extend(draft.keeps);
    card.evaluator = draft.evaluator;
    let about = if draft.about.is_empty() { card.about } else { draft.about };
    let source = if draft.source.is_empty() { card.source } else { draft.source };
    Some(Scorecard {
        id: draft.id,
        version: draft.version,
        title: draft.title,
        about,
        source,
        digest,
        ..card
    })
}
