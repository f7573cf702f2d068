//! Execution of submitted code: what a judge is asked, and what it answers.
//!
//! Nothing here runs anything. A [`Judge`] does: the program `karat-judge` in a process by itself, asked by the callers of this
//! crate. Its answer is a function of the [`Job`] and of its [`Identity`], the same on every machine.

mod report;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use karat_core::facts::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use karat_evidence::json::value::canonical_json;

pub use report::is_label;

/// The language runtimes that a submission may name.
pub const RUNTIMES: [&str; 3] = ["python", "javascript", "wasm"];

/// Reader of the files of a challenge, by the path that its card has: their bytes, or why they cannot be read.
pub type FileReader<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// Runner of jobs.
pub trait Judge: fmt::Debug + Send + Sync {
    /// Runs a job. Whatever the submission does ends in a report.
    ///
    /// # Errors
    ///
    /// If the judge cannot work, or the challenge is broken.
    fn judge(&self, job: &Job) -> Result<Report, Unjudged>;
}

/// The reason for which there is no report. None of them is the fault of the submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unjudged {
    /// The judge is missing, was killed, or lacks the runtime. The item has no verdict.
    NoVerdict(String),
    /// A fault in the cases, the suite or the script: an error of the challenge.
    Challenge(Vec<Fault>),
}

/// A fault in a file of a challenge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The name of the file.
    pub file: String,
    /// The place in it: a line, a case, a JSON path.
    pub place: String,
    /// The finding there.
    pub found: String,
    /// The expectation.
    pub expected: String,
}

/// Work for a judge: a submission, and everything that it is run against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The language runtime: `python`, `javascript`, or `wasm` for a submission that is a module itself.
    pub runtime: String,
    /// The digest that the runtime must have; if `None`, any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_digest: Option<String>,
    /// Files of the submission by their path: text, or a `.wasm` module as Base64.
    pub files: BTreeMap<String, String>,
    /// The limits of each case, and of each call of a script.
    pub limits: Limits,
    /// The seed of everything in an instance that would be random elsewhere.
    pub seed: u64,
    /// The parts, in the order of the report.
    pub tasks: Vec<Task>,
}

impl Job {
    /// Returns the digest of its canonical JSON. With the identity of a judge it says which report there is.
    pub fn digest(&self) -> Digest {
        // A job is maps with texts as keys, which always have a JSON form.
        let json = serde_json::to_value(self).unwrap_or_default();
        Digest::of(canonical_json(&json).as_bytes())
    }
}

/// Limits of one instance. Their counts are exact, and the same on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Units of fuel: about one per instruction of the module.
    pub fuel: u64,
    /// Linear memory in MiB.
    pub memory_mib: u32,
    /// Answer and standard output together, in KiB.
    pub output_kib: u32,
}

impl Limits {
    /// Units of fuel that a limit may be.
    pub const FUEL: RangeInclusive<u64> = 1_000_000..=20_000_000_000;
    /// MiB of memory that a limit may be.
    pub const MEMORY_MIB: RangeInclusive<u64> = 16..=1024;
    /// KiB of output that a limit may be.
    pub const OUTPUT_KIB: RangeInclusive<u64> = 1..=1024;
}

impl Default for Limits {
    fn default() -> Self {
        Self { fuel: 2_000_000_000, memory_mib: 256, output_kib: 64 }
    }
}

/// A part of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Task {
    /// Cases, each in an instance by itself. The expected values never enter it.
    Cases {
        /// The name of the file of cases.
        file: String,
        /// The cases.
        cases: Vec<Case>,
    },
    /// A hidden suite of tests, in an instance beside that of the submission.
    Suite {
        /// The name of the file.
        file: String,
        /// Its text: tests of Python's `unittest`, or of `node:test`.
        source: String,
    },
    /// A script that scores the answer, in the language of the runtime; beside a module in Python.
    Script {
        /// The name of the file.
        file: String,
        /// Its text, with a function `evaluate(answer, truth, match)`.
        source: String,
        /// The dimensions that it has to return.
        dimensions: Vec<String>,
        /// The answer of the submission.
        answer: Value,
        /// The correct answer.
        truth: Value,
        /// The rest of the match.
        r#match: Value,
    },
    /// One run whose result is handed back and compared with nothing: a step of a workflow.
    Run {
        /// The run.
        run: Run,
    },
}

