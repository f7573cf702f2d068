//! Selection of the items of a dimension, their age, and their weighted estimate.

use std::collections::{BTreeMap, BTreeSet};

use karat_core::timestamp::Timestamp;
use serde::Serialize;

use super::estimators::{Z_90, effective_count, wilson_lower_bound};
use super::items::{Agent, Item};

/// Least evidence for a dimension.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    pub units: usize,
    pub items_per_unit: usize,
    pub name: &'static str,
}

/// Number of kinds that the items must cover.
#[derive(Debug, Clone, Copy)]
pub(super) struct Variety {
    pub kinds: usize,
    pub name: &'static str,
}

impl Need {
    pub(super) const fn of(units: usize, name: &'static str) -> Self {
        Self { units, items_per_unit: 1, name }
    }
}

impl Variety {
    pub(super) const ANY: Self = Self { kinds: 0, name: "kinds" };
}

/// The items that a dimension rests on.
#[derive(Debug)]
pub(super) struct Selection<'s, T> {
    /// Newest first.
    pub items: Vec<&'s T>,
    /// Timestamp of the last unit of a whole minimum, counted from the newest: to look fresh costs as much as being
    /// measured.
    pub anchor: Timestamp,
    /// True if items older than the window had to be taken.
    pub is_beyond_window: bool,
}

/// Returns the reason of a dimension that is not measured.
pub(super) fn not_yet(found: usize, needed: usize, what: &str) -> String {
    format!("not measured yet, {found} of {needed} {what}")
}

/// Takes the items of the window; if they are too few, the newest that are enough. Items come newest first.
pub(super) fn select<'s, T, K: Ord>(
    agent: &Agent<'_>,
    items: &'s [T],
    time: impl Fn(&T) -> Timestamp,
    unit: impl Fn(&'s T) -> K,
    need: Need,
) -> Result<Selection<'s, T>, String> {
    select_varied(agent, items, time, unit, need, |_| "", Variety::ANY)
}

/// Does the same where the items must be of several kinds: a minimum is whole only with them. So one kind that is
/// tested again and again neither makes the others fresh nor, once they leave the window, the dimension unmeasured.
pub(super) fn select_varied<'s, T, K: Ord>(
    agent: &Agent<'_>,
    items: &'s [T],
    time: impl Fn(&T) -> Timestamp,
    unit: impl Fn(&'s T) -> K,
    need: Need,
    kind: impl Fn(&'s T) -> &'s str,
    variety: Variety,
) -> Result<Selection<'s, T>, String> {
    let mut sizes: BTreeMap<K, usize> = BTreeMap::new();
    let mut kinds: BTreeSet<&str> = BTreeSet::new();
    let (mut units, mut anchor, mut taken) = (0, None, 0);
    for item in items {
        let is_in_window = agent.is_within(time(item), agent.options.window_seconds);
        if !is_in_window && anchor.is_some() {
            break;
        }
        taken += 1;
        kinds.insert(kind(item));
        let size = sizes.entry(unit(item)).or_default();
        *size += 1;
        if *size == need.items_per_unit {
            units += 1;
        }
        if units >= need.units && kinds.len() >= variety.kinds {
            anchor = anchor.or(Some(time(item)));
        }
    }
    let anchor = anchor.ok_or_else(|| {
        if units < need.units {
            not_yet(units, need.units, need.name)
        } else {
            not_yet(kinds.len(), variety.kinds, variety.name)
        }
    })?;
    let items: Vec<&T> = items.iter().take(taken).collect();
    let oldest = items.last().map(|item| time(item));
    let is_beyond_window =
        oldest.is_some_and(|oldest| !agent.is_within(oldest, agent.options.window_seconds));
    Ok(Selection { items, anchor, is_beyond_window })
}

/// Estimate from weighted items, once those of a task count as one and no family has too much weight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Estimate {
    /// Weighted mean over tasks, 0 to 1.
    pub mean: f64,
    /// Kish's effective number of tasks.
    pub effective_count: f64,
    pub tasks: usize,
    /// Families whose weight was cut, and the share that each may have.
    pub cut_families: Vec<String>,
    pub family_share: f64,
}

impl Estimate {
    /// Returns the lower Wilson bound (one-sided 90 %) of the mean as a share.
    pub(super) fn lower(&self) -> f64 {
        wilson_lower_bound(self.mean, self.effective_count, Z_90).unwrap_or_default()
    }
}

