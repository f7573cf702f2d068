//! Estimates as people read them: on the scale of the card, with their intervals, ranks and groups.

/// The format of scores on one scale: factor and decimals.
#[derive(Debug, Clone, Copy, PartialEq)]
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

    /// Returns the format of points on a scale from 0 to `max`.
    pub fn points(max: u32) -> Self {
        Self { factor: 1.0, ..Self::of(max) }
    }

    /// Returns the format of shares of 1.
    pub fn shares() -> Self {
        Self { factor: 1.0, decimals: 3 }
    }

    /// Returns the format of numbers of any unit with this number of decimals.
    pub fn decimals_of(decimals: usize) -> Self {
        Self { factor: 1.0, decimals }
    }

    /// Returns the format of numbers of any unit, the largest of this size: four digits or more.
    pub(crate) fn of_size(largest: f64) -> Self {
        let (mut decimals, mut size) = (3, largest.abs());
        while size >= 10.0 && decimals > 0 {
            (size, decimals) = (size / 10.0, decimals - 1);
        }
        while size > 0.0 && size < 1.0 && decimals < 9 {
            (size, decimals) = (size * 10.0, decimals + 1);
        }
        Self { factor: 1.0, decimals }
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

    /// Returns a share in units of the last decimal that is written.
    pub fn units(self, share: f64) -> i64 {
        let digits: String = self.number(share).chars().filter(|c| *c != '.').collect();
        digits.parse().unwrap_or_default()
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

    /// Formats an end of an interval of differences: one that rounds to zero tells its side, which is the verdict.
    pub fn signed_end(self, share: f64) -> String {
        let text = self.signed(share);
        match text.starts_with(['+', '-']) {
            false if share < 0.0 => String::from("<0"),
            false if share > 0.0 => String::from(">0"),
            _ => text,
        }
    }

    /// Formats both ends of an interval; `-` without an interval.
    pub fn ends(self, interval: Option<(f64, f64)>) -> String {
        let ends = interval.map(|(low, high)| format!("{} to {}", self.number(low), self.number(high)));
        ends.unwrap_or_else(|| String::from("-"))
    }
}

/// Names the intervals of means, after what they are of.
pub(crate) fn of_gaffke(level: f64) -> String {
    format!("; {} intervals (Gaffke)", percent(level))
}

/// Formats a number of any size with at most six digits, without zeros at its end.
pub fn plain(number: f64) -> String {
    let size = number.abs();
    if size >= 1e15 || (size > 0.0 && size < 1e-6) {
        return format!("{number:e}");
    }
    let (mut decimals, mut rest) = (5_usize, size);
    while rest >= 10.0 && decimals > 0 {
        (rest, decimals) = (rest / 10.0, decimals - 1);
    }
    while rest > 0.0 && rest < 1.0 {
        (rest, decimals) = (rest * 10.0, decimals + 1);
    }
    let text = format!("{number:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { String::from("0") } else { text.to_owned() }
}

/// Formats a confidence in per cent: `95%`, `99.9%`.
pub fn percent(share: f64) -> String {
    // 100 times 0.57 is 56.99999999999999 in doubles.
    let part = (share * 1e12).round() / 1e10;
    format!("{part}%")
}

/// Formats a share in whole per cent, to the nearest; `<1%` and `>99%` for values that are not quite 0 or 1. No number is 0.
pub fn whole_percent(share: f64) -> String {
    nearest_percent(share, 1.0)
}

/// Formats a share in per cent with one decimal, unless that is 0, to the nearest: `1.7%` for 1/60; `<0.1%` and `>99.9%`
/// for values that are not quite 0 or 1.
pub(crate) fn tenth_percent(share: f64) -> String {
    nearest_percent(share, 10.0)
}

/// Formats a share in per cent, to the nearest of `steps` in each.
fn nearest_percent(share: f64, steps: f64) -> String {
    let share = if share.is_finite() { share } else { 0.0 };
    let rounded = (share * 100.0 * steps).round_ties_even();
    match share {
        _ if share > 0.0 && rounded < 1.0 => format!("<{}%", 1.0 / steps),
        _ if share < 1.0 && rounded >= 100.0 * steps => format!(">{}%", 100.0 - 1.0 / steps),
        _ => format!("{}%", rounded / steps),
    }
}

/// Formats ranks: `3`, or `2-4`.
pub fn ranks([best, worst]: [u32; 2]) -> String {
    if best == worst { best.to_string() } else { format!("{best}-{worst}") }
}

/// Returns a letter for ties by its number, from 1: `a` to `z`, then `aa`.
pub(crate) fn letter(number: u32) -> String {
    let (mut rest, mut text) = (number, String::new());
    while rest > 0 {
        rest -= 1;
        let digit = u8::try_from(rest % 26).unwrap_or_default();
        text.insert(0, char::from(b'a' + digit));
        rest /= 26;
    }
    text
}

/// Formats the letters of one subject: `abc`; from four in a row on `c-h`, and with commas where that is not one sign each.
pub(crate) fn letters(letters: &[String]) -> String {
    let mut runs: Vec<(&str, &str, u32)> = Vec::new();
    for own in letters {
        let at = number(own);
        match runs.last_mut() {
            Some((_, last, end)) if *end + 1 == at => (*last, *end) = (own, at),
            _ => runs.push((own, own, at)),
        }
    }
    let mut parts: Vec<String> = Vec::new();
    for (first, last, end) in runs {
        match (number(first)..=end).count() {
            0..4 => parts.extend((number(first)..=end).map(letter)),
            _ => parts.push(format!("{first}-{last}")),
        }
    }
    parts.join(if parts.iter().all(|part| part.len() == 1) { "" } else { "," })
}

/// Returns the number of a letter.
fn number(letter: &str) -> u32 {
    letter.bytes().fold(0, |number: u32, digit| {
        number.saturating_mul(26).saturating_add(u32::from(digit.saturating_sub(b'a')) + 1)
    })
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
        assert!((1..3000).all(|at| number(&letter(at)) == at));
        let shown = |all: &[u32]| letters(&all.iter().copied().map(letter).collect::<Vec<_>>());
        let cases: [&[u32]; 7] =
            [&[], &[2], &[1, 2, 3], &[3, 4, 5, 6], &[1, 3, 4, 5, 6, 7], &[26, 27], &[1, 2, 5]];
        assert_eq!(cases.map(shown), ["", "b", "abc", "c-f", "a,c-g", "z,aa", "abe"]);
        let writing = Writing::shares();
        assert_eq!(
            [0.5, -0.25, 0.0, -0.0001, 0.0001].map(|x| writing.signed(x)),
            ["+0.500", "-0.250", "0.000", "0.000", "0.000"]
        );
        assert_eq!(
            [-0.25, -0.0001, 0.0, 0.0001].map(|x| writing.signed_end(x)),
            ["-0.250", "<0", "0.000", ">0"]
        );
        assert_eq!(ranks([2, 4]), "2-4");
        assert_eq!([0.95, 0.57, 0.999, 0.29].map(percent), ["95%", "57%", "99.9%", "29%"]);
        assert_eq!(
            [0.0, 0.0001, 0.01, 0.5, 0.994, 0.9999, 1.0, f64::NAN].map(whole_percent),
            ["0%", "<1%", "1%", "50%", "99%", ">99%", "100%", "0%"]
        );
        assert_eq!(
            [0.0, 0.0001, 1.0 / 60.0, 0.25, 2.0 / 3.0, 0.9999, 1.0].map(tenth_percent),
            ["0%", "<0.1%", "1.7%", "25%", "66.7%", ">99.9%", "100%"]
        );
    }

    #[test]
    fn shares_are_rounded_and_not_cut() {
        for part in 0..=3600u32 {
            let share = f64::from(part) / 3600.0;
            for (shown, half) in [(whole_percent(share), 0.005), (tenth_percent(share), 0.0005)] {
                let number = shown.trim_matches(['<', '>', '%']).parse::<f64>().unwrap() / 100.0;
                let reach = if shown.starts_with(['<', '>']) { 2.0 * half } else { half };
                assert!((number - share).abs() <= reach + 1e-12, "{part}: {shown}");
                assert_eq!((shown == "0%", shown == "100%"), (part == 0, part == 3600), "{part}: {shown}");
            }
        }
    }
}
