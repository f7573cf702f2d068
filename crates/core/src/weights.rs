//! Weights: the guard on their sum, and overrides from outside.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::diagnostic::nearest;
use crate::json::{write_option, write_string};
use crate::number::{Decimal, MOST_WEIGHT_UNITS, common_unit, sum, write_json};
use crate::scorecard::{Scorecard, WeightSum};

/// The weights of every member of every mean, as the plan takes them.
#[derive(Debug, Clone)]
pub(crate) struct Weighting {
    /// By member (dimensions, then groups), then by profile: weight in the composite, weight in the coverage. The
    /// first in millionths or in units of the common divisor, whatever the mean needs; the second in units of the
    /// common divisor.
    pub table: Vec<Vec<(f64, f64)>>,
    /// By member, then by profile: the weights themselves.
    decimals: Vec<Vec<Decimal>>,
}

impl Weighting {
    /// Returns the weights of `card`, under `effective` weights of its dimensions if an override is in force.
    pub(crate) fn new(card: &Scorecard, effective: Option<&[Decimal]>) -> Self {
        let members = card.dimensions.len() + card.groups.len();
        let profiles = card.profiles.as_ref().map_or(1, |profiles| profiles.list.len());
        let mut table = alloc::vec![alloc::vec![(0.0, 0.0); profiles]; members];
        let mut decimals = alloc::vec![alloc::vec![Decimal::ZERO; profiles]; members];
        for profile in 0..profiles {
            let own = |at: usize| match (&card.profiles, card.dimensions.get(at)) {
                (Some(profiles), Some(_)) => {
                    profiles.list.get(profile).and_then(|(_, list)| list.get(at)).copied()
                }
                (None, Some(dimension)) => Some(dimension.weight),
                (_, None) => card.groups.get(at - card.dimensions.len()).map(|group| group.weight),
            };
            let own = |at: usize| own(at).unwrap_or(Decimal::ZERO);
            let used =
                |at: usize| effective.and_then(|weights| weights.get(at)).copied().unwrap_or_else(|| own(at));
            for node in core::iter::once(None).chain((0..card.groups.len()).map(Some)) {
                let members: Vec<usize> = members_of(card, node).collect();
                let mean = node.and_then(|at| card.groups.get(at)).map_or(card.mean, |group| group.mean);
                let own_weights = members.iter().map(|&at| own(at));
                // A weighted sum counts in millionths; where its coverage may too, the two are one column of numbers.
                let is_small =
                    sum(own_weights.clone()).is_some_and(|sum| sum.millionths() <= MOST_WEIGHT_UNITS);
                let cover_unit =
                    if mean.takes_weights_as_given() && is_small { 1 } else { common_unit(own_weights) };
                let unit = if mean.is_weighted_average() {
                    common_unit(members.iter().map(|&at| used(at)))
                } else {
                    1
                };
                for &at in &members {
                    let weights =
                        ((used(at).millionths() / unit) as f64, (own(at).millionths() / cover_unit) as f64);
                    if let Some(slot) = table.get_mut(at).and_then(|row| row.get_mut(profile)) {
                        *slot = weights;
                    }
                    if let Some(slot) = decimals.get_mut(at).and_then(|row| row.get_mut(profile)) {
                        *slot = used(at);
                    }
                }
            }
        }
        Self { table, decimals }
    }

    /// Returns the weight of a member under a profile.
    pub(crate) fn weight(&self, member: usize, profile: usize) -> Decimal {
        self.decimals.get(member).and_then(|row| row.get(profile)).copied().unwrap_or(Decimal::ZERO)
    }
}

/// Returns the members of a group, or of the top level: dimensions in the order of the file, then groups, counted on.
pub(crate) fn members_of(card: &Scorecard, node: Option<usize>) -> impl Iterator<Item = usize> {
    let dimensions = card.dimensions.iter().enumerate().filter(move |(_, dimension)| dimension.group == node);
    let groups = card.groups.iter().enumerate().filter(move |(_, group)| group.parent == node);
    dimensions.map(|(at, _)| at).chain(groups.map(|(at, _)| card.dimensions.len() + at))
}

