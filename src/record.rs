//! Records with an owner: what the engine made, or what a text says it made.

mod answer;
mod differences;
pub mod document;
pub mod novelty;

use karat_core::facts::Digest;
use karat_core::number::Decimal;
use karat_core::record::{ENGINE_VERSION, Record as Scoring};
use serde_json::Value;

pub use self::answer::{DimensionScore, MatchAnswer, SubmissionWarning};
pub use self::document::{RecordDocument, ScorecardReference};
use crate::error::{Code, Error};
use crate::text::clean;
use crate::weights::weights;

/// The start of the schema of every record, and the one version that is read here.
pub(crate) const RECORD: &str = "karat/record/";
const VERSION: &str = "1";

/// A record: its canonical JSON, and what that says.
///
/// One that [`Engine::score`](crate::engine::Engine::score) returned is true. One that was read is a claim, until
/// [`verify`](crate::verification::recomputed) has computed it again.
#[derive(Debug, Clone)]
pub struct Record {
    /// The line as it was given, without the end of line.
    text: String,
    document: RecordDocument,
}

impl Record {
    /// Copies a record that was made just now.
    pub(crate) fn of(scoring: &Scoring<'_>) -> Result<Self, Error> {
        let mut bytes = Vec::with_capacity(2048);
        scoring.write(&mut bytes);
        let text = String::from_utf8(bytes).map_err(|error| broken(error.to_string()))?;
        let document = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
        Ok(Self { text, document })
    }

    /// Reads a record, if `bytes` are one: JSON with `"schema": "karat/record/1"`. For anything else it returns none.
    ///
    /// # Errors
    ///
    /// If it is a record of another version of the schema, or a member is not as the schema says.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, Error> {
        let Ok(text) = std::str::from_utf8(bytes) else { return Ok(None) };
        // Most of what is asked about is evidence, which need not be read to be known as such.
        if !text.contains(RECORD) && !text.contains('\\') {
            return Ok(None);
        }
        let text = text.trim_end_matches(['\n', '\r']);
        let error = match serde_json::from_str::<RecordDocument>(text) {
            Ok(document) if document.schema.strip_prefix(RECORD) == Some(VERSION) => {
                document.check()?;
                return Ok(Some(Self { text: text.to_owned(), document }));
            }
            Ok(_) => None,
            Err(error) => Some(error),
        };
        let Ok(value) = serde_json::from_str::<Value>(text) else { return Ok(None) };
        let schema = value.get("schema").and_then(Value::as_str);
        match (schema.and_then(|schema| schema.strip_prefix(RECORD)), error) {
            (None, _) => Ok(None),
            (Some(VERSION), Some(_)) => Err(unsound(text)),
            (Some(version), _) => {
                let version = clean(version);
                let message =
                    format!("this is a record of the schema `{RECORD}{version}`, which is not known here");
                Err(Error::new(Code::UnknownSchema, message)
                    .hint(format!("karat {ENGINE_VERSION} reads `{RECORD}{VERSION}`"))
                    .hint("use a version of karat that reads it: `engine` in the record names its writer"))
            }
        }
    }

    /// Returns the canonical JSON, without an end of line.
    pub fn as_bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// Returns the canonical JSON as text, without an end of line.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the identity of the record: SHA-256 over its canonical JSON.
    pub fn digest(&self) -> Digest {
        Digest::of(self.as_bytes())
    }

    /// Returns what the record says, without its text.
    pub fn into_document(self) -> RecordDocument {
        self.document
    }

    /// Returns what the record says.
    pub fn document(&self) -> &RecordDocument {
        &self.document
    }

    /// Returns the weights of the override that the record was given, if any.
    ///
    /// # Errors
    ///
    /// If a weight is not a decimal of at most six places.
    pub fn override_weights(&self) -> Result<Option<Vec<(String, Decimal)>>, Error> {
        let Some(given) = &self.document.r#override else { return Ok(None) };
        let given = serde_json::to_string(&given.given).unwrap_or_default();
        weights(&given).map(Some).map_err(|problem| broken(format!("`override.given`: {problem}")))
    }
}

/// An error that says where a member of the record in `text` is not as the schema says.
fn unsound(text: &str) -> Error {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, RecordDocument>(&mut deserializer) {
        Err(error) => {
            let path = error.path().to_string();
            let why = error.inner().to_string();
            let why = clean(why.rsplit_once(" at line ").map_or(why.as_str(), |(why, _)| why)).into_owned();
            broken(if path == "." { why } else { format!("`{}`: {why}", clean(&path)) })
        }
        Ok(_) => broken(String::from("it cannot be read")),
    }
}

