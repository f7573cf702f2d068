//! The distribution of points, and what happened at a challenge: the analytics of the arena document.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::attempts::MeanPoints;
use super::proportion::{Proportion, half_up};
use karat_core::number::Decimal;

/// Middle and spread of whole points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Number of there that are.
    pub count: u64,
    /// Their mean to one place, half up.
    pub mean: Decimal,
    /// The middle one; of an even number the mean of the two in the middle, half up.
    pub median: u32,
    /// The smallest value that a quarter do not exceed (nearest rank).
    pub first_quartile: u32,
    /// The smallest value that three quarters do not exceed (nearest rank).
    pub third_quartile: u32,
}

impl Summary {
    /// Sums up points, in any order; none without points.
    pub fn of(points: impl IntoIterator<Item = u32>) -> Option<Self> {
        let mut ordered: Vec<u32> = points.into_iter().collect();
        ordered.sort_unstable();
        let MeanPoints { sum, count } = MeanPoints::of(ordered.iter().copied());
        let upper = *ordered.get(ordered.len() / 2)?;
        let lower = *ordered.get((ordered.len() - 1) / 2)?;
        Some(Self {
            count,
            mean: half_up(i128::from(sum), i128::from(count), 1)?,
            median: lower + (upper - lower).div_ceil(2),
            first_quartile: nearest_rank(&ordered, 25)?,
            third_quartile: nearest_rank(&ordered, 75)?,
        })
    }

    /// Sums points up by what they belong to: the number of the attempt, a harness, a model, a day.
    pub fn by<K: Ord>(points: impl IntoIterator<Item = (K, u32)>) -> BTreeMap<K, Self> {
        let mut groups: BTreeMap<K, Vec<u32>> = BTreeMap::new();
        for (group, points) in points {
            groups.entry(group).or_default().push(points);
        }
        groups.into_iter().filter_map(|(group, points)| Some((group, Self::of(points)?))).collect()
    }
}

/// Returns the smallest of `ordered` that at least `percent` of a hundred do not exceed: Hyndman and Fan, "Sample
/// quantiles in statistical packages", The American Statistician 50 (1996), definition 1. None without points, or if
/// `percent` is above 100.
pub(crate) fn nearest_rank<T: Copy>(ordered: &[T], percent: u8) -> Option<T> {
    if percent > 100 {
        return None;
    }
    let rank = (ordered.len() as u128 * u128::from(percent)).div_ceil(100).max(1);
    usize::try_from(rank - 1).ok().and_then(|place| ordered.get(place).copied())
}

/// Returns the quantile of sorted values, interpolated: definition 7 of Hyndman and Fan (1996).
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share * sorted.len().saturating_sub(1) as f64;
    let below = libm::floor(position);
    let value = |at: f64| sorted.get(at as usize).or(sorted.last()).copied().unwrap_or(f64::NAN);
    let (low, high) = (value(below), value(below + 1.0));
    low + (position - below) * (high - low)
}

/// One attempt at a challenge, finished or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The how manieth attempt of its subject, from 1.
    pub attempt: u32,
    /// True if it was finished; nothing else of an attempt that was not is looked at.
    pub completed: bool,
    /// True if it was a win.
    pub won: bool,
    /// Whole points, if it was scored.
    pub points: Option<u32>,
    /// Seconds from start to submission, if they are known.
    pub duration_seconds: Option<Decimal>,
}

/// Statistics of the matches at a challenge.
#[derive(Debug, Clone, PartialEq)]
pub struct ChallengeStatistics {
    /// Finished attempts of all attempts.
    pub completion: Proportion,
    /// Wins of the finished attempts.
    pub wins: Proportion,
    /// The points of the finished attempts; none if none has any.
    pub points: Option<Summary>,
    /// The points by the number of the attempt.
    pub by_attempt: BTreeMap<u32, Summary>,
    /// The mean of the known durations of finished attempts to one place, half up; none if none is known.
    pub mean_duration_seconds: Option<Decimal>,
}

impl ChallengeStatistics {
    /// Counts attempts, given in any order.
    pub fn of(entries: &[Entry]) -> Self {
        let completed = || entries.iter().filter(|entry| entry.completed);
        let points = || completed().filter_map(|entry| Some((entry.attempt, entry.points?)));
        let durations = completed().filter_map(|entry| entry.duration_seconds);
        let (millionths, count) = durations.fold((0i128, 0i128), |(sum, count), duration| {
            (sum + i128::from(duration.millionths()), count + 1)
        });
        Self {
            completion: Proportion::of(entries.iter().map(|entry| entry.completed)),
            wins: Proportion::of(completed().map(|entry| entry.won)),
            points: Summary::of(points().map(|(_, points)| points)),
            by_attempt: Summary::by(points()),
            mean_duration_seconds: half_up(millionths, count * i128::from(karat_core::number::MILLION), 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_has_no_middle() {
        assert_eq!(Summary::of([]), None);
        let nothing = ChallengeStatistics::of(&[]);
        assert_eq!((nothing.completion.share(), nothing.wins.share()), (None, None));
        assert_eq!((nothing.points, nothing.mean_duration_seconds), (None, None));
        assert_eq!(nearest_rank(&[1], 101), None);
    }

    #[test]
    fn only_finished_attempts_are_looked_at() {
        let lapsed = Entry {
            attempt: 1,
            completed: false,
            won: true,
            points: Some(1000),
            duration_seconds: Some(Decimal::ONE),
        };
        let unscored = Entry { completed: true, won: false, points: None, ..lapsed };
        let statistics = ChallengeStatistics::of(&[lapsed, unscored]);
        assert_eq!(statistics.completion, Proportion::new(1, 2).unwrap());
        assert_eq!(statistics.wins, Proportion::new(0, 1).unwrap());
        assert_eq!(statistics.points, None);
        assert_eq!(statistics.mean_duration_seconds, Some(Decimal::ONE));
    }

    #[test]
    fn a_median_of_two_rounds_half_up_without_overflow() {
        assert_eq!(Summary::of([444, 405]).unwrap().median, 425);
        assert_eq!(Summary::of([u32::MAX, u32::MAX]).unwrap().median, u32::MAX);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_summary_is_in_order(points in prop::collection::vec(0u32..=1000, 1..50)) {
            let summary = Summary::of(points.iter().copied()).unwrap();
            let parts = [summary.first_quartile, summary.median, summary.third_quartile];
            prop_assert!(parts.is_sorted() && points.iter().min() <= parts.first() && parts.last() <= points.iter().max());
            let exceeding = points.iter().filter(|&&x| x > summary.third_quartile).count();
            prop_assert!(4 * exceeding <= points.len());
            prop_assert_eq!(summary.count, points.len() as u64);
        }
    }
}
