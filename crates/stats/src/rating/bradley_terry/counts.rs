//! Matches counted by pair: whole numbers, the same in any order of rows.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::graph;
use crate::rating::outcome::{Match, Outcome};
use crate::rating::system::{MatchError, check};

/// The matches between two competitors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairCount {
    /// Place of the first competitor, from 0: below the second's.
    pub first: u32,
    /// Place of the second competitor.
    pub second: u32,
    /// Matches that the first won.
    pub wins: u64,
    /// Matches that neither won.
    pub draws: u64,
    /// Matches that the second won.
    pub losses: u64,
}

impl PairCount {
    /// Returns all matches of the pair; the largest number if there are more than that.
    pub const fn matches(&self) -> u64 {
        self.wins.saturating_add(self.draws).saturating_add(self.losses)
    }
}

/// Counts of the matches by pair and outcome: all that the model needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    /// The competitors. Pairs have indices into this list.
    pub names: Vec<String>,
    /// The pairs that have met, by their indices.
    pub pairs: Vec<PairCount>,
}

/// The reason why matches cannot be counted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CountsError {
    /// A match names a competitor that is not there, or one twice.
    #[error(transparent)]
    Match(MatchError),
    /// More matches than [`Counts::MOST`].
    #[error("there are {found} matches, expected at most {}", Counts::MOST)]
    TooManyMatches {
        /// Number of matches given.
        found: u64,
    },
    /// Two competitors have one name.
    #[error("two competitors are called `{name}`, expected different names")]
    TwoOfOneName {
        /// The name.
        name: String,
    },
}

/// The most cells for every match at which a table of cells for all pairs is used.
const CELLS_PER_MATCH: usize = 4;

impl Counts {
    /// The most matches that are counted.
    pub const MOST: u64 = u32::MAX as u64;

    /// Counts `matches` between the competitors called `names`, in any order.
    ///
    /// # Errors
    /// If a match is against oneself or of an unknown competitor, or a name is given twice: [`CountsError`].
    pub fn new(names: &[String], matches: &[Match]) -> Result<Self, CountsError> {
        check(matches, names.len()).map_err(CountsError::Match)?;
        if matches.len() as u64 > Self::MOST {
            return Err(CountsError::TooManyMatches { found: matches.len() as u64 });
        }
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        if let Some([name, _]) =
            sorted.windows(2).find(|pair| pair.first() == pair.last()).and_then(<[_]>::as_array)
        {
            return Err(CountsError::TwoOfOneName { name: name.as_str().to_owned() });
        }
        let cells = names.len().saturating_mul(names.len()).saturating_mul(3);
        let few = cells / CELLS_PER_MATCH <= matches.len();
        let pairs = if few { by_table(matches, names.len()) } else { by_order(matches) };
        Ok(Self { names: names.to_vec(), pairs })
    }

    /// Returns how many matches there are; the largest number if there are more than that.
    pub fn matches(&self) -> u64 {
        self.pairs.iter().fold(0, |sum, pair| sum.saturating_add(pair.matches()))
    }

    /// Returns the matches among the competitors with these indices alone, such as one group of a [`Separation`].
    ///
    /// Places that are not there, or there twice, are passed over.
    ///
    /// [`Separation`]: super::Separation
    pub fn among(&self, places: &[u32]) -> Self {
        let mut places = places.to_vec();
        places.retain(|&place| (place as usize) < self.names.len());
        places.sort_unstable();
        places.dedup();
        let place_of = |old: u32| places.binary_search(&old).ok().map(|new| new as u32);
        let pair = |pair: &PairCount| {
            Some(PairCount { first: place_of(pair.first)?, second: place_of(pair.second)?, ..*pair })
        };
        Self {
            names: places.iter().filter_map(|&old| self.names.get(old as usize).cloned()).collect(),
            pairs: self.pairs.iter().filter_map(pair).collect(),
        }
    }

    /// Returns the parts that no match connects, as indices in their order. A prior alone compares them with each other.
    pub fn parts(&self) -> Vec<Vec<u32>> {
        graph::parts(&self.pairs, self.names.len())
    }

    /// Returns the groups whose members are comparable with each other, as indices, the largest first.
    pub fn groups(&self) -> Vec<Vec<u32>> {
        let mut groups = graph::components(&self.pairs, self.names.len());
        groups.sort_by_key(|group| core::cmp::Reverse(group.len()));
        groups
    }
}

