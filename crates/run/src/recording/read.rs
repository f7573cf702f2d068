//! A recording out of its text.

use std::collections::BTreeSet;

use karat_core::diagnostic::nearest;
use karat_core::facts::Digest;
use karat_evidence::canonical_json;
use serde_json::{Map, Value};

use super::{Head, RECORDING_MARK, Recording, SCHEMA, statement};
use crate::attempt::{Attempt, EXACT, Outcome, check_output};
use crate::fault::{Fault, quoted};

/// The first bytes of the line of an attempt.
const ATTEMPT_MARK: &str = "{\"attempt\":";
const HEAD: [&str; 5] = ["ended", "plan", "schema", "started_microseconds", "task"];
const LINE: [&str; 9] = [
    "attempt", "cost_nano_tao", "duration_microseconds", "key", "outcome", "output", "reason",
    "start_microseconds", "step",
];
const LINES: &str = "each line of a recording is a JSON object, as `karat run --record` writes it";
const FOOT: [&str; 2] = ["digest", "note"];

pub(super) fn read(text: &str) -> Result<Recording, Vec<Fault>> {
    if !text.as_bytes().starts_with(RECORDING_MARK) {
        let hint = "`karat run --record FILE` writes one";
        return Err(vec![Fault::new("this is not a recording: its first line is not the head of one", hint)]);
    }
    let mut faults = Vec::new();
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let foot = if lines.len() > 1 { lines.pop() } else { None };
    let is_foot = |foot: &&str| foot.ends_with('\n') && !foot.starts_with(ATTEMPT_MARK);
    let Some(foot) = foot.filter(is_foot) else {
        let message = "the recording breaks off before its last line";
        return Err(vec![Fault::at_line(text.lines().count(), message, "get it again, whole")]);
    };
    let body = text.get(..text.len() - foot.len()).unwrap_or_default();
    let digest = Digest::of(body.as_bytes());

    let mut head = None;
    let mut attempts = Vec::new();
    let mut seen = BTreeSet::new();
    for (at, line) in lines.iter().enumerate() {
        let number = at + 1;
        let before = faults.len();
        let known: &[&str] = if at == 0 { &HEAD } else { &LINE };
        let Some(members) = members(line, number, known, &mut faults) else { continue };
        let mut line = Line { members: &members, number, faults: &mut faults };
        if at == 0 {
            head = line.head();
        } else if let Some(attempt) = line.attempt() {
            if faults.len() == before && !seen.insert((attempt.step.clone(), attempt.number)) {
                let message = format!(
                    "step {}, attempt {} is in the recording a second time",
                    quoted(&attempt.step),
                    attempt.number
                );
                faults.push(Fault::at_line(number, message, "record the run again"));
            }
            attempts.push(attempt);
        }
    }

    let number = lines.len() + 1;
    let mut note = None;
    if let Some(members) = members(foot, number, &FOOT, &mut faults) {
        let mut line = Line { members: &members, number, faults: &mut faults };
        note = if members.contains_key("note") { line.text("note") } else { None };
        if let Some(said) = line.digest("digest").filter(|&said| said != digest) {
            let message = format!("the recording was changed: it says {said}, and its lines have {digest}");
            faults.push(Fault::at_line(number, message, "get it again from who recorded it"));
        }
    }
    // Its text is in the open: a key is needed to know by whom it is, and not what it is about.
    if note.as_ref().is_some_and(|note| !note.starts_with(&format!("{}\n", statement(digest)))) {
        let message = "the note that signs the recording is about another one";
        faults.push(Fault::at_line(number, message, "get it again from who recorded it"));
    }
    match head {
        Some(head) if faults.is_empty() => {
            let recording = Recording::new(head, attempts);
            // Every line is canonical, so what is written again is what was read.
            debug_assert_eq!(recording.digest, digest);
            Ok(Recording { note, ..recording })
        }
        _ => Err(faults),
    }
}

/// Reads the line of an attempt.
pub(crate) fn attempt(members: &Map<String, Value>) -> Result<Attempt, Vec<Fault>> {
    let mut faults = Vec::new();
    let attempt = Line { members, number: 1, faults: &mut faults }.attempt();
    attempt.ok_or(faults)
}

