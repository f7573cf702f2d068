//! Submissions that are modules of WebAssembly themselves: programs of WASI preview 1, in whatever language they were written.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use karat_core::facts::Digest;
use karat_graders::execution::{Fault, Job, Run, Task};
use wasmtime::{Engine, Linker, Module};

use crate::cases::{Done, host, output};
use crate::error::JudgeError;
use crate::host::{Host, Stop};
use crate::instance::{Ended, Metered};
use crate::metering::{self, STACK};
use crate::preview1;
use crate::runtimes::Language;

/// Description of what a judge does with a module: a change of it changes the digest.
const RUNTIME: &str = "karat wasm 2: WASI preview 1 in memory, one call of _start, stack of 32 MiB by count, not optimised, fuel at prices 2, effort 1; scripts by python ";

/// Returns the digest of this runtime. Scripts are part of it, because they are Python whatever the submission is.
pub fn runtime_digest() -> String {
    Digest::of(format!("{RUNTIME}{}", Language::Python.digest()).as_bytes()).to_string()
}

/// Largest module in bytes: compiling may not take longer than running.
const MODULE_MAX: usize = 4 << 20;

/// A program that is ready to run, or the reason why it never will be.
pub type Program = Result<(Module, Linker<Host>), String>;

/// Returns the faults of a challenge that asks of modules what they cannot do.
pub fn faults(job: &Job) -> Vec<Fault> {
    const EXPECTED: &str = "`stdin` and `expect_stdout`: a submission in WebAssembly is run as a program";
    let mut faults = Vec::new();
    let mut fault = |file: &str, place: String, found: String| {
        faults.push(Fault { file: file.to_owned(), place, found, expected: EXPECTED.to_owned() });
    };
    for task in &job.tasks {
        match task {
            Task::Cases { file, cases } => {
                for case in cases {
                    if let Run::Call { function, .. } = &case.run {
                        fault(file, format!("case `{}`", case.name), format!("a call of `{function}`"));
                    }
                }
            }
            Task::Suite { file, .. } => {
                fault(file, "the whole file".to_owned(), "a suite of tests in Python".to_owned());
            }
            Task::Run { run: Run::Call { function, .. } } => {
                fault("the step", "its run".to_owned(), format!("a call of `{function}`"));
            }
            Task::Script { .. } | Task::Run { .. } => {}
        }
    }
    faults
}

/// Decodes Base64 (RFC 4648), in which white space does not count.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let signs: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    BASE64.decode(signs).ok()
}

/// Compiles the module of a submission.
pub fn program(engine: &Engine, job: &Job) -> Program {
    let mut files = job.files.iter().filter(|(path, _)| path.ends_with(".wasm"));
    let (Some((_, text)), None) = (files.next(), files.next()) else { return Err("no such file".to_owned()) };
    let invalid = || "no WebAssembly module".to_owned();
    // No longer text than the largest module can have is looked at.
    if text.len() > MODULE_MAX * 3 / 2 {
        return Err("module too large".to_owned());
    }
    let bytes = decoded(text).ok_or_else(invalid)?;
    if bytes.len() > MODULE_MAX {
        return Err("module too large".to_owned());
    }
    let bytes = metering::metered(&bytes)?;
    let module = Module::from_binary(engine, &bytes).map_err(|_| invalid())?;
    let mut linker = Linker::new(engine);
    preview1::link(&mut linker, &module).map_err(|_| "imports what no judge offers".to_owned())?;
    linker.instantiate_pre(&module).map_err(|_| "imports what no judge offers".to_owned())?;
    Ok((module, linker))
}

/// Runs a module.
///
/// # Errors
///
/// If this machine has no room for an instance.
pub fn run(engine: &Engine, job: &Job, program: &Program, run: &Run) -> Result<Done, JudgeError> {
    let (module, linker) = match program {
        Ok(program) => program,
        Err(reason) => return Ok(Done { outcome: Err(reason.clone()), fuel: 0, near_limit: false }),
    };
    let mut host = host(job);
    if let Run::Program { stdin } = run {
        host.stdin = stdin.clone().into_bytes();
    }
    let no_room =
        |error: wasmtime::Error| JudgeError::NoVerdict(format!("an instance cannot be made: {error:#}"));
    let mut metered = Metered::new(engine, host, job.limits.fuel).map_err(no_room)?;
    metered.begin().map_err(no_room)?;
    let ended = match linker.instantiate(metered.store(), module) {
        Ok(instance) => {
            let result = match instance.get_typed_func::<(), ()>(metered.store(), "_start") {
                Ok(start) => start.call(metered.store(), ()).map(|()| String::new()),
                Err(_) => Err(wasmtime::Error::from(Stop::Trap("no `_start`".to_owned()))),
            };
            let depth = instance.get_global(metered.store(), STACK).map(|global| global.get(metered.store()));
            let is_deep = depth.and_then(|depth| depth.i32()).is_some_and(|depth| depth < 0);
            let ended = metered.ended(result);
            match ended.result {
                Err(Stop::Trap(_)) if is_deep => Ended { result: Err(Stop::Stack), ..ended },
                _ => ended,
            }
        }
        // A start function may do what `_start` does; and the memory that a module begins with may be too much.
        Err(error) => metered.ended(Err(error)),
    };
    let outcome = match &ended.result {
        Ok(_) | Err(Stop::Exit(0)) => output(metered.host()),
        Err(Stop::Exit(_)) => Err("exit: 1".to_owned()),
        Err(stop) => Err(stop.to_string()),
    };
    Ok(Done { outcome, fuel: ended.fuel, near_limit: ended.near_limit })
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn base64_is_read_as_the_standard_has_it_and_nothing_else_is() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9v\nYmE=", "fooba"),
            ("Zm9vYmFy", "foobar"),
        ] {
            assert_eq!(decoded(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        for text in ["Z", "Zg", "Zg=", "Zg===", "=Zg=", "Zh==", "Zm-v", "ä"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }
}
