//! Hidden suites: the tests in one instance, the submission in another, and between them questions and answers in JSON.
//!
//! The names of the tests come from an instance that has never met the submission, so that no test can be missed. Each test
//! has its own pair of instances, and what came of it is said by the instance of the tests, which the submission cannot reach.

use std::sync::{Arc, Mutex, PoisonError};

use karat_graders::execution::{CaseReport, Fault, Job, TaskReport, Verdict};
use wasmtime::Error;

use crate::answer::{Answer, reason};
use crate::cases::{host, raised};
use crate::error::JudgeError;
use crate::guest::{Request, Runtime};
use crate::host::{Answered, Stop};
use crate::instance::Guest;
use crate::proxy::Proxy;
use crate::runtimes::Language;

/// Fuel of the tests' instance for one question, beside a unit for each byte.
const QUESTION: u64 = 1_000;

/// The answer while a suite is loaded: an exception, as the guest packs it.
const ASKED_TOO_EARLY: &str = "!{\"kinds\": [\"RuntimeError\"], \"words\": \
    \"the submission is asked while the suite is loaded: do it in a test\"}";

/// Most tests of a suite.
const TESTS_MAX: usize = 1000;

/// Runs a suite.
///
/// # Errors
///
/// If the suite cannot be loaded or has no tests, or this machine has no room for an instance.
pub fn run(runtime: &Runtime, job: &Job, file: &str, source: &str) -> Result<TaskReport, JudgeError> {
    let modules = modules(job, runtime.language);
    let names = names(runtime, job, file, source, &modules)?;
    let mut cases = Vec::with_capacity(names.len());
    for name in names {
        let request = Request::Test { file, source, modules: &modules, name: &name, seed: job.seed };
        cases.push(test(runtime, job, &request, name.clone())?);
    }
    Ok(TaskReport::Suite { cases })
}

/// Modules that a suite in Python is made with: whatever a submission names its files, the tests find these.
const FRAMEWORK: [&str; 10] = [
    "__main__", "builtins", "componentize_py_runtime", "hidden_suite", "karat", "karat_guest", "karat_suite",
    "sys", "unittest", "wit_world",
];

/// Returns the names of the modules of the submission that the tests can ask for.
fn modules(job: &Job, language: Language) -> Vec<String> {
    if language == Language::JavaScript {
        let is_source = |path: &&String| [".js", ".mjs", ".cjs"].iter().any(|end| path.ends_with(end));
        return job.files.keys().filter(is_source).cloned().collect();
    }
    let python = job.files.keys().filter_map(|path| path.strip_suffix(".py"));
    let names = python.map(|path| path.strip_suffix("/__init__").unwrap_or(path).replace('/', "."));
    names.filter(|name| !FRAMEWORK.contains(&name.split('.').next().unwrap_or_default())).collect()
}

/// Returns the names of the tests, sorted.
fn names(
    runtime: &Runtime,
    job: &Job,
    file: &str,
    source: &str,
    modules: &[String],
) -> Result<Vec<String>, JudgeError> {
    let mut host = host(job);
    host.ask = Some(Box::new(|_, _| Ok(Answered { text: ASKED_TOO_EARLY.to_owned(), fuel: QUESTION })));
    let mut guest = runtime.instance(host, job.limits.fuel)?;
    let ended = guest.call(Request::Names { file, source, modules, seed: job.seed }.text());
    let fault = |line: usize, found: String, expected: &str| {
        let place = if line == 0 { "the whole file".to_owned() } else { format!("line {line}") };
        let fault = Fault { file: file.to_owned(), place, found, expected: expected.to_owned() };
        JudgeError::Refused(vec![fault])
    };
    let loads = match runtime.language {
        Language::Python => {
            "a suite of `unittest` that can be loaded without asking anything of the submission"
        }
        Language::JavaScript => {
            "a suite of `node:test` that can be loaded without asking anything of the submission"
        }
    };
    let text = ended.result.map_err(|stop| fault(0, stop.to_string(), loads))?;
    let json = match Answer::read(&text) {
        Answer::Result(json) => json,
        Answer::Fault(line, found) => return Err(fault(line, found.to_owned(), loads)),
        Answer::Raised(found) => return Err(fault(0, found.to_owned(), loads)),
    };
    let mut names: Vec<String> =
        serde_json::from_str(json).map_err(|error| fault(0, error.to_string(), loads))?;
    names.sort();
    let count = names.len();
    names.dedup();
    if names.len() < count {
        return Err(fault(0, "two tests of one name".to_owned(), "another name for each test"));
    }
    if count == 0 || count > TESTS_MAX {
        return Err(fault(0, format!("{count} tests"), &format!("1 to {TESTS_MAX} tests")));
    }
    Ok(names)
}

