//! Moments as they are written: whether a text is one, and seconds as people read them.

use karat_evidence::Moment;

/// `2026-01-31T12:00:00`, decimals of the second or none, and `Z` or an offset.
pub fn is_moment(text: &str) -> bool {
    let number = |from: usize, digits: usize| -> Option<u32> {
        let part = text.get(from..from + digits)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let within = |from: usize, digits: usize, low: u32, high: u32| {
        number(from, digits).is_some_and(|value| (low..=high).contains(&value))
    };
    let (Some(year), Some(month)) = (number(0, 4), number(5, 2)) else { return false };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let marks = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")];
    if !marks.iter().all(|&(at, mark)| text.get(at..at + 1) == Some(mark)) {
        return false;
    }
    // A leap second is second 60.
    if !(within(5, 2, 1, 12)
        && within(8, 2, 1, days)
        && within(11, 2, 0, 23)
        && within(14, 2, 0, 59)
        && within(17, 2, 0, 60))
    {
        return false;
    }
    let rest = text.get(19..).unwrap_or_default();
    let zone = match rest.strip_prefix('.') {
        Some(decimals) => match decimals.trim_start_matches(|c: char| c.is_ascii_digit()) {
            zone if zone.len() < decimals.len() => zone,
            _ => return false,
        },
        None => rest,
    };
    let start = text.len() - zone.len();
    let is_offset = zone.len() == 6
        && zone.starts_with(['+', '-'])
        && zone.get(3..4) == Some(":")
        && within(start + 1, 2, 0, 23)
        && within(start + 4, 2, 0, 59);
    zone == "Z" || is_offset
}

/// A moment in whole seconds, as people read it.
pub fn moment(at_seconds: i64) -> String {
    Moment { milliseconds: at_seconds.saturating_mul(1000) }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_rfc_3339() {
        for good in ["2026-01-31T12:00:00Z", "2024-02-29T23:59:60.25+05:30", "2000-02-29T00:00:00-00:00"] {
            assert!(is_moment(good), "{good}");
        }
        for bad in [
            "",
            "yesterday",
            "2026-01-31",
            "2026-02-29T12:00:00Z",
            "2026-13-01T12:00:00Z",
            "2026-01-31T24:00:00Z",
            "2026-01-31T12:00:00",
            "2026-01-31T12:00:00.Z",
            "2026-01-31T12:00:00+5:30",
            "2026-01-31T12:00:00Zz",
            "2026-01-31T12:00:00é",
            "２026-01-31T12:00:00Z",
        ] {
            assert!(!is_moment(bad), "{bad}");
        }
    }
}
