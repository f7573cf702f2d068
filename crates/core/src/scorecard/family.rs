//! Families: a palette of dimensions, and the challenges that pick from it (arena document, Core Dimensions).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Dimension, Scorecard, WeightSum};
use crate::number::Decimal;

/// A dimension as it is shown: what `dims()` of the arena document gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DimensionInfo {
    /// Its key.
    pub key: String,
    /// For people.
    pub label: String,
    /// Share of the total.
    pub weight: Decimal,
    /// For people.
    pub description: String,
    /// For people.
    pub color: String,
}

/// What a challenge says otherwise than the palette.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// The dimension meant; one that was not picked is ignored.
    pub key: String,
    /// Another label.
    pub label: Option<String>,
    /// Another description.
    pub description: Option<String>,
    /// Another colour.
    pub color: Option<String>,
}

/// Picks dimensions from a palette, in the order of `weights`. A key that the palette lacks is its own label and
/// description, in gold. Neither sum nor count is checked here: see [`problems`].
#[must_use]
pub fn dims(
    palette: &Scorecard,
    weights: &[(String, Decimal)],
    descriptions: &[Description],
) -> Vec<DimensionInfo> {
    weights
        .iter()
        .map(|(key, weight)| {
            let known = palette.dimensions.iter().find(|dimension| dimension.key == *key);
            let other = descriptions.iter().find(|description| description.key == *key);
            let pick = |other: Option<&String>, known: Option<&String>, none: &str| {
                other.or(known).map_or_else(|| none.to_string(), Clone::clone)
            };
            DimensionInfo {
                key: key.clone(),
                weight: *weight,
                label: pick(other.and_then(|o| o.label.as_ref()), known.map(|k| &k.label), key),
                description: pick(
                    other.and_then(|o| o.description.as_ref()),
                    known.map(|k| &k.description),
                    key,
                ),
                color: pick(other.and_then(|o| o.color.as_ref()), known.map(|k| &k.color), "gold"),
            }
        })
        .collect()
}

/// What forbids a choice of dimensions: too few or too many, one twice, weights that do not sum to what they must.
#[must_use]
pub fn problems(palette: &Scorecard, chosen: &[DimensionInfo]) -> Vec<String> {
    let mut problems = Vec::new();
    let is_extra = |key: &str| {
        palette.family.as_ref().is_some_and(|family| {
            family
                .extra
                .iter()
                .any(|&at| palette.dimensions.get(at).is_some_and(|dimension| dimension.key == key))
        })
    };
    let counted = chosen.iter().filter(|info| !is_extra(&info.key)).count();
    if let Some(family) = &palette.family
        && !(family.pick_min..=family.pick_max).contains(&counted)
    {
        problems.push(format!(
            "{counted} dimensions are picked, it must be {} to {}",
            family.pick_min, family.pick_max
        ));
    }
    for (place, info) in chosen.iter().enumerate() {
        if chosen.iter().take(place).any(|earlier| earlier.key == info.key) {
            problems.push(format!("`{}` is picked twice", info.key));
        }
        if info.weight < Decimal::ZERO || info.weight > Decimal::ONE {
            problems
                .push(format!("the weight of `{}` is {}, it must be between 0 and 1", info.key, info.weight));
        }
    }
    let guard = palette.weight_sum.unwrap_or(WeightSum { target: Decimal::ONE, tolerance: Decimal::ZERO });
    match crate::weights::sum(chosen.iter().map(|info| info.weight)) {
        Some(sum) if guard.accepts(sum) => {}
        sum => {
            let sum = sum.map_or_else(|| "too much".to_string(), |sum| sum.to_string());
            problems.push(format!("the weights sum to {sum}, they must sum to {}", guard.target));
        }
    }
    problems
}

/// The card of a challenge: the palette's facts, rules and verdicts, with the chosen dimensions only.
///
/// # Errors
/// The keys that the palette does not have.
pub fn challenge(palette: &Scorecard, chosen: &[DimensionInfo]) -> Result<Scorecard, Vec<String>> {
    let mut unknown = Vec::new();
    let mut dimensions: Vec<Dimension> = Vec::new();
    for info in chosen {
        match palette.dimensions.iter().find(|dimension| dimension.key == info.key) {
            Some(dimension) => dimensions.push(Dimension {
                label: info.label.clone(),
                description: info.description.clone(),
                color: info.color.clone(),
                weight: info.weight,
                ..dimension.clone()
            }),
            None => unknown.push(info.key.clone()),
        }
    }
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let order = (0..dimensions.len()).collect();
    Ok(Scorecard { base: Some(palette.name()), family: None, dimensions, order, ..palette.clone() })
}
