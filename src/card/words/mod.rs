//! A scorecard in sentences: the screen of `karat card show` and the page of a scorecard show the same. `standing` has
//! the section `[standing]`.

pub(crate) mod standing;

use karat_core::scorecard::{FactDeclaration, FactType, Gate, MissingPolicy, Publish, Scorecard, Tier};

use crate::number::billionths;
use crate::text::count;

/// Describes the evidence, the mean and the scale; for a family, also what challenges choose.
pub fn form(card: &Scorecard) -> Vec<String> {
    let scale = card.scale;
    let places = if scale.places == 0 {
        String::from("whole points")
    } else {
        count(scale.places as usize, "decimal")
    };
    let publish = match scale.publish {
        Publish::Exact => String::from("exact"),
        Publish::Floor => format!("rounded down to {places}"),
        Publish::HalfUp => format!("rounded to {places}, halves up"),
    };
    let base = card.base.as_ref().map_or(String::new(), |base| format!("based on {base}; "));
    let family = card.family.as_ref().map(|family| {
        let (low, high) = (family.pick_min, family.pick_max);
        format!("a family: a challenge picks {low} to {high} of these dimensions and gives their weights")
    });
    let form =
        format!("{base}evidence {}; {}; 0 to {}, {publish}", card.evidence, card.mean.name(), scale.max);
    std::iter::once(form).chain(family).collect()
}

/// Returns the policy for missing evidence, if all dimensions have the same.
pub(crate) fn shared_policy(card: &Scorecard) -> Option<MissingPolicy> {
    let first = card.dimensions.first()?.missing;
    card.dimensions.iter().all(|dimension| dimension.missing == first).then_some(first)
}

/// Describes the effect of a dimension without a value on the mean.
pub(crate) fn without_evidence(policy: MissingPolicy) -> String {
    match policy {
        MissingPolicy::Exclude => String::from("without evidence: left out of the mean"),
        MissingPolicy::Zero => String::from("without evidence: counts as 0"),
        MissingPolicy::Default(value) => format!("without evidence: counts as {}", billionths(value)),
        MissingPolicy::Withhold => String::from("without evidence: the score is withheld"),
    }
}

/// Describes the effect of a gate while it holds.
pub fn effect(gate: &Gate, card: &Scorecard) -> String {
    let cap = gate.cap.map(|cap| format!("the score is at most {cap}"));
    let tier = gate.tier_limit.map(|limit| match limit.checked_sub(1).and_then(|at| card.tiers.get(at)) {
        Some(tier) => format!("the tier is at most {}", tier.name),
        None => String::from("there is no tier"),
    });
    cap.into_iter().chain(tier).collect::<Vec<_>>().join(" and ")
}

/// Describes the conditions of a tier.
pub fn conditions(tier: &Tier, card: &Scorecard) -> String {
    let floors: Vec<String> = tier
        .floors
        .iter()
        .map(|&(at, floor)| {
            let key = card.dimensions.get(at).map_or("", |dimension| &dimension.key);
            if floor > 0 { format!("{key} {}", billionths(floor)) } else { format!("{key} measured") }
        })
        .collect();
    let floors = if floors.is_empty() { String::new() } else { format!("; {}", floors.join(", ")) };
    format!("score {}, coverage {}{floors}", tier.score, tier.coverage)
}

/// Returns the rules of standings by their topics; those of tiers are in [`ladder`].
pub fn standing_rules(card: &Scorecard) -> Vec<(&'static str, String)> {
    let Some(section) = &card.standing else { return Vec::new() };
    let lines = standing::lines(card, section).into_iter().filter(|(topic, _)| *topic != standing::TIER);
    lines
        .map(|(topic, line)| {
            (topic, line.strip_prefix(&format!("{topic}: ")).map_or(line.clone(), str::to_owned))
        })
        .collect()
}

/// Returns what each tier needs, the highest first: the score, and then whatever else one score and the standing need.
pub fn ladder(card: &Scorecard) -> Vec<(String, String, Vec<String>)> {
    let rules = card.standing.iter().flat_map(|section| &section.tiers);
    let mut all: Vec<(String, String, Vec<String>)> = Vec::new();
    for tier in &card.tiers {
        let needs = conditions(tier, card);
        let needs = needs
            .split([';', ','])
            .map(str::trim)
            .skip(1)
            .filter(|it| *it != "coverage 0")
            .map(str::to_owned);
        all.push((tier.name.clone(), tier.score.to_string(), needs.collect()));
    }
    for rule in rules {
        let more = standing::tier(card, rule).into_iter();
        match all.iter_mut().find(|(name, ..)| *name == rule.name) {
            Some((.., needs)) => needs.extend(more.skip(1)),
            None => all.push((rule.name.clone(), rule.points.to_string(), more.skip(1).collect())),
        }
    }
    all.reverse();
    all
}

/// Describes type, range and unit of a fact.
pub fn range(fact: &FactDeclaration, card: &Scorecard) -> String {
    let kind = match (fact.kind, fact.integer) {
        (FactType::Boolean, _) => return String::from("true or false"),
        (FactType::Text, _) => return String::from("text"),
        (FactType::Number, true) => "whole ",
        (FactType::Number, false) => "",
    };
    let upper = fact.max_fact.and_then(|at| card.facts.get(at)).map(|other| other.name.clone());
    let upper = upper.or_else(|| fact.max.is_finite().then(|| fact.max.to_string()));
    let range = match (fact.min.is_finite(), upper) {
        (true, Some(upper)) => format!("{} to {upper}", fact.min),
        (true, None) => format!("{} or more", fact.min),
        (false, Some(upper)) => format!("up to {upper}"),
        (false, None) => String::from("any number"),
    };
    let unit = if matches!(fact.unit.as_str(), "" | "1" | "count" | "ratio") {
        String::new()
    } else {
        format!(" {}", fact.unit)
    };
    format!("{kind}{range}{unit}")
}
