//! Shares of trials that succeeded, and how far the true share may lie from them.

use super::special::normal_quantile;
use super::{Interval, IntervalMethod, StatisticsError, outside};
use karat_core::number::Decimal;

/// A number of successes in a number of trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Proportion {
    successes: u64,
    trials: u64,
}

impl Proportion {
    /// Makes the share of `successes` of `trials`; none if there are more successes than trials.
    pub fn new(successes: u64, trials: u64) -> Option<Self> {
        (successes <= trials).then_some(Self { successes, trials })
    }

    /// Counts how many are true.
    pub fn of(trials: impl IntoIterator<Item = bool>) -> Self {
        trials.into_iter().fold(Self::default(), |counted, succeeded| Self {
            successes: counted.successes + u64::from(succeeded),
            trials: counted.trials + 1,
        })
    }

    /// Returns how many succeeded.
    pub fn successes(self) -> u64 {
        self.successes
    }

    /// Returns how many there were.
    pub fn trials(self) -> u64 {
        self.trials
    }

    /// Returns the share, 0 to 1; none without trials.
    pub fn share(self) -> Option<f64> {
        (self.trials > 0).then(|| self.successes as f64 / self.trials as f64)
    }

    /// Returns the share to three places, half up, as the arena shows rates; exact, because it is found in whole numbers.
    pub fn thousandths(self) -> Option<Decimal> {
        half_up(i128::from(self.successes), i128::from(self.trials), 3)
    }

    /// Returns the score interval: Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22
    /// (1927). Close to its level on average, for small numbers too (Brown, Cai and DasGupta, Statistical Science 16,
    /// 2001); its low end is exactly 0 without successes, its high end exactly 1 without failures.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, or there are no trials.
    pub fn wilson(self, level: f64) -> Result<Interval, StatisticsError> {
        // A level that is wrong is refused first.
        outside(level)?;
        let share = self.share().ok_or(NO_TRIALS)?;
        wilson(share, self.trials, level)
    }
}

/// Returns Wilson's interval of a share of a number of cases that need not be all or nothing: each may have any value from
/// 0 to 1, whose mean is `share`. Their values lie no further apart than with a success or failure each, so the interval is
/// no narrower than it must be.
///
/// # Errors
/// If `level` is not between 0 and 1, `share` is not from 0 to 1, or there are no cases.
pub fn wilson(share: f64, cases: u64, level: f64) -> Result<Interval, StatisticsError> {
    let (low, high) = wilson_at(share, cases, -normal_quantile(outside(level)? / 2.0))?;
    Ok(Interval { low, high, level, method: IntervalMethod::Wilson })
}

/// Returns the ends of Wilson's interval that reaches `z` standard errors far.
///
/// # Errors
/// If `share` is not from 0 to 1, or there are no cases.
pub(super) fn wilson_at(share: f64, cases: u64, z: f64) -> Result<(f64, f64), StatisticsError> {
    if cases == 0 || !(0.0..=1.0).contains(&share) {
        return Err(NO_TRIALS);
    }
    let (count, square) = (cases as f64, z * z);
    let centre = share + square / (2.0 * count);
    let spread = z * libm::sqrt(share * (1.0 - share) / count + square / (4.0 * count * count));
    let scale = 1.0 + square / count;
    let low = if share <= 0.0 { 0.0 } else { ((centre - spread) / scale).clamp(0.0, share) };
    let high = if share >= 1.0 { 1.0 } else { ((centre + spread) / scale).clamp(share, 1.0) };
    Ok((low, high))
}

const NO_TRIALS: StatisticsError = StatisticsError::TooFew { what: "trials", found: 0, needed: 1 };

/// Returns `numerator / denominator` rounded half up to `places` (6 at most); none if the denominator is not above 0 or
/// the result too large.
pub(super) fn half_up(numerator: i128, denominator: i128, places: u32) -> Option<Decimal> {
    if denominator <= 0 {
        return None;
    }
    let scale = 10i128.pow(places.min(6));
    let twice = numerator.checked_mul(2 * scale)?.checked_add(denominator)?;
    let units = twice.div_euclid(denominator.checked_mul(2)?).checked_mul(1_000_000 / scale)?;
    i64::try_from(units).ok().map(Decimal::from_millionths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(interval: Interval) -> (f64, f64) {
        let round = |end: f64| libm::rint(end * 1e4) / 1e4;
        (round(interval.low), round(interval.high))
    }

    #[test]
    fn the_published_intervals() {
        // Newcombe, Statistics in Medicine 17 (1998), table I: method 3.
        let cases = [
            (81, 263, (0.2553, 0.3662)),
            (15, 148, (0.0624, 0.1605)),
            (0, 20, (0.0, 0.1611)),
            (1, 29, (0.0061, 0.1718)),
        ];
        for (successes, trials, wilson) in cases {
            let share = Proportion::new(successes, trials).unwrap();
            assert_eq!(ends(share.wilson(0.95).unwrap()), wilson, "{share:?}");
        }
    }

    #[test]
    fn what_cannot_be_answered_is_refused() {
        assert_eq!(Proportion::new(2, 1), None);
        let one = Proportion::new(1, 2).unwrap();
        for level in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
            assert!(one.wilson(level).is_err());
        }
        let nothing = Proportion::default();
        assert_eq!(nothing.wilson(0.95), Err(NO_TRIALS));
        assert_eq!((nothing.share(), nothing.thousandths()), (None, None));
        assert!(Proportion::new(1, u64::MAX).unwrap().wilson(0.95).is_ok());
    }

    #[test]
    fn shares_round_half_up() {
        let shown = |successes, trials| {
            Proportion::new(successes, trials).unwrap().thousandths().unwrap().millionths()
        };
        assert_eq!(shown(1, 3), 333_000);
        assert_eq!(shown(1, 16), 63_000, "0.0625");
        assert_eq!(shown(u64::MAX, u64::MAX), 1_000_000);
        assert_eq!(half_up(849, 2, 0).unwrap().millionths(), 425_000_000, "424.5");
        assert_eq!(half_up(i128::MAX, 1, 3), None);
        assert_eq!(half_up(1, 0, 3), None);
    }
}
