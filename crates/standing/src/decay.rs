//! Decay: what evidence loses with its age (trust document, section 3, "Time decay", and section 5, step 4).

use alloc::vec::Vec;

use super::ratio::Ratio;
use karat_core::number::{BILLION, Decimal, Score, UNITS_PER_ONE, common_unit, round_ratio};
pub use karat_core::scorecard::{DecayRule, DecayScope, Periods, WEEK_SECONDS};

/// Returns the points lost by evidence of this age. Evidence from the future, by a clock that runs ahead, loses nothing.
pub fn lost_points(rule: DecayRule, age_seconds: i64) -> Ratio {
    let (lost, period) = lost(rule, age_seconds);
    Ratio::new(lost, period).unwrap_or(Ratio::ZERO)
}

/// Returns the points lost, times the seconds of a period; and the latter. Below 2^95 and 2^32.
fn lost(rule: DecayRule, age_seconds: i64) -> (i128, i128) {
    let period = i128::from(rule.period_seconds.get());
    let elapsed = (i128::from(age_seconds) - i128::from(rule.grace_seconds)).max(0);
    let counted = match rule.periods {
        Periods::Exact => elapsed,
        Periods::Whole => elapsed - elapsed % period,
    };
    (counted * i128::from(rule.points_per_period), period)
}

/// Decays one composite as a whole by the age of its last evidence: the other reading of the document. Not below 0.
pub fn decay_composite(rule: DecayRule, composite: Score, age_seconds: i64) -> Ratio {
    let (lost, period) = lost(rule, age_seconds);
    let units = lost.saturating_mul(i128::from(rule.point_billionths)).saturating_mul(1_000_000);
    let left = (i128::from(composite.units()) * period).saturating_sub(units).max(0);
    Ratio::new(left, i128::from(UNITS_PER_ONE) * period).unwrap_or(Ratio::ZERO)
}

/// Returns a reading less what it has lost, times the seconds of a period; not below 0, so that losses of one dimension are
/// never taken from another.
fn left(rule: DecayRule, reading: i64, age_seconds: i64) -> i128 {
    let (lost, period) = lost(rule, age_seconds);
    let lost = lost.saturating_mul(i128::from(rule.point_billionths));
    (i128::from(reading) * period).saturating_sub(lost).max(0)
}

/// The reading that age leaves of each dimension, in billionths, rounded once, ties to even; and the points that it takes, more than
/// it had where it is down to 0. None where nothing was measured.
pub type Left = Vec<Option<(i64, Ratio)>>;

/// Returns the weighted mean over the dimensions that have a reading, each decayed by the age of its evidence; or, with
/// [`DecayScope::Composite`], the mean first, less what its newest evidence has lost. And what is left of each.
///
/// A dimension is its weight and its undecayed reading, in billionths from 0 to 1, with the age of its evidence: decay is always taken
/// from what was measured, or it would compound. Evidence that lies ahead has lost nothing. The mean is exact for the weights of
/// a card; none where no weight is covered.
pub fn decay_dimensions(
    rule: DecayRule,
    dimensions: &[(Decimal, Option<(i64, i64)>)],
) -> (Option<Ratio>, Left) {
    let unit = common_unit(dimensions.iter().map(|(weight, _)| *weight));
    let period = i128::from(rule.period_seconds.get());
    let by_dimension = rule.scope == DecayScope::Dimension;
    let (mut covered, mut sum) = (0i128, 0i128);
    let mut part = |(weight, measured): &(Decimal, Option<(i64, i64)>)| {
        let (reading, age) = (*measured)?;
        let left = if by_dimension { left(rule, reading, age) } else { i128::from(reading) * period };
        let weight = i128::from(weight.millionths() / unit);
        // Below 2^30 * 2^32 * 2^23: the weights were checked.
        sum += left * weight;
        covered += weight;
        let points = if by_dimension { lost_points(rule, age) } else { Ratio::ZERO };
        Some((round_ratio(left, period) as i64, points))
    };
    let parts = dimensions.iter().map(&mut part).collect();
    let newest = dimensions.iter().filter_map(|(_, measured)| Some((*measured)?.1)).min();
    if let Some(age) = newest.filter(|_| !by_dimension) {
        let lost = lost(rule, age).0.saturating_mul(i128::from(rule.point_billionths) * covered);
        sum = sum.saturating_sub(lost).max(0);
    }
    (Ratio::new(sum, i128::from(BILLION) * period * covered), parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use core::num::NonZeroU32;

    #[test]
    fn the_largest_settings_and_ages_do_not_overflow() {
        let fierce = DecayRule {
            grace_seconds: u32::MAX,
            period_seconds: NonZeroU32::MAX,
            points_per_period: u32::MAX,
            point_billionths: u32::MAX,
            periods: Periods::Exact,
            scope: DecayScope::Dimension,
        };
        for rule in [fierce, DecayRule { period_seconds: NonZeroU32::MIN, ..fierce }] {
            assert_eq!(decay_composite(rule, Score::ONE, i64::MAX), Ratio::ZERO);
            assert_eq!(decay_composite(rule, Score::ONE, 0).to_string(), "1");
            let part = |weight, age| (Decimal::from_millionths(weight), Some((BILLION, age)));
            let (composite, left) = decay_dimensions(rule, &[part(7_999_999, 0), part(1, i64::MAX)]);
            assert_eq!(left[1].unwrap().0, 0);
            assert_eq!(composite.unwrap().to_string(), "7999999/8000000");
        }
    }
}
