//! Moments, for verdicts and for evidence that ages.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, Unexpected};

use crate::instant::{Instant, utc};

/// A moment: milliseconds since 1970-01-01T00:00:00Z. Always given, never read from a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub milliseconds: i64,
}

impl Moment {
    /// Reads a moment after RFC 3339, with seconds and offset; digits beyond milliseconds are cut off.
    ///
    /// ```
    /// use karat_evidence::Moment;
    ///
    /// let moment = Moment::parse("1970-01-01T01:00:01.5+01:00").unwrap();
    /// assert_eq!((moment.milliseconds, moment.to_string().as_str()), (1500, "1970-01-01T00:00:01.500Z"));
    /// assert_eq!(Moment::parse("1970-01-01"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let instant = Instant::parse(text).filter(|instant| instant.has_seconds)?;
        Some(Self { milliseconds: instant.milliseconds })
    }

    /// Seconds from `earlier` to this moment; below 0 if `earlier` is later.
    #[must_use]
    pub fn seconds_since(self, earlier: Self) -> f64 {
        self.milliseconds.saturating_sub(earlier.milliseconds) as f64 / 1000.0
    }
}

/// In UTC, after RFC 3339: `2026-03-18T09:30:00Z`.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&utc(self.milliseconds))
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let expected = &"a moment such as 2026-03-18T09:30:00Z";
        Self::parse(&text).ok_or_else(|| D::Error::invalid_value(Unexpected::Str(&text), expected))
    }
}
