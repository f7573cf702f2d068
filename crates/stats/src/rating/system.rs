//! The interface of every online rating system, and matches applied one after another.

use alloc::vec::Vec;
use core::fmt;

use super::bounds::OutOfRange;
use super::outcome::{Match, Outcome};

/// A rating system: its settings are its fields, ratings go in and come out.
///
/// With settings that [`System::settings_outside`] passes and ratings that [`System::rating_outside`] passes, every
/// rating that comes out is made of finite numbers and passes again.
pub trait System {
    /// The rating of a competitor.
    type Rating: Copy + PartialEq + fmt::Debug;

    /// Returns the settings that are outside their range; none if the system can be used.
    fn settings_outside(&self) -> Vec<OutOfRange>;

    /// Returns the parts of a stored rating that are outside their range.
    fn rating_outside(&self, rating: &Self::Rating) -> Vec<OutOfRange>;

    /// Returns the rating of a competitor that has played no match.
    fn initial(&self) -> Self::Rating;

    /// Returns the number by which competitors are ordered, in points of the system.
    fn points(&self, rating: &Self::Rating) -> f64;

    /// Returns the standard deviation of [`System::points`], in points; none if the system keeps none.
    fn deviation(&self, rating: &Self::Rating) -> Option<f64>;

    /// Returns the score expected of `first` against `second`, 0 to 1, where a draw counts half.
    fn expected(&self, first: &Self::Rating, second: &Self::Rating) -> f64;

    /// Returns both ratings after a match.
    fn update(
        &self,
        first: &Self::Rating,
        second: &Self::Rating,
        outcome: Outcome,
    ) -> (Self::Rating, Self::Rating);
}

/// The reason why a match of a list cannot be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "match {place}: competitor {} meets competitor {}, expected two different places below {competitors}",
    .found.first,
    .found.second
)]
pub struct MatchError {
    /// Place of the match in the list, from 0.
    pub place: usize,
    /// The match.
    pub found: Match,
    /// Number of competitors.
    pub competitors: usize,
}

/// Applies `matches` in their order to `ratings`, each match from the ratings that the ones before it left.
///
/// # Errors
/// If a match names a competitor that `ratings` lacks, or one twice: [`MatchError`]. No rating has been moved then.
pub fn rate<S: System>(system: &S, ratings: &mut [S::Rating], matches: &[Match]) -> Result<(), MatchError> {
    each(system, ratings, matches, |_, _| ())
}

/// Does what [`rate`] does, and returns for every match the score that was expected of the first competitor before it.
///
/// # Errors
/// If [`rate`] fails.
pub fn predict<S: System>(
    system: &S,
    ratings: &mut [S::Rating],
    matches: &[Match],
) -> Result<Vec<f64>, MatchError> {
    let mut expected = Vec::with_capacity(matches.len());
    each(system, ratings, matches, |first, second| expected.push(system.expected(first, second)))?;
    Ok(expected)
}

fn each<S: System>(
    system: &S,
    ratings: &mut [S::Rating],
    matches: &[Match],
    mut watch: impl FnMut(&S::Rating, &S::Rating),
) -> Result<(), MatchError> {
    check(matches, ratings.len())?;
    for found in matches {
        let (first, second) = (found.first as usize, found.second as usize);
        if let (Some(before), Some(other)) = (ratings.get(first), ratings.get(second)) {
            watch(before, other);
            let (after, other_after) = system.update(before, other, found.outcome);
            if let Some(rating) = ratings.get_mut(first) {
                *rating = after;
            }
            if let Some(rating) = ratings.get_mut(second) {
                *rating = other_after;
            }
        }
    }
    Ok(())
}

/// Refuses a match whose competitors are not two different indices below `competitors`.
pub(super) fn check(matches: &[Match], competitors: usize) -> Result<(), MatchError> {
    let wrong =
        |found: &Match| found.first == found.second || found.first.max(found.second) as usize >= competitors;
    match matches.iter().position(wrong).and_then(|place| Some((place, *matches.get(place)?))) {
        Some((place, found)) => Err(MatchError { place, found, competitors }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rating::Elo;
    use alloc::string::ToString;

    #[test]
    fn a_match_of_nobody_moves_nothing() {
        let elo = Elo::default();
        let fine = Match { first: 0, second: 1, outcome: Outcome::Win };
        for wrong in [Match { second: 2, ..fine }, Match { second: 0, ..fine }] {
            let mut ratings = [elo.initial(); 2];
            let error = rate(&elo, &mut ratings, &[fine, wrong]).unwrap_err();
            assert_eq!((error.place, ratings), (1, [elo.initial(); 2]));
            assert!(error.to_string().contains("expected two different places below 2"), "{error}");
        }
    }

    #[test]
    fn expectations_are_those_before_the_match() {
        let elo = Elo::default();
        let win = Match { first: 0, second: 1, outcome: Outcome::Win };
        let expected = predict(&elo, &mut [elo.initial(); 2], &[win, win]).unwrap();
        assert_eq!(expected[0], 0.5);
        assert!(expected[1] > 0.5);
    }
}
