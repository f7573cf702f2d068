//! Ranks of values, with ties reported as ties.

use alloc::vec::Vec;

/// The ranks that a subject may have, from 1: from `best`, the number of subjects above it plus 1, to `worst`, the
/// number of subjects above or beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RankRange {
    /// The best rank.
    pub best: u32,
    /// The worst rank; that of `best` without a tie.
    pub worst: u32,
}

/// Returns the ranks of `values`, the highest first: equal values share their ranks. `None` without a value; such a
/// subject is not ranked.
pub fn ranks(values: &[Option<i64>]) -> Vec<Option<RankRange>> {
    let mut order: Vec<(i64, usize)> = values
        .iter()
        .enumerate()
        .filter_map(|(subject, value)| Some((value.as_ref().copied()?, subject)))
        .collect();
    order.sort_unstable_by_key(|&(value, subject)| (core::cmp::Reverse(value), subject));
    let mut found = alloc::vec![None; values.len()];
    let mut above = 0;
    for equal in order.chunk_by(|a, b| a.0 == b.0) {
        let range = RankRange { best: above + 1, worst: above + equal.len() as u32 };
        for &(_, subject) in equal {
            if let Some(slot) = found.get_mut(subject) {
                *slot = Some(range);
            }
        }
        above = range.worst;
    }
    found
}

/// A ranking under other settings, compared with the nominal one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherRanking {
    /// The ranks under the other settings, by subject.
    pub ranks: Vec<Option<RankRange>>,
    /// The subjects whose ranks differ, in the order of the subjects.
    pub moved: Vec<usize>,
    /// True if other subjects are first.
    pub first_differs: bool,
}

impl OtherRanking {
    /// Compares the ranks of the same subjects under two settings.
    pub fn new(nominal: &[Option<RankRange>], ranks: Vec<Option<RankRange>>) -> Self {
        let is_first = |rank: &Option<RankRange>| rank.is_some_and(|rank| rank.best == 1);
        let pairs = || nominal.iter().zip(&ranks);
        let moved = pairs().enumerate().filter(|(_, (a, b))| a != b).map(|(subject, _)| subject).collect();
        let first_differs = pairs().any(|(a, b)| is_first(a) != is_first(b));
        Self { ranks, moved, first_differs }
    }
}

/// A product that is a whole number may come out a little below it.
const SLACK: f64 = 1e-9;

/// The ranks of a subject under many sets of weights.
#[derive(Debug, Clone, Default)]
pub(super) struct RankTally {
    best: Vec<u32>,
    worst: Vec<u32>,
}

impl RankTally {
    pub(super) fn add(&mut self, rank: RankRange) {
        self.best.push(rank.best);
        self.worst.push(rank.worst);
    }

    /// Returns the number of sets of weights under which the best rank was `place`.
    pub(super) fn count(&self, place: u32) -> u32 {
        self.best.iter().filter(|&&best| best == place).count() as u32
    }

    /// Returns each best rank that occurred, from the highest, and under how many.
    pub(super) fn places(&self) -> Vec<(u32, u32)> {
        let mut best = self.best.clone();
        best.sort_unstable();
        best.chunk_by(|a, b| a == b).filter_map(|equal| Some((*equal.first()?, equal.len() as u32))).collect()
    }

    /// Returns the ranks within which a share of `1 - 2 tail` of them lies: ties count for the better rank at
    /// the better end, for the worse rank at the worse end. `None` without any.
    pub(super) fn range(mut self, tail: f64) -> Option<RankRange> {
        self.best.sort_unstable();
        self.worst.sort_unstable();
        let draws = self.best.len() as u32;
        let left_out = (libm::floor((f64::from(draws) + 1.0) * tail + SLACK) as u32).clamp(1, draws.max(1));
        let best = *self.best.get(left_out as usize - 1)?;
        let worst = *self.worst.get((draws - left_out) as usize)?;
        Some(RankRange { best, worst: worst.max(best) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moved_is_said() {
        let ranked = |values: &[i64]| ranks(&values.iter().copied().map(Some).collect::<Vec<_>>());
        let nominal = ranked(&[9, 8, 7]);
        let other = OtherRanking::new(&nominal, ranked(&[9, 7, 8]));
        assert_eq!((other.moved, other.first_differs), (alloc::vec![1, 2], false));
        let tied = OtherRanking::new(&nominal, ranked(&[9, 9, 7]));
        assert_eq!(
            (tied.moved, tied.first_differs),
            (alloc::vec![0, 1], true),
            "sharing a place is another place"
        );
        assert!(ranks(&[]).is_empty());
    }

    #[test]
    fn ranges_leave_out_both_tails() {
        let mut tally = RankTally::default();
        (1..=199).for_each(|place| tally.add(RankRange { best: place, worst: place + 1 }));
        assert_eq!((tally.count(7), tally.count(200)), (1, 0));
        assert_eq!(tally.range(0.025), Some(RankRange { best: 5, worst: 196 }));
        assert_eq!(RankTally::default().range(0.025), None);
    }
}
