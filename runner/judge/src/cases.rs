//! Cases: each in an instance by itself, compared by the host.

use karat_graders::execution::{Case, CaseReport, Fault, Job, Run, TaskReport, Verdict};
use serde_json::Value;

use crate::answer::{Answer, is_memory, reason};
use crate::compare::Comparison;
use crate::error::JudgeError;
use crate::guest::{Request, Runtime};
use crate::host::{Host, Stop};
use crate::instance::Ended;
use crate::numbers::Parsed;

/// Result of the run of a case: a value to compare, or the reason for which it failed.
pub type Outcome = Result<Parsed, String>;

/// Checks the comparisons of cases.
///
/// # Errors
///
/// If a comparison does not fit what is expected: every one.
pub fn comparisons(file: &str, cases: &[Case]) -> Result<Vec<Comparison>, Vec<Fault>> {
    let mut faults = Vec::new();
    let mut comparisons = Vec::new();
    let mut names = std::collections::BTreeSet::new();
    for case in cases {
        let place = format!("case `{}`", case.name);
        let mut fault = |found: String, expected: String| {
            faults.push(Fault { file: file.to_owned(), place: place.clone(), found, expected });
        };
        if !names.insert(case.name.as_str()) {
            fault("the name of an earlier case".to_owned(), "another name for each case".to_owned());
        }
        match Comparison::new(&case.compare, &case.run, &case.expect) {
            Ok(comparison) => comparisons.push(comparison),
            Err(findings) => findings.into_iter().for_each(|(found, expected)| fault(found, expected)),
        }
    }
    if faults.is_empty() { Ok(comparisons) } else { Err(faults) }
}

/// A run that is over.
#[derive(Debug)]
pub struct Done {
    /// The outcome.
    pub outcome: Outcome,
    /// The fuel that it took.
    pub fuel: u64,
    /// True if it came within 5 % of a limit.
    pub near_limit: bool,
}

/// Runs the submission in a language.
///
/// # Errors
///
/// If this machine has no room for an instance.
pub fn run(runtime: &Runtime, job: &Job, asked: &Run) -> Result<Done, JudgeError> {
    let mut host = host(job);
    let (files, seed) = (&job.files, job.seed);
    let request = match asked {
        Run::Call { function, args } => Request::Call { files, seed, function, args },
        Run::Program { stdin } => {
            host.stdin = stdin.clone().into_bytes();
            Request::Program { files, seed }
        }
    };
    let mut guest = runtime.instance(host, job.limits.fuel)?;
    let ended = guest.call(request.text());
    let outcome = match asked {
        Run::Call { .. } => returned(&ended, guest.host()),
        Run::Program { .. } => printed(&ended, guest.host()),
    };
    Ok(Done { outcome, fuel: ended.fuel, near_limit: ended.near_limit })
}

/// Returns the report about a run that is compared with nothing.
pub fn bare(done: Done) -> TaskReport {
    let (output, reason) = match done.outcome {
        // Another integer would be handed on.
        Ok(answer) if answer.is_rounded => (None, Some("no JSON".to_owned())),
        Ok(answer) => (Some(answer.value), None),
        Err(reason) => (None, Some(reason)),
    };
    TaskReport::Run { output, reason, fuel: done.fuel, near_limit: done.near_limit }
}

/// Returns the host of an instance for a job.
pub fn host(job: &Job) -> Host {
    Host::new((job.limits.memory_mib as usize) << 20, (job.limits.output_kib as usize) << 10, job.seed)
}

fn returned(ended: &Ended, host: &Host) -> Outcome {
    let text = ended.result.as_ref().map_err(|stop| match stop {
        Stop::Exit(_) => "exit".to_owned(),
        stop => stop.to_string(),
    })?;
    match Answer::read(text) {
        Answer::Result(json) if json.len() > host.output_max - host.stdout.len() => {
            Err(Stop::Output.to_string())
        }
        Answer::Result(json) => Parsed::read(json).map_err(|error| {
            let is_deep = error.to_string().starts_with("recursion limit");
            if is_deep { "limit:depth" } else { "no JSON" }.to_owned()
        }),
        Answer::Raised(given) => Err(raised(given, host)),
        Answer::Fault(..) => Err("no answer".to_owned()),
    }
}

/// Returns a reason that the guest gave, in words that are the judge's.
pub fn raised(given: &str, host: &Host) -> String {
    let reason = reason(given);
    if is_memory(&reason) && host.memory_denied { Stop::Memory.to_string() } else { reason }
}

fn printed(ended: &Ended, host: &Host) -> Outcome {
    match &ended.result {
        Ok(text) => match Answer::read(text) {
            Answer::Result("0") => {}
            Answer::Result(_) => return Err("exit: 1".to_owned()),
            Answer::Raised(given) => return Err(raised(given, host)),
            Answer::Fault(..) => return Err("no answer".to_owned()),
        },
        Err(Stop::Exit(0)) => {}
        Err(Stop::Exit(_)) => return Err("exit: 1".to_owned()),
        Err(stop) => return Err(stop.to_string()),
    }
    output(host)
}

/// Returns what was printed.
pub fn output(host: &Host) -> Outcome {
    let text = std::str::from_utf8(&host.stdout).map_err(|_| "output is not UTF-8".to_owned())?;
    Ok(Parsed::of(Value::from(text)))
}

/// Returns the report about a case.
pub fn report(case: &Case, comparison: &Comparison, done: Done) -> CaseReport {
    let Done { outcome, fuel, near_limit } = done;
    let (value, reason) = match outcome {
        Ok(answer) => {
            let value = comparison.value(&answer);
            let is_empty = matches!((&case.run, answer.value.as_str()), (Run::Program { .. }, Some("")));
            let reason = match value {
                None => "limit:comparison",
                Some(_) if is_empty => "no output",
                Some(_) => "different",
            };
            let value = value.unwrap_or_default();
            (value, (value < 1.0).then(|| reason.to_owned()))
        }
        Err(reason) => (0.0, Some(reason)),
    };
    let verdict = if value >= 1.0 {
        Verdict::Pass
    } else if value > 0.0 {
        Verdict::Partial
    } else {
        Verdict::Fail
    };
    CaseReport { name: case.name.clone(), value, verdict, reason, fuel, near_limit }
}
