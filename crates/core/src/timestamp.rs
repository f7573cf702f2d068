//! Timestamps, read from RFC 3339 and written in UTC.
//!
//! Every timestamp that karat reads goes through this module, so that all flags, parameters, records and evidence accept
//! the same texts:
//!
//! | function | texts | for |
//! |---|---|---|
//! | [`Timestamp::parse`] | RFC 3339, with seconds and with `Z` or an offset | everything but the rows below |
//! | [`parse_nanoseconds`] | the same | event logs, whose durations need every digit |
//! | [`Timestamp::parse_utc`] | ending in `Z`; the seconds may be left out | reasoning traces, by their published schema |
//! | [`Timestamp::parse_lenient`] | also a date alone, a space for the `T`, no offset | published lists of matches, forms of web pages |
//!
//! `T` and `Z` are capital letters. Leap seconds are not counted, so second 60 is refused. In UTC, the year is 0000 to 9999.

use core::fmt;

/// A point in time: milliseconds since 1970-01-01T00:00:00Z. Always given, never read from a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub milliseconds: i64,
}

/// A timestamp and the text that it was read from, for records, which keep the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenTimestamp<'a> {
    /// The text.
    pub text: &'a str,
    /// The timestamp that it gives.
    pub at: Timestamp,
}

/// The reason why a text is not a timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected {}; {}", self.expected(), self.hint())]
pub enum TimestampError {
    /// The text has another form altogether.
    Form,
    /// The text is a date without a time.
    NoTime,
    /// There is no capital `T` between date and time.
    NoSeparator,
    /// The time has no seconds.
    NoSeconds,
    /// The text does not end in `Z` or an offset.
    NoOffset,
    /// The text has an offset where only `Z` is allowed.
    NotUtc,
    /// The calendar has no such day.
    Day,
    /// Hour, minute or second of the time or the offset is too large.
    Time,
    /// The time is a leap second.
    LeapSecond,
    /// The year is not 0000 to 9999 in UTC.
    Year,
}

impl TimestampError {
    /// Returns the form that was expected, with an example.
    pub const fn expected(self) -> &'static str {
        match self {
            Self::NotUtc => "an RFC 3339 timestamp in UTC such as `2026-01-31T12:00:00Z`",
            _ => "an RFC 3339 timestamp such as `2026-01-31T12:00:00Z`",
        }
    }

    /// Returns advice on how to correct the text.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Form => "give date, `T`, time with seconds, and `Z` or an offset",
            Self::NoTime => "add the time, such as `T00:00:00Z`",
            Self::NoSeparator => "put a capital `T` between date and time",
            Self::NoSeconds => "add the seconds, such as `:00`",
            Self::NoOffset => "end with a capital `Z` for UTC, or with an offset such as `+02:00`",
            Self::NotUtc => "give the time in UTC, with `Z` at the end",
            Self::Day => "the calendar has no such day",
            Self::Time => "hours go up to 23, minutes and seconds up to 59",
            Self::LeapSecond => "leap seconds are not counted: give second 59",
            Self::Year => "in UTC, the year must be 0000 to 9999",
        }
    }
}

impl Timestamp {
    /// Reads an RFC 3339 timestamp with seconds and with `Z` or an offset. Digits beyond milliseconds are cut off.
    ///
    /// ```
    /// use karat_core::timestamp::{Timestamp, TimestampError};
    ///
    /// let timestamp = Timestamp::parse("1970-01-01T01:00:01.5+01:00").unwrap();
    /// assert_eq!((timestamp.milliseconds, timestamp.to_string().as_str()), (1500, "1970-01-01T00:00:01.500Z"));
    /// assert_eq!(Timestamp::parse("1970-01-01"), Err(TimestampError::NoTime));
    /// ```
    ///
    /// # Errors
    /// If the text has another form, or gives a day or time that does not exist.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        read(text, Leniency::default()).map(|(timestamp, _)| timestamp)
    }

    /// Reads a timestamp that ends in `Z` and may leave the seconds out, such as `2026-01-31T12:00Z`.
    ///
    /// # Errors
    /// If the text has another form, another offset, or gives a day or time that does not exist.
    pub fn parse_utc(text: &str) -> Result<Self, TimestampError> {
        let leniency = Leniency { no_seconds: true, no_offset: false, day_alone: false, space: false };
        let (timestamp, _) = read(text, leniency)?;
        if text.ends_with('Z') { Ok(timestamp) } else { Err(TimestampError::NotUtc) }
    }

    /// Reads a timestamp in one of the forms in which people and published files write it: a date alone is its midnight, a
    /// space may be in place of the `T`, and a time without an offset is in UTC.
    ///
    /// # Errors
    /// If the text has another form, or gives a day or time that does not exist.
    pub fn parse_lenient(text: &str) -> Result<Self, TimestampError> {
        let leniency = Leniency { no_seconds: false, no_offset: true, day_alone: true, space: true };
        read(text, leniency).map(|(timestamp, _)| timestamp)
    }

    /// Returns the timestamp of whole seconds since 1970-01-01T00:00:00Z; beyond the range of milliseconds, the nearest one.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self { milliseconds: seconds.saturating_mul(1000) }
    }

    /// Returns the whole seconds since 1970-01-01T00:00:00Z, rounded down.
    pub const fn seconds(self) -> i64 {
        self.milliseconds.div_euclid(1000)
    }

    /// Returns the seconds from `earlier` to this timestamp; below 0 if `earlier` is later.
    pub fn seconds_since(self, earlier: Self) -> f64 {
        self.milliseconds.saturating_sub(earlier.milliseconds) as f64 / 1000.0
    }
}

