//! The score over a list of challenges: the tracks of the arena document.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;

use karat_core::number::{Decimal, MILLION};

/// How the best scores of a track become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrackMethod {
    /// Their sum.
    Sum,
    /// Their mean.
    Average,
    /// The lowest of them.
    Min,
}

/// Which challenges count for the mean and the lowest score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Members {
    /// Those with a best score: what the arena computes. Who attempts only what it is good at stands higher.
    Attempted,
    /// All of so many; one without a best score counts 0.
    All(usize),
}

/// The score of a track in points, from the best scores of one subject. 0 of nothing.
///
/// ```
/// use karat_core::number::Decimal;
/// use karat_stats::track::{Members, TrackMethod, track_score};
/// let best = [800, 600, 701].map(|points| Decimal::from_millionths(points * 1_000_000));
/// assert_eq!(track_score(best, TrackMethod::Average, Members::Attempted), 2101.0 / 3.0);
/// assert_eq!(track_score(best, TrackMethod::Min, Members::All(4)), 0.0);
/// ```
pub fn track_score(best: impl IntoIterator<Item = Decimal>, method: TrackMethod, members: Members) -> f64 {
    let (mut sum, mut count, mut lowest) = (0i128, 0usize, None::<Decimal>);
    for points in best {
        sum += i128::from(points.millionths());
        count += 1;
        lowest = Some(lowest.map_or(points, |lowest| lowest.min(points)));
    }
    let counted = match members {
        Members::Attempted => count,
        Members::All(all) => all.max(count),
    };
    if counted > count {
        lowest = lowest.map(|lowest| lowest.min(Decimal::ZERO));
    }
    // One division of whole numbers, so one rounding.
    match method {
        TrackMethod::Sum => sum as f64 / MILLION as f64,
        TrackMethod::Average if counted == 0 => 0.0,
        TrackMethod::Average => sum as f64 / (counted as f64 * MILLION as f64),
        TrackMethod::Min => lowest.map_or(0.0, Decimal::to_f64),
    }
}

/// How far a subject is with a track: a value that is handed from match to match.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrackProgress {
    /// Challenges of the track with a finished match.
    pub completed: BTreeSet<String>,
    /// The best points by challenge, where they are above 0: the arena keeps no best score of 0, so a mean and a lowest
    /// score over [`Members::Attempted`] pass it over.
    pub best: BTreeMap<String, Decimal>,
}

impl TrackProgress {
    /// The progress after a finished match at `challenge`, which the caller knows to be one of the track.
    #[must_use]
    pub fn next(mut self, challenge: &str, points: Decimal) -> Self {
        self.completed.insert(challenge.into());
        if points > self.best.get(challenge).copied().unwrap_or_default() {
            self.best.insert(challenge.into(), points);
        }
        self
    }

    /// The score of the track so far, in points.
    #[must_use]
    pub fn score(&self, method: TrackMethod, members: Members) -> f64 {
        track_score(self.best.values().copied(), method, members)
    }

    /// Whether all of `members` challenges are finished.
    #[must_use]
    pub fn is_completed(&self, members: usize) -> bool {
        self.completed.len() >= members
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(points: i64) -> Decimal {
        Decimal::from_millionths(points * MILLION)
    }

    #[test]
    fn nothing_is_zero() {
        for method in [TrackMethod::Sum, TrackMethod::Average, TrackMethod::Min] {
            assert_eq!(track_score([], method, Members::Attempted), 0.0);
            assert_eq!(track_score([], method, Members::All(3)), 0.0);
        }
    }

    #[test]
    fn the_best_is_kept_whatever_the_order() {
        let matches = [("a", 800), ("b", 0), ("a", 300), ("c", 600)];
        let forward =
            matches.iter().fold(TrackProgress::default(), |at, &(name, score)| at.next(name, points(score)));
        let backward = matches
            .iter()
            .rev()
            .fold(TrackProgress::default(), |at, &(name, score)| at.next(name, points(score)));
        assert_eq!(forward, backward);
        assert!(forward.is_completed(3) && !forward.is_completed(4));
        assert_eq!(forward.score(TrackMethod::Sum, Members::Attempted), 1400.0);
        assert_eq!(forward.score(TrackMethod::Average, Members::Attempted), 700.0, "the 0 is passed over");
        assert_eq!(forward.score(TrackMethod::Average, Members::All(4)), 350.0);
        assert_eq!(forward.score(TrackMethod::Min, Members::Attempted), 600.0);
        assert_eq!(forward.score(TrackMethod::Min, Members::All(3)), 0.0);
    }
}
