//! The part of the score that each dimension is worth.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use karat_core::number::Decimal;
use karat_core::scorecard::Scorecard;

/// The shares of the dimensions under one set of weights, with everything measured.
pub(super) struct Shares {
    /// The profile; empty for the weights of the dimensions themselves.
    pub(super) profile: String,
    /// Part of the weight, 0..1.
    pub(super) weight: Vec<f64>,
    /// The most by which the score can move when the reading goes from 0 to 1.
    pub(super) effect: Vec<f64>,
}

impl Shares {
    /// Returns ` in profile ...`, or nothing.
    pub(super) fn place(&self) -> String {
        if self.profile.is_empty() { String::new() } else { alloc::format!(" in profile `{}`", self.profile) }
    }
}

/// Returns every set of weights of the dimensions, with the name of its profile; none for the weights of the dimensions themselves.
pub(super) fn sets_of_weights(card: &Scorecard) -> Vec<(String, Vec<Decimal>)> {
    let own = || card.dimensions.iter().map(|dimension| dimension.weight).collect();
    card.profiles.as_ref().map_or_else(|| [(String::new(), own())].into(), |profiles| profiles.list.clone())
}

/// Returns the shares under every set of weights that the card has.
pub(super) fn all(card: &Scorecard) -> Vec<Shares> {
    sets_of_weights(card).into_iter().map(|(name, weights)| under(card, name, &weights)).collect()
}

/// Returns the largest effect of a dimension.
pub(super) fn effect_of(shares: &[Shares], at: usize) -> f64 {
    shares.iter().filter_map(|shares| shares.effect.get(at)).copied().fold(0.0, f64::max)
}

fn under(card: &Scorecard, profile: String, weights: &[Decimal]) -> Shares {
    let keys = 0..card.dimensions.len();
    if card.family.is_some() {
        // A palette has no weights: each dimension is looked at as if a challenge took it alone.
        let whole: Vec<f64> = keys.map(|_| 1.0).collect();
        return Shares { profile, weight: whole.clone(), effect: whole };
    }
    let sums = sums_of(card, weights);
    let path = |at: usize| shares_of(card, weights, &sums, at);
    Shares {
        profile,
        weight: keys.clone().map(|at| path(at).0).collect(),
        effect: keys.map(|at| path(at).1).collect(),
    }
}

/// Returns the sum of the weights within each group, and at the top level.
fn sums_of(card: &Scorecard, weights: &[Decimal]) -> BTreeMap<Option<usize>, f64> {
    let mut sums: BTreeMap<Option<usize>, f64> = BTreeMap::new();
    let dimensions = card.dimensions.iter().zip(weights).map(|(dimension, weight)| (dimension.group, weight));
    let groups = card.groups.iter().map(|group| (group.parent, &group.weight));
    for (level, weight) in dimensions.chain(groups) {
        *sums.entry(level).or_default() += weight.to_f64();
    }
    sums
}

/// Returns the share of weight and the effect of one dimension: the product over the groups that it is in.
fn shares_of(
    card: &Scorecard,
    weights: &[Decimal],
    sums: &BTreeMap<Option<usize>, f64>,
    at: usize,
) -> (f64, f64) {
    let own = weights.get(at).copied().unwrap_or_default().to_f64();
    let (mut share, mut effect, mut weight) = (1.0, 1.0, own);
    let mut group = card.dimensions.get(at).and_then(|dimension| dimension.group);
    // One turn for each level, and no more levels than there are groups.
    for _ in 0..=card.groups.len() {
        let sum = sums.get(&group).copied().unwrap_or(0.0);
        let part = if sum > 0.0 { weight / sum } else { 0.0 };
        let level = group.and_then(|group| card.groups.get(group));
        share *= part;
        let takes_all = level.map_or(card.mean, |level| level.mean).is_zero_with_one_zero();
        effect *= if takes_all { f64::from(u8::from(weight > 0.0)) } else { part };
        let Some(level) = level else { break };
        (group, weight) = (level.parent, level.weight.to_f64());
    }
    (share, effect)
}
