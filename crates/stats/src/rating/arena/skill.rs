//! The skill of an agent at challenges under Glicko-2: how strong it is, and how sure that is.
//!
//! Beside the Elo of the arena document, which knows no uncertainty and counts the fortieth win at one challenge like the
//! first. The opponent is the challenge: its points follow from its difficulty, as there, and do not move.

use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeMap;
use alloc::string::String;

use crate::rating::glicko2::{Glicko2, Glicko2Rating, WeightedMatch};
use crate::rating::outcome::Outcome;
use crate::rating::system::System as _;

/// The rules of rating a skill. The default follows the arena.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SkillRules {
    /// The system.
    pub glicko2: Glicko2,
    /// Deviation of the rating of a challenge, in points.
    pub opponent_deviation: f64,
    /// The length of a period, in milliseconds: without matches the variance grows by the squared volatility in each.
    pub period_milliseconds: i64,
    /// The deviation above which a rating is provisional, in points.
    pub provisional_above: f64,
}

impl Default for SkillRules {
    /// Defaults to Glicko-2 from 1000 points, where the Elo of the arena begins, with the deviation 350, the volatility 0.06
    /// and tau 0.5 of the document of Glicko-2.
    ///
    /// A difficulty names a band of 200 points: a challenge lies anywhere in it, with a deviation of 200 / sqrt(12) = 58. In
    /// periods of five days a deviation of 60 grows to 110, from which on a rating is provisional, in 391 days without a
    /// match.
    fn default() -> Self {
        Self {
            glicko2: Glicko2 { initial_points: 1000.0, ..Glicko2::default() },
            opponent_deviation: 58.0,
            period_milliseconds: 5 * 24 * 3_600_000,
            provisional_above: 110.0,
        }
    }
}

/// The skill of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// The rating if every match counts in full.
    pub full: Glicko2Rating,
    /// The rating if the k-th match at the same challenge counts 1/k.
    pub discounted: Glicko2Rating,
    /// The number of matches at each challenge.
    pub matches: BTreeMap<String, u32>,
    /// The time of the last match, if it is known.
    pub last_milliseconds: Option<i64>,
}

/// A match that was played to its end. An expired one says nothing of skill.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Played<'a> {
    /// The name of the challenge.
    pub challenge: &'a str,
    /// The points of the challenge.
    pub opponent_points: f64,
    /// The outcome for the agent.
    pub outcome: Outcome,
    /// The time of its end, in milliseconds since 1970-01-01T00:00:00Z. If it is not known, no time passed.
    pub at_milliseconds: Option<i64>,
}

impl SkillRules {
    /// Returns the skill of an agent that has played no match.
    pub fn newcomer(&self) -> Skill {
        let rating = self.glicko2.initial();
        Skill { full: rating, discounted: rating, matches: BTreeMap::new(), last_milliseconds: None }
    }

    /// Returns the skill after a match: a period of that match alone, as long as the time since the last one.
    pub fn after(&self, skill: &Skill, played: &Played<'_>) -> Skill {
        let periods = played.at_milliseconds.map_or(0.0, |at| self.periods(skill, at));
        let mut after = skill.clone();
        let count = after.matches.entry(played.challenge.to_owned()).or_default();
        *count = count.saturating_add(1);
        let part = 1.0 / f64::from(*count);
        let moved = |rating: &Glicko2Rating, weight: f64| {
            let opponent = Glicko2Rating {
                points: played.opponent_points,
                deviation: self.opponent_deviation,
                volatility: self.glicko2.initial_volatility,
            };
            self.glicko2.weighted(
                rating,
                &[WeightedMatch { opponent, outcome: played.outcome, weight }],
                periods,
            )
        };
        after.full = moved(&skill.full, 1.0);
        after.discounted = moved(&skill.discounted, part);
        after.last_milliseconds = skill.last_milliseconds.max(played.at_milliseconds);
        after
    }

    /// Returns the skill as it is known at a time: without matches the deviations have grown since.
    pub fn at(&self, skill: &Skill, milliseconds: i64) -> Skill {
        let periods = self.periods(skill, milliseconds);
        let rested = |rating: &Glicko2Rating| self.glicko2.weighted(rating, &[], periods);
        let last_milliseconds = skill.last_milliseconds.map(|last| last.max(milliseconds));
        Skill {
            full: rested(&skill.full),
            discounted: rested(&skill.discounted),
            last_milliseconds,
            ..skill.clone()
        }
    }

    /// Returns true if a rating is too uncertain to compare by.
    pub fn is_provisional(&self, rating: &Glicko2Rating) -> bool {
        rating.deviation > self.provisional_above
    }

