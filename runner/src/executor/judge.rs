//! An executor that runs code in the sandbox of a judge: the request is the argument of a function, or the standard input of a
//! program, and its result is the output of the step.
//!
//! The same request gives the same result on every machine. What the code does is a failed attempt at worst; a judge that is
//! missing, or cannot work, is a fault of the executor.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use karat_core::facts::Digest;
use karat_graders::execution::{self, Job, Judge, Limits, Task, TaskReport, Unjudged};
use karat_run::{Outcome, Request, check_output};
use serde_json::{Map, Value};

use super::answer::json;
use super::{Answer, Call, Executor, Reply};
use crate::stop::GLANCE;

/// The runtime of source text.
pub(crate) const PYTHON: &str = "python";
/// The runtime of source text in the other language.
pub(crate) const JAVASCRIPT: &str = "javascript";
/// The runtime of modules.
pub(crate) const WASM: &str = "wasm";
/// The most bytes of source, in the file or in the parameters.
pub(crate) const SOURCE_BYTES_MAX: usize = 8 << 20;
/// The smallest module, as Base64: it has nothing to run.
const EMPTY_MODULE: &str = "AGFzbQEAAAA=";

/// Code with its limits.
#[derive(Debug)]
pub(crate) struct Sandboxed {
    pub judge: Arc<dyn Judge>,
    pub runtime: String,
    /// The digest that the runtime must have.
    pub digest: Option<String>,
    pub source: Source,
    /// The function that is called; if `None`, the code is run as a program.
    pub function: Option<String>,
    pub limits: Limits,
}

/// The place of the code.
#[derive(Debug)]
pub(crate) enum Source {
    /// It is the validator's, and the same for all steps.
    File(String),
    /// It is at this JSON Pointer in the parameters of the step.
    Parameter(String),
}

