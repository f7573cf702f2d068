//! A league: the ratings of all players between two matches, as a value that can be written and read back.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::drift::Drift;
use super::season::{Applied, Event, EventError, Season};
use super::system::{MatchError, System, rate};

/// The result of one match: the expected score, and the two ratings after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Meeting<R> {
    /// The score that was expected of the first competitor before the match, 0 to 1.
    pub expected: f64,
    /// The first competitor's rating after the match.
    pub first: R,
    /// The second competitor's rating after the match.
    pub second: R,
}

/// The ratings of all players, and the last match that counted.
#[derive(Debug, Clone, PartialEq)]
pub struct League<R> {
    /// The ratings by name.
    pub competitors: BTreeMap<String, R>,
    /// The last match that counted; none before the first.
    pub last: Option<Applied>,
    /// Number of matches that have counted.
    pub matches: u64,
}

impl<R> Default for League<R> {
    /// Returns a league before its first match.
    fn default() -> Self {
        Self { competitors: BTreeMap::new(), last: None, matches: 0 }
    }
}

/// The reason why a match does not count. The league stays as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeagueError {
    /// It is not a match by itself.
    #[error(transparent)]
    Event(EventError),
    /// A match of a season names a competitor that the season has not.
    #[error(transparent)]
    Match(MatchError),
    /// It lies before a match that has counted, or is that match again.
    #[error("{}", out_of_order(found, last))]
    OutOfOrder {
        /// The match.
        found: Applied,
        /// The last match that counted.
        last: Applied,
    },
}

fn out_of_order(found: &Applied, last: &Applied) -> String {
    if found == last {
        return format!("match `{}` has counted already, expected each match once", found.id);
    }
    format!(
        "match `{}` of {} ms lies before match `{}` of {} ms, which has counted, expected matches by time, then by id; rate the \
         whole season again to put it in its place",
        found.id, found.at_milliseconds, last.id, last.at_milliseconds
    )
}

impl<R: Copy> League<R> {
    /// Returns the league after one match, and the change. A player that is not known yet enters with the system's initial
    /// rating. Matches must come by time, and at one time by id.
    ///
    /// # Errors
    /// If the match does not count: the second value is a [`LeagueError`], and the league is unchanged.
    pub fn next<S: System<Rating = R>>(
        mut self,
        system: &S,
        event: &Event<'_>,
    ) -> (Self, Result<Meeting<R>, LeagueError>) {
        if let Some(error) = event.problem() {
            return (self, Err(LeagueError::Event(error)));
        }
        let found = Applied::from(event);
        if let Err(error) = self.follows(&found) {
            return (self, Err(error));
        }
        let rating = |name: &str| self.competitors.get(name).copied().unwrap_or_else(|| system.initial());
        let (first, second) = (rating(event.first), rating(event.second));
        let expected = system.expected(&first, &second);
        let (first, second) = system.update(&first, &second, event.outcome);
        self.competitors.insert(event.first.to_owned(), first);
        self.competitors.insert(event.second.to_owned(), second);
        self.last = Some(found);
        self.matches += 1;
        (self, Ok(Meeting { expected, first, second }))
    }

    /// Returns the league after a whole season, and the change of the mean over all its players. The ratings are, bit
    /// for bit, those of [`League::next`] match by match.
    ///
    /// # Errors
    /// If the season begins before the league's last match, or names a competitor that the league lacks: the second
    /// value is a [`LeagueError`], and the league is unchanged.
    pub fn play<S: System<Rating = R>>(
        mut self,
        system: &S,
        season: &Season,
    ) -> (Self, Result<Drift, LeagueError>) {
        if let Err(error) = self.follows(&season.first) {
            return (self, Err(error));
        }
        let rating = |name: &String| self.competitors.get(name).copied().unwrap_or_else(|| system.initial());
        let mut ratings: Vec<R> = season.names.iter().map(rating).collect();
        let newcomers = ratings.clone();
        if let Err(error) = rate(system, &mut ratings, &season.matches) {
            return (self, Err(LeagueError::Match(error)));
        }
        self.competitors.extend(season.names.iter().cloned().zip(newcomers));
        let before: Vec<R> = self.competitors.values().copied().collect();
        self.competitors.extend(season.names.iter().cloned().zip(ratings));
        let after: Vec<R> = self.competitors.values().copied().collect();
        self.last = Some(season.last.clone());
        self.matches += season.matches.len() as u64;
        (self, Ok(Drift::between(system, &before, &after)))
    }

