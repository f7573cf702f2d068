//! The graph of comparisons: an arrow from each competitor to those it scored against.

use alloc::vec;
use alloc::vec::Vec;

use super::counts::PairCount;

/// Neighbours of every competitor, one list after the other.
struct Arrows {
    starts: Vec<usize>,
    heads: Vec<u32>,
}

impl Arrows {
    /// Makes arrows from every competitor to those it scored against.
    fn new(pairs: &[PairCount], competitors: usize) -> Self {
        let ends = |pair: &PairCount| {
            let there = (pair.wins + pair.draws > 0).then_some((pair.first, pair.second));
            let back = (pair.losses + pair.draws > 0).then_some((pair.second, pair.first));
            [there, back].into_iter().flatten()
        };
        let mut starts = vec![0usize; competitors + 1];
        for (tail, _) in pairs.iter().flat_map(ends) {
            if let Some(count) = starts.get_mut(tail as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let (mut heads, mut next) = (vec![0; sum], starts.clone());
        for (tail, head) in pairs.iter().flat_map(ends) {
            if let Some(at) = next.get_mut(tail as usize) {
                if let Some(slot) = heads.get_mut(*at) {
                    *slot = head;
                }
                *at += 1;
            }
        }
        Self { starts, heads }
    }

    /// Returns the neighbour at `position` of a competitor's list; none after the last.
    fn neighbour(&self, competitor: u32, position: usize) -> Option<u32> {
        let (start, end) =
            (*self.starts.get(competitor as usize)?, *self.starts.get(competitor as usize + 1)?);
        self.heads.get(start..end)?.get(position).copied()
    }
}

/// The state of a competitor in the search: when it was found, the earliest competitor it leads back to, and whether its
/// group is still open.
#[derive(Clone, Copy, Default)]
struct Visit {
    found: u32,
    earliest: u32,
    open: bool,
}

/// Returns the largest groups whose members have all scored, directly or through others, against each other.
/// Members are in the order of their indices. A group comes after all groups that it has scored against.
///
/// Tarjan's algorithm (1972) with an explicit stack: time and memory in proportion to the pairs.
pub(super) fn components(pairs: &[PairCount], competitors: usize) -> Vec<Vec<u32>> {
    let arrows = Arrows::new(pairs, competitors);
    let mut visits = vec![Visit::default(); competitors];
    let mut clock = 0;
    let (mut open, mut path, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    for root in 0..competitors as u32 {
        if visits.get(root as usize).is_some_and(|visit| visit.found == 0) {
            path.push((root, 0));
        }
        while let Some((at, position)) = path.pop() {
            if position == 0
                && let Some(visit) = visits.get_mut(at as usize)
            {
                clock += 1;
                *visit = Visit { found: clock, earliest: clock, open: true };
                open.push(at);
            }
            let neighbour = arrows.neighbour(at, position);
            if let Some((neighbour, seen)) =
                neighbour.and_then(|neighbour| Some((neighbour, *visits.get(neighbour as usize)?)))
            {
                path.push((at, position + 1));
                if seen.found == 0 {
                    path.push((neighbour, 0));
                } else if seen.open {
                    lower(&mut visits, at, seen.found);
                }
                continue;
            }
            let Some(&visit) = visits.get(at as usize) else { continue };
            if visit.earliest == visit.found {
                let from = open.iter().rposition(|&member| member == at).unwrap_or(0);
                let mut group = open.split_off(from);
                for &member in &group {
                    if let Some(visit) = visits.get_mut(member as usize) {
                        visit.open = false;
                    }
                }
                group.sort_unstable();
                groups.push(group);
            }
            if let Some(&(parent, _)) = path.last() {
                lower(&mut visits, parent, visit.earliest);
            }
        }
    }
    groups
}

/// Returns the parts that no match connects. Members are in the order of their indices.
pub(super) fn parts(pairs: &[PairCount], competitors: usize) -> Vec<Vec<u32>> {
    let met = pairs.iter().filter(|pair| pair.matches() > 0);
    // A draw is an arrow both ways: those who met are in one group.
    let drawn: Vec<PairCount> = met.map(|&pair| PairCount { wins: 0, draws: 1, losses: 0, ..pair }).collect();
    components(&drawn, competitors)
}

fn lower(visits: &mut [Visit], at: u32, earliest: u32) {
    if let Some(visit) = visits.get_mut(at as usize) {
        visit.earliest = visit.earliest.min(earliest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn won(first: u32, second: u32) -> PairCount {
        let swapped = first > second;
        let (first, second) = (first.min(second), first.max(second));
        PairCount { first, second, wins: u64::from(!swapped), draws: 0, losses: u64::from(swapped) }
    }

    #[test]
    fn a_circle_is_one_group_and_a_chain_is_none() {
        assert_eq!(components(&[won(0, 1), won(1, 2), won(2, 0)], 3), [[0, 1, 2]]);
        assert_eq!(components(&[won(0, 1), won(1, 2)], 3), [[2], [1], [0]], "the weakest first");
        let drawn = PairCount { first: 0, second: 1, wins: 0, draws: 1, losses: 0 };
        assert_eq!(components(&[drawn], 3), [vec![0, 1], vec![2]]);
        assert!(components(&[], 0).is_empty());
        let unplayed = PairCount { first: 1, second: 2, wins: 0, draws: 0, losses: 0 };
        let mut parts = parts(&[won(0, 1), won(3, 2), unplayed], 5);
        parts.sort();
        assert_eq!(parts, [vec![0, 1], vec![2, 3], vec![4]]);
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_needs_no_deep_stack() {
        let chain: Vec<_> = (1..100_000).map(|at| won(at - 1, at)).collect();
        assert_eq!(components(&chain, 100_000).len(), 100_000);
    }

    proptest! {
        #[test]
        fn groups_are_those_who_reach_each_other(
            arrows in prop::collection::btree_set((0u32..8, 0u32..8), 0..20),
        ) {
            let pairs: Vec<_> =
                arrows.iter().filter(|(one, other)| one != other).map(|&(one, other)| won(one, other)).collect();
            let mut reach = [[false; 8]; 8];
            for (at, reached) in reach.iter_mut().enumerate() {
                reached[at] = true;
            }
            for &(one, other) in &arrows {
                reach[one as usize][other as usize] = true;
            }
            for middle in 0..8 {
                for one in 0..8 {
                    for other in 0..8 {
                        reach[one][other] |= reach[one][middle] && reach[middle][other];
                    }
                }
            }
            let groups = components(&pairs, 8);
            prop_assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), 8);
            let group_of = |at: u32| groups.iter().position(|group| group.contains(&at)).unwrap();
            for one in 0..8u32 {
                for other in 0..8u32 {
                    let (there, back) =
                        (reach[one as usize][other as usize], reach[other as usize][one as usize]);
                    prop_assert_eq!(group_of(one) == group_of(other), there && back);
                    prop_assert!(!there || group_of(one) >= group_of(other));
                }
            }
        }
    }
}
