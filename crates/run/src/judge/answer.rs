//! The answer of a judge, checked against the job before anyone believes it.

use std::collections::BTreeSet;

use karat_evidence::execution::{CaseReport, Fault, Job, Report, Task, TaskReport, Verdict};
use serde_json::{Map, Value};

use super::process::Hello;
use crate::fault::quoted;

/// The most points of a dimension.
const POINTS_MAX: f64 = 1000.0;

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
    let shown = || quoted(&String::from_utf8_lossy(line));
    let said: Value = serde_json::from_slice(line).map_err(|error| format!("{error} in {}", shown()))?;
    let Value::Object(mut said) = said else {
        return Err(format!("found {}, expected an object", shown()));
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
            check(&report, job, hello)?;
            Ok(Answer::Report(report))
        }
        (Some((name, Value::String(why))), None) if name == "no_verdict" => Ok(Answer::NoVerdict(why)),
        (Some((name, value)), None) if name == "refused" => {
            let faults: Vec<Fault> =
                serde_json::from_value(value).map_err(|error| format!("`refused`: {error}"))?;
            if faults.is_empty() {
                return Err("`refused` names no fault".to_owned());
            }
            Ok(Answer::Refused(faults))
        }
        (first, second) => {
            let rest: Map<String, Value> = first.into_iter().chain(second).chain(members).collect();
            let names: Vec<&str> = rest.keys().map(String::as_str).collect();
            let names = quoted(&names.join(", "));
            Err(format!("its members are {names}, expected one of report, no_verdict, refused"))
        }
    }
}

/// Checks that a report is about this job, by this judge, and has only possible values.
fn check(report: &Report, job: &Job, hello: &Hello) -> Result<(), String> {
    let judge = &report.judge;
    for (name, found, expected) in [
        ("engine", Some(&judge.engine), Some(&hello.engine)),
        ("version", Some(&judge.version), Some(&hello.version)),
        ("runtime", Some(&judge.runtime), Some(&job.runtime)),
        ("runtime_digest", Some(&judge.runtime_digest), hello.runtimes.get(&job.runtime)),
        (
            "runtime_digest",
            Some(&judge.runtime_digest),
            job.runtime_digest.as_ref().or(Some(&judge.runtime_digest)),
        ),
    ] {
        if found != expected {
            let show = |text: Option<&String>| text.map_or_else(|| "none".to_owned(), |text| quoted(text));
            return Err(format!("`report.judge.{name}` is {}, expected {}", show(found), show(expected)));
        }
    }
    if report.results.len() != job.tasks.len() {
        let (found, expected) = (report.results.len(), job.tasks.len());
        return Err(format!("`report.results` has {found} members, expected {expected}"));
    }
    for (place, (result, task)) in report.results.iter().zip(&job.tasks).enumerate() {
        fits(result, task).map_err(|why| format!("`report.results[{place}]`: {why}"))?;
    }
    Ok(())
}

fn fits(result: &TaskReport, task: &Task) -> Result<(), String> {
    match (result, task) {
        (TaskReport::Cases { cases: found }, Task::Cases { cases, .. }) => {
            let names = |name: &str| quoted(name);
            if found.len() != cases.len() {
                return Err(format!("{} cases, expected {}", found.len(), cases.len()));
            }
            for (found, case) in found.iter().zip(cases) {
                if found.name != case.name {
                    return Err(format!("case {}, expected {}", names(&found.name), names(&case.name)));
                }
                is_possible(found)?;
            }
            Ok(())
        }
        (TaskReport::Suite { cases }, Task::Suite { .. }) => {
            let mut seen = BTreeSet::new();
            for case in cases {
                is_possible(case)?;
                if !seen.insert(case.name.as_str()) {
                    return Err(format!("test {} twice", quoted(&case.name)));
                }
            }
            Ok(())
        }
        (TaskReport::Script { scores, .. }, Task::Script { dimensions, .. }) => {
            let wanted: BTreeSet<&String> = dimensions.iter().collect();
            if !scores.keys().eq(wanted.iter().copied()) {
                let list = |names: Vec<&str>| quoted(&names.join(", "));
                let found = list(scores.keys().map(String::as_str).collect());
                let expected = list(wanted.iter().map(|name| name.as_str()).collect());
                return Err(format!("scores of {found}, expected {expected}"));
            }
            match scores.iter().find(|(_, points)| !(0.0..=POINTS_MAX).contains(*points)) {
                Some((name, points)) => {
                    Err(format!("{points} points of {}, expected 0 to {POINTS_MAX}", quoted(name)))
                }
                None => Ok(()),
            }
        }
        // A run may end well without an output: a function that returns nothing.
        (TaskReport::Run { output: Some(_), reason: Some(_), .. }, Task::Run { .. }) => {
            Err("an output, and the reason of a failure".to_owned())
        }
        (TaskReport::Run { .. }, Task::Run { .. }) => Ok(()),
        (result, task) => Err(format!("found {}, expected {}", kind_of(result), kind(task))),
    }
}

/// Checks that value and verdict of a case say the same.
fn is_possible(case: &CaseReport) -> Result<(), String> {
    let is_so = match case.verdict {
        Verdict::Pass => case.value == 1.0,
        Verdict::Partial => case.value > 0.0 && case.value < 1.0,
        Verdict::Fail => case.value == 0.0,
    };
    if is_so {
        return Ok(());
    }
    Err(format!("the value of {} is {}, which is no {:?}", quoted(&case.name), case.value, case.verdict))
}

const fn kind(task: &Task) -> &'static str {
    match task {
        Task::Cases { .. } => "cases",
        Task::Suite { .. } => "a suite",
        Task::Script { .. } => "a script",
        Task::Run { .. } => "a run",
    }
}

const fn kind_of(result: &TaskReport) -> &'static str {
    match result {
        TaskReport::Cases { .. } => "cases",
        TaskReport::Suite { .. } => "a suite",
        TaskReport::Script { .. } => "a script",
        TaskReport::Run { .. } => "a run",
    }
}