/// Counts in a table with three cells for every ordered pair. There are at most [`Counts::MOST`] matches.
fn by_table(matches: &[Match], competitors: usize) -> Vec<PairCount> {
    let mut table = vec![[0u32; 3]; competitors * competitors];
    for found in matches {
        let cell = table.get_mut(found.first as usize * competitors + found.second as usize);
        if let Some(count) = cell.and_then(|cell| cell.get_mut(found.outcome as usize)) {
            *count += 1;
        }
    }
    let cell = |one: usize, other: usize| {
        table.get(one * competitors + other).copied().unwrap_or_default().map(u64::from)
    };
    let pair = |first: usize, second: usize| {
        let ([wins, draws, losses], [lost, drawn, won]) = (cell(first, second), cell(second, first));
        let (wins, draws, losses) = (wins + won, draws + drawn, losses + lost);
        PairCount { first: first as u32, second: second as u32, wins, draws, losses }
    };
    let pairs =
        (0..competitors).flat_map(|first| (first + 1..competitors).map(move |second| (first, second)));
    pairs.map(|(first, second)| pair(first, second)).filter(|pair| pair.matches() > 0).collect()
}

/// Counts by sorting.
fn by_order(matches: &[Match]) -> Vec<PairCount> {
    let single = |found: &Match| {
        let (first, second, outcome) = if found.first < found.second {
            (found.first, found.second, found.outcome)
        } else {
            (found.second, found.first, found.outcome.opposite())
        };
        let one = |which| u64::from(outcome == which);
        let (wins, draws, losses) = (one(Outcome::Win), one(Outcome::Draw), one(Outcome::Loss));
        PairCount { first, second, wins, draws, losses }
    };
    let mut pairs: Vec<PairCount> = matches.iter().map(single).collect();
    pairs.sort_unstable_by_key(|pair| (pair.first, pair.second));
    pairs.dedup_by(|next, kept| {
        let same = (next.first, next.second) == (kept.first, kept.second);
        if same {
            kept.wins += next.wins;
            kept.draws += next.draws;
            kept.losses += next.losses;
        }
        same
    });
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|at| at.to_string()).collect()
    }

    #[test]
    fn matches_of_nobody_and_names_of_two_are_refused() {
        let oneself = Match { first: 1, second: 1, outcome: Outcome::Win };
        assert!(matches!(Counts::new(&names(2), &[oneself]), Err(CountsError::Match(_))));
        let twice = ["a", "b", "a"].map(String::from);
        let error = Counts::new(&twice, &[]).unwrap_err().to_string();
        assert_eq!(error, "two competitors are called `a`, expected different names");
    }

    #[test]
    fn a_part_of_the_league_keeps_its_matches() {
        let found = |first, second, outcome| Match { first, second, outcome };
        let matches = [
            found(0, 1, Outcome::Win),
            found(1, 0, Outcome::Win),
            found(3, 1, Outcome::Draw),
            found(2, 3, Outcome::Loss),
        ];
        let counts = Counts::new(&names(4), &matches).unwrap();
        let part = counts.among(&[3, 1, 1, 9]);
        assert_eq!((part.names.as_slice(), part.matches()), (["1", "3"].map(String::from).as_slice(), 1));
        assert_eq!(part.pairs, [PairCount { first: 0, second: 1, wins: 0, draws: 1, losses: 0 }]);
        assert_eq!(counts.groups(), [vec![0, 1, 3], vec![2]]);
    }

    proptest! {
        #[test]
        fn both_ways_of_counting_agree_in_any_order(
            rows in prop::collection::vec((0u32..6, 1u32..6, 0usize..3), 0..200),
            turn in any::<prop::sample::Index>(),
        ) {
            let outcomes = [Outcome::Win, Outcome::Draw, Outcome::Loss];
            let mut matches: Vec<_> = rows
                .iter()
                .map(|&(first, step, outcome)| Match { first, second: (first + step) % 6, outcome: outcomes[outcome] })
                .collect();
            let table = by_table(&matches, 6);
            prop_assert_eq!(&table, &by_order(&matches));
            prop_assert_eq!(table.iter().map(PairCount::matches).sum::<u64>(), matches.len() as u64);
            let turn = turn.index(matches.len().max(1));
            matches.rotate_left(turn);
            for found in matches.iter_mut().step_by(2) {
                *found = Match { first: found.second, second: found.first, outcome: found.outcome.opposite() };
            }
            prop_assert_eq!(&table, &by_table(&matches, 6));
        }
    }
}
