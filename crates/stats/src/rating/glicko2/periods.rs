//! Glicko-2 in rating periods: all matches of a period at once, from the ratings at its beginning.

use alloc::vec::Vec;

use super::{Glicko2, Glicko2Rating};
use crate::rating::outcome::Outcome;
use crate::rating::season::Season;
use crate::rating::system::{MatchError, System, check};

/// A competitor's rating and the period at whose end it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seat {
    /// The rating.
    pub rating: Glicko2Rating,
    /// The last period with a match: a number of whole periods since 1970-01-01T00:00:00Z. None before the first match.
    pub period: Option<i64>,
}

impl Seat {
    /// Returns the rating when `period` begins, grown uncertain over the periods without a match.
    pub fn at(&self, system: &Glicko2, period: i64) -> Glicko2Rating {
        let idle = self.period.map_or(0, |last| period.saturating_sub(last).saturating_sub(1));
        if idle > 0 { system.rested(&self.rating, idle as f64) } else { self.rating }
    }
}

/// The reason why matches cannot be rated in periods. No seat has been changed then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PeriodError {
    /// A period must last at least a millisecond.
    #[error("a rating period lasts `{found}` ms, expected 1 or more")]
    Length {
        /// The length given, in milliseconds.
        found: i64,
    },
    /// A match names a seat that is not there.
    #[error(transparent)]
    Match(MatchError),
    /// The season begins in a period that has been rated: a period is rated once, with all its matches.
    #[error(
        "the season begins in period {found}, but period {last} has been rated, expected only later ones; rate \
                 whole periods, each with all its matches"
    )]
    Rated {
        /// The first period of the season.
        found: i64,
        /// The last period that has been rated.
        last: i64,
    },
}

impl Glicko2 {
    /// Returns a seat for a newcomer.
    pub fn seat(&self) -> Seat {
        Seat { rating: self.initial(), period: None }
    }

    /// Rates a season in periods of `period_milliseconds`, counted from 1970-01-01T00:00:00Z. `seats` holds all players in
    /// the order of the season's names. Periods without a match cost nothing, however many they are.
    ///
    /// # Errors
    /// If a period cannot be rated: [`PeriodError`], with `seats` unchanged.
    pub fn rate_periods(
        &self,
        seats: &mut [Seat],
        season: &Season,
        period_milliseconds: i64,
    ) -> Result<(), PeriodError> {
        if period_milliseconds < 1 {
            return Err(PeriodError::Length { found: period_milliseconds });
        }
        check(&season.matches, seats.len()).map_err(PeriodError::Match)?;
        let period_of = |at_milliseconds: i64| at_milliseconds.div_euclid(period_milliseconds);
        let found = season.at_milliseconds.first().copied().map(period_of);
        let last = seats.iter().filter_map(|seat| seat.period).max();
        if let (Some(found), Some(last)) = (found, last)
            && found <= last
        {
            return Err(PeriodError::Rated { found, last });
        }
        let mut rest = season.at_milliseconds.iter().copied().map(period_of).zip(&season.matches).peekable();
        let mut sides: Vec<(u32, u32, Outcome)> = Vec::new();
        while let Some(&(period, _)) = rest.peek() {
            sides.clear();
            while let Some((_, found)) = rest.next_if(|&(other, _)| other == period) {
                sides.push((found.first, found.second, found.outcome));
                sides.push((found.second, found.first, found.outcome.opposite()));
            }
            self.rate_period(seats, period, &mut sides);
        }
        Ok(())
    }

    /// Rates one period; a side is a competitor, an opponent and what the competitor achieved.
    fn rate_period(&self, seats: &mut [Seat], period: i64, sides: &mut [(u32, u32, Outcome)]) {
        // Stable: a competitor's matches stay in the order of the season, in which they are summed.
        sides.sort_by_key(|&(competitor, ..)| competitor);
        let mut after: Vec<(u32, Glicko2Rating)> = Vec::new();
        let mut matches = Vec::new();
        let start = |competitor: u32| seats.get(competitor as usize).map(|seat| seat.at(self, period));
        for side in sides.chunk_by(|(one, ..), (other, ..)| one == other) {
            let Some(&(competitor, ..)) = side.first() else { continue };
            matches.clear();
            matches
                .extend(side.iter().filter_map(|&(_, opponent, outcome)| Some((start(opponent)?, outcome))));
            after.extend(start(competitor).map(|rating| (competitor, self.period(&rating, &matches))));
        }
        for (competitor, rating) in after {
            if let Some(seat) = seats.get_mut(competitor as usize) {
                *seat = Seat { rating, period: Some(period) };
            }
        }
    }
}
