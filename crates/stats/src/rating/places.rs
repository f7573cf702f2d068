//! Places on a list of ratings that does not claim an order which the ratings do not show.

use alloc::vec;
use alloc::vec::Vec;

use crate::ranks::RankRange;

/// Most competitors for which every pair is compared.
pub const MOST_COMPARED: usize = 2000;

/// The rank of a competitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The competitor, by its index in the caller's list.
    pub competitor: usize,
    /// The rank by points alone, from 1; equal points share a rank.
    pub rank: u32,
    /// The ranks that it may have: from one more than the number that are separated from it and above, to the number of
    /// all but those separated from it and below. `None` for more than [`MOST_COMPARED`] competitors.
    pub range: Option<RankRange>,
    /// The tie group, from 1: competitors that are tied with the group leader.
    pub group: u32,
}

/// Returns the ranks of competitors with these points, the highest first, equal ones in the order of the list.
///
/// `told_apart` says of two competitors, the one with more points first, whether their difference is more than chance.
/// Groups are made from the top: the first leads the first group, and those after it join while they are tied with the
/// leader; the first that is not leads the next group. That two competitors are in different groups does not say
/// that each of one differs from each of the other.
pub fn places(points: &[f64], told_apart: impl Fn(usize, usize) -> bool) -> Vec<Place> {
    let mut order: Vec<(usize, f64)> = points.iter().copied().enumerate().collect();
    order.sort_by(|one, other| other.1.total_cmp(&one.1));
    let mut found: Vec<Place> = Vec::with_capacity(order.len());
    let (mut group, mut leader, mut above) = (0, None, None);
    for (at, &(competitor, own)) in (1..).zip(&order) {
        if leader.is_none_or(|leader| told_apart(leader, competitor)) {
            group += 1;
            leader = Some(competitor);
        }
        let rank = match above {
            Some((points, rank)) if points == own => rank,
            _ => at,
        };
        above = Some((own, rank));
        found.push(Place { competitor, rank, range: None, group });
    }
    if order.len() <= MOST_COMPARED {
        for (place, range) in found.iter_mut().zip(ranges(&order, told_apart)) {
            place.range = Some(range);
        }
    }
    found
}

fn ranges(order: &[(usize, f64)], told_apart: impl Fn(usize, usize) -> bool) -> Vec<RankRange> {
    let count = order.len() as u32;
    let mut ranges = vec![RankRange { best: 1, worst: count }; order.len()];
    for (at, &(above, _)) in order.iter().enumerate() {
        for (later, &(below, _)) in order.iter().enumerate().skip(at + 1) {
            if told_apart(above, below) {
                if let Some(range) = ranges.get_mut(at) {
                    range.worst -= 1;
                }
                if let Some(range) = ranges.get_mut(later) {
                    range.best += 1;
                }
            }
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_points_share_a_rank_and_nobody_has_no_place() {
        let found = places(&[5.0, 7.0, 5.0], |_, _| true);
        assert_eq!(
            found.iter().map(|it| (it.competitor, it.rank)).collect::<Vec<_>>(),
            [(1, 1), (0, 2), (2, 2)]
        );
        assert_eq!(places(&[], |_, _| true), []);
    }

    #[test]
    fn nobody_told_apart_is_one_group_of_all_ranks() {
        let found = places(&[3.0, 2.0, 1.0], |_, _| false);
        let all = RankRange { best: 1, worst: 3 };
        assert!(found.iter().all(|place| place.group == 1 && place.range == Some(all)), "{found:?}");
    }

    proptest! {
        #[test]
        fn a_rank_lies_in_its_range(points in prop::collection::vec(0.0..10.0f64, 1..30), least in 0.0..5.0f64) {
            let found = places(&points, |above, below| points[above] - points[below] > least);
            prop_assert_eq!(found.len(), points.len());
            for place in &found {
                let range = place.range.unwrap();
                prop_assert!((range.best..=range.worst).contains(&place.rank), "{place:?}");
            }
            prop_assert!(found.is_sorted_by_key(|place| (place.group, place.rank)));
        }
    }
}
