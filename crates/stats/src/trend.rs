//! The direction of recent scores, as the arena document shows it to a subject.

use karat_core::number::Decimal;

/// Number of scores that are looked at.
pub const WINDOW: usize = 3;
/// Scores that lie no further apart than this many points make a plateau.
pub const PLATEAU_POINTS: Decimal = Decimal::from_millionths(50_000_000);

/// The direction of recent scores. It does not say whether the direction could be chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trend {
    /// No score is below the one before.
    Improving,
    /// No score is above the one before.
    Declining,
    /// The scores are close together, or go up and down.
    Plateau,
}

impl Trend {
    /// Returns the name as written: `improving`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Improving => "improving",
            Self::Declining => "declining",
            Self::Plateau => "plateau",
        }
    }
}

/// Returns the direction of the last [`WINDOW`] of `scores` (points, oldest first); none of fewer than two scores.
///
/// Scores within [`PLATEAU_POINTS`] are a plateau, whatever their order.
///
/// ```
/// use karat_core::number::Decimal;
/// use karat_stats::trend::{Trend, score_trend};
/// let points = |list: &[i64]| list.iter().map(|p| Decimal::from_millionths(p * 1_000_000)).collect::<Vec<_>>();
/// assert_eq!(score_trend(&points(&[500, 650, 800])), Some(Trend::Improving));
/// assert_eq!(score_trend(&points(&[0, 800, 820, 850])), Some(Trend::Plateau));
/// assert_eq!(score_trend(&points(&[800])), None);
/// ```
#[must_use]
pub fn score_trend(scores: &[Decimal]) -> Option<Trend> {
    if scores.len() < 2 {
        return None;
    }
    let recent = scores.get(scores.len().saturating_sub(WINDOW)..)?;
    let (lowest, highest) = (recent.iter().min()?, recent.iter().max()?);
    let is_close =
        highest.millionths().abs_diff(lowest.millionths()) <= PLATEAU_POINTS.millionths().unsigned_abs();
    Some(if is_close {
        Trend::Plateau
    } else if recent.is_sorted() {
        Trend::Improving
    } else if recent.iter().rev().is_sorted() {
        Trend::Declining
    } else {
        Trend::Plateau
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn directions() {
        let trend = |points: &[i64]| {
            let points: Vec<Decimal> =
                points.iter().map(|p| Decimal::from_millionths(p * 1_000_000)).collect();
            score_trend(&points)
        };
        assert_eq!(trend(&[]), None);
        assert_eq!(trend(&[700, 750]), Some(Trend::Plateau), "50 apart is close");
        assert_eq!(trend(&[700, 751]), Some(Trend::Improving));
        assert_eq!(trend(&[751, 751, 700]), Some(Trend::Declining));
        assert_eq!(trend(&[100, 900, 100]), Some(Trend::Plateau), "up and down");
        assert_eq!(trend(&[1000, 100, 500, 500]), Some(Trend::Improving), "the first is too old");
        let extreme = [Decimal::from_millionths(i64::MIN), Decimal::from_millionths(i64::MAX)];
        assert_eq!(score_trend(&extreme), Some(Trend::Improving));
    }
}
