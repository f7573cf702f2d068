//! Records as a server lists them, with the moment at which its log received each.

use karat_core::timestamp::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Arrival;
use crate::record::RECORD;
use crate::trust::Trust;

/// A record in a list of `GET /v1/records`: its log says when it arrived.
#[derive(Debug, Clone, Copy)]
pub struct StoredRecord<'a> {
    /// The JSON of the record.
    pub record: &'a str,
    /// Its arrival.
    pub arrival: Arrival,
}

/// The members of such a record that count here.
#[derive(Deserialize)]
struct Members<'a> {
    moment: Timestamp,
    /// Not there in lists of older servers.
    #[serde(default)]
    backfilled_by: Option<String>,
    #[serde(borrow)]
    record: &'a RawValue,
}

impl<'a> StoredRecord<'a> {
    /// Reads it from one JSON object; none from anything else, such as a bare record.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        if !text.contains(RECORD) || !text.contains("\"moment\"") {
            return None;
        }
        let Members { moment, backfilled_by, record } = serde_json::from_str(text).ok()?;
        // The author of the file may have written its trust class.
        let arrival = Arrival { moment, is_backfilled: backfilled_by.is_some(), trust: Trust::Claimed };
        Some(Self { record: record.get(), arrival })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_record_is_read_and_a_bare_one_is_none() {
        let bare = r#"{"schema":"karat/record/1","facts":{"moment":1}}"#;
        let stored =
            |more: &str| format!(r#"{{"position":3,"moment":"2026-01-01T00:00:00Z"{more},"record":{bare}}}"#);
        for (more, is_backfilled) in
            [("", false), (r#","backfilled_by":null"#, false), (r#","backfilled_by":"k""#, true)]
        {
            let text = stored(more);
            let found = StoredRecord::parse(text.as_bytes()).unwrap();
            assert_eq!((found.record, found.arrival.is_backfilled), (bare, is_backfilled), "{more}");
            assert_eq!(found.arrival.moment.to_string(), "2026-01-01T00:00:00Z");
        }
        let none = [
            bare, "", "[]", r#"{"moment":"2026-01-01T00:00:00Z"}"#,
            r#"{"moment":"karat/record/1","record":1}"#,
        ];
        for text in none {
            assert!(StoredRecord::parse(text.as_bytes()).is_none(), "{text}");
        }
    }
}
