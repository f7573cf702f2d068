//! The answer of a judge, checked against the job before anyone believes it.

use karat_graders::execution::{Fault, Job, Report, TaskReport};
use serde_json::{Map, Value};

use super::process::Hello;
use karat_run::{quoted, shown};

/// The most characters of a reason that are kept: what has control of a judge may write anything into it.
const REASON_MAX: usize = 1000;
/// The most faults that are kept.
const FAULTS_MAX: usize = 100;

/// An answer to a job.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    Report(Report),
    /// The judge cannot work.
    NoVerdict(String),
    /// The challenge is broken.
    Refused(Vec<Fault>),
}

/// Reads the answer to the job `id`.
///
/// # Errors
///
/// If it is not JSON, has another id, or does not fit the job.
pub(super) fn read(line: &[u8], id: u64, job: &Job, hello: &Hello) -> Result<Answer, String> {
    let line_shown = || quoted(&String::from_utf8_lossy(line));
    let said: Value = serde_json::from_slice(line).map_err(|error| format!("{error} in {}", line_shown()))?;
    let Value::Object(mut said) = said else {
        return Err(format!("found {}, expected an object", line_shown()));
    };
    let found = said.remove("id");
    if found.as_ref().and_then(Value::as_u64) != Some(id) {
        let found = found.map_or_else(|| "none".to_owned(), |found| quoted(&found.to_string()));
        return Err(format!("its `id` is {found}, expected {id}"));
    }
    let mut members = said.into_iter();
    match (members.next(), members.next()) {
        (Some((name, value)), None) if name == "report" => {
            let report = serde_json::from_value(value).map_err(|error| format!("`report`: {error}"))?;
            check(report, job, hello).map(Answer::Report)
        }
        (Some((name, Value::String(why))), None) if name == "no_verdict" => {
            Ok(Answer::NoVerdict(shown(&why, REASON_MAX)))
        }
        (Some((name, value)), None) if name == "refused" => {
            let faults: Vec<Fault> =
                serde_json::from_value(value).map_err(|error| format!("`refused`: {error}"))?;
            if faults.is_empty() {
                return Err("`refused` names no fault".to_owned());
            }
            let short = |text: &str| shown(text, REASON_MAX);
            let cut = |fault: &Fault| Fault {
                file: short(&fault.file),
                place: short(&fault.place),
                found: short(&fault.found),
                expected: short(&fault.expected),
            };
            Ok(Answer::Refused(faults.iter().take(FAULTS_MAX).map(cut).collect()))
        }
        (first, second) => {
            let rest: Map<String, Value> = first.into_iter().chain(second).chain(members).collect();
            let names: Vec<&str> = rest.keys().map(String::as_str).collect();
            let names = quoted(&names.join(", "));
            Err(format!("its members are {names}, expected one of report, no_verdict, refused"))
        }
    }
}

/// Checks that a report is of this judge, and answers this job.
fn check(report: Report, job: &Job, hello: &Hello) -> Result<Report, String> {
    let judge = &report.judge;
    for (name, found, expected) in [
        ("engine", &judge.engine, Some(&hello.engine)),
        ("version", &judge.version, Some(&hello.version)),
        ("runtime_digest", &judge.runtime_digest, hello.runtimes.get(&job.runtime)),
    ] {
        if Some(found) != expected {
            let expected = expected.map_or_else(|| "none".to_owned(), |text| quoted(text));
            return Err(format!("`report.judge.{name}` is {}, expected {expected}", quoted(found)));
        }
    }
    for result in &report.results {
        // A run may end well without an output: a function that returns nothing.
        if let TaskReport::Run { output: Some(_), reason: Some(_), .. } = result {
            return Err("an output, and the reason of a failure".to_owned());
        }
    }
    report.checked(job)
}
