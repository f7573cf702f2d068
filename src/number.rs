//! Scores, values and weights for people. They are shortened by cutting, never by rounding up: a score below 0.7 never
//! shows as 0.7, so a number and the band beside it cannot disagree. Shares have no bands: they are rounded, in
//! [`crate::estimate`].

use karat_core::number::{Score, plain};
use karat_core::record::Published;
use karat_core::scorecard::Scale;

/// The most decimals shown of a number between 0 and 1.
const PLACES: u32 = 6;

/// Formats `value / 10^places`, cut to at most `keep` decimals.
pub fn cut(value: i64, places: u32, keep: u32) -> String {
    let extra = places.saturating_sub(keep);
    plain(value / 10i64.pow(extra), (places - extra) as usize)
}

/// Formats a number on the scale of its card.
pub fn published(number: Published) -> String {
    cut(number.value, number.places, PLACES)
}

/// Formats a value, weight or share in billionths.
pub(crate) fn billionths(value: i64) -> String {
    cut(value, 9, PLACES)
}

/// Formats a difference of scores in points of a scale, with its sign, cut to the decimals of differences.
pub(crate) fn signed(change: Score, scale: u32) -> String {
    let sign = if change > Score::ZERO { "+" } else { "" };
    let units = i128::from(change.units()) * i128::from(scale) / 1_000_000;
    format!("{sign}{}", cut(i64::try_from(units).unwrap_or(i64::MAX), 9, decimals_of(scale)))
}

/// Returns the decimals of differences on a scale: two where it ends at 100, four where it ends at 1.
fn decimals_of(scale: u32) -> u32 {
    4u32.saturating_sub(scale.max(1).ilog10())
}

/// Returns `score` in steps of the last decimal of a scale, rounded down. Their differences add up as shown.
pub(crate) fn steps(score: Score, scale: u32) -> i64 {
    let units = i128::from(score.units()) * i128::from(scale) * 10i128.pow(decimals_of(scale));
    i64::try_from(units.div_euclid(1_000_000_000_000_000)).unwrap_or(i64::MAX)
}

/// Formats a difference of [`steps`] in points with its sign; a dash for 0.
pub(crate) fn signed_steps(difference: i64, scale: u32) -> String {
    match difference {
        0 => String::from("-"),
        _ => format!(
            "{}{}",
            if difference > 0 { "+" } else { "" },
            plain(difference, decimals_of(scale) as usize)
        ),
    }
}

/// The format of points of one card: all amounts with the same decimals, so that the shown amounts add up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Points {
    /// Decimals of an exact score in points.
    from: u32,
    /// Decimals shown.
    to: u32,
    /// True if the shown decimals are exact.
    pub exact: bool,
}

impl Points {
    /// Chooses the fewest decimals that show all of `scores` exactly; if that is too many, six significant ones.
    pub(crate) fn new(scale: Scale, scores: impl IntoIterator<Item = Score>) -> Self {
        let whole = scale.max.ilog10();
        let from = 15 - whole;
        let most = PLACES.saturating_sub(whole).max(2);
        let needed = scores.into_iter().map(|score| decimals(score.units(), from)).max().unwrap_or(0);
        Self { from, to: needed.min(most), exact: needed <= most }
    }

    /// Returns `score` in shown units, rounded down.
    pub(crate) fn shown(self, score: Score) -> i64 {
        score.units().div_euclid(10i64.pow(self.from - self.to))
    }

    /// Formats shown units.
    pub(crate) fn text(self, shown: i64) -> String {
        let scale = 10u64.pow(self.to);
        let (whole, rest) = (shown.unsigned_abs() / scale, shown.unsigned_abs() % scale);
        let sign = if shown < 0 { "-" } else { "" };
        match self.to {
            0 => format!("{sign}{whole}"),
            places => format!("{sign}{whole}.{rest:0places$}", places = places as usize),
        }
    }

    /// Formats shown units with a sign if they are above 0.
    pub(crate) fn signed(self, shown: i64) -> String {
        let sign = if shown > 0 { "+" } else { "" };
        format!("{sign}{}", self.text(shown))
    }
}

/// Returns the number of decimals needed to write `value / 10^places`.
fn decimals(value: i64, places: u32) -> u32 {
    let mut rest = value;
    let mut needed = places;
    while needed > 0 && rest % 10 == 0 {
        rest /= 10;
        needed -= 1;
    }
    needed
}

/// Rounds a share to a billionth.
pub fn share(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

/// Returns a share on a scale from 0 to `scale`, rounded to a billionth of the scale.
pub fn points(share: f64, scale: u32) -> f64 {
    let scale = f64::from(scale.max(1));
    let (value, digits) = (share * scale, 1e9 / scale);
    let rounded = if value.abs() * digits < 1e15 { (value * digits).round() / digits } else { value };
    // A difference of 0 has no sign.
    if rounded == 0.0 { 0.0 } else { rounded }
}

/// Returns billionths as the nearest double.
pub(crate) fn from_billionths(value: i64) -> f64 {
    value as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use karat_core::scorecard::Publish;

    use super::*;

    #[test]
    fn a_number_is_cut_and_never_rounded_up() {
        assert_eq!(billionths(699_999_999), "0.699999");
        assert_eq!(billionths(700_000_000), "0.7");
        assert_eq!(cut(823_500, 3, 6), "823.5");
    }

    #[test]
    fn points_take_the_decimals_they_need() {
        let scale = Scale { max: 1000, publish: Publish::Floor, places: 0 };
        let points = Points::new(scale, [Score::from_units(823_500_000_000_000)]);
        assert!(points.exact);
        assert_eq!(points.text(points.shown(Score::from_units(823_500_000_000_000))), "823.5");
        assert_eq!(points.signed(points.shown(Score::from_units(100_000_000_000_000))), "+100.0");
        let third = Points::new(scale, [Score::from_units(333_333_333_333_333)]);
        assert!(!third.exact);
        assert_eq!(third.text(third.shown(Score::from_units(333_333_333_333_333))), "333.333");
    }
}