/// Returns the members of a line in canonical form, if it is one and has no others than those known.
fn members(line: &str, number: usize, known: &[&str], faults: &mut Vec<Fault>) -> Option<Map<String, Value>> {
    let text = line.strip_suffix('\n').unwrap_or(line);
    let members = match serde_json::from_str(text) {
        Ok(Value::Object(members)) => members,
        Ok(_) => {
            faults.push(Fault::at_line(number, "this is not a JSON object", LINES));
            return None;
        }
        Err(error) => {
            faults.push(Fault::at_line(number, format!("this is not JSON: {error}"), LINES));
            return None;
        }
    };
    for key in members.keys().filter(|key| !known.contains(&key.as_str())) {
        let hint = match nearest(key, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        faults.push(Fault::at_line(number, format!("a recording has no {} here", quoted(key)), hint));
    }
    let members = Value::Object(members);
    if canonical_json(&members) != text {
        let hint = "keep the file byte for byte as it was written";
        faults.push(Fault::at_line(number, "this line is not canonical JSON", hint));
        return None;
    }
    match members {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

/// A line whose members are read one by one.
struct Line<'a> {
    members: &'a Map<String, Value>,
    number: usize,
    faults: &'a mut Vec<Fault>,
}

impl Line<'_> {
    fn head(&mut self) -> Option<Head> {
        let schema = self.one_of("schema", &[SCHEMA]);
        let ended = self.one_of("ended", &["complete", "stopped"]);
        let (plan, task) = (self.digest("plan"), self.digest("task"));
        let started = self.count("started_microseconds", 0, EXACT / 2);
        schema?;
        Some(Head {
            plan: plan?,
            task: task?,
            is_stopped: ended? == "stopped",
            started_microseconds: started?,
        })
    }

    fn attempt(&mut self) -> Option<Attempt> {
        let key = self.digest("key");
        let step = self.text("step");
        let number = self.count("attempt", 1, EXACT);
        let names = Outcome::ALL.map(Outcome::name);
        let outcome = self.one_of("outcome", &names);
        let outcome = Outcome::ALL.into_iter().find(|it| Some(it.name()) == outcome);
        let output = self.members.get("output").filter(|output| !output.is_null()).cloned();
        let reason = match self.members.get("reason") {
            None | Some(Value::Null) => None,
            Some(_) => Some(self.text("reason")?),
        };
        let cost = self.count("cost_nano_tao", 0, EXACT);
        let start = self.count("start_microseconds", 0, EXACT / 4);
        let duration = self.count("duration_microseconds", 0, EXACT / 4);
        if outcome.is_some_and(|outcome| (outcome == Outcome::Success) != output.is_some()) {
            self.fault("an output after a success, and none without one".to_owned());
            return None;
        }
        if let Some(Err(wrong)) = output.as_ref().map(check_output) {
            self.fault(format!("an output that a run can have: {wrong}"));
            return None;
        }
        if outcome.is_some_and(|outcome| (outcome == Outcome::Failed) != reason.is_some()) {
            self.fault("a reason after a failure, and none after anything else".to_owned());
            return None;
        }
        Some(Attempt {
            key: key?,
            step: step?,
            number: number?,
            outcome: outcome?,
            output,
            reason,
            cost_nano_tao: cost?,
            start_microseconds: start?,
            duration_microseconds: duration?,
        })
    }

    fn fault(&mut self, expected: String) {
        self.faults.push(Fault::at_line(self.number, format!("expected {expected}"), ""));
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.members.get(name) {
            Some(Value::String(text)) => Some(text.clone()),
            _ => {
                self.fault(format!("a text as `{name}`"));
                None
            }
        }
    }

    fn one_of<'k>(&mut self, name: &str, known: &[&'k str]) -> Option<&'k str> {
        let found = self.members.get(name).and_then(Value::as_str);
        let found = known.iter().copied().find(|known| found == Some(known));
        if found.is_none() {
            self.fault(format!("`{name}` to be {}", known.join(" or ")));
        }
        found
    }

    fn digest(&mut self, name: &str) -> Option<Digest> {
        let found = self.members.get(name).and_then(Value::as_str).and_then(Digest::parse);
        if found.is_none() {
            self.fault(format!("a digest as `{name}`"));
        }
        found
    }

    fn count(&mut self, name: &str, least: u64, most: u64) -> Option<u64> {
        let found = self.members.get(name).and_then(Value::as_u64);
        let found = found.filter(|count| (least..=most).contains(count));
        if found.is_none() {
            self.fault(format!("a whole number from {least} to {most} as `{name}`"));
        }
        found
    }
}
