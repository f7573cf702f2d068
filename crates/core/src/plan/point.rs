//! The mean of given readings, outside a plan: for the bounds of one item. The same loops as in a plan, over one row.

use alloc::vec::Vec;

use super::kernel::{self, Member, MemberWeights, Sums};
use super::{MeanItem, state};
use crate::evaluate::Scorer;
use crate::weights::members_of;

/// The composite, in units of 1e-15, of the readings (in billionths) that `reading` gives; none where there is none.
pub(crate) fn mean_of_point(
    scorer: &Scorer,
    profile: usize,
    reading: &dyn Fn(usize) -> Option<f64>,
) -> Option<f64> {
    let card = &scorer.card;
    let dimensions = card.dimensions.len();
    let readings = (0..dimensions).map(|at| reading(at).unwrap_or(state::NOT_APPLICABLE));
    let mut values: Vec<f64> = readings.chain(card.groups.iter().map(|_| state::NOT_APPLICABLE)).collect();
    let mut sums = Sums::new(1);
    for node in (0..card.groups.len()).rev().map(Some).chain([None]) {
        let mean = node.and_then(|at| card.groups.get(at)).map_or(card.mean, |group| group.mean);
        let members: Vec<Member<'_>> = members_of(card, node)
            .map(|at| {
                let table = scorer.weighting.table.get(at);
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
                    reading: values.get(at..=at).unwrap_or_default(),
                    coverage: None,
                    weights: MemberWeights::Uniform(weight, cover),
                }
            })
            .collect();
        let (mut composite, mut coverage) = ([0.0], [0.0]);
        kernel::mean(mean, node.is_none(), &members, &mut sums, &mut composite, &mut coverage);
        let [composite] = composite;
        match node.and_then(|at| values.get_mut(dimensions + at)) {
            Some(slot) => *slot = composite,
            None => return (!composite.is_nan()).then_some(composite),
        }
    }
    None
}