pub(crate) fn broken(message: String) -> Error {
    Error::new(Code::RecordUnsound, format!("this is not a sound record: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::recompute::recompute;

    fn record() -> Record {
        let run = include_bytes!("../examples/workflow/worked-example.json");
        Engine::open("workflow").unwrap().score(run).unwrap()
    }

    #[test]
    fn a_record_reads_back_to_its_own_bytes() {
        let record = record();
        let document = serde_json::to_value(record.document()).unwrap();
        assert_eq!(karat_evidence::canonical_json(&document).as_bytes(), record.as_bytes());
        let again = Record::parse(record.as_bytes()).unwrap().unwrap();
        assert_eq!(again.as_bytes(), record.as_bytes());
        assert_eq!(again.digest(), record.digest());
    }

    #[test]
    fn a_suspicion_stays_in_the_record() {
        let run = include_str!("../examples/workflow/worked-example.json");
        let run = run.replace(
            "\"error_handling\": {}",
            "\"error_handling\": {\"search\": {\"retry_count\": 1000000000000}}",
        );
        let mut engine = Engine::open("workflow").unwrap();
        let record = engine.score(run.as_bytes()).unwrap();
        let suspicions = record.document().suspicions();
        assert!(suspicions.len() == 1 && suspicions[0].contains("1000000000000 declared"), "{suspicions:?}");
        assert_eq!(record.document().warnings[0].code, "suspicious-evidence");
        recompute(&record, engine.card(), |_| ()).unwrap();

        let start = record.as_str().find("\"warnings\":[").unwrap();
        let silent = format!("{}\"warnings\":[]}}", &record.as_str()[..start]);
        let silent = Record::parse(silent.as_bytes()).unwrap().unwrap();
        let found = silent.differences_from_evidence(record.as_bytes()).unwrap();
        assert!(found[0].starts_with("different: warnings;"), "{found:?}");
    }

    /// Receipts of verified matches from before records named vouchers stay valid; a harness that vouched is not left out.
    #[test]
    fn a_record_from_before_vouchers_follows_from_its_evidence() {
        let mut engine = Engine::open("log-forensics").unwrap();
        for (by, is_same) in
            [("", true), (r#","verified_by":"claimed""#, true), (r#","verified_by":"harness""#, false)]
        {
            let scores = r#"{"correctness":900,"speed":700,"methodology":700,"completeness":700}"#;
            let item = format!(r#"{{"match_id":"m","agent_id":"a","scores":{scores},"verified":true{by}}}"#);
            let record = engine.score(item.as_bytes()).unwrap();
            let mut old: Value = serde_json::from_slice(record.as_bytes()).unwrap();
            assert!(old.pointer("/grading/standing/verified_by").is_some(), "{by}");
            old["grading"] = Value::Null;
            let old = Record::parse(karat_evidence::canonical_json(&old).as_bytes()).unwrap().unwrap();
            assert_eq!(old.differences_from_evidence(record.as_bytes()).is_none(), is_same, "{by}");
            assert_eq!(Record::without_claims(record.as_bytes()) == old.as_bytes(), is_same, "{by}");
            assert_eq!(record.differences_from_evidence(record.as_bytes()), None, "{by}");
        }
    }

    #[test]
    fn differences_name_their_path() {
        let record = record();
        assert_eq!(record.differences(record.as_bytes()), None);
        let other = record
            .as_str()
            .replace("\"exact\":0.84", "\"exact\":0.85")
            .replace("\"band\":null", "\"band\":\"win\"");
        let found = record.differences(other.as_bytes()).unwrap();
        assert!(found.contains(&String::from("score.exact: the record says 0.84, recomputed it is 0.85")));
        assert!(found.iter().any(|line| line.starts_with("band: ")), "{found:?}");
        let spaced = Record::parse(record.as_str().replace("\":", "\": ").as_bytes()).unwrap().unwrap();
        assert!(spaced.differences(record.as_bytes()).unwrap()[0].contains("the bytes do not"));
    }

    #[test]
    fn a_member_that_is_wrong_is_named() {
        let record = record();
        let wrong = record.as_str().replace("\"exact\":0.84", "\"exact\":\"high\"");
        let error = Record::parse(wrong.as_bytes()).unwrap_err();
        assert_eq!(error.code(), Code::RecordUnsound);
        assert!(error.message().contains("`score.exact`"), "{error}");
        let later = record.as_str().replace("karat/record/1", "karat/record/2");
        assert_eq!(Record::parse(later.as_bytes()).unwrap_err().code(), Code::UnknownSchema);
    }

    #[test]
    fn only_records_are_taken_for_records() {
        let note = r#"{"note":"karat/record/1"}"#;
        for other in [r#"{"schema":"karat/scorecard/1"}"#, r#"{"subject":"a"}"#, note, "[1]", "{"] {
            assert!(Record::parse(other.as_bytes()).unwrap().is_none(), "{other}");
        }
        for escaped in [r"karat\/record\/1", r"karat/\u0072ecord/1"] {
            let other = record().as_str().replace("karat/record/1", escaped);
            assert!(Record::parse(other.as_bytes()).unwrap().is_some(), "{escaped}");
        }
    }
}
