//! Estimates as people read them: on the scale of the card, with their intervals, ranks and groups.

use std::ops::RangeInclusive;

/// The format of scores on one scale: factor and decimals.
#[derive(Debug, Clone, Copy)]
pub struct Writing {
    factor: f64,
    decimals: usize,
}

impl Writing {
    /// Returns the format of scores on a scale from 0 to `max`.
    pub fn of(max: u32) -> Self {
        let decimals = match max {
            1 => 3,
            10 => 2,
            _ => 1,
        };
        Self { factor: f64::from(max), decimals }
    }

    /// Returns the format of shares of 1.
    pub fn shares() -> Self {
        Self { factor: 1.0, decimals: 3 }
    }

    /// Returns the number of columns that the largest number needs.
    pub fn width(self) -> usize {
        self.number(1.0).len()
    }

    /// Returns a share on this scale.
    pub fn value(self, share: f64) -> f64 {
        share * self.factor
    }

    /// Returns the number of decimals.
    pub fn decimals(self) -> usize {
        self.decimals
    }

    /// Formats a share as a number on this scale.
    pub fn number(self, share: f64) -> String {
        let text = format!("{:.1$}", self.value(share), self.decimals);
        // A number that rounds to zero has no sign.
        let is_zero = text.starts_with('-') && text.chars().all(|c| matches!(c, '-' | '0' | '.'));
        if is_zero { text.trim_start_matches('-').to_owned() } else { text }
    }

    /// Formats a share with a sign if it is above 0.
    pub fn signed(self, share: f64) -> String {
        let text = self.number(share);
        let is_zero = text.chars().all(|c| matches!(c, '0' | '.'));
        if share > 0.0 && !is_zero { format!("+{text}") } else { text }
    }

    /// Formats both ends of an interval; `-` without an interval.
    pub fn ends(self, interval: Option<(f64, f64)>) -> String {
        let ends = interval.map(|(low, high)| format!("{} to {}", self.number(low), self.number(high)));
        ends.unwrap_or_else(|| String::from("-"))
    }

    /// Formats the ends of an axis, one at each end of `width` columns.
    pub fn axis(self, axis: &RangeInclusive<f64>, width: usize) -> String {
        let (low, high) = (self.number(*axis.start()), self.number(*axis.end()));
        let gap = width.saturating_sub(low.len() + high.len());
        if gap == 0 { " ".repeat(width) } else { format!("{low}{:gap$}{high}", "") }
    }
}

/// Formats a confidence in per cent: `95%`, `99.9%`.
pub fn percent(share: f64) -> String {
    // 100 times 0.57 is 56.99999999999999 in doubles.
    let part = (share * 1e12).round() / 1e10;
    format!("{part}%")
}

/// Formats a share in whole per cent; `<1%` and `>99%` for values that are not quite 0 or 1.
pub fn whole_percent(share: f64) -> String {
    let rounded = (share * 100.0).round();
    match share {
        _ if share > 0.0 && rounded < 1.0 => String::from("<1%"),
        _ if share < 1.0 && rounded > 99.0 => String::from(">99%"),
        _ => format!("{rounded}%"),
    }
}

/// Formats ranks: `3`, or `2-4`.
pub fn ranks([best, worst]: [u32; 2]) -> String {
    if best == worst { best.to_string() } else { format!("{best}-{worst}") }
}

/// Returns the letter of a group: `a` to `z`, then `aa`.
pub fn letter(group: u32) -> String {
    let (mut rest, mut text) = (group, String::new());
    while rest > 0 {
        rest -= 1;
        let digit = u8::try_from(rest % 26).unwrap_or_default();
        text.insert(0, char::from(b'a' + digit));
        rest /= 26;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_letters_and_numbers_have_signs() {
        assert_eq!(
            [1, 2, 26, 27, 52, 53, 702, 703].map(letter),
            ["a", "b", "z", "aa", "az", "ba", "zz", "aaa"]
        );
        let writing = Writing::shares();
        assert_eq!(
            [0.5, -0.25, 0.0, -0.0001, 0.0001].map(|x| writing.signed(x)),
            ["+0.500", "-0.250", "0.000", "0.000", "0.000"]
        );
        assert_eq!(writing.axis(&(0.0..=1.0), 14), "0.000    1.000");
        assert_eq!(ranks([2, 4]), "2-4");
        assert_eq!([0.95, 0.57, 0.999, 0.29].map(percent), ["95%", "57%", "99.9%", "29%"]);
        assert_eq!(
            [0.0, 0.0001, 0.01, 0.5, 0.994, 0.9999, 1.0].map(whole_percent),
            ["0%", "<1%", "1%", "50%", "99%", ">99%", "100%"]
        );
    }
}
