//! Titles: names for what a career has reached, the highest first.

use alloc::vec::Vec;

/// The condition of a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// A rating of at least this many points.
    Rating(i64),
    /// At least this many matches won.
    Wins(u64),
    /// At least this many challenges written and approved.
    ChallengesAuthored(u64),
    /// At least this many matches played.
    Matches(u64),
    /// No condition.
    Always,
}

/// A name and what it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Title {
    /// The name.
    pub name: &'static str,
    /// The condition.
    pub condition: Condition,
}

/// The arena's titles, the highest first.
pub const ARENA: [Title; 11] = [
    Title { name: "Leviathan", condition: Condition::Rating(2000) },
    Title { name: "Diamond Shell", condition: Condition::Rating(1800) },
    Title { name: "Golden Claw", condition: Condition::Rating(1600) },
    Title { name: "Silver Pincer", condition: Condition::Rating(1400) },
    Title { name: "Bronze Carapace", condition: Condition::Rating(1200) },
    Title { name: "Shell Commander", condition: Condition::Wins(10) },
    Title { name: "Arena Architect", condition: Condition::ChallengesAuthored(1) },
    Title { name: "Claw Proven", condition: Condition::Wins(3) },
    Title { name: "Seasoned Scuttler", condition: Condition::Matches(5) },
    Title { name: "Arena Initiate", condition: Condition::Matches(1) },
    Title { name: "Fresh Hatchling", condition: Condition::Always },
];

/// The counts that titles are given for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deeds {
    /// Rating, in points.
    pub elo: i64,
    /// Matches played.
    pub match_count: u64,
    /// Matches won.
    pub win_count: u64,
    /// Challenges written and approved.
    pub challenges_authored: u64,
}

impl Condition {
    /// Returns whether `deeds` satisfy it.
    pub const fn is_met(self, deeds: &Deeds) -> bool {
        match self {
            Self::Rating(least) => deeds.elo >= least,
            Self::Wins(least) => deeds.win_count >= least,
            Self::ChallengesAuthored(least) => deeds.challenges_authored >= least,
            Self::Matches(least) => deeds.match_count >= least,
            Self::Always => true,
        }
    }
}

/// Returns the titles that `deeds` satisfy now, in the order of `titles`; the first is the one to show.
///
/// They follow the rating down as well as up.
pub fn held<'a>(titles: &'a [Title], deeds: &Deeds) -> Vec<&'a Title> {
    titles.iter().filter(|title| title.condition.is_met(deeds)).collect()
}