    fn follows(&self, found: &Applied) -> Result<(), LeagueError> {
        match &self.last {
            Some(last) if found <= last => {
                Err(LeagueError::OutOfOrder { found: found.clone(), last: last.clone() })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rating::{Elo, Glicko2, Outcome, WengLin};
    use alloc::string::ToString;
    use proptest::prelude::*;

    fn event<'a>(id: &'a str, at_milliseconds: i64, first: &'a str, second: &'a str) -> Event<'a> {
        Event { id, at_milliseconds, first, second, outcome: Outcome::Win }
    }

    #[test]
    fn a_match_out_of_order_leaves_the_league_as_it_was() {
        let elo = Elo::ARENA;
        let (league, _) = League::default().next(&elo, &event("m5", 10, "a", "b"));
        let wrong = [
            (event("m1", 9, "a", "b"), "lies before match `m5` of 10 ms"),
            (event("m4", 10, "a", "b"), "lies before match `m5` of 10 ms"),
            (event("m5", 10, "a", "b"), "match `m5` has counted already"),
            (event("m6", 11, "b", "b"), "`b` meets `b`"),
        ];
        for (event, told) in wrong {
            let (after, result) = league.clone().next(&elo, &event);
            let error = result.unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
            assert_eq!(after, league);
        }
        let late = Season::new(&[event("m1", 9, "a", "b"), event("m7", 12, "a", "b")]).unwrap();
        let (after, result) = league.clone().play(&elo, &late);
        assert!(matches!(result, Err(LeagueError::OutOfOrder { .. })));
        assert_eq!(after, league);
        let (league, _) = league.next(&elo, &event("m50", 10, "a", "b"));
        assert_eq!(league.matches, 2);
    }

    #[test]
    fn a_season_of_strangers_is_refused() {
        let mut season = Season::new(&[event("m1", 9, "a", "b")]).unwrap();
        season.names.pop();
        let (league, result) = League::default().play(&Elo::ARENA, &season);
        assert!(matches!(result, Err(LeagueError::Match(_))));
        assert_eq!(league, League::default());
    }

    fn season_is_match_by_match<S: System>(system: &S, games: &[(u8, u8, i64, u8)]) {
        let ids: Vec<String> = (0..games.len()).map(|id| alloc::format!("m{id}")).collect();
        let names = ["a", "b", "c", "d", "e"];
        let outcomes = [Outcome::Win, Outcome::Draw, Outcome::Loss];
        let events: Vec<Event<'_>> = ids
            .iter()
            .zip(games)
            .map(|(id, &(first, step, at_milliseconds, outcome))| Event {
                id,
                at_milliseconds,
                first: names[usize::from(first)],
                second: names[usize::from((first + step) % 5)],
                outcome: outcomes[usize::from(outcome)],
            })
            .collect();
        let season = Season::new(&events).unwrap();
        let (whole, drift) = League::default().play(system, &season);
        assert_eq!(drift.unwrap().competitors, whole.competitors.len());
        let step = |league: League<S::Rating>, &place: &usize| {
            let (league, result) = league.next(system, &events[place]);
            assert!(result.is_ok());
            league
        };
        let steps = season.places.iter().fold(League::default(), step);
        assert_eq!(whole, steps);
    }

    proptest! {
        #[test]
        fn a_season_equals_its_matches_one_by_one(
            games in prop::collection::vec((0u8..5, 1u8..5, 0i64..4, 0u8..3), 1..40),
        ) {
            season_is_match_by_match(&Elo::ARENA, &games);
            season_is_match_by_match(&Glicko2::default(), &games);
            season_is_match_by_match(&WengLin::default(), &games);
        }
    }
}
