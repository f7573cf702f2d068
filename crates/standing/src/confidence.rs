//! Confidence: how much evidence is behind a composite, and how fresh it is. Not how good the subject is.

use alloc::string::String;
use alloc::vec::Vec;

use karat_core::number::{BILLION, Decimal, MILLION, round_ratio};
pub use karat_core::scorecard::FreshnessRule;

/// Returns what evidence of this age is worth, in billionths. Evidence from the future counts as of now.
pub fn freshness(rule: FreshnessRule, age_seconds: i64) -> i64 {
    let least = rule.least.clamp(0, BILLION);
    if age_seconds <= i64::from(rule.full_until_seconds) {
        return BILLION;
    }
    if age_seconds >= i64::from(rule.least_from_seconds) {
        return least;
    }
    let span = i128::from(rule.least_from_seconds) - i128::from(rule.full_until_seconds);
    let left = i128::from(rule.least_from_seconds) - i128::from(age_seconds);
    least + round_ratio(left * i128::from(BILLION - least), span) as i64
}

/// The evidence behind one dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backing {
    /// The dimension.
    pub key: String,
    /// Its weight, from 0.
    pub weight: Decimal,
    /// Its evidence; none if it was never measured.
    pub evidence: Option<Evidence>,
    /// The age of that evidence.
    pub age_seconds: i64,
    /// True for evidence of an earlier version of the subject, which counts half.
    pub is_carried: bool,
}

/// The evidence behind a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// A sample.
    Sample {
        /// Its size, counting what weighs less for less: `(sum w)^2 / sum w^2` (Kish, "Survey Sampling", 1965). From 0.
        effective_items: Decimal,
        /// Number of items that the dimension asks for.
        needed_items: u32,
    },
    /// A recorded fact, such as a posted bond: there is no sample to be small.
    Record,
}

/// The confidence in a composite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confidence {
    /// From 0 to 1, in billionths: the weighted mean of those below. None where there is no weight.
    pub value: Option<i64>,
    /// The confidence in each dimension, in the order given, in billionths.
    pub dimensions: Vec<i64>,
}

/// Returns the confidence in a composite: the weighted mean over all dimensions that apply, 0 for one that was not measured.
///
/// A sample of `n` items where `m` are needed gives `n / (n + m)`, which is one minus the uncertainty of Jøsang and
/// Ismail, "The beta reputation system" (2002), times what its age leaves. Weights and sizes below zero count as zero.
pub fn confidence(backings: &[Backing], rule: FreshnessRule) -> Confidence {
    let dimensions: Vec<i64> = backings.iter().map(|backing| of_dimension(backing, rule)).collect();
    let weights = || backings.iter().map(|backing| i128::from(backing.weight.millionths().max(0)));
    let total: i128 = weights().sum();
    let sum: i128 = weights().zip(&dimensions).map(|(weight, &value)| weight * i128::from(value)).sum();
    Confidence { value: (total > 0).then(|| round_ratio(sum, total) as i64), dimensions }
}

fn of_dimension(backing: &Backing, rule: FreshnessRule) -> i64 {
    let (items, all) = match backing.evidence {
        None => return 0,
        Some(Evidence::Record) => (1, 1),
        Some(Evidence::Sample { effective_items, needed_items }) => {
            let items = i128::from(effective_items.millionths().max(0));
            (items, items + i128::from(needed_items) * i128::from(MILLION))
        }
    };
    let halves = if backing.is_carried { 2 } else { 1 };
    let factor = i128::from(freshness(rule, backing.age_seconds));
    // An empty sample where none is needed says nothing.
    if all == 0 { 0 } else { round_ratio(items * factor, all * halves) as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DAY: i64 = 86_400;

    fn backing(items: i64, needed_items: u32, age_seconds: i64) -> Backing {
        Backing {
            key: "k".into(),
            weight: Decimal::ONE,
            evidence: Some(Evidence::Sample {
                effective_items: Decimal::from_millionths(items),
                needed_items,
            }),
            age_seconds,
            is_carried: false,
        }
    }

    fn value(backings: &[Backing]) -> Option<i64> {
        confidence(backings, FreshnessRule::default()).value
    }

    #[test]
    fn freshness_falls_in_a_line_between_its_ends() {
        let at = |days| freshness(FreshnessRule::default(), days * DAY);
        assert_eq!(
            [at(-1), at(0), at(30), at(180), at(9999)],
            [BILLION, BILLION, BILLION, BILLION / 2, BILLION / 2]
        );
        assert_eq!([at(60), at(90)], [900_000_000, 800_000_000]);
        let sudden = FreshnessRule { full_until_seconds: 9, least_from_seconds: 5, least: -3 };
        assert_eq!([freshness(sudden, 9), freshness(sudden, 10)], [BILLION, 0]);
    }

    #[test]
    fn a_record_has_no_sample_to_be_small() {
        let bond = Backing { evidence: Some(Evidence::Record), ..backing(0, 0, 105 * DAY) };
        assert_eq!(value(&[bond]), Some(750_000_000));
    }

    #[test]
    fn carried_evidence_counts_half() {
        assert_eq!(value(&[Backing { is_carried: true, ..backing(10_000_000, 10, 0) }]), Some(250_000_000));
    }

    #[test]
    fn nothing_known_is_no_confidence() {
        assert_eq!(value(&[]), None);
        assert_eq!(value(&[Backing { weight: Decimal::from_millionths(-5), ..backing(1, 1, 0) }]), None);
        assert_eq!(value(&[backing(0, 0, 0), backing(-7, 3, 0)]), Some(0));
    }

    proptest! {
        #[test]
        fn more_and_fresher_evidence_is_never_less_sure(
            items in 0i64..1_000_000_000, more in 0i64..1_000_000_000, needed in 0u32..100,
            days in 0i64..400, older in 0i64..400,
        ) {
            let sure = value(&[backing(items, needed, days * DAY)]).unwrap();
            prop_assert!(value(&[backing(items + more, needed, days * DAY)]).unwrap() >= sure);
            prop_assert!(value(&[backing(items, needed, (days + older) * DAY)]).unwrap() <= sure);
            prop_assert!((0..=BILLION).contains(&sure));
        }
    }
}
