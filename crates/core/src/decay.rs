//! Decay: the part of a reading that the age of its evidence takes (trust document, section 3, "Time decay", and section
//! 5, step 4).

use crate::number::{floor, round};
use crate::scorecard::{DecayRule, Periods};

/// A rule of decay as numbers to compute with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Loss {
    pub grace_seconds: f64,
    pub period_seconds: f64,
    /// The billionths lost in a period.
    pub per_period: f64,
    /// The size of a billionth in the unit of the values.
    pub units: f64,
    pub is_whole: bool,
}

impl Loss {
    /// Returns the loss under a rule, of values of which `units` make a billionth of a perfect score.
    pub(crate) fn new(rule: DecayRule, units: f64) -> Self {
        let points = f64::from(rule.points_per_period) * f64::from(rule.point_billionths);
        Self {
            grace_seconds: f64::from(rule.grace_seconds),
            period_seconds: f64::from(rule.period_seconds.get()),
            per_period: points,
            units,
            is_whole: rule.periods == Periods::Whole,
        }
    }

    /// Returns what is left of a value of this age, to the nearest billionth, ties to even; not below 0, so that the loss of one
    /// value is never taken from another.
    #[inline(always)]
    pub(crate) fn left(self, value: f64, age_seconds: f64) -> f64 {
        let beyond = age_seconds - self.grace_seconds;
        let beyond = if beyond > 0.0 { beyond } else { 0.0 };
        // Multiplied first: for ages in whole seconds the product is exact wherever something is left.
        let lost = if self.is_whole {
            floor(beyond / self.period_seconds) * self.per_period
        } else {
            beyond * self.per_period / self.period_seconds
        };
        let left = value / self.units - lost;
        round(if left > 0.0 { left } else { 0.0 }) * self.units
    }
}

/// Returns what is left of a reading, in billionths, whose evidence has this age in seconds. Evidence of the future, by a
/// clock that runs ahead, loses nothing.
///
/// ```
/// use karat_core::decay::decayed;
/// use karat_core::scorecard::DecayRule;
/// // A year is 51 1/7 weeks beyond the week of grace, of a thousandth each.
/// assert_eq!(decayed(DecayRule::default(), 900_000_000, 365.0 * 86_400.0), 848_857_143);
/// assert_eq!(decayed(DecayRule::default(), 900_000_000, -5.0), 900_000_000);
/// ```
pub fn decayed(rule: DecayRule, reading: i64, age_seconds: f64) -> i64 {
    Loss::new(rule, 1.0).left(reading as f64, age_seconds) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_of_whole_periods_is_the_one_of_the_library_at_every_age() {
        let ages = (0..2000).map(|step| f64::from(step) * 3_024.5);
        for age in ages.chain([604_799.999, 9e15, 4.6e21, 1e300, f64::MAX]) {
            for (period_seconds, per_period, units) in
                [(604_800.0, 1e6, 1.0), (1.0, 1.0, 1e6), (7.0, 0.0, 1.0)]
            {
                let loss =
                    Loss { grace_seconds: 604_800.0, period_seconds, per_period, units, is_whole: true };
                let periods = libm::floor((age - 604_800.0).max(0.0) / period_seconds);
                let left = (8e8 - periods * per_period).max(0.0);
                assert_eq!(loss.left(8e8 * units, age), round(left) * units, "{age} {period_seconds}");
            }
        }
    }
}
