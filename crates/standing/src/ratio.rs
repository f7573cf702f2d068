//! Exact fractions: what a mean or a decayed score is before its one rounding.

use core::fmt;

use karat_core::number::Score;
use karat_core::record::Published;
use karat_core::scorecard::{Publish, Scale};

/// An exact fraction in lowest terms, with a denominator above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    numerator: i128,
    denominator: i128,
}

impl Ratio {
    /// Zero.
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };

    /// Returns the fraction `numerator / denominator`; none unless the denominator is above zero.
    pub fn new(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator <= 0 {
            return None;
        }
        let divisor = greatest_common_divisor(numerator.unsigned_abs(), denominator.unsigned_abs());
        // The divisor is at most the denominator, which is an `i128`.
        let divisor = i128::try_from(divisor).unwrap_or(1);
        Some(Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// Returns the numerator, in lowest terms.
    pub const fn numerator(self) -> i128 {
        self.numerator
    }

    /// Returns the denominator, in lowest terms.
    pub const fn denominator(self) -> i128 {
        self.denominator
    }

    /// Returns the quotient of the nearest doubles of both.
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// Returns a fraction of a perfect score on the grid of scores (1e-15), ties to even.
    pub fn score(self) -> Score {
        Score::from_units(self.rounded(15))
    }

    /// Rounds to the grid of readings: whole billionths, ties to even.
    pub fn billionths(self) -> i64 {
        self.rounded(9)
    }

    /// Returns a fraction of a perfect score as `scale` publishes it, in one rounding.
    pub fn publish(self, scale: Scale) -> Published {
        match scale.publish {
            Publish::Exact => scale.publish(self.score()),
            Publish::Floor | Publish::HalfUp => scale.publish_ratio(self.numerator, self.denominator),
        }
    }

    /// Returns the nearest whole number, ties to even.
    pub fn whole(self) -> i64 {
        self.rounded(0)
    }

    /// Returns the whole number nearest to the fraction times `10^places`, ties to even. Long division, so that no product of
    /// numerator and scale has to fit.
    fn rounded(self, places: u32) -> i64 {
        let mut quotient = self.numerator.div_euclid(self.denominator);
        let mut rest = self.numerator.rem_euclid(self.denominator).unsigned_abs();
        let denominator = self.denominator.unsigned_abs();
        for _ in 0..places {
            let (digit, next) = ten_times(rest, denominator);
            quotient = quotient.saturating_mul(10).saturating_add(digit);
            rest = next;
        }
        let above = rest.cmp(&(denominator - rest));
        let is_up = above.is_gt() || (above.is_eq() && quotient % 2 != 0);
        let rounded = quotient.saturating_add(i128::from(is_up));
        i64::try_from(rounded).unwrap_or(if rounded < 0 { i64::MIN } else { i64::MAX })
    }
}

/// Returns quotient and remainder of `10 * rest / denominator`, for `rest < denominator < 2^127`.
fn ten_times(rest: u128, denominator: u128) -> (i128, u128) {
    if let Some(tenfold) = rest.checked_mul(10) {
        return ((tenfold / denominator) as i128, tenfold % denominator);
    }
    let (mut digit, mut sum) = (0, 0u128);
    for _ in 0..10 {
        // Both are below 2^127, so the sum fits.
        sum += rest;
        if sum >= denominator {
            sum -= denominator;
            digit += 1;
        }
    }
    (digit, sum)
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator == 1 {
            write!(f, "{}", self.numerator)
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use karat_core::number::round_ratio;
    use proptest::prelude::*;

    #[test]
    fn the_largest_fractions_round_without_overflow() {
        let near_one = Ratio::new(i128::MAX - 1, i128::MAX).unwrap();
        assert_eq!(near_one.billionths(), 1_000_000_000);
        let tenth = Ratio::new(i128::MAX / 10, i128::MAX).unwrap();
        assert_eq!(tenth.score().to_string(), "0.1");
        assert_eq!(Ratio::new(i128::MAX, 1).unwrap().billionths(), i64::MAX);
        assert_eq!(Ratio::new(i128::MIN, 1).unwrap().billionths(), i64::MIN);
        assert_eq!(Ratio::new(1, 0), None);
        assert_eq!(Ratio::new(1, -1), None);
        assert_eq!(Ratio::new(0, 7), Some(Ratio::ZERO));
    }

    #[test]
    fn a_tie_goes_to_the_even_side() {
        assert_eq!(Ratio::new(1, 2_000_000_000).unwrap().billionths(), 0);
        assert_eq!(Ratio::new(3, 2_000_000_000).unwrap().billionths(), 2);
        assert_eq!(Ratio::new(-1, 2_000_000_000).unwrap().billionths(), 0);
        assert_eq!(Ratio::new(-3, 2_000_000_000).unwrap().billionths(), -2);
    }

    proptest! {
        #[test]
        fn long_division_is_division(numerator in -1i128 << 60..1i128 << 60, denominator in 1i128..1 << 60) {
            let ratio = Ratio::new(numerator, denominator).unwrap();
            let whole = round_ratio(numerator * 1_000_000_000, denominator);
            let expected = i64::try_from(whole).unwrap_or(if whole < 0 { i64::MIN } else { i64::MAX });
            prop_assert_eq!(ratio.billionths(), expected);
        }
    }
}
