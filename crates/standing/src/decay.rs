//! Decay: what evidence loses with its age (trust document, section 3, "Time decay", and section 5, step 4).

use alloc::string::String;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use super::ratio::Ratio;
use karat_core::number::{
    BILLION, Decimal, MOST_WEIGHT_UNITS, Score, UNITS_PER_ONE, common_unit, round_ratio,
};
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

/// Returns each dimension decayed by the age of its evidence, then the weighted mean over those that have a
/// reading; or, with [`DecayScope::Composite`], the mean first, less what its newest evidence has lost.
///
/// The mean is exact; it is rounded where it is published or written down, once.
///
/// # Errors
/// If there are problems: every [`DecayError`] of the dimensions.
pub fn decay_dimensions(rule: DecayRule, dimensions: &[Aged]) -> Result<Decayed, Vec<DecayError>> {
    let errors = problems(dimensions);
    if !errors.is_empty() {
        return Err(errors);
    }
    let of_weight: Vec<_> = dimensions.iter().map(|it| (it.weight, it.measured)).collect();
    let (composite, left) = composite(rule, &of_weight);
    let part = |(dimension, left): (&Aged, Option<(i64, Ratio)>)| DecayedDimension {
        key: dimension.key.clone(),
        reading: left.map(|(reading, _)| reading),
        points: left.map(|(_, points)| points),
        is_ahead: dimension.measured.is_some_and(|(_, age)| age < 0),
    };
    let covered = dimensions.iter().filter(|dimension| dimension.measured.is_some());
    Ok(Decayed {
        dimensions: dimensions.iter().zip(left).map(part).collect(),
        covered_weight: Decimal::from_millionths(covered.map(|it| it.weight.millionths()).sum()),
        composite,
    })
}

/// The reading that age leaves of each dimension, and the points that it takes; none where nothing was measured.
type Left = Vec<Option<(i64, Ratio)>>;

/// Returns the decayed mean, and each dimension, of weights and what was measured, which are sound.
pub(crate) fn composite(
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

/// A dimension and how old its evidence is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aged {
    /// The dimension.
    pub key: String,
    /// Its weight.
    pub weight: Decimal,
    /// Its undecayed reading in billionths and the age of its evidence in seconds; none if it was never measured. Decay is
    /// always taken from what was measured, or it would compound.
    pub measured: Option<(i64, i64)>,
}

/// A composite after decay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decayed {
    /// The dimensions, in the order given.
    pub dimensions: Vec<DecayedDimension>,
    /// The weight of the dimensions that have a reading.
    pub covered_weight: Decimal,
    /// The exact weighted mean; none where no weight is covered.
    pub composite: Option<Ratio>,
}

/// A dimension after decay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecayedDimension {
    /// The dimension.
    pub key: String,
    /// Its reading after decay, in billionths, rounded once, ties to even; none if it was never measured.
    pub reading: Option<i64>,
    /// The points that its age takes; more than it had, where it is down to 0. None are taken from it where the composite
    /// decays as a whole.
    pub points: Option<Ratio>,
    /// True when its evidence lies after the moment of the verdict: some clock runs ahead. Nothing was lost.
    pub is_ahead: bool,
}

/// The reason why a list of dimensions has no decayed composite.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecayError {
    /// A reading is not between 0 and 1.
    #[error("`{key}` is {reading} billionths, expected 0 to {BILLION}", BILLION = BILLION)]
    Reading {
        /// The dimension.
        key: String,
        /// Billionths, as given.
        reading: i64,
    },
    /// A weight is below zero.
    #[error("the weight of `{key}` is {weight}, expected 0 or more")]
    Weight {
        /// The dimension.
        key: String,
        /// The weight, as given.
        weight: Decimal,
    },
    /// A dimension is given twice.
    #[error("`{0}` is given twice, expected each dimension once")]
    Twice(
        /// The dimension.
        String,
    ),
    /// The weights are too fine for their size, so that a mean over them is not exact (decision 0001).
    #[error("the weights are too fine for their size: {units} units, expected at most {MOST_WEIGHT_UNITS}; use fewer decimals", MOST_WEIGHT_UNITS = MOST_WEIGHT_UNITS)]
    TooFine {
        /// Their sum in units of their greatest common divisor.
        units: i128,
    },
}

fn problems(dimensions: &[Aged]) -> Vec<DecayError> {
    let mut errors = Vec::new();
    for dimension in dimensions {
        let key = || dimension.key.clone();
        if let Some((reading, _)) = dimension.measured
            && !(0..=BILLION).contains(&reading)
        {
            errors.push(DecayError::Reading { key: key(), reading });
        }
        if dimension.weight < Decimal::ZERO {
            errors.push(DecayError::Weight { key: key(), weight: dimension.weight });
        }
    }
    let mut keys: Vec<&str> = dimensions.iter().map(|dimension| dimension.key.as_str()).collect();
    keys.sort_unstable();
    let twice = keys.array_windows().filter(|[a, b]| a == b).map(|[key, _]| DecayError::Twice((*key).into()));
    errors.extend(twice);
    let unit = common_unit(dimensions.iter().map(|dimension| dimension.weight));
    let units = dimensions.iter().map(|dimension| i128::from(dimension.weight.millionths() / unit)).sum();
    if errors.is_empty() && units > i128::from(MOST_WEIGHT_UNITS) {
        errors.push(DecayError::TooFine { units });
    }
    errors
}

/// Returns the moment from which the age of a dimension counts: that of the `batch`-th newest of its items, so that
/// one new item cannot make old evidence young. None where there are fewer.
pub fn anchor_seconds(moments_seconds: &[i64], batch: NonZeroU32) -> Option<i64> {
    let mut newest_first = moments_seconds.to_vec();
    newest_first.sort_unstable_by(|a, b| b.cmp(a));
    newest_first.get(batch.get() as usize - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn aged(key: &str, weight: i64, measured: Option<(i64, i64)>) -> Aged {
        Aged { key: key.into(), weight: Decimal::from_millionths(weight), measured }
    }

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
            let parts = [aged("a", 7_999_999, Some((BILLION, 0))), aged("b", 1, Some((BILLION, i64::MAX)))];
            let decayed = decay_dimensions(rule, &parts).unwrap();
            assert_eq!(decayed.dimensions[1].reading, Some(0));
            assert_eq!(decayed.composite.unwrap().to_string(), "7999999/8000000");
        }
    }
}
