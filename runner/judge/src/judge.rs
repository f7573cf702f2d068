//! The judge: from a job to its report.

use std::path::PathBuf;
use std::sync::OnceLock;

use karat_graders::execution::{Identity, Job, Report, Run, Task, TaskReport};
use wasmtime::Engine;

use crate::cases;
use crate::engine::{ENGINE, EngineKind, THREAD_STACK, engine, engine_of_interpreters, engine_of_modules};
use crate::error::JudgeError;
use crate::guest::{Code, Runtime};
use crate::runtimes::{self, Found, Language};
use crate::{javascript, script, suite, wasi, wasm};

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
    /// With other prices, for runtimes that are modules; and with others again, for modules that are submitted.
    interpreters: Engine,
    modules: Engine,
    options: Options,
    found: Vec<Found>,
    /// One for each runtime that was found.
    ready: Vec<OnceLock<Result<Runtime, String>>>,
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
        let interpreters = engine_of_interpreters(options.engine).map_err(failed)?;
        let engine = engine(options.engine).map_err(failed)?;
        let found = runtimes::found_in(&options.runtimes);
        let ready = found.iter().map(|_| OnceLock::new()).collect();
        Ok(Self { engine, interpreters, modules, options, found, ready })
    }

    /// Returns the runtimes that there are, by name, with their digests.
    pub fn runtimes(&self) -> Vec<(&'static str, String)> {
        let first = |language| self.found.iter().find(|found| found.language == language);
        let found = Language::ALL.into_iter().filter_map(first);
        let found = found.map(|found| (found.language.name(), found.digest.clone()));
        found.chain([("wasm", wasm::runtime_digest())]).collect()
    }

    /// Returns true if no runtime has to be compiled any more.
    pub fn is_compiled(&self) -> bool {
        let (kind, cache) = (self.options.engine, &self.options.cache);
        self.found
            .iter()
            .all(|found| runtimes::is_compiled(self.engine_of(found.language), kind, found, cache))
    }

    fn engine_of(&self, language: Language) -> &Engine {
        match language {
            Language::Python => &self.engine,
            Language::JavaScript => &self.interpreters,
        }
    }

    /// Loads every runtime that there is. The first time ever it is compiled.
    ///
    /// # Errors
    ///
    /// If one cannot be used: the first.
    pub fn prepare(&self) -> Result<(), JudgeError> {
        let loaded: Vec<_> = self
            .found
            .iter()
            .map(|found| self.ready(found.language, Some(&found.digest)).map(|_| ()))
            .collect();
        loaded.into_iter().collect()
    }

    fn ready(&self, language: Language, wanted: Option<&str>) -> Result<&Runtime, JudgeError> {
        let is_wanted =
            |found: &Found| found.language == language && wanted.is_none_or(|digest| found.digest == digest);
        let entry = self.found.iter().zip(&self.ready).find(|(found, _)| is_wanted(found));
        let Some((found, slot)) = entry else {
            let (name, digest) = (language.name(), wanted.unwrap_or(language.digest()));
            return Err(JudgeError::NoVerdict(format!(
                "the runtime {name} {digest} is not in {}: scripts/build-runtime makes it",
                self.options.runtimes.display()
            )));
        };
        let runtime = slot.get_or_init(|| self.load(found));
        runtime.as_ref().map_err(|why| JudgeError::NoVerdict(why.clone()))
    }

    fn load(&self, found: &Found) -> Result<Runtime, String> {
        let (engine, kind, cache) =
            (self.engine_of(found.language), self.options.engine, &self.options.cache);
        let unusable = |error: wasmtime::Error| format!("{}: {error:#}", found.path.display());
        let code = match found.language {
            Language::Python => {
                let component = runtimes::component(engine, kind, found, cache);
                let component = component.map_err(|error| error.to_string())?;
                let linker = wasi::link(engine, &component);
                linker.and_then(|linker| linker.instantiate_pre(&component)).map(Code::Component)
            }
            Language::JavaScript => {
                let module = runtimes::module(engine, kind, found, cache);
                let module = module.map_err(|error| error.to_string())?;
                let linker = javascript::link(engine, &module);
                linker.and_then(|linker| linker.instantiate_pre(&module)).map(Code::Module)
            }
        };
        let code = code.map_err(unusable)?;
        Ok(Runtime { language: found.language, code, digest: found.digest.clone() })
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
        let language = Language::ALL.into_iter().find(|language| language.name() == job.runtime);
        let is_module = job.runtime == "wasm";
        if language.is_none() && !is_module {
            let why = format!("the runtime `{}` is not known: python, javascript and wasm are", job.runtime);
            return Err(JudgeError::NoVerdict(why));
        }
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
        // Suites and scripts are of the language of the submission; those beside a module are Python.
        let needs_runtime = !is_module || job.tasks.iter().any(|task| matches!(task, Task::Script { .. }));
        let python = Some(Language::Python.digest());
        let wanted = if is_module { python } else { job.runtime_digest.as_deref() };
        let language = language.unwrap_or(Language::Python);
        let runtime = if needs_runtime { Some(self.ready(language, wanted)?) } else { None };
        if let Some(runtime) = runtime.filter(|_| !is_module) {
            identity.runtime_digest.clone_from(&runtime.digest);
        }
        let program = is_module.then(|| wasm::program(&self.modules, job));
        let lacking = || JudgeError::NoVerdict(format!("the runtime {} is not there", language.name()));
        let run = |run: &Run| match &program {
            Some(program) => wasm::run(&self.modules, job, program, run),
            None => cases::run(runtime.ok_or_else(lacking)?, job, run),
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
                Task::Suite { file, source } => suite::run(runtime.ok_or_else(lacking)?, job, file, source)?,
                Task::Script { file, source, dimensions, answer, truth, r#match } => {
                    let script = script::Script { file, source, dimensions, answer, truth, r#match };
                    script::run(runtime.ok_or_else(lacking)?, job, &script)?
                }
            });
        }
        Ok(Report { judge: identity, results })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::Code;
    use crate::host::Host;
    use crate::instance::Metered;
    use crate::javascript::ModuleGuest;

    /// Nothing of a submission is there before fuel counts, and what happens until then is short.
    #[test]
    fn the_start_of_javascript_takes_the_same_for_every_submission() {
        let home = || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".local/share");
        let usual =
            || std::env::var_os("XDG_DATA_HOME").map_or_else(home, PathBuf::from).join("karat/runtimes");
        let runtimes = std::env::var_os("KARAT_RUNTIMES").map_or_else(usual, PathBuf::from);
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("compiled");
        let judge = Judge::new(Options { engine: EngineKind::default(), runtimes, cache }).unwrap();
        let runtime = judge.ready(Language::JavaScript, None).unwrap();
        let Code::Module(pre) = &runtime.code else { panic!("JavaScript is a module") };
        let used = |memory: usize, seed| {
            let mut metered =
                Metered::new(pre.module().engine(), Host::new(memory, 1 << 16, seed), 0).unwrap();
            let before = metered.store().get_fuel().unwrap();
            let instance = pre.instantiate(metered.store());
            let begun = instance.and_then(|instance| ModuleGuest::new(metered.store(), &instance));
            (before - metered.store().get_fuel().unwrap(), begun.is_ok())
        };
        let (whole, is_ready) = used(64 << 20, 0);
        assert!(is_ready && (100_000..20_000_000).contains(&whole), "{whole}");
        for (memory, seed) in [(64 << 20, 1), (16 << 20, u64::MAX), (1 << 30, 7)] {
            assert_eq!(used(memory, seed), (whole, true));
        }
        // Where the limit leaves too little memory, it takes no longer.
        for pages in 0..200 {
            assert!(used(pages << 16, 0).0 <= whole, "{pages}");
        }
    }
}