impl<'a> WrittenTimestamp<'a> {
    /// Reads a timestamp as [`Timestamp::parse`] does, and keeps the text.
    ///
    /// # Errors
    /// If the text is not a timestamp.
    pub fn parse(text: &'a str) -> Result<Self, TimestampError> {
        Timestamp::parse(text).map(|at| Self { text, at })
    }
}

/// Reads a timestamp as [`Timestamp::parse`] does, but returns nanoseconds since 1970-01-01T00:00:00Z. Digits beyond
/// nanoseconds are cut off.
///
/// # Errors
/// If the text is not a timestamp.
pub fn parse_nanoseconds(text: &str) -> Result<i128, TimestampError> {
    let (timestamp, nanoseconds) = read(text, Leniency::default())?;
    Ok(i128::from(timestamp.milliseconds) * 1_000_000 + i128::from(nanoseconds))
}

/// Writes the timestamp in UTC after RFC 3339, with milliseconds if it has any: `2026-03-18T09:30:00Z`. Years beyond 0000 to
/// 9999, which RFC 3339 does not have, get a sign.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Text::of(*self).as_str())
    }
}

/// The text of a timestamp. Formatting it with `write!` showed in the profile of the server.
pub(crate) struct Text {
    bytes: [u8; Self::BYTES_MAX],
    length: usize,
}

impl Text {
    /// `-292275055-05-16T16:47:04.192Z` has 30.
    const BYTES_MAX: usize = 32;

    pub(crate) fn of(timestamp: Timestamp) -> Self {
        let (year, month, day) = date(timestamp.milliseconds.div_euclid(DAY_MILLISECONDS));
        let rest = timestamp.milliseconds.rem_euclid(DAY_MILLISECONDS);
        let mut text = Self { bytes: [0; Self::BYTES_MAX], length: 0 };
        if (0..10_000).contains(&year) {
            text.digits(year, 1000);
        } else {
            text.push(if year < 0 { b'-' } else { b'+' });
            let year = year.abs();
            text.digits(year, 10_i64.pow(year.ilog10().max(5)));
        }
        let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1_000 % 60);
        for (before, value) in [(b'-', month), (b'-', day), (b'T', hour), (b':', minute), (b':', second)] {
            text.push(before);
            text.digits(value, 10);
        }
        if rest % 1_000 != 0 {
            text.push(b'.');
            text.digits(rest % 1_000, 100);
        }
        text.push(b'Z');
        text
    }

    pub(crate) fn as_str(&self) -> &str {
        self.bytes.get(..self.length).and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    /// Appends the digits of `value` from that of the power of ten `place` on, with zeros in front.
    fn digits(&mut self, value: i64, mut place: i64) {
        while place > 0 {
            self.push(b'0' + (value / place % 10) as u8);
            place /= 10;
        }
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::{Error as _, Unexpected};
        let text = alloc::string::String::deserialize(deserializer)?;
        Self::parse(&text).map_err(|error| {
            let expected = alloc::format!("{}; {}", error.expected(), error.hint());
            D::Error::invalid_value(Unexpected::Str(&text), &expected.as_str())
        })
    }
}

const DAY_MILLISECONDS: i64 = 86_400_000;
/// 0000-01-01T00:00:00Z and 10000-01-01T00:00:00Z.
const YEARS: core::ops::Range<i64> = -62_167_219_200_000..253_402_300_800_000;