/// Returns the weighted mean of `value` over the tasks of `items`; none without a weight.
pub(super) fn estimate<'a, 's>(
    items: impl IntoIterator<Item = &'s Item<'a>>,
    value: impl Fn(&Item<'a>) -> f64,
    largest_share: f64,
) -> Option<Estimate>
where
    'a: 's,
{
    #[derive(Default)]
    struct Task {
        count: f64,
        weight: f64,
        value: f64,
    }
    // A task of two families is two tasks.
    let mut tasks: BTreeMap<(&str, &str), Task> = BTreeMap::new();
    for item in items {
        let task = tasks.entry((item.family(), &item.check.task)).or_default();
        task.count += 1.0;
        task.weight += item.weight;
        task.value += item.weight * value(item);
    }
    tasks.retain(|_, task| task.weight > 0.0);
    // A task weighs what its items weigh on average: doing it again adds nothing.
    let mut families: BTreeMap<&str, f64> = BTreeMap::new();
    for ((family, _), task) in &tasks {
        *families.entry(family).or_default() += task.weight / task.count;
    }
    let totals: Vec<f64> = families.values().copied().collect();
    let (family_share, level) = family_level(&totals, largest_share)?;
    let factor = |family: &str| {
        families.get(family).map_or(1.0, |&total| if total > level { level / total } else { 1.0 })
    };
    let weights: Vec<f64> =
        tasks.iter().map(|((family, _), task)| task.weight / task.count * factor(family)).collect();
    let (sum, total) = tasks.values().zip(&weights).fold((0.0, 0.0), |(sum, total), (task, weight)| {
        (sum + weight * (task.value / task.weight), total + weight)
    });
    Some(Estimate {
        mean: (sum / total).clamp(0.0, 1.0),
        effective_count: effective_count(&weights)?,
        tasks: tasks.len(),
        cut_families: families
            .iter()
            .filter(|&(_, &total)| total > level)
            .map(|(family, _)| (*family).to_owned())
            .collect(),
        family_share,
    })
}

/// Returns the share that a family may have, and the weight to which that cuts the heavy ones: as small as it must be
/// for none of them to exceed the share of what is left. With fewer families than the share asks for it is relaxed to
/// an equal part.
fn family_level(totals: &[f64], largest_share: f64) -> Option<(f64, f64)> {
    let mut heaviest = totals.to_vec();
    heaviest.sort_by(|a, b| b.total_cmp(a));
    let equal_part = 1.0 / heaviest.len() as f64;
    let share = if largest_share > equal_part { largest_share } else { equal_part };
    // From the lightest on: what those have together that are not among the `cut` heaviest.
    let mut rest = vec![0.0; heaviest.len()];
    let mut sum = 0.0;
    for (rest, total) in rest.iter_mut().zip(&heaviest).rev() {
        sum += total;
        *rest = sum;
    }
    for (cut, (&total, &rest)) in heaviest.iter().zip(&rest).enumerate() {
        let left = 1.0 - cut as f64 * share;
        // The tolerance keeps families that are alike from being separated by a rounding.
        if left > 0.0 && total * left <= share * rest * (1.0 + 1e-12) {
            return Some((share, if cut == 0 { total } else { share * rest / left }));
        }
    }
    heaviest.last().map(|&lightest| (share, lightest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the weights of families after the cut.
    fn cut(totals: &[f64], share: f64) -> Vec<f64> {
        let (_, level) = family_level(totals, share).unwrap();
        totals.iter().map(|total| total.min(level)).collect()
    }

    #[test]
    fn families_are_cut_to_their_share() {
        assert_eq!(cut(&[1.0, 1.0, 1.0, 1.0], 0.3), [1.0; 4]);
        // Two are cut: 2.25 is 0.3 of 2.25 + 1 + 2 + 2.25.
        let two_cut = cut(&[96.0, 1.0, 2.0, 4.0], 0.3);
        assert!(
            two_cut
                .iter()
                .zip([2.25, 1.0, 2.0, 2.25])
                .all(|(found, expected)| (found - expected).abs() < 1e-12)
        );
        assert_eq!(cut(&[5.0, 1.0], 0.3), [1.0, 1.0], "two families: half each");
        assert_eq!(cut(&[7.0], 0.3), [7.0]);
        assert_eq!(family_level(&[], 0.3), None);
        assert_eq!(family_level(&[2.0, 1.0], 0.3), Some((0.5, 1.0)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_family_exceeds_its_share(totals in prop::collection::vec(0.01f64..100.0, 1..12), share in 0.05f64..0.9) {
            let (share, level) = family_level(&totals, share).unwrap();
            let cut: Vec<f64> = totals.iter().map(|total| total.min(level)).collect();
            let sum: f64 = cut.iter().sum();
            for (after, before) in cut.iter().zip(&totals) {
                prop_assert!(*after <= share * sum * (1.0 + 1e-9));
                // Nothing is cut that need not be.
                prop_assert!(after == before || *after >= share * sum * (1.0 - 1e-9));
            }
        }
    }
}
