//! The share of pairs in the right order, for cases that count several times.

use alloc::vec;
use alloc::vec::Vec;

use super::Case;

/// Cases in the order of their composites, or pairs with what the composites say of them.
pub(super) enum Order {
    /// Each case: its composite, the rank of its outcome from 0, and the place of its cluster; by composite.
    Single { cases: Vec<(i64, usize, usize)>, outcomes: usize },
    /// Each pair that is not a draw: 1 if the composites are in the right order, one half if equal, and the place.
    Pairs(Vec<(f64, usize)>),
}

impl Order {
    /// Orders cases by the composites of their items. `places` has their clusters.
    pub(super) fn new(cases: &[&Case], places: &[usize], composites: &[Option<i64>]) -> Self {
        let of = |item: usize| composites.get(item).copied().flatten().unwrap_or(0);
        if cases.iter().any(|case| case.second.is_some()) {
            let pair = |(case, &place): (&&Case, &usize)| {
                let (first, second) = (of(case.first), of(case.second?));
                let right = match (case.outcome > 0.5, case.outcome < 0.5) {
                    (true, _) => first.cmp(&second),
                    (_, true) => second.cmp(&first),
                    _ => return None,
                };
                Some((0.5 * (1.0 + f64::from(right as i8)), place))
            };
            return Self::Pairs(cases.iter().zip(places).filter_map(pair).collect());
        }
        let mut outcomes: Vec<f64> = cases.iter().map(|case| case.outcome).collect();
        outcomes.sort_unstable_by(f64::total_cmp);
        outcomes.dedup();
        let single = |(case, &place): (&&Case, &usize)| {
            let rank = outcomes.partition_point(|outcome| *outcome < case.outcome);
            (of(case.first), rank, place)
        };
        let mut list: Vec<(i64, usize, usize)> = cases.iter().zip(places).map(single).collect();
        list.sort_unstable();
        Self::Single { cases: list, outcomes: outcomes.len() }
    }

    /// Returns the concordance, and the number of pairs behind it, where the clusters count as often as `counts` says;
    /// none without a pair. All sums are of whole numbers and halves, so they are exact.
    pub(super) fn concordance(&self, counts: &[f64]) -> Option<(f64, f64)> {
        let count = |place: usize| counts.get(place).copied().unwrap_or(0.0);
        match self {
            Self::Pairs(pairs) => {
                let (mut right, mut all) = (0.0, 0.0);
                for &(share, place) in pairs {
                    right += share * count(place);
                    all += count(place);
                }
                (all > 0.0).then(|| (right / all, all))
            }
            Self::Single { cases, outcomes } => {
                let mut below = Tallies::new(*outcomes);
                let (mut right, mut wrong, mut total, mut squares) = (0.0, 0.0, 0.0, 0.0);
                let mut by_outcome = vec![0.0; *outcomes];
                for tied in cases.chunk_by(|one, other| one.0 == other.0) {
                    for &(_, outcome, place) in tied {
                        let times = count(place);
                        let lower = below.up_to(outcome);
                        right += times * lower;
                        wrong += times * (below.up_to(*outcomes) - below.up_to(outcome + 1));
                    }
                    for &(_, outcome, place) in tied {
                        below.add(outcome, count(place));
                        total += count(place);
                        if let Some(sum) = by_outcome.get_mut(outcome) {
                            *sum += count(place);
                        }
                    }
                }
                for sum in by_outcome {
                    squares += sum * sum;
                }
                let all = 0.5 * (total * total - squares);
                (all > 0.0).then(|| (0.5 * (1.0 + (right - wrong) / all), all))
            }
        }
    }
}

/// Sums over all outcomes below one: a binary indexed tree (Fenwick 1994).
struct Tallies(Vec<f64>);

impl Tallies {
    fn new(outcomes: usize) -> Self {
        Self(vec![0.0; outcomes + 1])
    }

    fn add(&mut self, outcome: usize, times: f64) {
        let mut at = outcome + 1;
        while let Some(sum) = self.0.get_mut(at) {
            *sum += times;
            at += at & at.wrapping_neg();
        }
    }

    /// Returns the sum of the first `count` outcomes.
    fn up_to(&self, count: usize) -> f64 {
        let (mut at, mut sum) = (count, 0.0);
        while at > 0 {
            sum += self.0.get(at).copied().unwrap_or(0.0);
            at &= at - 1;
        }
        sum
    }
}