/// Returns why the mean of some group, or of the top level, would not be exact under `weights` of the dimensions
/// (decision 0001).
fn too_fine(card: &Scorecard, weights: &[Decimal]) -> Option<String> {
    let groups = card.groups.iter().map(|group| group.weight);
    let weights: Vec<Decimal> = weights.iter().copied().chain(groups).collect();
    core::iter::once(None).chain((0..card.groups.len()).map(Some)).find_map(|node| {
        let members = || members_of(card, node).filter_map(|at| weights.get(at)).copied();
        let unit = common_unit(members());
        let units: i128 = members().map(|weight| i128::from(weight.millionths() / unit)).sum();
        (units > i128::from(MOST_WEIGHT_UNITS)).then(|| {
            let group = node.and_then(|at| card.groups.get(at));
            let place = group.map_or(String::new(), |group| format!(" in group `{}`", group.key));
            format!("the merged weights{place} are too fine for their size: {units} units, at most {MOST_WEIGHT_UNITS}")
        })
    })
}

/// The outcome of weights given from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverrideUse {
    /// The weights as given, by dimension, sorted by name.
    pub given: Vec<(String, Decimal)>,
    /// True when they are used.
    pub applied: bool,
    /// The sum after the merge over the card's weights.
    pub merged_sum: Decimal,
    /// The reason why they were refused.
    pub reason: Option<String>,
    /// The weights in force, in the order of the dimensions.
    pub effective: Vec<Decimal>,
}

/// The reason why weights from outside do not fit the card.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoOverride {
    /// The card of this name has no `[override]`.
    #[error("`{0}` does not accept weights from outside")]
    NotAccepted(String),
    /// This dimension is given twice, so it is unclear which of the weights is meant.
    #[error("`{0}` is given two weights, expected one")]
    Twice(String),
}

impl OverrideUse {
    /// Lays `given` over the weights of `card` (trust document, section 4): merged by name, accepted when the sum is
    /// within the tolerance of 1, inclusive; else refused with the reason, and the card's weights stay.
    ///
    /// # Errors
    /// If the card does not take overrides, or a dimension is given twice: [`NoOverride`].
    pub fn new(card: &Scorecard, given: &[(String, Decimal)]) -> Result<Self, NoOverride> {
        let policy = card.override_policy.ok_or_else(|| NoOverride::NotAccepted(card.name()))?;
        let mut sorted = given.to_vec();
        sorted.sort();
        if let Some([(name, _), _]) = sorted.array_windows().find(|[(a, _), (b, _)]| a == b) {
            return Err(NoOverride::Twice(name.clone()));
        }
        let base: Vec<Decimal> = card.dimensions.iter().map(|dimension| dimension.weight).collect();
        let mut merged = base.clone();
        let mut reason = None;
        for (name, weight) in given {
            let place = card.dimensions.iter().position(|dimension| dimension.key == *name);
            match place.and_then(|at| merged.get_mut(at)) {
                Some(slot) => *slot = *weight,
                None => {
                    let near = nearest(name, card.dimensions.iter().map(|dimension| dimension.key.as_str()));
                    let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                    reason.get_or_insert(format!("the card has no dimension `{name}`{near}"));
                }
            }
            if *weight < Decimal::ZERO {
                reason.get_or_insert(format!("the weight of `{name}` is negative: {weight}"));
            }
        }
        let top = card.dimensions.iter().zip(&merged).filter(|(dimension, _)| dimension.group.is_none());
        let groups = card.groups.iter().filter(|group| group.parent.is_none()).map(|group| group.weight);
        // A sum beyond all decimals is refused as the largest of them, never as if it were small.
        let merged_sum = top
            .map(|(_, weight)| *weight)
            .chain(groups)
            .fold(0i64, |sum, weight| sum.saturating_add(weight.millionths()));
        let merged_sum = Decimal::from_millionths(merged_sum);
        let guard = WeightSum { target: Decimal::ONE, tolerance: policy.tolerance };
        if reason.is_none() && !guard.accepts(merged_sum) {
            reason = Some(format!(
                "the merged weights sum to {merged_sum}, more than {} from 1",
                policy.tolerance
            ));
        }
        if reason.is_none() {
            reason = too_fine(card, &merged);
        }
        let applied = reason.is_none();
        Ok(Self {
            given: sorted,
            applied,
            merged_sum,
            effective: if applied { merged } else { base },
            reason,
        })
    }

    /// Returns `applied` or `rejected`.
    pub const fn outcome(&self) -> &'static str {
        if self.applied { "applied" } else { "rejected" }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"given\":{");
        for (place, (name, weight)) in self.given.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            write_string(out, name);
            out.push(b':');
            write_json(out, weight.millionths(), 6);
        }
        out.extend_from_slice(b"},\"merged_sum\":");
        write_json(out, self.merged_sum.millionths(), 6);
        out.extend_from_slice(b",\"outcome\":");
        write_string(out, self.outcome());
        out.extend_from_slice(b",\"reason\":");
        write_option(out, self.reason.as_deref(), write_string);
        out.push(b'}');
    }
}
