//! Weights: the guard on their sum, and overrides from outside.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::diagnostic::nearest;
use crate::json::write_string;
use crate::number::{Decimal, write_json};
use crate::record::write_option;
use crate::scorecard::{Scorecard, WeightSum};

/// The sum of weights, or none if it is larger than any sum of weights can be.
#[must_use]
pub fn sum(weights: impl IntoIterator<Item = Decimal>) -> Option<Decimal> {
    weights
        .into_iter()
        .try_fold(0i64, |sum, weight| sum.checked_add(weight.millionths()))
        .map(Decimal::from_millionths)
}

impl WeightSum {
    /// True when `sum` is within the tolerance of the target: exact, and inclusive at the boundary.
    ///
    /// ```
    /// use karat_core::{number::Decimal, scorecard::WeightSum};
    /// let guard = WeightSum { target: Decimal::ONE, tolerance: Decimal::from_millionths(1_000) };
    /// assert!(guard.accepts(Decimal::from_millionths(999_000)));
    /// assert!(!guard.accepts(Decimal::from_millionths(1_001_001)));
    /// ```
    #[must_use]
    pub fn accepts(self, sum: Decimal) -> bool {
        sum.millionths().abs_diff(self.target.millionths()) <= self.tolerance.millionths().unsigned_abs()
    }
}

/// What became of weights given from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverrideUse {
    /// The weights as given, by dimension, sorted by name.
    pub given: Vec<(String, Decimal)>,
    /// True when they are used.
    pub applied: bool,
    /// The sum after the merge over the card's weights.
    pub merged_sum: Decimal,
    /// Why they were refused.
    pub reason: Option<String>,
    /// The weights in force, in the order of the dimensions.
    pub effective: Vec<Decimal>,
}

/// An override with a weight that is no decimal of six places, or a card that takes no override.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoOverride;

impl OverrideUse {
    /// Lays `given` over the weights of `card` (trust document, section 4): merged by name, accepted when the sum is within the
    /// tolerance of 1, inclusive; else refused with the reason, and the card's weights stay.
    ///
    /// # Errors
    /// [`NoOverride`] when the card does not take overrides.
    pub fn new(card: &Scorecard, given: &[(String, Decimal)]) -> Result<Self, NoOverride> {
        let policy = card.override_policy.ok_or(NoOverride)?;
        let base: Vec<Decimal> = card.dimensions.iter().map(|dimension| dimension.weight).collect();
        let mut merged = base.clone();
        let mut reason = None;
        for (name, weight) in given {
            let place = card.dimensions.iter().position(|dimension| dimension.key == *name);
            match place.and_then(|at| merged.get_mut(at)) {
                Some(slot) => *slot = *weight,
                None => {
                    let near = nearest(name, card.dimensions.iter().map(|dimension| dimension.key.as_str()));
                    let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                    reason.get_or_insert(format!("the card has no dimension `{name}`{near}"));
                }
            }
            if *weight < Decimal::ZERO {
                reason.get_or_insert(format!("the weight of `{name}` is negative: {weight}"));
            }
        }
        let merged_sum = sum(merged.iter().copied()).unwrap_or(Decimal::ZERO);
        let guard = WeightSum { target: Decimal::ONE, tolerance: policy.tolerance };
        if reason.is_none() && !guard.accepts(merged_sum) {
            reason = Some(format!(
                "the merged weights sum to {merged_sum}, more than {} from 1",
                policy.tolerance
            ));
        }
        let mut given = given.to_vec();
        given.sort();
        let applied = reason.is_none();
        Ok(Self { given, applied, merged_sum, effective: if applied { merged } else { base }, reason })
    }

    /// `applied` or `rejected`.
    #[must_use]
    pub const fn outcome(&self) -> &'static str {
        if self.applied { "applied" } else { "rejected" }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"given\":{");
        for (place, (name, weight)) in self.given.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            write_string(out, name);
            out.push(b':');
            write_json(out, weight.millionths(), 6);
        }
        out.extend_from_slice(b"},\"merged_sum\":");
        write_json(out, self.merged_sum.millionths(), 6);
        out.extend_from_slice(b",\"outcome\":");
        write_string(out, self.outcome());
        out.extend_from_slice(b",\"reason\":");
        write_option(out, self.reason.as_deref(), write_string);
        out.push(b'}');
    }
}
