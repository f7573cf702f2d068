//! Questions to a judge about an attempt, and the worth of its report.

use std::collections::BTreeMap;

use karat_core::facts::Digest;
use serde_json::{Map, Value, json};

use super::files::{FileKey, Judged, JudgedPart, Role, Text, Texts};
use super::{Attempt, Evaluator, Outcome, Part, Test};
use crate::arena::cases::CaseFile;
use crate::arena::primitives::described;
use crate::execution::{
    CaseReport, Fault, FileReader, Identity, Job, Judge, Limits, Report, Task, TaskReport, Unjudged, Verdict,
};
use karat_evidence::json::problem::{OF_CHALLENGE, Problem, Problems};
use karat_evidence::json::value::canonical_json;

/// Largest text of a submitted file, in bytes; of a module, as Base64.
const SUBMITTED_MAX_BYTES: usize = 256 << 10;
const MODULE_MAX_BYTES: usize = 8 << 20;
/// Largest answer that a script looks at, in bytes.
const ANSWER_MAX_BYTES: usize = 1 << 20;
/// Fuel that reading a byte of a text of an answer takes at most, and any other byte: those of numbers.
const TEXT_FUEL: u64 = 100;
const OTHER_FUEL: u64 = 2_000;
/// Memory that a byte of an answer becomes, with room, and that a script takes without one.
const ANSWER_MEMORY: u64 = 50;
const SCRIPT_MEMORY_MIB: u32 = 32;

const NO_JUDGE: &str = "there is no judge here: the program `karat-judge` runs what was submitted, and \
    docs/guide/execution.md says how to get it";

/// Input of an execution besides the attempt.
#[derive(Debug, Clone, Copy, Default)]
pub struct Judging<'a> {
    /// The judge. Without one, what has to be executed has no verdict.
    pub judge: Option<&'a dyn Judge>,
    /// The seed of everything that would be random elsewhere.
    pub seed: u64,
    /// The match without its answer and ground truth, for scripts.
    pub rest: Option<&'a Value>,
}

/// The account of what was executed for an attempt. It has no expected value.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecutionGrade {
    /// The language runtime that was asked for.
    pub runtime: String,
    /// The limits of each case and each call of a script.
    pub limits: Limits,
    /// The seed.
    pub seed: u64,
    /// The files of the challenge and their digests.
    pub files: BTreeMap<String, String>,
    /// The digest of the files that were submitted, if they were.
    pub submission: Option<String>,
    /// The end.
    pub end: ExecutionEnd,
}

/// The end of an execution.
#[derive(Debug, Clone, PartialEq)]
pub enum ExecutionEnd {
    /// Everything was judged.
    Judged {
        /// The judge.
        judge: Identity,
        /// The results, in the order of the job.
        tasks: Vec<TaskGrade>,
    },
    /// The answer has nothing that could be run: 0, and why.
    Unfit(String),
    /// There was no judge, or it failed: why.
    NoVerdict(String),
}

/// The result of a file of the challenge.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskGrade {
    /// Cases, or the tests of a suite.
    Tests {
        /// The name of the file.
        file: String,
        /// True for a suite.
        is_suite: bool,
        /// The value, 0 to 1: the weighted mean of cases, the share of tests.
        value: f64,
        /// The verdicts.
        cases: Vec<CaseReport>,
    },
    /// A script.
    Script {
        /// The name of the file.
        file: String,
        /// Points of each dimension, 0 to 1000.
        scores: BTreeMap<String, f64>,
        /// The fuel that it took.
        fuel: u64,
    },
}

/// An execution, and what each file came to.
pub(super) struct Executed {
    pub grade: ExecutionGrade,
    tasks: Vec<FileKey>,
}

impl ExecutionGrade {
    /// Returns the account as JSON: `{"runtime", "limits", "seed", "files", "submission"?}`, and `judge` and `tasks`, `unfit` or
    /// `no_verdict`.
    pub fn detail(&self) -> Value {
        let Self { runtime, limits, seed, files, submission, end } = self;
        let mut account = json!({"runtime": runtime, "limits": limits, "seed": seed, "files": files});
        if let Some(submission) = submission {
            account["submission"] = submission.as_str().into();
        }
        match end {
            ExecutionEnd::Unfit(why) => account["unfit"] = why.as_str().into(),
            ExecutionEnd::NoVerdict(why) => account["no_verdict"] = why.as_str().into(),
            ExecutionEnd::Judged { judge, tasks } => {
                account["judge"] = json!(judge);
                account["tasks"] = tasks.iter().map(TaskGrade::detail).collect();
            }
        }
        account
    }
}

