//! The contents of `examples/judge`, and the judges that run them.

#![allow(dead_code)]

pub mod attacks;
pub mod exercises;

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use std::sync::OnceLock;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use karat_graders::execution::{self, Job, Limits, Report, Unjudged};
use karat_judge::{EngineKind, Judge, JudgeError, Options};

/// Returns the folder of the exercises.
pub fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/judge")
}

/// Reads a file below it.
pub fn read(path: &str) -> Vec<u8> {
    let path = examples().join(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads a text below it.
pub fn text(path: &str) -> String {
    String::from_utf8(read(path)).unwrap()
}

/// Returns a judge that compiles, or one that interprets.
pub fn judge(engine: EngineKind) -> &'static Judge {
    static JUDGES: [OnceLock<Judge>; 2] = [OnceLock::new(), OnceLock::new()];
    let at = usize::from(engine == EngineKind::Pulley);
    JUDGES[at].get_or_init(|| {
        let usual = || {
            let home = || PathBuf::from(env::var_os("HOME").unwrap()).join(".local/share");
            env::var_os("XDG_DATA_HOME").map_or_else(home, PathBuf::from).join("karat/runtimes")
        };
        let runtimes = env::var_os("KARAT_RUNTIMES").map_or_else(usual, PathBuf::from);
        // That of the other tests: compiling takes longer than most of them.
        let folder = option_env!("CARGO_TARGET_TMPDIR").map_or_else(env::temp_dir, PathBuf::from);
        let cache = folder.join("compiled");
        Judge::new(Options { engine, runtimes, cache }).unwrap()
    })
}

/// A judge as the graders want one.
#[derive(Debug)]
pub struct Asked(pub &'static Judge);

impl execution::Judge for Asked {
    fn judge(&self, job: &Job) -> Result<Report, Unjudged> {
        self.0.judge(job).map_err(|error| match error {
            JudgeError::NoVerdict(why) => Unjudged::NoVerdict(why),
            JudgeError::Refused(faults) => Unjudged::Challenge(faults),
        })
    }
}

/// Returns a job of one task.
pub fn job(runtime: &str, files: BTreeMap<String, String>, limits: Limits, task: execution::Task) -> Job {
    Job { runtime: runtime.to_owned(), runtime_digest: None, files, limits, seed: 7, tasks: vec![task] }
}

/// Returns bytes as Base64.
pub fn base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}
