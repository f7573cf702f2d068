//! Differences of a record from what its facts or its evidence give, by path.

use std::fmt;

use karat_evidence::canonical_json;
use serde_json::Value;

use super::Record;
use crate::text::{clean, list};

/// Most differences that are listed.
const LISTED: usize = 20;

impl Record {
    /// Lists what differs from the record that the facts give; none if the bytes are the same.
    pub fn differences(&self, recomputed: &[u8]) -> Option<Vec<String>> {
        if self.as_bytes() == recomputed {
            return None;
        }
        let mut found = Vec::new();
        match serde_json::from_slice::<Value>(recomputed) {
            Ok(value) => compare(&self.value(), &value, "recomputed", String::new(), &mut found),
            Err(error) => found.push(format!("the recomputed record is not JSON: {error}")),
        }
        if found.is_empty() {
            found.push(String::from(
                "the values agree, the bytes do not: the record is not canonical JSON (RFC 8785) on one line any more",
            ));
        }
        Some(shortened(found))
    }

    /// Lists what differs from `scored`, the record of its evidence: a line on what is the same and what is not, then every
    /// difference; none if subject, id, digest, facts and score agree. All else in a sound record follows from them.
    pub fn differences_from_evidence(&self, scored: &[u8]) -> Option<Vec<String>> {
        let mut scored: Value = serde_json::from_slice(scored).unwrap_or_default();
        let own = self.value();
        if own.pointer("/grading/standing").is_none() {
            leave_out_claims(&mut scored);
        }
        let (mut same, mut different, mut found) = (Vec::new(), Vec::new(), Vec::new());
        for (part, pointer) in PARTS {
            let before = found.len();
            let [claimed, given] =
                [&own, &scored].map(|record| record.pointer(pointer).unwrap_or(&Value::Null));
            if claimed.is_null() && given.is_null() {
                continue;
            }
            compare(claimed, given, "by the evidence", path(pointer), &mut found);
            if found.len() == before { &mut same } else { &mut different }.push(part);
        }
        if found.is_empty() {
            return None;
        }
        let same = if same.is_empty() { String::new() } else { format!("; the same: {}", list(&same)) };
        let mut lines = vec![format!("different: {}{same}", list(&different))];
        let help = graded_with(&found);
        lines.extend(shortened(found));
        lines.extend(help);
        Some(lines)
    }

    /// Returns a record as it was made before records named the vouchers of a match that was graded elsewhere: without
    /// those that only repeat its own claims.
    pub fn without_claims(record: &[u8]) -> Vec<u8> {
        let mut record: Value = serde_json::from_slice(record).unwrap_or_default();
        leave_out_claims(&mut record);
        canonical_json(&record).into_bytes()
    }

    /// The record as a tree.
    fn value(&self) -> Value {
        serde_json::from_slice(self.as_bytes()).unwrap_or_default()
    }
}

fn leave_out_claims(record: &mut Value) {
    let Some(Value::Object(grading)) = record.get_mut("grading") else { return };
    let is_claim = |standing: &Value| {
        standing.as_object().is_some_and(|members| members.values().all(|by| by == "claimed"))
    };
    if grading.get("standing").is_some_and(is_claim) {
        grading.remove("standing");
        if grading.is_empty() {
            record["grading"] = Value::Null;
        }
    }
}

/// Names what the graders may lack where the same evidence was graded otherwise.
fn graded_with(differences: &[String]) -> Vec<String> {
    let helps = [
        ("grading.embedding", "a text has the same vector only by the same model: give its --embedder"),
        (
            "grading.novelty.cache",
            "a novelty is read against a cache: give --cache as it was before the record",
        ),
    ];
    let differs = |part: &str| differences.iter().any(|line| line.starts_with(part));
    helps.into_iter().filter(|(part, _)| differs(part)).map(|(_, help)| help.to_owned()).collect()
}

/// The parts of a record that are compared with its evidence, as JSON pointers.
const PARTS: [(&str, &str); 13] = [
    ("subject", "/subject"),
    ("id", "/evidence/id"),
    ("digest", "/evidence/digest"),
    ("time", "/evidence/time"),
    ("task", "/evidence/task"),
    ("outcome", "/evidence/outcome"),
    ("n", "/evidence/n"),
    ("part", "/evidence/part"),
    ("run", "/evidence/run"),
    ("facts", "/facts"),
    ("grading", "/grading"),
    ("score", "/score"),
    ("warnings", "/warnings"),
];

/// Keeps the first lines and counts the others.
fn shortened(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(LISTED);
    lines.truncate(LISTED);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

fn path(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".")
}

/// Lists where two values differ, by path; `origin` says in messages where the other one comes from.
fn compare(claimed: &Value, other: &Value, origin: &str, path: String, found: &mut Vec<String>) {
    match (claimed, other) {
        (Value::Object(left), Value::Object(right)) => {
            for (name, value) in left {
                let path = member(&path, name);
                match right.get(name) {
                    Some(other) => compare(value, other, origin, path, found),
                    None => {
                        let value = short(value);
                        found.push(format!("{path}: the record has {value}, {origin} it is absent"));
                    }
                }
            }
            for (name, value) in right.iter().filter(|(name, _)| !left.contains_key(*name)) {
                let (path, value) = (member(&path, name), short(value));
                found.push(format!("{path}: absent from the record, {origin} it is {value}"));
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (place, (value, other)) in left.iter().zip(right).enumerate() {
                compare(value, other, origin, format!("{path}[{place}]"), found);
            }
        }
        (Value::Number(left), Value::Number(right)) if left.as_f64() == right.as_f64() => {}
        _ if claimed == other => {}
        _ => {
            let (claimed, other) = (short(claimed), short(other));
            found.push(format!("{path}: the record says {claimed}, {origin} it is {other}"));
        }
    }
}

fn member(path: &str, name: &str) -> String {
    let name = clean(name);
    if path.is_empty() { name.into_owned() } else { format!("{path}.{name}") }
}

/// A value in few characters.
fn short(value: &impl fmt::Display) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    let text = clean(&text);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.into_owned(),
    }
}