impl Task {
    /// Returns the name of its file; empty for a run, which has no file.
    pub fn file(&self) -> &str {
        match self {
            Self::Cases { file, .. } | Self::Suite { file, .. } | Self::Script { file, .. } => file,
            Self::Run { .. } => "",
        }
    }
}

/// A case: what is run, and what has to come out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Its name, unique in the file.
    pub name: String,
    /// The run.
    pub run: Run,
    /// The expected result. It stays with the judge.
    pub expect: Value,
    /// The comparison.
    pub compare: Compare,
}

/// The run of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Run {
    /// A call of a function of the submission with these arguments; its result is compared.
    Call {
        /// The name of the function: `solve`, or `module.solve`.
        function: String,
        /// The arguments.
        args: Vec<Value>,
    },
    /// A run of the submission as a program with this standard input; its standard output is compared.
    Program {
        /// The standard input.
        stdin: String,
    },
}

/// The comparison of a result with what is expected: a primitive of [`crate::arena`] and its options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compare {
    /// The name of the primitive: `exact_match`, `numeric_tolerance`, ..., or `tokens` for texts.
    pub primitive: String,
    /// Its options, as in an evaluator.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, Value>,
}

/// The answer of a judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The judge.
    pub judge: Identity,
    /// The results, in the order of the tasks.
    pub results: Vec<TaskReport>,
}

/// The identity of a judge: with the job it decides every verdict and every unit of fuel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The engine and its version: `wasmtime 48.0.8`.
    pub engine: String,
    /// The name of the runtime.
    pub runtime: String,
    /// The digest of the runtime: `sha256:...`.
    pub runtime_digest: String,
    /// The version of the judge itself.
    pub version: String,
}

/// The result of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TaskReport {
    /// Cases, in their order.
    Cases {
        /// The verdicts.
        cases: Vec<CaseReport>,
    },
    /// Tests of a suite, in the order of their names.
    Suite {
        /// The verdicts. Tests that are missing in the report of the suite have failed.
        cases: Vec<CaseReport>,
    },
    /// The scores of a script.
    Script {
        /// Points of each dimension, 0 to 1000, finite.
        scores: BTreeMap<String, f64>,
        /// The fuel of the script.
        fuel: u64,
    },
    /// The result of a run.
    Run {
        /// The value that the function returned, or what the program wrote to its standard output, as a text; none if it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
        /// The reason of a failure, as that of a case.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The fuel that it took.
        fuel: u64,
        /// True if it came within 5 % of a limit.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        near_limit: bool,
    },
}

/// The verdict on one case or test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseReport {
    /// The name of the case.
    pub name: String,
    /// Its value: 0 to 1, as the comparison gives it.
    pub value: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason of a failure: `limit:fuel`, `exception: ValueError`, ... It never tells what was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The fuel that it took.
    pub fuel: u64,
    /// True if it came within 5 % of a limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub near_limit: bool,
}

/// The verdict on a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All that was expected came out.
    Pass,
    /// Some of it, where the comparison gives a value between 0 and 1.
    Partial,
    /// Something else, or nothing.
    Fail,
}

impl Verdict {
    /// Returns the verdict as JSON has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Partial => "partial",
            Self::Fail => "fail",
        }
    }
}

/// Checks the path of a file of a challenge or of a submission: names below a folder, on every system.
///
/// # Errors
///
/// If it leads elsewhere, or could: what was expected.
pub fn check_path(path: &str) -> Result<(), &'static str> {
    const PATH_MAX_BYTES: usize = 200;
    let is_name = |name: &str| {
        !name.starts_with('.')
            && !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
    };
    if path.len() <= PATH_MAX_BYTES && path.split('/').all(is_name) {
        return Ok(());
    }
    Err(
        "a relative path such as `hidden/route.cases.toml`: letters, digits, `-`, `_` and `.`, no name that begins with `.`",
    )
}