impl TaskGrade {
    fn detail(&self) -> Value {
        match self {
            Self::Tests { file, is_suite, value, cases } => json!({
                "kind": if *is_suite { "suite" } else { "cases" },
                "file": file,
                "value": value,
                "passed": passed(cases),
                "cases": cases,
            }),
            Self::Script { file, scores, fuel } => {
                json!({"kind": "script", "file": file, "scores": scores, "fuel": fuel})
            }
        }
    }
}

fn passed(cases: &[CaseReport]) -> usize {
    cases.iter().filter(|case| case.verdict == Verdict::Pass).count()
}

impl JudgedPart {
    pub(super) fn primitive(&self) -> &'static str {
        if self.key.0 == Role::Script { "script" } else { "tests" }
    }

    pub(super) fn file(&self) -> &str {
        &self.key.1
    }
}

impl Executed {
    /// Returns what a part of a dimension came to.
    pub fn of(&self, part: &JudgedPart, dimension: &str) -> (Option<f64>, Outcome) {
        let tasks = match &self.grade.end {
            ExecutionEnd::Unfit(why) => return (Some(0.0), Outcome::Unfit(why.clone())),
            ExecutionEnd::NoVerdict(_) => return (None, Outcome::NoVerdict),
            ExecutionEnd::Judged { tasks, .. } => tasks,
        };
        let of_part = self.tasks.iter().position(|key| *key == part.key);
        match of_part.and_then(|at| tasks.get(at)) {
            Some(TaskGrade::Tests { value, cases, .. }) => {
                (Some(*value), Outcome::Tested { passed: passed(cases), tests: cases.len() })
            }
            // A checked report has the points of each dimension.
            Some(TaskGrade::Script { scores, .. }) => match scores.get(dimension) {
                Some(points) => (Some(points / 1000.0), Outcome::Scripted { points: *points }),
                None => (None, Outcome::NoVerdict),
            },
            None => (None, Outcome::NoVerdict),
        }
    }
}

/// Runs what has to be run for an attempt.
///
/// # Errors
///
/// If the files of the challenge are not loaded, or the judge finds a fault in them.
pub(super) fn execute(
    judged: &Judged,
    attempt: &Attempt<'_>,
    judging: &Judging<'_>,
) -> Result<Executed, Problems> {
    let texts = match &judged.texts {
        Texts::Loaded(texts) => texts,
        Texts::Absent(why) => return Err(why.clone().map(|problem| of_challenge(&mut problem.path))),
    };
    let files = judged.submitted(attempt.submission);
    let submission = files.as_ref().ok().filter(|files| !files.is_empty());
    let mut grade = ExecutionGrade {
        runtime: judged.runtime.clone(),
        limits: judged.limits,
        seed: judging.seed,
        files: judged
            .uses
            .iter()
            .filter_map(|((_, file), used)| Some((file.clone(), used.digest?.to_string())))
            .collect(),
        submission: submission.map(|files| Digest::of(canonical_json(&json!(files)).as_bytes()).to_string()),
        end: ExecutionEnd::NoVerdict(NO_JUDGE.to_owned()),
    };
    grade.end = match (files, judging.judge) {
        (Err(why), _) => ExecutionEnd::Unfit(why),
        (Ok(_), None) => grade.end,
        (Ok(files), Some(judge)) => {
            let job = judged.job(texts, files, attempt, judging);
            match judge.judge(&job).map(|report| report.checked(&job)) {
                Ok(Ok(report)) => valued(texts, report, &job),
                Ok(Err(wrong)) => ExecutionEnd::NoVerdict(line(&format!("the judge is faulty: {wrong}"))),
                Err(Unjudged::NoVerdict(why)) => ExecutionEnd::NoVerdict(line(&why)),
                Err(Unjudged::Challenge(faults)) => return Err(broken(&faults)),
            }
        }
    };
    Ok(Executed { grade, tasks: texts.keys().cloned().collect() })
}

fn of_challenge(path: &mut String) {
    *path = format!("{OF_CHALLENGE}{}", path.strip_prefix('$').unwrap_or(path));
}

