//! The time of a match, as published files write it.

use karat_core::timestamp::{Timestamp, TimestampError};

/// Seconds since 1970 accepted as a time: 1973 to 5138. Smaller numbers are years or days, larger ones milliseconds.
const SECONDS: std::ops::Range<f64> = 1e8..1e11;

/// Reads a timestamp as [`Timestamp::parse_lenient`] does, or a number of seconds, as milliseconds since
/// 1970-01-01T00:00:00Z.
///
/// # Errors
/// If the text is neither; the error says what was expected.
pub fn milliseconds(text: &str) -> Result<i64, String> {
    let text = text.trim();
    let seconds = || text.parse::<f64>().ok().filter(|seconds| SECONDS.contains(seconds));
    Timestamp::parse_lenient(text).map(|time| time.milliseconds).or_else(|error| {
        if let Some(seconds) = seconds() {
            return Ok((seconds * 1000.0).round_ties_even() as i64);
        }
        let hint = match error {
            TimestampError::Form => String::new(),
            error => format!("; {}", error.hint()),
        };
        Err(format!(
            "`{text}` is not a time, expected such as `2026-03-18T09:30:00Z`, `2026-03-18 09:30:00`, `2026-03-18` or \
             seconds since 1970{hint}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_one_moment() {
        for text in [
            "2001-09-09T01:46:40Z",
            "2001-09-09 01:46:40",
            "2001-09-09T01:46:40",
            "1000000000",
            "1e9",
            "2001-09-09 03:46:40+02:00",
        ] {
            assert_eq!(milliseconds(text), Ok(1_000_000_000_000), "{text}");
        }
        assert_eq!(milliseconds("1970-01-02"), Ok(86_400_000));
        assert_eq!(milliseconds("1000000000.25"), Ok(1_000_000_000_250));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "2012", "yesterday", "2012-02-30", "1682351591000", "09/11/2001", "NaN", "-1e9"] {
            assert!(milliseconds(text).unwrap_err().contains("is not a time"), "{text}");
        }
    }
}