/// Runs one test.
fn test(runtime: &Runtime, job: &Job, request: &Request<'_>, name: String) -> Result<CaseReport, JudgeError> {
    let failed = |reason: String, fuel, near_limit| CaseReport {
        name: name.clone(),
        value: 0.0,
        verdict: Verdict::Fail,
        reason: Some(reason),
        fuel,
        near_limit,
    };
    let mut submission = runtime.instance(host(job), job.limits.fuel)?;
    let opened = submission.call(Request::Open { files: &job.files, seed: job.seed }.text());
    let refusal = match &opened.result {
        Err(Stop::Exit(_)) => Some("exit".to_owned()),
        Err(stop) => Some(stop.to_string()),
        Ok(text) => match Answer::read(text) {
            Answer::Result(_) => None,
            Answer::Raised(given) => Some(raised(given, submission.host())),
            Answer::Fault(..) => Some("no answer".to_owned()),
        },
    };
    if let Some(reason) = refusal {
        return Ok(failed(reason, opened.fuel, opened.near_limit));
    }
    // The stand-ins of JavaScript see an operator themselves, as the wish for a number.
    let proxy = (runtime.language == Language::Python).then(Proxy::default);
    let shared =
        Arc::new(Mutex::new(Asked { submission, proxy, fuel: opened.fuel, near: opened.near_limit }));
    let mut tests = host(job);
    let asked = Arc::clone(&shared);
    tests.ask = Some(Box::new(move |_, question| {
        asked.lock().unwrap_or_else(PoisonError::into_inner).answer(question)
    }));
    let mut tests = runtime.instance(tests, job.limits.fuel)?;
    let ended = tests.call(request.text());
    let asked = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let (fuel, near) = (asked.fuel, asked.near || ended.near_limit);
    let text = match &ended.result {
        Ok(text) => text,
        Err(Stop::Exit(_)) => return Ok(failed("exit".to_owned(), fuel, near)),
        Err(stop) => return Ok(failed(stop.to_string(), fuel, near)),
    };
    Ok(match Answer::read(text) {
        Answer::Result("\"pass\"") => {
            CaseReport { name, value: 1.0, verdict: Verdict::Pass, reason: None, fuel, near_limit: near }
        }
        Answer::Result("\"fail\"") => failed("different".to_owned(), fuel, near),
        Answer::Result("\"skip\"") => failed("skipped".to_owned(), fuel, near),
        Answer::Raised(given) => failed(reason(given), fuel, near),
        _ => failed("missing".to_owned(), fuel, near),
    })
}

/// The instance of the submission, which answers questions of a test.
struct Asked {
    submission: Guest,
    proxy: Option<Proxy>,
    fuel: u64,
    near: bool,
}

impl Asked {
    fn answer(&mut self, question: &str) -> wasmtime::Result<Answered> {
        let ended = self.submission.call(Request::Serve { question }.text());
        self.fuel = ended.fuel;
        self.near |= ended.near_limit;
        let host = self.submission.host();
        // The submission is gone, and so is its test.
        let text = ended.result.map_err(Error::from)?;
        if text.len() > host.output_max {
            return Err(Error::from(Stop::Output));
        }
        let fuel = QUESTION + (question.len() + text.len()) as u64;
        let text = match &mut self.proxy {
            Some(proxy) => proxy.passed(question, text),
            None => text,
        };
        Ok(Answered { text, fuel })
    }
}
