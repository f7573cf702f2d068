//! Moments as RFC 3339 writes them.

/// A moment in milliseconds since 1970-01-01T00:00:00Z; digits beyond milliseconds are cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instant {
    pub milliseconds: i64,
    /// Whether the text gives the offset as `Z`.
    pub is_zulu: bool,
    /// Whether the text gives the seconds, as RFC 3339 asks and ISO 8601 does not.
    pub has_seconds: bool,
}

impl Instant {
    /// Reads `2026-03-18T09:30:00.250Z`, or an offset such as `+02:00` in place of the `Z`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut rest = Cursor(text.as_bytes());
        let year = rest.digits(4)?;
        let month = rest.after(b'-')?.digits(2)?;
        let day = rest.after(b'-')?.digits(2)?;
        let hour = rest.after(b'T')?.digits(2)?;
        let minute = rest.after(b':')?.digits(2)?;
        let has_seconds = rest.take(b':');
        let second = if has_seconds { rest.digits(2)? } else { 0 };
        let millisecond = if has_seconds && rest.take(b'.') { rest.fraction()? } else { 0 };
        let is_zulu = rest.take(b'Z');
        let offset_minutes = if is_zulu { 0 } else { rest.offset()? };

        let date_is_real = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
        let time_is_real = hour < 24 && minute < 60 && second < 60;
        if !(date_is_real && time_is_real && rest.0.is_empty()) {
            return None;
        }
        let minutes = (days_since_1970(year, month, day) * 24 + hour) * 60 + minute - offset_minutes;
        Some(Self { milliseconds: (minutes * 60 + second) * 1000 + millisecond, is_zulu, has_seconds })
    }
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn take(&mut self, byte: u8) -> bool {
        let rest = self.0.strip_prefix(&[byte]);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn after(&mut self, byte: u8) -> Option<&mut Self> {
        self.take(byte).then_some(self)
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        digits
            .iter()
            .try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))
    }

    /// One digit or more after the point, as milliseconds.
    fn fraction(&mut self) -> Option<i64> {
        let length = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        let millisecond =
            digits.iter().chain(b"000").take(3).fold(0, |value, byte| value * 10 + i64::from(byte - b'0'));
        (length > 0).then_some(millisecond)
    }

    fn offset(&mut self) -> Option<i64> {
        let sign = if self.take(b'+') { 1 } else { self.after(b'-').map(|_| -1)? };
        let hours = self.digits(2)?;
        let minutes = self.after(b':')?.digits(2)?;
        (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days of the proleptic Gregorian calendar, by counting in years that begin on the first of March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    const FROM_MARCH_OF_YEAR_0: i64 = 719_468;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year
        - FROM_MARCH_OF_YEAR_0
}

/// The day that is so many days after 1970-01-01: year, month, day. The inverse of [`days_since_1970`], for any year.
fn date(days: i64) -> (i64, i64, i64) {
    const DAYS_OF_400_YEARS: i64 = 146_097;
    const FROM_MARCH_OF_YEAR_0: i64 = 719_468;
    let days = days + FROM_MARCH_OF_YEAR_0;
    let (era, day) = (days.div_euclid(DAYS_OF_400_YEARS), days.rem_euclid(DAYS_OF_400_YEARS));
    // Leap days come after 1,460 (a leap year less one), 36,524 (a century) and 146,096 (four of them) days.
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let month = (from_march + 2) % 12 + 1;
    let year = 400 * era + year + i64::from(month <= 2);
    (year, month, day_of_year - (153 * from_march + 2) / 5 + 1)
}

/// A moment in UTC as RFC 3339 writes it, with milliseconds if it has some. Years beyond 0000 to 9999, which RFC 3339 does
/// not have, get a sign.
pub(crate) fn utc(milliseconds: i64) -> String {
    const DAY_MILLISECONDS: i64 = 86_400_000;
    let (year, month, day) = date(milliseconds.div_euclid(DAY_MILLISECONDS));
    let rest = milliseconds.rem_euclid(DAY_MILLISECONDS);
    let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1_000 % 60);
    let mut text = String::with_capacity(24);
    match year {
        0..10_000 => push_digits(&mut text, year, 1000),
        _ => text.push_str(&format!("{year:+07}")),
    }
    for (before, value) in [('-', month), ('-', day), ('T', hour), (':', minute), (':', second)] {
        text.push(before);
        push_digits(&mut text, value, 10);
    }
    if rest % 1_000 != 0 {
        text.push('.');
        push_digits(&mut text, rest % 1_000, 100);
    }
    text.push('Z');
    text
}

/// Appends the digits of `value` from that of the power of ten `place` on, zeros too. By hand, because every answer of a
/// server has moments and formatting them showed in its profile.
fn push_digits(text: &mut String, value: i64, place: i64) {
    let digits = std::iter::successors(Some(place), |place| Some(place / 10).filter(|place| *place > 0));
    text.extend(digits.map(|place| char::from(b'0' + (value / place % 10) as u8)));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn moments_are_written() {
        for (milliseconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_825_600_500, "2000-02-29T12:00:00.500Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (-62_162_035_200_000, "0000-03-01T00:00:00Z"),
            (8_640_000_000_000_000, "+275760-09-13T00:00:00Z"),
            (-62_167_219_200_001, "-000001-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(utc(milliseconds), text);
        }
        assert!(utc(i64::MIN).ends_with('Z') && utc(i64::MAX).ends_with('Z'));
    }

    proptest! {
        #[test]
        fn a_written_moment_reads_back(milliseconds in -62_167_219_200_000_i64..253_402_300_800_000) {
            prop_assert_eq!(Instant::parse(&utc(milliseconds)).map(|read| read.milliseconds), Some(milliseconds));
        }
    }

    fn milliseconds(text: &str) -> Option<i64> {
        Instant::parse(text).map(|instant| instant.milliseconds)
    }

    #[test]
    fn known_moments() {
        assert_eq!(milliseconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(milliseconds("2001-09-09T01:46:40Z"), Some(1_000_000_000_000));
        assert_eq!(milliseconds("2000-02-29T12:00:00.5Z"), Some(951_825_600_500));
        assert_eq!(milliseconds("1969-12-31T23:59:59.999Z"), Some(-1));
        assert_eq!(milliseconds("2001-09-09T03:46:40.1239+02:00"), Some(1_000_000_000_123));
        assert_eq!(milliseconds("2001-09-08T20:16:40-05:30"), Some(1_000_000_000_000));
        assert_eq!(milliseconds("0000-03-01T00:00:00Z"), Some(-62_162_035_200_000));
    }

    #[test]
    fn what_is_not_a_moment() {
        for text in [
            "",
            "2001-09-09",
            "2001-09-09T01:46:40",
            "2001-09-09 01:46:40Z",
            "2001-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2001-13-01T00:00:00Z",
            "2001-00-01T00:00:00Z",
            "2001-09-09T24:00:00Z",
            "2001-09-09T01:46:60Z",
            "2001-09-09T01:46:40.Z",
            "2001-09-09T01:46:40Zz",
            "2001-09-09T01:46:40+2:00",
            "2001-09-09T01:46:40+24:00",
            "é001-09-09T01:46:40Z",
        ] {
            assert_eq!(Instant::parse(text), None, "{text}");
        }
    }

    #[test]
    fn seconds_and_offset_are_told() {
        let short = Instant::parse("2001-09-09T01:46Z").unwrap();
        assert!(short.is_zulu && !short.has_seconds);
        let offset = Instant::parse("2001-09-09T01:46:00+00:00").unwrap();
        assert!(!offset.is_zulu && offset.has_seconds);
    }
}
