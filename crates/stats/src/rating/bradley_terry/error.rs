//! The reason why matches have no strengths, in words that say what to fix.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::counts::{Counts, PairCount};
use super::graph;

/// The most names that are written out; the rest is counted.
const NAMED: usize = 10;

/// Comparisons that do not hold together: between some groups no match, or none that the weaker one scored in, says how
/// far apart they are. The likelihood has no maximum then (Ford 1957): it grows while they drift apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Separation {
    /// Competitors without a match.
    pub without_match: Vec<String>,
    /// Competitors that won every match.
    pub only_won: Vec<String>,
    /// Competitors that lost every match.
    pub only_lost: Vec<String>,
    /// The groups whose members are comparable, the strongest first: no group has scored against one before it.
    pub groups: Vec<Vec<String>>,
}

impl Separation {
    /// Finds the separation; `None` if all competitors are comparable with each other.
    pub(super) fn find(counts: &Counts) -> Option<Self> {
        let mut groups = graph::components(&counts.pairs, counts.names.len());
        if groups.len() < 2 {
            return None;
        }
        groups.reverse();
        let mut scored = alloc::vec![(false, false); counts.names.len()];
        for pair in &counts.pairs {
            let &PairCount { first, second, wins, draws, losses } = pair;
            for (place, gained, lost) in
                [(first, wins + draws, losses + draws), (second, losses + draws, wins + draws)]
            {
                if let Some((has_gained, has_lost)) = scored.get_mut(place as usize) {
                    *has_gained |= gained > 0;
                    *has_lost |= lost > 0;
                }
            }
        }
        let who = |wanted: (bool, bool)| {
            let found = counts.names.iter().zip(&scored).filter(|&(_, &had)| had == wanted);
            found.map(|(name, _)| name.clone()).collect()
        };
        let names = |group: &Vec<u32>| {
            group.iter().filter_map(|&place| counts.names.get(place as usize).cloned()).collect()
        };
        Some(Self {
            without_match: who((false, false)),
            only_won: who((true, false)),
            only_lost: who((false, true)),
            groups: groups.iter().map(names).collect(),
        })
    }
}

impl fmt::Display for Separation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the comparisons do not hold together")?;
        let told = [
            (&self.without_match, "without a match"),
            (&self.only_won, "never lost a point"),
            (&self.only_lost, "never won a point"),
        ];
        for (names, what) in told.into_iter().filter(|(names, _)| !names.is_empty()) {
            write!(f, "; {what}: ")?;
            list(f, names)?;
        }
        let largest = self.groups.iter().map(Vec::len).max().unwrap_or(0);
        for group in self.groups.iter().filter(|group| group.len() > 1).take(NAMED) {
            f.write_str("; comparable with each other: ")?;
            list(f, group)?;
        }
        write!(
            f,
            "; expected that every competitor scored against every other, directly or through others; add matches \
             between the groups, or rate one of them alone (the largest has {largest} of {} competitors)",
            self.groups.iter().map(Vec::len).sum::<usize>()
        )
    }
}

fn list(f: &mut fmt::Formatter<'_>, names: &[String]) -> fmt::Result {
    for (place, name) in names.iter().take(NAMED).enumerate() {
        write!(f, "{}`{name}`", if place == 0 { "" } else { ", " })?;
    }
    if names.len() > NAMED {
        write!(f, " and {} more", names.len() - NAMED)?;
    }
    Ok(())
}

/// The reason why there is no fit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FitError {
    /// Strengths are differences: one competitor has none.
    #[error("there are {found} competitors, expected at least 2")]
    TooFewCompetitors {
        /// Number of competitors given.
        found: usize,
    },
    /// There is no match.
    #[error("there is no match, expected at least one")]
    NoMatch,
    /// A pair is not two indices of the list, the lower first.
    #[error("pair {place} is of competitors {} and {}, expected two different places of the list, the lower first", .found.first, .found.second)]
    Pair {
        /// Place of the pair among the pairs.
        place: usize,
        /// The pair.
        found: PairCount,
    },
    /// More matches than [`Counts::MOST`].
    #[error("there are {found} matches, expected at most {}", Counts::MOST)]
    TooManyMatches {
        /// Number of competitors given.
        found: u64,
    },
    /// Every match was drawn, so competitors cannot be separated.
    #[error(
        "all {matches} matches were drawn, so the competitors cannot be separated; expected at least one win"
    )]
    AllDrawn {
        /// Number of matches.
        matches: u64,
    },
    /// The prior has no width, or none that a double can hold.
    #[error("the deviation of the prior is `{deviation}` logits, expected a number above 0")]
    Prior {
        /// Its deviation, in logits.
        deviation: f64,
    },
    /// Some competitors cannot be compared with others.
    #[error("{0}")]
    Separated(Separation),
    /// The search did not end.
    #[error(
        "after {steps} steps the strengths still moved by {last_step}; the comparisons hold together by too few \
                 matches, add some between competitors of different strength"
    )]
    NotConverged {
        /// Steps taken.
        steps: u32,
        /// The largest move of a strength in the last step, in logits.
        last_step: f64,
    },
}