    /// Returns the periods since the last match; none before the first, and none if the clock was set back.
    fn periods(&self, skill: &Skill, milliseconds: i64) -> f64 {
        let passed = skill.last_milliseconds.map_or(0, |last| milliseconds.saturating_sub(last).max(0));
        passed as f64 / self.period_milliseconds.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const DAY: i64 = 24 * 3_600_000;

    fn played(challenge: &str, outcome: Outcome, day: i64) -> Played<'_> {
        Played { challenge, opponent_points: 1000.0, outcome, at_milliseconds: Some(day * DAY) }
    }

    fn career(games: &[Played<'_>]) -> Skill {
        let rules = SkillRules::default();
        games.iter().fold(rules.newcomer(), |skill, played| rules.after(&skill, played))
    }

    #[test]
    fn repeating_one_challenge_is_worth_far_less() {
        let rules = SkillRules::default();
        let same = career(&[played("maze", Outcome::Win, 0); 40]);
        let names: Vec<String> = (0..40).map(|at| alloc::format!("maze-{at}")).collect();
        let others: Vec<_> = names.iter().map(|name| played(name, Outcome::Win, 0)).collect();
        let other = career(&others);
        assert_eq!(other.full, other.discounted, "different challenges count in full");
        assert_eq!(same.full, other.full, "and without a discount it is all the same");
        let [full, discounted] = [same.full, same.discounted].map(|rating| rating.points - 1000.0);
        assert!(full > 500.0 && discounted < 0.6 * full, "{full} {discounted}");
        assert!(rules.is_provisional(&same.discounted), "{same:?}");
        assert!(same.discounted.deviation > same.full.deviation);
    }

    #[test]
    fn a_rating_is_provisional_until_there_are_enough_matches() {
        let rules = SkillRules::default();
        let names: Vec<String> = (0..60).map(|at| alloc::format!("maze-{at}")).collect();
        let mut skill = rules.newcomer();
        let mut last = f64::INFINITY;
        for (at, name) in names.iter().enumerate() {
            let outcome = [Outcome::Win, Outcome::Loss][at % 2];
            assert!(skill.full.deviation < last);
            assert!(at > 8 || rules.is_provisional(&skill.full), "after {at}");
            last = skill.full.deviation;
            skill = rules.after(&skill, &played(name, outcome, 0));
        }
        assert!(!rules.is_provisional(&skill.full), "{skill:?}");
        // After years without a match it is so again.
        let later = rules.at(&skill, 3 * 365 * DAY);
        assert!(rules.is_provisional(&later.full) && later.full.points == skill.full.points);
    }

    #[test]
    fn a_deviation_of_sixty_is_firm_for_a_year() {
        let rules = SkillRules::default();
        let rating = Glicko2Rating { deviation: 60.0, ..rules.glicko2.initial() };
        let skill = Skill { full: rating, last_milliseconds: Some(0), ..rules.newcomer() };
        let is_provisional = |day: i64| rules.is_provisional(&rules.at(&skill, day * DAY).full);
        assert_eq!([365, 390, 392].map(is_provisional), [false, false, true]);
    }

    #[test]
    fn a_clock_that_was_set_back_passes_no_time() {
        let rules = SkillRules::default();
        let skill = career(&[played("maze", Outcome::Win, 100)]);
        assert_eq!(rules.at(&skill, 0).full, skill.full);
        assert_eq!(rules.at(&skill, i64::MIN).last_milliseconds, skill.last_milliseconds);
        let early = rules.after(&skill, &played("maze", Outcome::Win, 1));
        assert_eq!(early.last_milliseconds, skill.last_milliseconds);
        assert_eq!(
            early.full,
            rules.after(&skill, &Played { at_milliseconds: None, ..played("maze", Outcome::Win, 0) }).full
        );
    }

    proptest! {
        #[test]
        fn matches_make_surer_and_time_makes_unsurer(
            games in prop::collection::vec((0..5usize, 0..3usize), 0..40), day in 0..5000i64,
        ) {
            let rules = SkillRules::default();
            let names = ["a", "b", "c", "d", "e"];
            let mut skill = rules.newcomer();
            for (name, outcome) in games {
                let outcome = [Outcome::Win, Outcome::Draw, Outcome::Loss][outcome];
                let next = rules.after(&skill, &played(names[name], outcome, 0));
                prop_assert!(next.full.deviation < skill.full.deviation);
                prop_assert!(next.discounted.deviation < skill.discounted.deviation);
                prop_assert!(next.full.deviation <= next.discounted.deviation);
                skill = next;
            }
            let later = rules.at(&skill, day * DAY);
            prop_assert!(later.full.deviation >= skill.full.deviation);
            prop_assert!(rules.at(&skill, (day + 1) * DAY).full.deviation >= later.full.deviation);
            prop_assert_eq!(later.full.points, skill.full.points);
        }
    }
}