fn broken(faults: &[Fault]) -> Problems {
    const HINT: &str = "the challenge has to be corrected: no answer to it is scored";
    let mut problems = Problems::default();
    for Fault { file, place, found, expected } in faults {
        let found = line(&format!("{found} at {place}"));
        let path = format!("{OF_CHALLENGE}/{}", line(file));
        problems.add(|| Problem::at(&path, found, line(expected), HINT));
    }
    if problems.is_empty() {
        let found = "a fault that the judge does not name".to_owned();
        return Problem::at(OF_CHALLENGE, found, "a sound challenge", HINT).into();
    }
    problems
}

fn line(text: &str) -> String {
    const MOST: usize = 300;
    let line = text.trim().chars().map(|c| if karat_core::diagnostic::steers_terminal(c) { ' ' } else { c });
    line.take(MOST).collect()
}

fn valued(texts: &BTreeMap<FileKey, Text>, report: Report, job: &Job) -> ExecutionEnd {
    let results = texts.values().zip(&job.tasks).zip(report.results);
    let tasks = results.filter_map(|((text, task), result)| {
        let file = task.file().to_owned();
        Some(match (text, result) {
            (Text::Cases(known), TaskReport::Cases { cases }) => {
                TaskGrade::Tests { file, is_suite: false, value: known.value(&cases), cases }
            }
            (_, TaskReport::Cases { cases } | TaskReport::Suite { cases }) => {
                // A suite whose tests are all gone has failed.
                let share = cases.iter().map(|case| case.value).sum::<f64>() / cases.len().max(1) as f64;
                TaskGrade::Tests { file, is_suite: true, value: share.clamp(0.0, 1.0), cases }
            }
            (_, TaskReport::Script { scores, fuel }) => TaskGrade::Script { file, scores, fuel },
            // A challenge never asks for one.
            (_, TaskReport::Run { .. }) => return None,
        })
    });
    ExecutionEnd::Judged { tasks: tasks.collect(), judge: report.judge }
}

/// Returns why an answer is too large for a script within these limits, if it is. Members that no schema forbids could
/// otherwise take its fuel before it begins: it would be at fault, and the answer would escape its 0.
fn too_large(answer: &Value, limits: Limits) -> Option<String> {
    let length = canonical_json(answer).len();
    let memory = u64::from(limits.memory_mib.saturating_sub(SCRIPT_MEMORY_MIB)) << 20;
    let most = (memory / ANSWER_MEMORY).min(ANSWER_MAX_BYTES as u64);
    if length as u64 > most {
        return Some(format!("found an answer of {length} bytes, expected at most {most}"));
    }
    // Quotation marks and escapes are counted as if they were dear: there are few.
    let texts = texts_of(answer).min(length as u64);
    let fuel = texts * TEXT_FUEL + (length as u64 - texts) * OTHER_FUEL;
    let most = limits.fuel / 2;
    (fuel > most).then(|| {
        format!(
            "found an answer of {length} bytes that a script may need {fuel} units of fuel to read, expected at most half \
             of its limit, {most}"
        )
    })
}

/// Returns the bytes of all texts in a value.
fn texts_of(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        Value::Array(elements) => elements.iter().map(texts_of).sum(),
        Value::Object(members) => {
            members.iter().map(|(name, member)| name.len() as u64 + texts_of(member)).sum()
        }
        _ => 0,
    }
}

impl Judged {
    /// Returns the files of an answer, or why it has none that could be run.
    fn submitted(&self, answer: &Value) -> Result<BTreeMap<String, String>, String> {
        let mut files = BTreeMap::new();
        for (path, field) in &self.files {
            let most = if path.ends_with(".wasm") { MODULE_MAX_BYTES } else { SUBMITTED_MAX_BYTES };
            let wanted = format!("expected the text of `{path}` at `{}` of the answer", field.name);
            match field.of(answer) {
                Some(Value::String(text)) if text.len() <= most => files.insert(path.clone(), text.clone()),
                Some(Value::String(text)) => {
                    return Err(format!("found {} bytes, {wanted}: at most {most}", text.len()));
                }
                Some(other) => return Err(format!("found {}, {wanted}", described(other))),
                None => return Err(format!("found nothing, {wanted}")),
            };
        }
        if let Some(refusal) = self.schema.as_ref().and_then(|schema| schema.schema.refusal(answer)) {
            return Err(format!("the answer has another shape: {refusal}"));
        }
        let has_script = self.uses.keys().any(|(role, _)| *role == Role::Script);
        match if has_script { too_large(answer, self.limits) } else { None } {
            Some(refusal) => Err(refusal),
            None => Ok(files),
        }
    }

