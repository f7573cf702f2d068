//! The grids on which numbers live, and the one function that rounds (decision 0001).

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::num::IntErrorKind;

/// Units of a [`Decimal`] in one: weights, thresholds and points are whole millionths.
pub const MILLION: i64 = 1_000_000;
/// Units of a reading in one: readings and quotients are whole billionths.
pub const BILLION: i64 = 1_000_000_000;
/// Units of a [`Score`] in one: a score is a whole number of 1e-15.
pub const UNITS_PER_ONE: i64 = 1_000_000_000_000_000;

/// Rounds to the nearest whole number, ties to even. Exact for `0 <= x < 2^51`; NaN stays NaN.
///
/// Two additions instead of a library call, so that every processor does the same and vectors are cheap.
///
/// ```
/// use karat_core::number::round;
/// assert_eq!([round(0.5), round(1.5), round(2.4999)], [0.0, 2.0, 2.0]);
/// ```
#[inline(always)]
pub fn round(x: f64) -> f64 {
    const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
    (x + TWO_TO_52) - TWO_TO_52
}

/// Returns the whole number at or below `x`. Exact for `0 <= x < 2^51`: the nearest one is at most one too high there.
#[inline(always)]
pub(crate) fn floor(x: f64) -> f64 {
    let near = round(x);
    if near > x { near - 1.0 } else { near }
}

/// Rounds the fraction `numerator / denominator` to a whole number, ties to even.
///
/// Both must not be negative and `denominator` above zero.
pub fn round_ratio(numerator: i128, denominator: i128) -> i128 {
    let (floor, rest) = (numerator.div_euclid(denominator), numerator.rem_euclid(denominator));
    let twice = rest * 2;
    floor + i128::from(twice > denominator || (twice == denominator && floor % 2 != 0))
}

/// A decimal with six places, kept exactly: a weight, a threshold, a number of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Decimal(i64);

/// The reason why a text is not a [`Decimal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimalError {
    /// Not a decimal number at all (or `nan`, `inf`).
    Malformed,
    /// Larger than nine million million.
    TooLarge,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// One.
    pub const ONE: Self = Self(MILLION);

    /// Makes a decimal from whole millionths.
    pub const fn from_millionths(millionths: i64) -> Self {
        Self(millionths)
    }

    /// Returns the value in whole millionths.
    pub const fn millionths(self) -> i64 {
        self.0
    }

    /// Returns the nearest double.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / MILLION as f64
    }

    /// Reads a decimal as people write it: `0.25`, `-3`, `1e-3`, `1_000.5`.
    ///
    /// The second value is false when there were more than six places and the value was rounded, ties to even.
    ///
    /// # Errors
    /// If the text is not a decimal or too large: [`DecimalError`].
    ///
    /// ```
    /// use karat_core::number::Decimal;
    /// assert_eq!(Decimal::parse("0.11"), Ok((Decimal::from_millionths(110_000), true)));
    /// assert_eq!(Decimal::parse("0.1666666666666"), Ok((Decimal::from_millionths(166_667), false)));
    /// ```
    pub fn parse(text: &str) -> Result<(Self, bool), DecimalError> {
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, text.get(1..).unwrap_or_default()),
            Some(b'+') => (false, text.get(1..).unwrap_or_default()),
            _ => (false, text),
        };
        let (digits, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((digits, exponent)) => {
                let exponent = match exponent.parse::<i32>() {
                    Ok(exponent) => exponent,
                    Err(error) => match error.kind() {
                        IntErrorKind::PosOverflow => i32::MAX,
                        IntErrorKind::NegOverflow => i32::MIN,
                        _ => return Err(DecimalError::Malformed),
                    },
                };
                (digits, exponent)
            }
            None => (unsigned, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() || (digits.contains('.') && fraction.is_empty()) {
            return Err(DecimalError::Malformed);
        }
        let mut mantissa: i128 = 0;
        let mut scale = exponent.clamp(-400, 400) + 6;
        for (place, byte) in whole.bytes().chain(fraction.bytes()).enumerate() {
            match byte {
                b'_' if place > 0 => continue,
                b'0'..=b'9' => {}
                _ => return Err(DecimalError::Malformed),
            }
            if mantissa > i128::MAX / 100 {
                return Err(DecimalError::TooLarge);
            }
            mantissa = mantissa * 10 + i128::from(byte - b'0');
        }
        scale -= i32::try_from(fraction.bytes().filter(u8::is_ascii_digit).count()).unwrap_or(i32::MAX);
        let mut exact = true;
        while scale > 0 && mantissa != 0 {
            mantissa = mantissa.checked_mul(10).ok_or(DecimalError::TooLarge)?;
            scale -= 1;
        }
        if scale < 0 {
            let divisor = 10i128.checked_pow(scale.unsigned_abs()).unwrap_or(i128::MAX);
            exact = mantissa % divisor == 0;
            mantissa = round_ratio(mantissa, divisor);
        }
        if mantissa > 9_000_000_000_000 * i128::from(MILLION) {
            return Err(DecimalError::TooLarge);
        }
        let value = i64::try_from(mantissa).map_err(|_| DecimalError::TooLarge)?;
        Ok((Self(if negative { -value } else { value }), exact))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plain(self.0, 6))
    }
}