/// Departures from RFC 3339 that are allowed.
#[derive(Debug, Clone, Copy, Default)]
struct Leniency {
    no_seconds: bool,
    no_offset: bool,
    day_alone: bool,
    space: bool,
}

/// Reads a timestamp, and the nanoseconds beyond its milliseconds.
fn read(text: &str, allowed: Leniency) -> Result<(Timestamp, u32), TimestampError> {
    use TimestampError as Error;

    let mut rest = Cursor(text.as_bytes());
    let (year, month, day) = rest.date().ok_or(Error::Form)?;
    if !((1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day)) {
        return Err(Error::Day);
    }
    let midnight = days_since_1970(year, month, day) * DAY_MILLISECONDS;
    if rest.0.is_empty() {
        return if allowed.day_alone {
            Ok((Timestamp { milliseconds: midnight }, 0))
        } else {
            Err(Error::NoTime)
        };
    }
    if !(rest.take(b'T') || allowed.space && rest.take(b' ')) {
        return Err(if matches!(rest.0, [b't' | b' ', ..]) { Error::NoSeparator } else { Error::Form });
    }
    let (hour, minute) = rest.pair().ok_or(Error::Form)?;
    let has_seconds = rest.take(b':');
    let second = if has_seconds { rest.digits(2).ok_or(Error::Form)? } else { 0 };
    let (millisecond, nanoseconds) =
        if has_seconds && rest.take(b'.') { rest.fraction().ok_or(Error::Form)? } else { (0, 0) };
    if hour > 23 || minute > 59 || second > 60 {
        return Err(Error::Time);
    }
    if second == 60 {
        return Err(Error::LeapSecond);
    }
    if !(has_seconds || allowed.no_seconds) {
        return Err(if matches!(rest.0, [] | [b'Z' | b'+' | b'-', ..]) {
            Error::NoSeconds
        } else {
            Error::Form
        });
    }
    let offset_minutes = if rest.0.is_empty() && allowed.no_offset { 0 } else { rest.offset()? };
    let seconds = ((hour * 60) + minute - offset_minutes) * 60 + second;
    let milliseconds = midnight + seconds * 1000 + millisecond;
    if YEARS.contains(&milliseconds) {
        Ok((Timestamp { milliseconds }, nanoseconds))
    } else {
        Err(Error::Year)
    }
}

/// The part of a text that is not read yet.
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

    /// Reads `2026-01-31`.
    fn date(&mut self) -> Option<(i64, i64, i64)> {
        Some((self.digits(4)?, self.after(b'-')?.digits(2)?, self.after(b'-')?.digits(2)?))
    }

    /// Reads `12:30`.
    fn pair(&mut self) -> Option<(i64, i64)> {
        Some((self.digits(2)?, self.after(b':')?.digits(2)?))
    }

    /// Reads the digits after the point, of which there is at least one, as milliseconds and the nanoseconds beyond them.
    fn fraction(&mut self) -> Option<(i64, u32)> {
        let length = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        let nanoseconds = digits
            .iter()
            .chain(core::iter::repeat(&b'0'))
            .take(9)
            .fold(0, |value, byte| value * 10 + u32::from(byte - b'0'));
        (length > 0).then_some((i64::from(nanoseconds / 1_000_000), nanoseconds % 1_000_000))
    }

    /// Reads `Z` or an offset such as `+02:00`, up to the end of the text, in minutes.
    fn offset(&mut self) -> Result<i64, TimestampError> {
        let minutes = if self.take(b'Z') {
            0
        } else {
            let sign = if self.take(b'+') { 1 } else { -1 };
            if sign < 0 && !self.take(b'-') {
                return Err(TimestampError::NoOffset);
            }
            let (hours, minutes) = self.pair().ok_or(TimestampError::NoOffset)?;
            if hours > 23 || minutes > 59 {
                return Err(TimestampError::Time);
            }
            sign * (hours * 60 + minutes)
        };
        if self.0.is_empty() { Ok(minutes) } else { Err(TimestampError::Form) }
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

/// Days from 0000-03-01 to 1970-01-01. Counting in years that begin in March puts the leap day last.
const FROM_MARCH_OF_YEAR_0: i64 = 719_468;

/// Returns the days from 1970-01-01 to a day of the proleptic Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year
        - FROM_MARCH_OF_YEAR_0
}

