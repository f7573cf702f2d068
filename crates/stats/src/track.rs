//! The score over a list of challenges: the tracks of the arena document.

use karat_core::number::{Decimal, MILLION};

/// The rule by which the best scores of a track become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrackMethod {
    /// The sum of them.
    Sum,
    /// The mean of them.
    Average,
    /// The lowest of them.
    Min,
}

/// Returns the score of a track in points, from the best scores of one subject; 0 without scores. Challenges without a
/// best score do not count, so a subject that attempts only what it is good at has a higher mean.
///
/// ```
/// use karat_core::number::Decimal;
/// use karat_stats::track::{TrackMethod, track_score};
/// let best = [800, 600, 701].map(|points| Decimal::from_millionths(points * 1_000_000));
/// assert_eq!(track_score(best, TrackMethod::Average), 2101.0 / 3.0);
/// assert_eq!(track_score(best, TrackMethod::Min), 600.0);
/// assert_eq!(track_score([], TrackMethod::Average), 0.0);
/// ```
pub fn track_score(best: impl IntoIterator<Item = Decimal>, method: TrackMethod) -> f64 {
    let (mut sum, mut count, mut lowest) = (0i128, 0u64, None::<Decimal>);
    for points in best {
        sum += i128::from(points.millionths());
        count += 1;
        lowest = Some(lowest.map_or(points, |lowest| lowest.min(points)));
    }
    // One division of whole numbers, so one rounding.
    match method {
        TrackMethod::Sum => sum as f64 / MILLION as f64,
        TrackMethod::Average if count == 0 => 0.0,
        TrackMethod::Average => sum as f64 / (count as f64 * MILLION as f64),
        TrackMethod::Min => lowest.map_or(0.0, Decimal::to_f64),
    }
}