/// A score, composite, contribution or step between -1 and 1: a whole number of 1e-15.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Score(i64);

impl Score {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// One, the highest score.
    pub const ONE: Self = Self(UNITS_PER_ONE);

    /// Makes a score from whole units of 1e-15.
    pub const fn from_units(units: i64) -> Self {
        Self(units)
    }

    /// Makes a score from whole billionths.
    pub const fn from_billionths(billionths: i64) -> Self {
        Self(billionths * MILLION)
    }

    /// Returns the value in whole units of 1e-15.
    pub const fn units(self) -> i64 {
        self.0
    }

    /// Returns whole billionths, rounded once, ties to even.
    ///
    /// ```
    /// use karat_core::number::Score;
    /// assert_eq!(Score::from_units(500_000).billionths(), 0);
    /// assert_eq!(Score::from_units(500_001).billionths(), 1);
    /// ```
    pub fn billionths(self) -> i64 {
        const UNITS: i128 = (UNITS_PER_ONE / BILLION) as i128;
        round_ratio(self.0.into(), UNITS) as i64
    }

    /// Returns the nearest double.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / UNITS_PER_ONE as f64
    }

    /// Returns the difference `self - other`.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plain(self.0, 15))
    }
}

/// Returns the decimal `value / 10^places` without trailing zeros: `-0.5`, `823.5`, `0`.
pub fn plain(value: i64, places: usize) -> String {
    let mut text = Vec::with_capacity(24);
    write_plain(&mut text, value, places);
    String::from_utf8(text).unwrap_or_default()
}

fn write_plain(out: &mut Vec<u8>, value: i64, places: usize) {
    let (digits, places) = significant(value, places);
    if value < 0 {
        out.push(b'-');
    }
    let scale = 10u64.pow(places as u32);
    crate::json::write_integer(out, (digits / scale) as i64);
    if places > 0 {
        out.push(b'.');
        let mut rest = digits % scale;
        let mut place = scale / 10;
        while place > 0 {
            out.push(b'0' + (rest / place) as u8);
            rest %= place;
            place /= 10;
        }
    }
}

/// Strips trailing zeros of the fraction.
fn significant(value: i64, places: usize) -> (u64, usize) {
    let (mut digits, mut places) = (value.unsigned_abs(), places);
    if digits == 0 {
        return (0, 0);
    }
    while places > 0 && digits.is_multiple_of(10) {
        digits /= 10;
        places -= 1;
    }
    (digits, places)
}

/// Appends `value / 10^places` as RFC 8785 prints the nearest double; exact up to 15 significant digits.
///
/// ```
/// let mut out = Vec::new();
/// karat_core::number::write_json(&mut out, 823_500, 3);
/// assert_eq!(out, b"823.5");
/// ```
pub fn write_json(out: &mut Vec<u8>, value: i64, places: usize) {
    let (digits, kept) = significant(value, places);
    // ECMAScript switches to exponents below 1e-6: leave those to the printer of doubles.
    let tiny = digits != 0 && kept > 6 && digits < 10u64.pow(kept as u32 - 6);
    if tiny || digits >= 1_000_000_000_000_000 {
        crate::json::write_number(out, value as f64 / 10u64.pow(places as u32) as f64);
    } else {
        write_plain(out, value, places);
    }
}