    /// Returns everything that a judge is asked: one task for each file, in the order of their names.
    fn job(
        &self,
        texts: &BTreeMap<FileKey, Text>,
        files: BTreeMap<String, String>,
        attempt: &Attempt<'_>,
        judging: &Judging<'_>,
    ) -> Job {
        let tasks = texts.iter().map(|((role, file), text)| {
            let file = file.clone();
            match (role, text) {
                (_, Text::Cases(known)) => Task::Cases { file, cases: known.cases().to_vec() },
                (Role::Script, Text::Source(source)) => Task::Script {
                    source: source.clone(),
                    dimensions: self
                        .uses
                        .get(&(*role, file.clone()))
                        .map(|used| used.dimensions.iter().cloned().collect())
                        .unwrap_or_default(),
                    file,
                    answer: attempt.submission.clone(),
                    truth: attempt.ground_truth.clone(),
                    r#match: judging.rest.cloned().unwrap_or_default(),
                },
                (_, Text::Source(source)) => Task::Suite { file, source: source.clone() },
            }
        });
        Job {
            runtime: self.runtime.clone(),
            runtime_digest: self.runtime_digest.clone(),
            tasks: tasks.collect(),
            files,
            limits: self.limits,
            seed: judging.seed,
        }
    }
}

impl Evaluator {
    /// Returns the same with the files that its parts name: `files` has their bytes, by the path in the card. Without such
    /// parts nothing is read.
    ///
    /// # Errors
    ///
    /// If files are missing or do not have the digests of the card, or something is wrong in them: everything.
    pub fn with_files(&self, files: FileReader<'_>) -> Result<Self, Problems> {
        let judged = self.judged.as_ref().map(|judged| judged.loaded(files)).transpose()?;
        Ok(Self { judged: judged.map(std::sync::Arc::new), ..self.clone() })
    }

    /// Returns the same without files, and the reason: an attempt that needs them is refused with it.
    pub fn without_files(&self, why: &Problems) -> Self {
        let without = |judged: &Judged| Judged { texts: Texts::Absent(why.clone()), ..judged.clone() };
        Self { judged: self.judged.as_deref().map(without).map(std::sync::Arc::new), ..self.clone() }
    }

    /// Returns the files that it needs to be executed: path and digest, in the order of the paths.
    pub fn files(&self) -> BTreeMap<&str, Digest> {
        let uses = self.judged.iter().flat_map(|judged| &judged.uses);
        uses.filter_map(|((_, file), used)| Some((file.as_str(), used.digest?))).collect()
    }

    /// Returns the cases of a file, if they are loaded.
    pub fn cases(&self, file: &str) -> Option<&CaseFile> {
        let Texts::Loaded(texts) = &self.judged.as_ref()?.texts else { return None };
        match texts.get(&(Role::Cases, file.to_owned()))? {
            Text::Cases(cases) => Some(cases),
            Text::Source(_) => None,
        }
    }

    /// Returns the language runtime and the paths of the files that an answer must have.
    pub fn submission(&self) -> Option<(&str, Vec<&str>)> {
        let judged = self.judged.as_ref()?;
        Some((&judged.runtime, judged.files.keys().map(String::as_str).collect()))
    }

    /// Returns the limits of each case and each call of a script.
    pub fn limits(&self) -> Option<Limits> {
        self.judged.as_ref().map(|judged| judged.limits)
    }

    /// Returns an answer that has these files where the challenge wants them; files that it does not want are left out.
    pub fn answer_of(&self, files: &BTreeMap<String, String>) -> Value {
        let mut answer = Value::Object(Map::new());
        for (path, field) in self.judged.iter().flat_map(|judged| &judged.files) {
            if let Some(text) = files.get(path) {
                field.put(&mut answer, text.as_str().into());
            }
        }
        answer
    }

    /// Returns the dimensions that have no score where there is no verdict: those with a part that a judge grades, and those that
    /// wait for one.
    pub fn judged_dimensions(&self) -> impl Iterator<Item = &str> {
        let needs = |part: &Part| {
            matches!(part.test, Test::Judged(_) | Test::Time { needs_score: true }) && part.weight > 0.0
        };
        let of = self.dimensions.iter().filter(move |dimension| dimension.parts.iter().any(needs));
        of.filter(|_| self.runs_code()).map(|dimension| dimension.key.as_str())
    }
}
