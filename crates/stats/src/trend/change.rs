//! When scores changed, and how steeply they move. Both describe a life as it is known now; unlike the alarm they are not
//! judged over a whole life, and may move with the next night.

use alloc::vec::Vec;

use super::super::special::normal_quantile;
use super::super::{Interval, IntervalMethod, StatisticsError, outside};
use super::Direction;

/// The night from which on the mean of the scores differs, if it changed once.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The first night after the change: the most likely one.
    pub first: usize,
    /// All nights that are about as likely to be the first, rising, `first` included.
    pub plausible: Vec<usize>,
    /// The mean score of the nights before the change, 0 to 1.
    pub before: f64,
    /// The mean score of the nights from the change on, 0 to 1.
    pub after: f64,
}

impl Change {
    /// Finds the most likely change of the mean of `scores`, each with its night, in rising order: two means and normal scores
    /// around them, with one deviation. The first `baseline` scores lie before it. None without a change in the direction.
    ///
    /// Plausible are the nights whose logarithm of the likelihood is at most `-ln(1 - sqrt(level))` below the highest, 3.68 at
    /// 0.95: as far as two independent exponential variables reach (Siegmund, "Confidence sets in change-point problems",
    /// International Statistical Review 56, 1988; Eo and Morley, Quantitative Economics 6, 2015). The 1.92 of a chi-squared
    /// drop would hold the night in 73 % of all cases, as the likelihood of a night is not smooth.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1.
    pub fn find(
        scores: &[(usize, f64)],
        baseline: usize,
        direction: Direction,
        level: f64,
    ) -> Result<Option<Self>, StatisticsError> {
        let open = 1.0 - libm::sqrt(1.0 - outside(level)?);
        let count = scores.len() as f64;
        let center = scores.iter().map(|it| it.1).sum::<f64>() / count;
        let squares: f64 = scores.iter().map(|it| (it.1 - center) * (it.1 - center)).sum();
        let mut sum = 0.0;
        // Of each night, how far the mean falls, and the squares that are left.
        let mut splits = Vec::new();
        for (place, &(night, score)) in scores.iter().enumerate() {
            if place >= baseline.max(1) {
                let (k, after) = (place as f64, count - place as f64);
                let fall = sum / k + sum / after;
                let is_meant = match direction {
                    Direction::Decline => fall > 0.0,
                    Direction::Improvement => fall < 0.0,
                    Direction::Either => true,
                };
                if is_meant {
                    let left = (squares - fall * fall * k * after / count).max(0.0);
                    splits.push((left, night, center + sum / k, center - sum / after));
                }
            }
            sum += score - center;
        }
        let best = splits.iter().min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).copied();
        let Some((least, first, before, after)) = best.filter(|_| scores.len() > 2 && squares > 1e-12) else {
            return Ok(None);
        };
        // Rounding can leave a little of nothing.
        let most = least * libm::pow(open, -2.0 / count) + 1e-12 * squares;
        let plausible = splits.iter().filter(|it| it.0 <= most).map(|it| it.1).collect();
        Ok(Some(Self { first, plausible, before, after }))
    }
}

/// The slope of the scores over the nights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// The score per night, -1 to 1: the middle of the slopes of all pairs of nights.
    pub per_night: f64,
    /// Its interval, at one look; none where all orders of this few nights are too likely.
    pub interval: Option<Interval>,
}

impl Slope {
    /// Fits a line through `scores`, each with its night, in rising order: Theil and Sen, with the interval that belongs to
    /// Kendall's test, corrected for ties (Sen, "Estimates of the regression coefficient based on Kendall's tau", Journal of
    /// the American Statistical Association 63, 1968). Of all lines it is the one that a few bad nights move the least, and its
    /// interval needs no more than the alarm: nights that are alike but for the slope. None of fewer than two nights.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1.
    pub fn fit(scores: &[(usize, f64)], level: f64) -> Result<Option<Self>, StatisticsError> {
        let reach = normal_quantile(1.0 - outside(level)? / 2.0);
        let later = |place: usize| scores.iter().skip(place + 1);
        let mut slopes: Vec<f64> = Vec::new();
        for (place, (night, score)) in scores.iter().enumerate() {
            slopes.extend(later(place).map(|it| (it.1 - score) / it.0.saturating_sub(*night).max(1) as f64));
        }
        slopes.sort_unstable_by(f64::total_cmp);
        let at = |place: usize| slopes.get(place).copied();
        let (Some(upper), Some(lower)) = (at(slopes.len() / 2), at(slopes.len().saturating_sub(1) / 2))
        else {
            return Ok(None);
        };
        let mut values: Vec<f64> = scores.iter().map(|it| it.1).collect();
        values.sort_unstable_by(f64::total_cmp);
        let term = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
        let ties: f64 = values.chunk_by(|a, b| a == b).map(|tied| term(tied.len() as f64)).sum();
        let deviation = libm::sqrt(((term(values.len() as f64) - ties) / 18.0).max(0.0));
        // This many slopes lie outside on each side.
        let outer = libm::rint((slopes.len() as f64 - reach * deviation) / 2.0);
        let ends = if outer >= 1.0 && deviation > 0.0 {
            at(outer as usize - 1).zip(at(slopes.len() - outer as usize))
        } else {
            None
        };
        let interval =
            ends.map(|(low, high)| Interval { low, high, level, method: IntervalMethod::TheilSen });
        Ok(Some(Self { per_night: (lower + upper) / 2.0, interval }))
    }
}
