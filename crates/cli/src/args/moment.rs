//! The moments of the command line: a timestamp, a date, or `now`, by one reader for all flags.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use karat_core::timestamp::{Timestamp, TimestampError, WrittenTimestamp};

/// The moments that were not written in full, each with what it means, to be said once.
static RESOLVED: Mutex<Vec<(String, Timestamp)>> = Mutex::new(Vec::new());

/// A timestamp with the text that was given, which records keep; of `now` and a date alone, the text in full.
#[derive(Debug, Clone)]
pub struct AsOf {
    text: String,
    /// The timestamp.
    pub at: Timestamp,
}

impl AsOf {
    /// Reads a moment.
    ///
    /// # Errors
    /// If the text is neither a timestamp nor a date nor `now`.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        let at = moment(text)?;
        let is_full = Timestamp::parse(text).is_ok();
        Ok(Self { text: if is_full { text.to_owned() } else { at.to_string() }, at })
    }

    /// Returns the timestamp with its text, as records take it.
    pub fn written(&self) -> WrittenTimestamp<'_> {
        WrittenTimestamp { text: &self.text, at: self.at }
    }
}

/// Reads a timestamp, a date, which is its midnight in UTC, or `now`, which is one moment in all of a command.
///
/// # Errors
/// If the text has another form.
pub fn moment(text: &str) -> Result<Timestamp, TimestampError> {
    static NOW: OnceLock<Timestamp> = OnceLock::new();
    let resolved = match (text, Timestamp::parse(text)) {
        ("now", _) => *NOW.get_or_init(now),
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

/// Returns the time of the clock of this machine, to the millisecond. A clock before 1970 shows 1970.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { milliseconds: i64::try_from(since.as_millis()).unwrap_or(i64::MAX) }
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
        assert_eq!(AsOf::parse("2026-06-01").unwrap().written().text, "2026-06-01T00:00:00Z");
        assert_eq!(
            AsOf::parse("2026-06-01T02:00:00+02:00").unwrap().written().text,
            "2026-06-01T02:00:00+02:00"
        );
        assert_eq!(moment("now"), moment("now"));
        assert!(moment("2026-02-30").is_err() && moment("Now").is_err() && moment("2026-06-01 ").is_err());
    }

    #[test]
    fn what_is_no_moment_is_answered_as_elsewhere() {
        for text in ["", "yesterday", "2026-06", "2026-06-01T12:00", "2026-06-01 12:00:00Z", "1769860800"] {
            assert_eq!(moment(text), Timestamp::parse(text), "{text}");
        }
    }
}
