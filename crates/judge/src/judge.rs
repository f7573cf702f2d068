//! The judge: from a job to its report.

use std::path::PathBuf;
use std::sync::OnceLock;

use karat_evidence::execution::{Identity, Job, Report, Run, Task, TaskReport};
use wasmtime::Engine;

use crate::cases;
use crate::engine::{ENGINE, EngineKind, THREAD_STACK, engine, engine_of_modules};
use crate::error::JudgeError;
use crate::python::Python;
use crate::runtimes::{self, Found, PYTHON_DIGEST};
use crate::{script, suite, wasi, wasm};

/// Settings of a judge.
#[derive(Debug, Clone)]
pub struct Options {
    /// The engine.
    pub engine: EngineKind,
    /// The folder of the runtimes.
    pub runtimes: PathBuf,
    /// The folder of compiled code.
    pub cache: PathBuf,
}

/// Runner of jobs.
#[derive(Debug)]
pub struct Judge {
    engine: Engine,
    /// With other prices: a module may do what no runtime does.
    modules: Engine,
    options: Options,
    found: Vec<Found>,
    /// One for each runtime that was found.
    pythons: Vec<OnceLock<Result<Python, String>>>,
}

impl Judge {
    /// Creates a judge. Runtimes are loaded when they are needed, or by [`Judge::prepare`].
    ///
    /// # Errors
    ///
    /// If the engine cannot work on this machine.
    pub fn new(options: Options) -> Result<Self, JudgeError> {
        let failed =
            |error: wasmtime::Error| JudgeError::NoVerdict(format!("the engine cannot start: {error:#}"));
        let modules = engine_of_modules(options.engine).map_err(failed)?;
        let engine = engine(options.engine).map_err(failed)?;
        let found = runtimes::python_in(&options.runtimes);
        let pythons = found.iter().map(|_| OnceLock::new()).collect();
        Ok(Self { engine, modules, options, found, pythons })
    }

    /// Returns the runtimes that there are, by name, with their digests.
    pub fn runtimes(&self) -> Vec<(&'static str, String)> {
        let python = self.found.first().map(|found| ("python", found.digest.clone()));
        python.into_iter().chain([("wasm", wasm::runtime_digest())]).collect()
    }

    /// Returns true if no runtime has to be compiled any more.
    pub fn is_compiled(&self) -> bool {
        let (engine, kind, cache) = (&self.engine, self.options.engine, &self.options.cache);
        self.found.iter().all(|found| runtimes::is_compiled(engine, kind, found, cache))
    }

    /// Loads every runtime that there is. The first time ever it is compiled.
    ///
    /// # Errors
    ///
    /// If one cannot be used: the first.
    pub fn prepare(&self) -> Result<(), JudgeError> {
        let loaded: Vec<_> =
            self.found.iter().map(|found| self.python(Some(&found.digest)).map(|_| ())).collect();
        loaded.into_iter().collect()
    }

    fn python(&self, wanted: Option<&str>) -> Result<&Python, JudgeError> {
        let at = match wanted {
            None => (!self.found.is_empty()).then_some(0),
            Some(digest) => self.found.iter().position(|found| found.digest == digest),
        };
        let entry = at.and_then(|at| Some((self.found.get(at)?, self.pythons.get(at)?)));
        let Some((found, slot)) = entry else {
            let digest = wanted.unwrap_or(PYTHON_DIGEST);
            return Err(JudgeError::NoVerdict(format!(
                "the runtime python {digest} is not in {}: scripts/build-runtime makes it",
                self.options.runtimes.display()
            )));
        };
        let python = slot.get_or_init(|| {
            let component =
                runtimes::component(&self.engine, self.options.engine, found, &self.options.cache)
                    .map_err(|error| error.to_string())?;
            let pre =
                wasi::link(&self.engine, &component).and_then(|linker| linker.instantiate_pre(&component));
            let pre = pre.map_err(|error| format!("{}: {error:#}", found.path.display()))?;
            Ok(Python { pre, digest: found.digest.clone() })
        });
        python.as_ref().map_err(|why| JudgeError::NoVerdict(why.clone()))
    }

