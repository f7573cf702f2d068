//! Families: a palette of dimensions, and the challenges that pick from it (arena document, Core Dimensions).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Dimension, Scorecard, WeightSum};
use crate::formula::{ExprKind, Formula, Symbol};
use crate::number::Decimal;

/// A dimension as it is shown, with the members of `dims()` of the arena document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DimensionInfo {
    /// The key.
    pub key: String,
    /// The name shown to people.
    pub label: String,
    /// Share of the total.
    pub weight: Decimal,
    /// The description shown to people.
    pub description: String,
    /// The color it is shown in.
    pub color: String,
}

/// A description that a challenge gives in place of the palette's.
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

/// The colors that a dimension may have.
pub const COLORS: [&str; 5] = ["emerald", "sky", "gold", "purple", "coral"];
/// The longest key.
pub const KEY_MAX: usize = 30;
/// The longest label.
pub const LABEL_MAX: usize = 40;
/// The longest description.
pub const DESCRIPTION_MAX: usize = 200;

/// Returns what forbids a choice of dimensions: too few or too many, one twice, a text or a color that is not allowed,
/// weights that do not sum to what they must.
pub fn problems(palette: &Scorecard, chosen: &[DimensionInfo]) -> Vec<String> {
    let mut problems = problems_of_choice(palette, chosen);
    problems.extend(chosen.iter().flat_map(problems_of_texts));
    problems.extend(problem_of_sum(palette, chosen));
    problems
}

/// Returns the problems of the texts of a dimension. Lengths are in UTF-16 code units, as the arena counts them: a letter
/// beyond the basic plane counts as two. A text of blanks only is a text.
pub fn problems_of_texts(info: &DimensionInfo) -> Vec<String> {
    let mut problems = Vec::new();
    let key = &info.key;
    let is_key = |key: &str| key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if !(1..=KEY_MAX).contains(&key.len()) || !is_key(key) {
        problems
            .push(format!("`{key}` cannot be a key, it must be 1 to {KEY_MAX} of the letters a to z and _"));
    }
    for (name, text, most) in
        [("label", &info.label, LABEL_MAX), ("description", &info.description, DESCRIPTION_MAX)]
    {
        let length = text.encode_utf16().count();
        if !(1..=most).contains(&length) {
            problems.push(format!("the {name} of `{key}` is {length} long, it must be 1 to {most}"));
        }
    }
    if !COLORS.contains(&info.color.as_str()) {
        let (found, colors) = (&info.color, COLORS.join(", "));
        problems.push(format!("the color of `{key}` is `{found}`, it must be one of {colors}"));
    }
    problems
}

/// Returns the problems of a choice: too few or too many dimensions, one given twice, an invalid weight. Dimensions that
/// the palette names as extra do not count.
pub fn problems_of_choice(palette: &Scorecard, chosen: &[DimensionInfo]) -> Vec<String> {
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
    problems
}

/// Weights that do not sum to what they must. The arena's tolerance is exclusive: a sum that is off by all of it is
/// refused.
pub fn problem_of_sum(palette: &Scorecard, chosen: &[DimensionInfo]) -> Option<String> {
    let guard = palette.weight_sum.unwrap_or(WeightSum { target: Decimal::ONE, tolerance: Decimal::ZERO });
    match crate::number::sum(chosen.iter().map(|info| info.weight)) {
        Some(sum) if guard.accepts_below(sum) => None,
        sum => {
            let sum = sum.map_or_else(|| "too much".to_string(), |sum| sum.to_string());
            Some(format!("the weights sum to {sum}, they must sum to {}", guard.target))
        }
    }
}

/// Returns the card of a challenge: everything of the palette but the dimensions that were not chosen.
///
/// # Errors
/// If something forbids it, one message each: a key that the palette does not have, a formula or tier that needs a
/// dimension which was not chosen.
pub fn challenge(palette: &Scorecard, chosen: &[DimensionInfo]) -> Result<Scorecard, Vec<String>> {
    let mut problems = Vec::new();
    let mut dimensions: Vec<Dimension> = Vec::new();
    // The place of each dimension of the palette among those chosen.
    let mut places: Vec<Option<usize>> = alloc::vec![None; palette.dimensions.len()];
    for info in chosen {
        let known = palette.dimensions.iter().zip(&mut places).find(|(known, _)| known.key == info.key);
        let Some((dimension, place)) = known else {
            let keys: Vec<&str> = palette.dimensions.iter().map(|known| known.key.as_str()).collect();
            problems.push(format!("the palette has no `{}`; it has {}", info.key, keys.join(", ")));
            continue;
        };
        *place = Some(dimensions.len());
        dimensions.push(Dimension {
            label: info.label.clone(),
            description: info.description.clone(),
            color: info.color.clone(),
            weight: info.weight,
            ..dimension.clone()
        });
    }
    let place_of = |at: usize| places.get(at).copied().flatten();
    let order = palette.order.iter().filter_map(|&at| place_of(at)).collect();
    let mut card =
        Scorecard { base: Some(palette.name()), family: None, dimensions, order, ..palette.clone() };
    let lets = keep_needed_lets(&mut card);
    let mut absent = Vec::new();
    for formula in card.formulas_mut() {
        let bound: Result<_, ()> = formula.expr.map_names(&mut |symbol, _| {
            let place = match *symbol {
                Symbol::Reading(at) => place_of(at).map(Symbol::Reading),
                Symbol::Let(at) => lets.get(at).copied().flatten().map(Symbol::Let),
                other => Some(other),
            };
            if place.is_none() {
                absent.push((formula.text.clone(), *symbol));
            }
            Ok(place.unwrap_or(Symbol::Coverage))
        });
        if let Ok(expr) = bound {
            formula.expr = expr;
        }
    }
    problems.extend(absent.iter().map(|(text, symbol)| {
        format!("`{text}` needs the dimension `{}`, which is not picked", palette.symbol_name(*symbol))
    }));
    for tier in &mut card.tiers {
        for (at, _) in &mut tier.floors {
            match place_of(*at) {
                Some(place) => *at = place,
                None => {
                    let key = palette.symbol_name(Symbol::Reading(*at));
                    problems.push(format!(
                        "tier `{}` needs the dimension `{key}`, which is not picked",
                        tier.name
                    ));
                }
            }
        }
    }
    if problems.is_empty() { Ok(card) } else { Err(problems) }
}

/// Drops the lets that no formula reads any more; gives the new place of each.
fn keep_needed_lets(card: &mut Scorecard) -> Vec<Option<usize>> {
    let mut needed = alloc::vec![false; card.lets.len()];
    let mut need = |formula: &Formula| {
        for symbol in formula.expr.symbols() {
            if let Symbol::Let(at) = symbol
                && let Some(slot) = needed.get_mut(at)
            {
                *slot = true;
            }
        }
    };
    let lets = core::mem::take(&mut card.lets);
    card.formulas_mut().for_each(|formula| need(formula));
    // Each let comes after those it reads.
    for (at, named) in lets.iter().enumerate().rev() {
        if needed.get(at).copied().unwrap_or(false) {
            named.formula.expr.walk(&mut |part| {
                if let ExprKind::Name(Symbol::Let(other)) = part.kind
                    && let Some(slot) = needed.get_mut(other)
                {
                    *slot = true;
                }
            });
        }
    }
    let mut places = Vec::with_capacity(lets.len());
    for (named, needed) in lets.into_iter().zip(needed) {
        places.push(needed.then_some(card.lets.len()));
        card.lets.extend(needed.then_some(named));
    }
    places
}
