//! Moments as people give them: a timestamp; where a door set its clock, a date or `now` too.

use std::str::FromStr;
use std::sync::{Mutex, OnceLock, PoisonError};

use karat_core::timestamp::{Timestamp, TimestampError, WrittenTimestamp};

/// The clock of the door, and the one moment that `now` is in all of a command.
static CLOCK: OnceLock<fn() -> Timestamp> = OnceLock::new();
static NOW: OnceLock<Timestamp> = OnceLock::new();

/// The moments that were not written in full, each with what it means, to be said once.
static RESOLVED: Mutex<Vec<(String, Timestamp)>> = Mutex::new(Vec::new());

/// Sets the clock of a command, which from then on understands `now` and dates. A server has none: its answers name each moment
/// in full.
pub fn set_clock(clock: fn() -> Timestamp) {
    CLOCK.get_or_init(|| clock);
}

/// A timestamp with the text that was given, which records keep; of `now` and a date alone, the text in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsOf {
    text: String,
    /// The timestamp.
    pub at: Timestamp,
}

impl FromStr for AsOf {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let at = moment(text)?;
        let is_full = Timestamp::parse(text).is_ok();
        Ok(Self { text: if is_full { text.to_owned() } else { at.to_string() }, at })
    }
}

impl AsOf {
    /// Returns the timestamp with its text, as records take it.
    pub fn written(&self) -> WrittenTimestamp<'_> {
        WrittenTimestamp { text: &self.text, at: self.at }
    }
}

/// Reads a timestamp; where there is a clock, also a date, which is its midnight in UTC, or `now`.
///
/// # Errors
/// If the text has another form.
pub fn moment(text: &str) -> Result<Timestamp, TimestampError> {
    let parsed = Timestamp::parse(text);
    let Some(clock) = CLOCK.get() else { return parsed };
    let resolved = match (text, parsed) {
        ("now", _) => *NOW.get_or_init(clock),
        // Of the forms that are read leniently, the one whose only lack is the time is a date.
        (_, Err(TimestampError::NoTime)) => Timestamp::parse_lenient(text)?,
        (_, parsed) => return parsed,
    };
    let mut said = RESOLVED.lock().unwrap_or_else(PoisonError::into_inner);
    if !said.iter().any(|(known, _)| known == text) {
        said.push((text.to_owned(), resolved));
    }
    Ok(resolved)
}

/// Returns what was resolved since the last call, as notes.
pub fn notes() -> Vec<String> {
    let mut said = RESOLVED.lock().unwrap_or_else(PoisonError::into_inner);
    said.drain(..).map(|(text, at)| format!("`{text}` is {at}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_its_midnight_and_now_is_one_moment() {
        set_clock(|| Timestamp { milliseconds: 1000 });
        let full = |text: &str| text.parse::<AsOf>().unwrap().written().text.to_owned();
        assert_eq!(full("2026-06-01"), "2026-06-01T00:00:00Z");
        assert_eq!(full("2026-06-01T02:00:00+02:00"), "2026-06-01T02:00:00+02:00");
        assert_eq!(full("now"), "1970-01-01T00:00:01Z");
        assert!(moment("2026-02-30").is_err() && moment("Now").is_err() && moment("2026-06-01 ").is_err());
    }

    #[test]
    fn other_texts_are_refused_as_elsewhere() {
        for text in ["", "yesterday", "2026-06", "2026-06-01T12:00", "2026-06-01 12:00:00Z", "1769860800"] {
            assert_eq!(moment(text), Timestamp::parse(text), "{text}");
        }
    }
}
