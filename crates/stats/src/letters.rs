//! Letters for ties (a compact letter display): two subjects share a letter exactly if they are not separated.
//!
//! A letter stands for a set of subjects no two of which are separated. Piepho, "An algorithm for a letter-based
//! representation of all-pairwise comparisons", Journal of Computational and Graphical Statistics 13 (2004). The sets cover
//! every tied pair: found one after the other, since all largest sets may be exponentially many, and swept of those that
//! the others make superfluous (Gramm, Guo, Hueffner, Niedermeier, Piepho and Schmid, "Algorithms for compact letter
//! displays", Computational Statistics and Data Analysis 52, 2007).

use alloc::vec::Vec;
use core::cmp::Reverse;

use super::compare::ComparisonVerdict;
use super::verdicts::Verdicts;

/// The letters of each subject.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Letters {
    /// The letters of each subject, from 1, in rising order; none for a subject that could not be compared with any other.
    pub of_subjects: Vec<Vec<u32>>,
    /// The number of letters.
    pub count: u32,
}

/// Places in the list of subjects, one bit each.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Places(Vec<u64>);

impl Letters {
    /// Gives letters to the subjects in the order of `verdicts`, the best first.
    ///
    /// The pairs are taken in order. A tied pair without a common letter starts a new set, which takes in subjects that are
    /// tied with all in it: each time the one with the most tied pairs in it that have no common letter yet, the first of
    /// several. Then each set is dropped, the last first, of which every pair is in another one. A subject that is tied with
    /// none has a letter alone. Letters are given in the order of the members.
    ///
    /// Subjects that share too few tasks have no letter in common, though nothing separates them: that must be said
    /// beside the letters.
    pub fn new(verdicts: &Verdicts) -> Self {
        let count = verdicts.count();
        let is = |first: usize, second: usize, wanted: ComparisonVerdict| {
            verdicts.between(first, second) == wanted
        };
        let tied: Vec<Places> = (0..count)
            .map(|first| {
                let others =
                    (0..count).filter(|&second| is(first, second, ComparisonVerdict::NotDistinguishable));
                Places::of(count, others.filter(|&second| second != first))
            })
            .collect();
        let mut sets: Vec<Places> = Vec::new();
        // The tied pairs that are in no set yet.
        let mut open = tied.clone();
        for first in 0..count {
            while let Some(second) = open.get(first).and_then(|open| open.iter().next()) {
                let set = grown(count, &tied, &open, [first, second]);
                for place in set.iter() {
                    open.iter_mut().skip(place).take(1).for_each(|open| open.remove(&set));
                }
                sets.push(set);
            }
        }
        // How many sets have both of a pair, by the first and then the second, which is the later one.
        let mut times = alloc::vec![0u32; count * count];
        for set in &sets {
            set.pairs(|a, b| times.iter_mut().skip(a * count + b).take(1).for_each(|it| *it += 1));
        }
        sweep(count, &mut sets, &mut times);
        let is_alone = |&place: &usize| {
            let has_ties = tied.get(place).is_some_and(|ties| ties.iter().next().is_some());
            let is_compared = (0..count)
                .any(|other| !is(place, other, ComparisonVerdict::TooFewSharedTasks) && other != place);
            is_compared && !has_ties
        };
        sets.extend((0..count).filter(is_alone).map(|place| Places::of(count, [place])));
        sets.sort_by(|a, b| a.iter().cmp(b.iter()));
        let mut of_subjects = alloc::vec![Vec::new(); count];
        for (set, letter) in sets.iter().zip(1u32..) {
            for place in set.iter() {
                of_subjects.iter_mut().skip(place).take(1).for_each(|letters| letters.push(letter));
            }
        }
        Self { of_subjects, count: u32::try_from(sets.len()).unwrap_or(u32::MAX) }
    }
}

/// Returns a tied pair with subjects that are tied with all in the set, those with the most `open` pairs in it first.
fn grown(count: usize, tied: &[Places], open: &[Places], pair: [usize; 2]) -> Places {
    let mut set = Places::of(count, pair);
    let none = Places::of(count, []);
    let (ties, open) =
        (|place: usize| tied.get(place).unwrap_or(&none), |place: usize| open.get(place).unwrap_or(&none));
    let mut common =
        pair.into_iter().map(&ties).fold(Places::of(count, 0..count), |common, it| common.and(it));
    loop {
        let gain = |place: &usize| (open(*place).and(&set).len(), Reverse(*place));
        let next = common.iter().max_by_key(gain);
        let Some(next) = next else { break };
        set.insert(next);
        // No subject is tied with itself, so `next` is not in what is left.
        common = common.and(ties(next));
    }
    set
}

/// Drops every set all of whose pairs are in other sets, the last first.
fn sweep(count: usize, sets: &mut Vec<Places>, times: &mut [u32]) {
    for at in (0..sets.len()).rev() {
        let Some(set) = sets.get(at) else { continue };
        let mut is_needed = false;
        set.pairs(|a, b| is_needed |= times.get(a * count + b).is_none_or(|times| *times < 2));
        if !is_needed {
            set.pairs(|a, b| times.iter_mut().skip(a * count + b).take(1).for_each(|it| *it -= 1));
            sets.remove(at);
        }
    }
}

