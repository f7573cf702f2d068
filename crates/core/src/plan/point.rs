//! The mean of given readings, outside a plan: for the bounds of one item. The same loops as in a plan, over two rows, one for
//! each end.

use alloc::vec::Vec;

use super::mean::{Member, MemberWeights, Sums, mean};
use super::{MeanItem, state};
use crate::scorecard::Scorecard;
use crate::weights::{Weighting, members_of};

/// Returns the composites, in units of 1e-15, of the pairs of readings (in billionths) that `reading` gives; none
/// for a pair that has no composite.
pub(crate) fn mean_of_points(
    card: &Scorecard,
    weighting: &Weighting,
    profile: usize,
    reading: &dyn Fn(usize) -> Option<[f64; 2]>,
) -> Option<[f64; 2]> {
    let dimensions = card.dimensions.len();
    let nothing = [state::NOT_APPLICABLE; 2];
    let readings = (0..dimensions).map(|at| reading(at).unwrap_or(nothing));
    let mut values: Vec<[f64; 2]> = readings.chain(card.groups.iter().map(|_| nothing)).collect();
    let mut sums: Sums<2> = Sums::default();
    for node in (0..card.groups.len()).rev().map(Some).chain([None]) {
        let rule = node.and_then(|at| card.groups.get(at)).map_or(card.mean, |group| group.mean);
        let members: Vec<Member<'_>> = members_of(card, node)
            .map(|at| {
                let table = weighting.table.get(at);
                let (weight, cover) = table.and_then(|row| row.get(profile)).copied().unwrap_or((0.0, 0.0));
                Member {
                    item: MeanItem {
                        reading: 0,
                        coverage: None,
                        fill: f64::NAN,
                        withhold: false,
                        optional: true,
                        weight: at,
                    },
                    reading: values.get(at).map_or(&[], |pair| pair),
                    coverage: None,
                    weights: MemberWeights::Uniform(weight, cover),
                }
            })
            .collect();
        let (mut composite, mut coverage) = ([0.0; 2], [0.0; 2]);
        mean(rule, node.is_none(), None, &members, &mut sums, &mut composite, &mut coverage);
        match node.and_then(|at| values.get_mut(dimensions + at)) {
            Some(slot) => *slot = composite,
            None => return composite.iter().all(|end| !end.is_nan()).then_some(composite),
        }
    }
    None
}
