//! Estimates as people read them: on the scale of the card, with their intervals, ranks and groups.

use std::ops::RangeInclusive;

use crate::answers::basis::Ranks;

/// How shares of a perfect score are written.
#[derive(Debug, Clone, Copy)]
pub struct Writing {
    factor: f64,
    decimals: usize,
}

impl Writing {
    /// Returns how scores are written on a scale from 0 to `max`.
    pub fn of(max: u32) -> Self {
        let decimals = match max {
            1 => 3,
            10 => 2,
            _ => 1,
        };
        Self { factor: f64::from(max), decimals }
    }

    /// As shares of 1.
    pub fn shares() -> Self {
        Self { factor: 1.0, decimals: 3 }
    }

    /// Columns that the largest number needs.
    pub fn width(self) -> usize {
        self.number(1.0).len()
    }

    /// A share on this scale.
    pub fn value(self, share: f64) -> f64 {
        share * self.factor
    }

    /// Decimals of a number.
    pub fn decimals(self) -> usize {
        self.decimals
    }

    /// A number.
    pub fn number(self, share: f64) -> String {
        let text = format!("{:.1$}", self.value(share), self.decimals);
        // What rounds to nothing has no sign.
        let is_zero = text.starts_with('-') && text.chars().all(|c| matches!(c, '-' | '0' | '.'));
        if is_zero { text.trim_start_matches('-').to_owned() } else { text }
    }

    /// A number with a sign in front of what is above 0.
    pub fn signed(self, share: f64) -> String {
        let text = self.number(share);
        let is_zero = text.chars().all(|c| matches!(c, '0' | '.'));
        if share > 0.0 && !is_zero { format!("+{text}") } else { text }
    }

    /// Both ends of an interval; `-` where there is none.
    pub fn ends(self, interval: Option<(f64, f64)>) -> String {
        let ends = interval.map(|(low, high)| format!("{} to {}", self.number(low), self.number(high)));
        ends.unwrap_or_else(|| String::from("-"))
    }

    /// The ends of an axis, one at each end of `width` columns.
    pub fn axis(self, axis: &RangeInclusive<f64>, width: usize) -> String {
        let (low, high) = (self.number(*axis.start()), self.number(*axis.end()));
        let gap = width.saturating_sub(low.len() + high.len());
        if gap == 0 { " ".repeat(width) } else { format!("{low}{:gap$}{high}", "") }
    }
}

/// A confidence in per cent: `95%`, `99.9%`.
pub fn percent(share: f64) -> String {
    // 100 times 0.57 is 56.99999999999999 in doubles.
    let part = (share * 1e12).round() / 1e10;
    format!("{part}%")
}

/// A part in whole per cent; `<1%` and `>99%` for what is not quite nothing, or all.
pub fn whole_percent(share: f64) -> String {
    let rounded = (share * 100.0).round();
    match share {
        _ if share > 0.0 && rounded < 1.0 => String::from("<1%"),
        _ if share < 1.0 && rounded > 99.0 => String::from(">99%"),
        _ => format!("{rounded}%"),
    }
}

/// `3`, or `2-4`.
pub fn ranks([best, worst]: Ranks) -> String {
    if best == worst { best.to_string() } else { format!("{best}-{worst}") }
}

/// The letter of a group: `a` to `z`, then `aa`.
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