impl Places {
    fn of(count: usize, places: impl IntoIterator<Item = usize>) -> Self {
        let mut found = Self(alloc::vec![0; count.div_ceil(64)]);
        places.into_iter().for_each(|place| found.insert(place));
        found
    }

    fn insert(&mut self, place: usize) {
        if let Some(word) = self.0.get_mut(place / 64) {
            *word |= 1 << (place % 64);
        }
    }

    fn remove(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= !other);
    }

    fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    /// Returns the places in rising order.
    fn iter(&self) -> impl Iterator<Item = usize> {
        let bits = |(word, at): (&u64, usize)| {
            let word = *word;
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        };
        self.0.iter().zip(0..).flat_map(bits)
    }

    /// Calls `each` with every pair, the earlier place first.
    fn pairs(&self, mut each: impl FnMut(usize, usize)) {
        let places: Vec<usize> = self.iter().collect();
        for (at, &first) in places.iter().enumerate() {
            places.iter().skip(at + 1).for_each(|&second| each(first, second));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TIED: ComparisonVerdict = ComparisonVerdict::NotDistinguishable;
    const APART: ComparisonVerdict = ComparisonVerdict::FirstAhead;
    const FEW: ComparisonVerdict = ComparisonVerdict::TooFewSharedTasks;

    fn of(count: usize, verdicts: &[ComparisonVerdict]) -> Vec<Vec<u32>> {
        Letters::new(&Verdicts::of_known(count, verdicts.iter().copied())).of_subjects
    }

    #[test]
    fn chains_stars_and_loners() {
        assert_eq!(
            of(4, &[TIED, APART, APART, TIED, APART, TIED]),
            [alloc::vec![1], alloc::vec![1, 2], alloc::vec![2, 3], alloc::vec![3]]
        );
        assert_eq!(of(3, &[APART, APART, APART]), [alloc::vec![1], alloc::vec![2], alloc::vec![3]]);
        assert_eq!(of(3, &[TIED, TIED, TIED]), [alloc::vec![1], alloc::vec![1], alloc::vec![1]]);
        // The first is tied with each of the others, which all differ.
        assert_eq!(of(3, &[TIED, TIED, APART]), [alloc::vec![1, 2], alloc::vec![1], alloc::vec![2]]);
        assert_eq!((of(0, &[]).len(), of(1, &[])), (0, alloc::vec![alloc::vec![]]));
    }

    #[test]
    fn too_few_shared_tasks_are_no_tie_and_no_difference() {
        assert_eq!(of(3, &[FEW, FEW, FEW]), [const { Vec::<u32>::new() }; 3]);
        assert_eq!(of(3, &[TIED, FEW, FEW]), [alloc::vec![1], alloc::vec![1], alloc::vec![]]);
        assert_eq!(of(3, &[FEW, TIED, TIED]), [alloc::vec![1], alloc::vec![2], alloc::vec![1, 2]]);
        assert_eq!(of(3, &[FEW, APART, APART]), [alloc::vec![1], alloc::vec![2], alloc::vec![3]]);
    }

    #[test]
    fn many_ties_with_few_gaps_stay_few_letters() {
        // Each differs from its neighbour alone: of forty there are 2^20 largest sets.
        let pairs = (0..40)
            .flat_map(|a| (a + 1..40).map(move |b| if a % 2 == 0 && b == a + 1 { APART } else { TIED }));
        let found = Letters::new(&Verdicts::of_known(40, pairs));
        assert!(found.count <= 20, "{}", found.count);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn two_share_a_letter_exactly_if_they_cannot_be_told_apart(
            count in 0usize..50,
            kinds in prop::collection::vec(0u8..10, 1225),
            ties in 0u8..10,
        ) {
            let kind = |it: &u8| if *it < ties { TIED } else if *it < 9 { APART } else { FEW };
            let verdicts = Verdicts::of_known(count, kinds.iter().map(kind));
            let found = Letters::new(&verdicts);
            prop_assert_eq!(found.of_subjects.len(), count);
            let mut sizes = alloc::vec![0; found.count as usize];
            for (first, own) in found.of_subjects.iter().enumerate() {
                prop_assert!(own.is_sorted_by(|a, b| a < b));
                own.iter().for_each(|letter| sizes[*letter as usize - 1] += 1);
                for second in 0..count {
                    let shares = own.iter().any(|letter| found.of_subjects[second].contains(letter));
                    if first != second {
                        prop_assert_eq!(shares, verdicts.between(first, second) == TIED);
                    }
                }
                let is_compared = (0..count).any(|it| it != first && verdicts.between(first, it) != FEW);
                prop_assert_eq!(own.is_empty(), !is_compared);
            }
            prop_assert!(sizes.iter().all(|size| *size > 0), "every letter is used");
            // No letter is superfluous: without it a tied pair, or a subject, would have none in common.
            for letter in 1..=found.count {
                let members: Vec<usize> =
                    (0..count).filter(|it| found.of_subjects[*it].contains(&letter)).collect();
                let both = |a: usize, b: usize| {
                    found.of_subjects[a].iter().filter(|it| found.of_subjects[b].contains(it)).count()
                };
                let is_needed = members.len() == 1
                    || members.iter().any(|a| members.iter().any(|b| a < b && both(*a, *b) == 1));
                prop_assert!(is_needed);
            }
        }
    }
}