/// Returns year, month and day that are `days` after 1970-01-01. The inverse of [`days_since_1970`], for any year.
fn date(days: i64) -> (i64, i64, i64) {
    const DAYS_OF_400_YEARS: i64 = 146_097;
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

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use proptest::prelude::*;

    use super::*;

    fn milliseconds(text: &str) -> i64 {
        Timestamp::parse(text).unwrap().milliseconds
    }

    #[test]
    fn rfc_3339_is_read() {
        assert_eq!(milliseconds("1970-01-01T00:00:00Z"), 0);
        assert_eq!(milliseconds("2001-09-09T01:46:40Z"), 1_000_000_000_000);
        assert_eq!(milliseconds("2000-02-29T12:00:00.5Z"), 951_825_600_500);
        assert_eq!(milliseconds("1969-12-31T23:59:59.999Z"), -1);
        assert_eq!(milliseconds("2001-09-09T03:46:40.1239+02:00"), 1_000_000_000_123);
        assert_eq!(milliseconds("2001-09-08T20:16:40-05:30"), 1_000_000_000_000);
        assert_eq!(milliseconds("2001-09-09T01:46:40-00:00"), 1_000_000_000_000);
        assert_eq!(milliseconds("0000-03-01T00:00:00Z"), -62_162_035_200_000);
        assert_eq!(milliseconds("0000-01-01T00:00:00Z"), YEARS.start);
        assert_eq!(milliseconds("9999-12-31T23:59:59.999999Z"), YEARS.end - 1);
    }

    #[test]
    fn a_refusal_says_what_to_correct() {
        use TimestampError as Error;
        for (text, error) in [
            ("", Error::Form),
            ("yesterday", Error::Form),
            ("1769860800", Error::Form),
            ("20260131T120000Z", Error::Form),
            ("+002026-01-31T12:00:00Z", Error::Form),
            ("é026-01-31T12:00:00Z", Error::Form),
            ("２026-01-31T12:00:00Z", Error::Form),
            (" 2026-01-31T12:00:00Z", Error::Form),
            ("2026-01-31T12:00:00.Z", Error::Form),
            ("2026-01-31T12:00:00Zz", Error::Form),
            ("2026-01-31T12:00:00Z ", Error::Form),
            ("2026-01-31T12:00:00+02:00:00", Error::Form),
            ("2026-01-31T12:00:00Z[UTC]", Error::Form),
            ("2026-01-31T12", Error::Form),
            ("2026-01-31", Error::NoTime),
            ("2026-01-31 12:00:00Z", Error::NoSeparator),
            ("2026-01-31t12:00:00Z", Error::NoSeparator),
            ("2026-01-31T12:00", Error::NoSeconds),
            ("2026-01-31T12:00Z", Error::NoSeconds),
            ("2026-01-31T12:00:00", Error::NoOffset),
            ("2026-01-31T12:00:00z", Error::NoOffset),
            ("2026-01-31T12:00:00,5Z", Error::NoOffset),
            ("2026-01-31T12:00:00+2:00", Error::NoOffset),
            ("2026-01-31T12:00:00+0200", Error::NoOffset),
            ("2026-01-31T12:00:00+02", Error::NoOffset),
            ("2026-01-31T12:00:00é", Error::NoOffset),
            ("2026-02-29T12:00:00Z", Error::Day),
            ("1900-02-29T00:00:00Z", Error::Day),
            ("2026-13-01T00:00:00Z", Error::Day),
            ("2026-00-01T00:00:00Z", Error::Day),
            ("2026-01-00T00:00:00Z", Error::Day),
            ("2026-04-31T00:00:00Z", Error::Day),
            ("2026-01-31T24:00:00Z", Error::Time),
            ("2026-01-31T12:60:00Z", Error::Time),
            ("2026-01-31T12:00:61Z", Error::Time),
            ("2026-01-31T12:00:00+24:00", Error::Time),
            ("2026-01-31T12:00:00-00:60", Error::Time),
            ("2016-12-31T23:59:60Z", Error::LeapSecond),
            ("2017-01-01T05:29:60.25+05:30", Error::LeapSecond),
            ("0000-01-01T00:00:00+00:01", Error::Year),
            ("9999-12-31T23:59:59-00:01", Error::Year),
        ] {
            assert_eq!(Timestamp::parse(text), Err(error), "{text}");
            assert_eq!(parse_nanoseconds(text), Err(error), "{text}");
            assert_eq!(WrittenTimestamp::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn seconds_may_be_missing_only_in_utc() {
        assert_eq!(Timestamp::parse_utc("2001-09-09T01:46Z").unwrap().milliseconds, 999_999_960_000);
        assert_eq!(Timestamp::parse_utc("2001-09-09T01:46:40.5Z").unwrap().milliseconds, 1_000_000_000_500);
        assert_eq!(Timestamp::parse_utc("2001-09-09T01:46:40+00:00"), Err(TimestampError::NotUtc));
        assert_eq!(Timestamp::parse_utc("2001-09-09T01:46:40"), Err(TimestampError::NoOffset));
        assert_eq!(Timestamp::parse_utc("2001-09-09T01:46:60Z"), Err(TimestampError::LeapSecond));
    }

    #[test]
    fn lenient_forms_are_in_utc() {
        let noon = Ok(Timestamp { milliseconds: 1_769_860_800_000 });
        for text in [
            "2026-01-31T12:00:00Z", "2026-01-31 12:00:00Z", "2026-01-31T12:00:00", "2026-01-31 12:00:00.000",
            "2026-01-31 14:00:00+02:00",
        ] {
            assert_eq!(Timestamp::parse_lenient(text), noon, "{text}");
        }
        assert_eq!(Timestamp::parse_lenient("1970-01-02"), Ok(Timestamp { milliseconds: DAY_MILLISECONDS }));
        for text in ["2026-01-31T12:00", "2026-02-30", "31.01.2026", "2026-01-31T12:00:60", "2026-01-31 "] {
            assert!(Timestamp::parse_lenient(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nanoseconds_are_kept() {
        assert_eq!(parse_nanoseconds("1970-01-01T00:00:00.0000000019Z"), Ok(1));
        assert_eq!(parse_nanoseconds("1970-01-01T00:00:00.123456+00:00"), Ok(123_456_000));
        assert_eq!(parse_nanoseconds("1970-01-01T01:00:00.5+01:00"), Ok(500_000_000));
        assert_eq!(parse_nanoseconds("1969-12-31T23:59:59.999999999Z"), Ok(-1));
    }

    #[test]
    fn timestamps_are_written() {
        for (milliseconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_825_600_500, "2000-02-29T12:00:00.500Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (-62_162_035_200_000, "0000-03-01T00:00:00Z"),
            (8_640_000_000_000_000, "+275760-09-13T00:00:00Z"),
            (-62_167_219_200_001, "-000001-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp { milliseconds }.to_string(), text);
        }
        for milliseconds in [i64::MIN, i64::MAX] {
            let text = Timestamp { milliseconds }.to_string();
            assert!((30, true) == (text.len(), text.ends_with('Z')), "{text}");
        }
    }

    #[test]
    fn an_error_names_form_and_hint() {
        assert_eq!(
            TimestampError::NoTime.to_string(),
            "expected an RFC 3339 timestamp such as `2026-01-31T12:00:00Z`; add the time, such as `T00:00:00Z`"
        );
    }

    proptest! {
        #[test]
        fn a_written_timestamp_reads_back(milliseconds in YEARS) {
            let timestamp = Timestamp { milliseconds };
            let text = timestamp.to_string();
            prop_assert_eq!(Timestamp::parse(&text), Ok(timestamp));
            prop_assert_eq!(Timestamp::parse_utc(&text), Ok(timestamp));
            prop_assert_eq!(Timestamp::parse_lenient(&text), Ok(timestamp));
            prop_assert_eq!(parse_nanoseconds(&text), Ok(i128::from(milliseconds) * 1_000_000));
        }

        #[test]
        fn texts_of_whole_seconds_are_in_the_order_of_their_values(
            a in YEARS.start / 1000..YEARS.end / 1000, b in YEARS.start / 1000..YEARS.end / 1000,
        ) {
            let [one, other] = [a, b].map(Timestamp::from_seconds);
            prop_assert_eq!(one.to_string().cmp(&other.to_string()), one.cmp(&other));
        }

        #[test]
        fn an_offset_shifts(milliseconds in YEARS.start + DAY_MILLISECONDS..YEARS.end - DAY_MILLISECONDS, offset in -1439_i64..1440) {
            let local = Timestamp { milliseconds: milliseconds + offset * 60_000 }.to_string();
            let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs());
            let text = alloc::format!("{}{sign}{:02}:{:02}", local.trim_end_matches('Z'), minutes / 60, minutes % 60);
            prop_assert_eq!(Timestamp::parse(&text), Ok(Timestamp { milliseconds }));
        }

        #[test]
        fn no_text_stops_the_reader(text in "[0-9TZtz:+. -]{0,32}|\\PC{0,32}") {
            let _ = (Timestamp::parse(&text), Timestamp::parse_utc(&text));
            let _ = (Timestamp::parse_lenient(&text), parse_nanoseconds(&text));
        }
    }
}