impl Sandboxed {
    pub(crate) fn call(&self, executor: &Executor, call: &Call<'_>) -> Reply {
        let source = match self.source_of(call.request) {
            Ok(source) => source,
            Err(reason) => return Reply::Ended(executor.failed(reason)),
        };
        let job = match self.job(call.request, source) {
            Ok(job) => job,
            Err(reason) => return Reply::Fault(reason),
        };
        // A judge cannot be interrupted, but it ends: it burns fuel, and has its own limit of time.
        let judge = Arc::clone(&self.judge);
        let (send, receive) = mpsc::sync_channel(1);
        let started = thread::Builder::new().spawn(move || {
            // No one listens if the time was up, or the run is stopped.
            let _ = send.send(judge.judge(&job));
        });
        if let Err(error) = started {
            return Reply::Fault(format!("no thread for a judge: {error}"));
        }
        loop {
            let left = call.deadline.saturating_duration_since(Instant::now());
            match receive.recv_timeout(left.min(GLANCE)) {
                Ok(answer) => return self.reply(executor, answer),
                Err(RecvTimeoutError::Disconnected) => {
                    return Reply::Fault("the judge gave no answer".to_owned());
                }
                Err(RecvTimeoutError::Timeout) if call.stop.is_asked() => return Reply::Stopped,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return executor.late(),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Runs next to nothing, so that a judge that is missing is known before anything is paid for, and the first step does not
    /// wait for the runtime.
    pub(crate) fn prepare(&self) -> Result<(), String> {
        let (name, source) = match self.runtime.as_str() {
            WASM => ("solution.wasm", EMPTY_MODULE),
            JAVASCRIPT => ("solution.js", "function run(request) { return {}; }"),
            _ => ("solution.py", "def run(request):\n    return {}\n"),
        };
        let run = match self.runtime.as_str() {
            WASM => execution::Run::Program { stdin: String::new() },
            _ => execution::Run::Call { function: "run".to_owned(), args: vec![Value::Null] },
        };
        let files = BTreeMap::from([(name.to_owned(), source.to_owned())]);
        match self.judge.judge(&self.job_of(files, run, 0)) {
            Ok(_) => Ok(()),
            Err(unjudged) => Err(why(unjudged)),
        }
    }

    /// Returns true if what `other` prepares is prepared with this.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.runtime == other.runtime && self.digest == other.digest
    }

    fn source_of(&self, request: &Request) -> Result<String, String> {
        let pointer = match &self.source {
            Source::File(source) => return Ok(source.clone()),
            Source::Parameter(pointer) => pointer,
        };
        let whole: Value = serde_json::from_str(&request.text).unwrap_or_default();
        match whole.get("params").and_then(|params| params.pointer(pointer)) {
            Some(Value::String(source)) if source.len() <= SOURCE_BYTES_MAX => Ok(source.clone()),
            Some(Value::String(source)) => Err(format!(
                "the code at `{pointer}` of its parameters has {} bytes, expected at most {SOURCE_BYTES_MAX}",
                source.len()
            )),
            _ => Err(format!("its parameters have no code as a text at `{pointer}`")),
        }
    }

    fn job(&self, request: &Request, source: String) -> Result<Job, String> {
        let name = match self.runtime.as_str() {
            WASM => "solution.wasm",
            JAVASCRIPT => "solution.js",
            _ => "solution.py",
        };
        let run = match &self.function {
            Some(function) => {
                let argument: Value =
                    serde_json::from_str(&request.text).map_err(|error| error.to_string())?;
                execution::Run::Call { function: function.clone(), args: vec![argument] }
            }
            None => execution::Run::Program { stdin: request.text.clone() },
        };
        Ok(self.job_of(BTreeMap::from([(name.to_owned(), source)]), run, seed(request.key)))
    }

    fn job_of(&self, files: BTreeMap<String, String>, run: execution::Run, seed: u64) -> Job {
        Job {
            runtime: self.runtime.clone(),
            runtime_digest: self.digest.clone(),
            files,
            limits: self.limits,
            seed,
            tasks: vec![Task::Run { run }],
        }
    }

    fn reply(&self, executor: &Executor, answer: Result<execution::Report, Unjudged>) -> Reply {
        let report = match answer {
            Ok(report) => report,
            Err(unjudged) => return Reply::Fault(why(unjudged)),
        };
        match report.results.into_iter().next() {
            Some(TaskReport::Run { reason: Some(reason), .. }) => Reply::Ended(executor.failed(reason)),
            Some(TaskReport::Run { output, .. }) => {
                Reply::Ended(self.output(executor, output.unwrap_or_default()))
            }
            _ => Reply::Fault("the judge answered something else than it was asked".to_owned()),
        }
    }

    /// Returns the answer with a result as its output: an object as it is, a text as the text of an output.
    fn output(&self, executor: &Executor, result: Value) -> Answer {
        let is_object = |text: &str| serde_json::from_str::<Map<String, Value>>(text).is_ok();
        let text = match result {
            // A program writes JSON, or a text.
            Value::String(text) if self.function.is_none() && is_object(&text) => text,
            result => result.to_string(),
        };
        let output = match json(text.as_bytes()) {
            Ok(Value::String(text)) => Ok(Value::Object(Map::from_iter([("text".to_owned(), text.into())]))),
            Ok(result @ Value::Object(_)) => check_output(&result).map(|()| result),
            Ok(_) => Err("its result is neither an output such as {\"text\": …} nor a text".to_owned()),
            Err(problem) => Err(format!("its output: {problem}")),
        };
        match output {
            Ok(output) => Answer {
                outcome: Outcome::Success,
                output: Some(output),
                reason: None,
                cost_nano_tao: executor.cost_nano_tao,
            },
            Err(reason) => executor.failed(reason),
        }
    }
}

/// Returns the seed of an attempt: the first bytes of its key, so that a second attempt may differ from the first, and is the
/// same wherever it is made.
fn seed(Digest(bytes): Digest) -> u64 {
    bytes.first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
}

fn why(unjudged: Unjudged) -> String {
    match unjudged {
        Unjudged::NoVerdict(why) => format!("the judge cannot work: {why}"),
        Unjudged::Challenge(faults) => {
            let first = faults.first().map(|fault| {
                format!("{}, {}: found {}, expected {}", fault.file, fault.place, fault.found, fault.expected)
            });
            format!("the judge refuses the run: {}", first.unwrap_or_default())
        }
    }
}