    /// Runs a job.
    ///
    /// # Errors
    ///
    /// If the challenge is broken, or the judge lacks the runtime or the room.
    pub fn judge(&self, job: &Job) -> Result<Report, JudgeError> {
        // Deep recursion needs a deep stack, which the thread of a caller may not have.
        std::thread::scope(|scope| {
            let worker =
                std::thread::Builder::new().stack_size(THREAD_STACK).spawn_scoped(scope, || self.run(job));
            let worker = worker.map_err(|error| JudgeError::NoVerdict(format!("no thread: {error}")))?;
            worker
                .join()
                .unwrap_or_else(|_| Err(JudgeError::NoVerdict("the judge failed at this job".to_owned())))
        })
    }

    fn run(&self, job: &Job) -> Result<Report, JudgeError> {
        let is_module = match job.runtime.as_str() {
            "python" => false,
            "wasm" => true,
            other => {
                let why = format!("the runtime `{other}` is not known: python and wasm are");
                return Err(JudgeError::NoVerdict(why));
            }
        };
        let wasm_digest = wasm::runtime_digest();
        if is_module && job.runtime_digest.as_ref().is_some_and(|wanted| *wanted != wasm_digest) {
            let why = format!(
                "the runtime wasm has the digest {wasm_digest} in this judge, and another is asked for"
            );
            return Err(JudgeError::NoVerdict(why));
        }
        let mut faults = if is_module { wasm::faults(job) } else { Vec::new() };
        let mut comparisons = Vec::new();
        for task in &job.tasks {
            comparisons.push(match task {
                Task::Cases { file, cases } => cases::comparisons(file, cases).unwrap_or_else(|mut found| {
                    faults.append(&mut found);
                    Vec::new()
                }),
                _ => Vec::new(),
            });
        }
        if !faults.is_empty() {
            return Err(JudgeError::Refused(faults));
        }
        let mut identity = Identity {
            engine: ENGINE.to_owned(),
            runtime: job.runtime.clone(),
            runtime_digest: wasm_digest,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        // Scripts and suites are Python, whatever the submission is.
        let needs_python = !is_module || job.tasks.iter().any(|task| matches!(task, Task::Script { .. }));
        let wanted = if is_module { Some(PYTHON_DIGEST) } else { job.runtime_digest.as_deref() };
        let python = if needs_python { Some(self.python(wanted)?) } else { None };
        if let Some(python) = python.filter(|_| !is_module) {
            identity.runtime_digest.clone_from(&python.digest);
        }
        let program = is_module.then(|| wasm::program(&self.modules, job));
        let lacking = || JudgeError::NoVerdict("the runtime python is not there".to_owned());
        let run = |run: &Run| match &program {
            Some(program) => wasm::run(&self.modules, job, program, run),
            None => cases::python_run(python.ok_or_else(lacking)?, job, run),
        };
        let mut results = Vec::new();
        for (task, comparisons) in job.tasks.iter().zip(&comparisons) {
            results.push(match task {
                Task::Cases { cases, .. } => {
                    let reports = cases.iter().zip(comparisons);
                    let reports = reports
                        .map(|(case, comparison)| Ok(cases::report(case, comparison, run(&case.run)?)));
                    TaskReport::Cases { cases: reports.collect::<Result<_, JudgeError>>()? }
                }
                Task::Run { run: asked } => cases::bare(run(asked)?),
                Task::Suite { file, source } => suite::run(python.ok_or_else(lacking)?, job, file, source)?,
                Task::Script { file, source, dimensions, answer, truth, r#match } => {
                    let script = script::Script { file, source, dimensions, answer, truth, r#match };
                    script::run(python.ok_or_else(lacking)?, job, &script)?
                }
            });
        }
        Ok(Report { judge: identity, results })
    }
}