/// Shares `total` out as the quotients `part / divisor`: each is rounded down, and the units left over go to the largest
/// remainders, first come first among equals. The shares sum to `total` exactly.
///
/// `total` must be the sum of the quotients, rounded; parts must not be negative. With a `divisor` of zero all shares
/// are zero.
///
/// ```
/// use karat_core::number::apportion;
/// assert_eq!(apportion(10, &[10, 10, 10], 3), [4, 3, 3]);
/// ```
pub fn apportion(total: i64, parts: &[i128], divisor: i128) -> Vec<i64> {
    if divisor <= 0 {
        return parts.iter().map(|_| 0).collect();
    }
    let mut shares = Vec::with_capacity(parts.len());
    let mut remainders = Vec::with_capacity(parts.len());
    for &part in parts {
        // Most quotients fit 64 bits, where division is many times faster.
        let (share, rest) = match (u64::try_from(part), u64::try_from(divisor)) {
            (Ok(part), Ok(divisor)) => ((part / divisor) as i64, i128::from(part % divisor)),
            _ => ((part / divisor) as i64, part % divisor),
        };
        shares.push(share);
        remainders.push(rest);
    }
    let left = usize::try_from(total - shares.iter().sum::<i64>()).unwrap_or(0);
    if left > 0 {
        let mut largest_first: Vec<usize> = (0..shares.len()).collect();
        // A stable sort: equal remainders stay in their order.
        largest_first.sort_by_key(|&at| core::cmp::Reverse(remainders.get(at).copied()));
        for at in largest_first.into_iter().take(left) {
            if let Some(share) = shares.get_mut(at) {
                *share += 1;
            }
        }
    }
    shares
}

/// The largest sum of weights, in units of their greatest common divisor, for which quotients are exact (decision 0001).
pub const MOST_WEIGHT_UNITS: i64 = 8_000_000;

/// Returns the greatest common divisor of weights, in millionths; 1 where they are all zero.
pub fn common_unit(weights: impl IntoIterator<Item = Decimal>) -> i64 {
    let gcd = |mut a: i64, mut b: i64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a.abs()
    };
    weights.into_iter().fold(0, |unit, weight| gcd(unit, weight.millionths())).max(1)
}

/// Returns the sum of weights, or none if it is larger than any sum of weights can be.
pub fn sum(weights: impl IntoIterator<Item = Decimal>) -> Option<Decimal> {
    weights
        .into_iter()
        .try_fold(0i64, |sum, weight| sum.checked_add(weight.millionths()))
        .map(Decimal::from_millionths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_decimal_is_kept_exactly_to_six_places() {
        let millionths = |text: &str| Decimal::parse(text).map(|(value, exact)| (value.0, exact));
        assert_eq!(millionths("0.11"), Ok((110_000, true)));
        assert_eq!(millionths("-1e-6"), Ok((-1, true)));
        assert_eq!(millionths("0.0000005"), Ok((0, false)), "ties to even");
        assert_eq!(millionths("0.0000015"), Ok((2, false)), "ties to even");
        assert_eq!(millionths("1e300"), Err(DecimalError::TooLarge));
        assert_eq!(millionths("1e-400"), Ok((0, false)));
        assert_eq!(millionths("1e99999999999"), Err(DecimalError::TooLarge));
        assert_eq!(millionths("1e-99999999999"), Ok((0, false)));
        for bad in ["", ".", "1.", ".5", "nan", "inf", "1e", "1e+", "--1", "0x1"] {
            assert_eq!(millionths(bad), Err(DecimalError::Malformed), "{bad}");
        }
    }

    #[test]
    fn numbers_print_without_noise() {
        assert_eq!(Decimal(110_000).to_string(), "0.11");
        assert_eq!(Score(840_000_000_000_000).to_string(), "0.84");
        assert_eq!(plain(-500, 3), "-0.5");
        let json = |value, places| {
            let mut out = Vec::new();
            write_json(&mut out, value, places);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(json(1, 15), "1e-15");
        assert_eq!(json(1_000, 9), "0.000001");
        assert_eq!(json(100, 9), "1e-7");
        assert_eq!(json(UNITS_PER_ONE, 15), "1");
        assert_eq!(json(-823_500, 3), "-823.5");
        assert_eq!(json(0, 15), "0");
    }

    #[test]
    fn shares_sum_to_the_total() {
        assert_eq!(apportion(0, &[0, 0], 0), [0, 0]);
        assert_eq!(apportion(60, &[100, 200, 300], 10), [10, 20, 30]);
        assert_eq!(apportion(1, &[5, 5], 10), [1, 0]);
        assert_eq!(apportion(2, &[i128::MAX / 2, 1], i128::MAX / 4), [2, 0]);
    }

    #[test]
    fn a_quotient_in_doubles_is_the_exact_one() {
        // Decision 0001: for denominators up to 8,000,000 the double quotient rounds as the fraction does.
        let mut state = 7u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let denominator = (state >> 33) % 8_000_000 + 1;
            let numerator = ((state >> 11) as i128 % i128::from(denominator)) * i128::from(BILLION) / 2;
            let exact = round_ratio(numerator, i128::from(denominator));
            assert_eq!(round(numerator as f64 / denominator as f64) as i128, exact);
        }
    }
}
