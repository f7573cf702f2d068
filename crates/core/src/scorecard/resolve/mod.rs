//! A draft to a checked scorecard.
//!
//! `names` binds the names of formulas and finds the order in which they can be computed; on it rest `members` (dimensions
//! and groups), `verdicts` (rules, gates, bands, tiers) and `weights` (profiles, sums). `challenge` builds on a family.

mod challenge;
mod members;
mod names;
mod standing;
mod verdicts;
mod weights;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub(super) use self::challenge::resolve_challenge;
use self::members::{dimension_at, resolve_dimensions, resolve_groups};
use self::names::{Names, unknown};
use self::standing::resolve_standing;
use self::verdicts::{resolve_bands, resolve_gates, resolve_rules, resolve_tiers};
use self::weights::{check_guards, check_weights, resolve_profiles};
use super::fields::Report;
use super::source::Draft;
use super::{Constant, FactDeclaration, Family, Mean, OverridePolicy, Publish, Scale, Scorecard, WeightSum};
use crate::diagnostic::Code;
use crate::facts::Digest;
use crate::number::Decimal;

/// Builds a card that borrows nothing. Problems are reported; the card is only good if none is an error.
pub(super) fn resolve(draft: Draft, digest: Digest, report: &Report<'_>) -> Option<Scorecard> {
    for (there, name) in [(!draft.dims.is_empty(), "dims"), (!draft.describe.is_empty(), "describe")] {
        if there {
            let message = alloc::format!("`{name}` belongs to a challenge");
            report.error_if_whole(
                Code::BadValue,
                draft.head.clone(),
                message,
                "name the family with `base = \"arena@1.0.0\"`",
            );
        }
    }
    if draft.evidence.is_none() {
        report.error_if_whole(
            Code::MissingField,
            draft.head.clone(),
            "a scorecard needs `evidence`".to_string(),
            "evidence = \"facts\"",
        );
    }
    if draft.dimensions.is_empty() {
        report.error_if_whole(
            Code::DimensionCount,
            draft.head.clone(),
            "a scorecard needs a `[[dimension]]`".to_string(),
            "",
        );
    }
    let mean = draft.mean.unwrap_or(Mean::WeightedMean);
    let scale = draft.scale.unwrap_or(Scale { max: 1, publish: Publish::Exact, places: 0 });
    let facts = resolve_facts(&draft, report);
    let constants = draft
        .constants
        .iter()
        .map(|constant| Constant {
            name: constant.name.value.clone(),
            value: constant.value,
            unit: constant.unit.clone(),
            about: constant.about.clone(),
            span: constant.name.span.clone(),
        })
        .collect();
    let names = Names::new(&draft, report);
    let lets = names.lets(&draft, report);
    let (mut dimensions, order) = resolve_dimensions(&draft, &names, report);
    let groups = resolve_groups(&draft, mean, report);
    let family = draft.family.as_ref().map(|family| Family {
        pick_min: family.pick.0,
        pick_max: family.pick.1,
        extra: family.extra.iter().filter_map(|key| dimension_at(&draft.dimensions, key, report)).collect(),
    });
    let weight_sum = draft.weight_sum.or_else(|| {
        mean.takes_weights_as_given().then_some(WeightSum { target: Decimal::ONE, tolerance: Decimal::ZERO })
    });
    let profiles = draft.profiles.as_ref().and_then(|profiles| resolve_profiles(profiles, &draft, report));
    if let Some((_, weights)) = profiles.as_ref().and_then(|profiles| profiles.list.get(profiles.fallback)) {
        dimensions.iter_mut().zip(weights).for_each(|(dimension, weight)| dimension.weight = *weight);
    }
    if draft.profiles.is_some() && draft.override_tolerance.is_some() {
        let message =
            "`override` and `profiles` do not go together: which weights would be overridden?".to_string();
        report.bad(draft.head.clone(), message, "remove one of them");
    }
    if family.is_some() && draft.profiles.is_some() {
        let message = "`profiles` do not go with `[family]`: its challenges give the weights".to_string();
        report.bad(draft.head.clone(), message, "remove one of them");
    }
    check_guards(&draft, mean, weight_sum, report);
    if family.is_none() {
        check_weights(&draft, &groups, weight_sum, report);
    }
    let tiers = resolve_tiers(&draft, scale, report);
    let standing =
        draft.standing.as_ref().map(|section| resolve_standing(section, &draft, &tiers, scale, report));
    let mut facts_by_name: Vec<usize> = (0..facts.len()).collect();
    facts_by_name.sort_by(|&a, &b| {
        let name = |at: usize| facts.get(at).map(|fact| fact.name.encode_utf16().collect::<Vec<u16>>());
        name(a).cmp(&name(b))
    });
    let card = Scorecard {
        facts_by_name,
        rules: resolve_rules(&draft, &names, report),
        gates: resolve_gates(&draft, &names, scale, report),
        bands: resolve_bands(&draft, scale, report),
        profiles,
        id: draft.id,
        version: draft.version,
        title: draft.title,
        source: draft.source,
        about: draft.about,
        evidence: draft.evidence.map_or_else(String::new, |evidence| evidence.value),
        base: None,
        family,
        mean,
        scale,
        weight_sum,
        facts,
        constants,
        lets,
        dimensions,
        order,
        groups,
        override_policy: draft.override_tolerance.map(|tolerance| OverridePolicy { tolerance }),
        tiers,
        standing,
        evaluator: draft.evaluator,
        keeps: draft.keeps,
        digest,
    };
    (!report.failed()).then_some(card)
}

fn resolve_facts(draft: &Draft, report: &Report<'_>) -> Vec<FactDeclaration> {
    let at = |name: &str| draft.facts.iter().position(|fact| fact.name.value == name);
    draft
        .facts
        .iter()
        .map(|fact| FactDeclaration {
            name: fact.name.value.clone(),
            path: fact.path.clone(),
            kind: fact.kind,
            unit: fact.unit.clone().unwrap_or_else(|| "1".to_string()),
            has_unit: fact.unit.is_some(),
            min: fact.min,
            max: fact.max,
            max_fact: fact.max_fact.as_ref().and_then(|name| {
                let found = at(&name.value);
                if name.value == fact.name.value {
                    let message = alloc::format!("fact `{}` cannot be its own `max`", name.value);
                    report.bad(name.span.clone(), message, "name another fact, or a number");
                } else if found.is_none() {
                    unknown(name, draft.facts.iter().map(|fact| fact.name.value.as_str()), "fact", report);
                }
                found
            }),
            integer: fact.integer,
            unknown: fact.unknown,
            from: fact.from,
            about: fact.about.clone(),
            span: fact.name.span.clone(),
        })
        .collect()
}
