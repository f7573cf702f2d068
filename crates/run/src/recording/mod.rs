//! Recordings: every attempt of a run under the digest of its request, in a file that is named by its own digest.
//!
//! A file is lines of canonical JSON: a head, the attempts in the order of the log, and a foot with the digest of all lines
//! before it and, if it is signed, a note over that digest (C2SP `signed-note`).

pub(crate) mod read;

use std::collections::BTreeMap;

use karat_core::facts::Digest;
use karat_evidence::canonical_json;
use karat_store::log::{NoteError, Signer, VerifyingKey};
use serde_json::{Map, Value, json};

use crate::attempt::Attempt;
use crate::fault::Fault;

/// The name of the form.
pub(crate) const SCHEMA: &str = "karat/recording/1";
/// The first bytes of every recording.
pub const RECORDING_MARK: &[u8] = b"{\"ended\":";

/// The attempts of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    plan: Digest,
    task: Digest,
    is_stopped: bool,
    started_microseconds: u64,
    /// In the order of the log.
    attempts: Vec<Attempt>,
    /// The place of each attempt by its key.
    by_key: BTreeMap<Digest, usize>,
    /// The lines without the foot.
    lines: String,
    digest: Digest,
    note: Option<String>,
}

/// The statements of a recording about its run as a whole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    pub plan: Digest,
    pub task: Digest,
    pub is_stopped: bool,
    pub started_microseconds: u64,
}

impl Recording {
    /// Makes the recording of attempts in the order of the log.
    pub(crate) fn new(head: Head, attempts: Vec<Attempt>) -> Self {
        let mut lines = canonical_json(&json!({
            "schema": SCHEMA,
            "plan": head.plan.to_string(),
            "task": head.task.to_string(),
            "ended": if head.is_stopped { "stopped" } else { "complete" },
            "started_microseconds": head.started_microseconds,
        }));
        lines.push('\n');
        for attempt in &attempts {
            lines.push_str(&canonical_json(&line(attempt)));
            lines.push('\n');
        }
        let digest = Digest::of(lines.as_bytes());
        let by_key = attempts.iter().enumerate().map(|(at, attempt)| (attempt.key, at)).collect();
        let Head { plan, task, is_stopped, started_microseconds } = head;
        Self { plan, task, is_stopped, started_microseconds, attempts, by_key, lines, digest, note: None }
    }

    /// Reads the text of a recording.
    ///
    /// # Errors
    /// If it is not one, or was changed: every line that is at fault.
    pub fn parse(text: &str) -> Result<Self, Vec<Fault>> {
        read::read(text)
    }

    /// Returns the text, which ends in a line feed.
    pub fn text(&self) -> String {
        with_foot(&self.lines, self.digest, self.note.as_deref())
    }

    /// Returns the text of the recording with these lines and this note, which were [`lines`](Self::lines) and
    /// [`note`](Self::note) of one.
    pub fn signed_text(lines: &str, note: &str) -> String {
        with_foot(lines, Digest::of(lines.as_bytes()), Some(note))
    }

    /// Returns all lines but the last one: the text that [`digest`](Self::digest) is of.
    pub fn lines(&self) -> &str {
        &self.lines
    }

    /// Returns the signed note over the digest, if there is one.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Returns the digest, which names it. A signature does not change it.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns the digest of the plan that was run.
    pub fn plan(&self) -> Digest {
        self.plan
    }

    /// Returns the digest of the task that it was run for.
    pub fn task(&self) -> Digest {
        self.task
    }

    /// Returns whether the run was stopped before its end.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Returns the start of the run in microseconds since 1970-01-01T00:00:00Z.
    pub fn started_microseconds(&self) -> u64 {
        self.started_microseconds
    }

    /// Returns the attempts, in the order of the log.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// Returns the attempt with that key.
    pub fn find(&self, key: Digest) -> Option<&Attempt> {
        self.by_key.get(&key).and_then(|&at| self.attempts.get(at))
    }

    /// Returns whether there is a signature, which only [`verify`](Self::verify) checks.
    pub fn is_signed(&self) -> bool {
        self.note.is_some()
    }

    /// Signs it as the work of `signer`, in place of a signature that it has.
    ///
    /// # Errors
    /// If the note cannot be written.
    pub fn sign(&mut self, signer: &Signer) -> Result<(), NoteError> {
        self.note = Some(signer.sign(&statement(self.digest))?);
        Ok(())
    }

    /// Checks that `key` signed it.
    ///
    /// # Errors
    /// If it is not signed, or by another key, or the note is about another recording.
    pub fn verify(&self, key: &VerifyingKey) -> Result<(), NoteError> {
        let unsigned = || NoteError::NotSigned { by: key.name().to_owned() };
        let text = key.open(self.note.as_deref().ok_or_else(unsigned)?)?;
        if text == statement(self.digest) {
            Ok(())
        } else {
            Err(NoteError::Malformed("it is about something else than this recording"))
        }
    }
}

/// Returns what is signed.
fn statement(digest: Digest) -> String {
    format!("{SCHEMA}\n{digest}\n")
}

/// Returns the text of a recording: its lines, then the one with digest and signature.
fn with_foot(lines: &str, digest: Digest, note: Option<&str>) -> String {
    let mut foot = Map::from_iter([("digest".to_owned(), digest.to_string().into())]);
    if let Some(note) = note {
        foot.insert("note".to_owned(), note.into());
    }
    format!("{lines}{}\n", canonical_json(&Value::Object(foot)))
}

/// Returns the line of an attempt.
pub(crate) fn line(attempt: &Attempt) -> Value {
    json!({
        "key": attempt.key.to_string(),
        "step": attempt.step,
        "attempt": attempt.number,
        "outcome": attempt.outcome.name(),
        "output": attempt.output,
        "reason": attempt.reason,
        "cost_nano_tao": attempt.cost_nano_tao,
        "start_microseconds": attempt.start_microseconds,
        "duration_microseconds": attempt.duration_microseconds,
    })
}

#[cfg(test)]
mod tests;
