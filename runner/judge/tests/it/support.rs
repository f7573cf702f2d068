//! Judges, jobs and their verdicts for the tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use karat_graders::execution::{
    Case, CaseReport, Compare, Job, Limits, Report, Run, Task, TaskReport, Verdict,
};
use karat_judge::{EngineKind, Judge, JudgeError, Options};
use serde_json::{Value, json};

pub const LIMITS: Limits = Limits { fuel: 60_000_000, memory_mib: 64, output_kib: 16 };

/// The folder of the runtimes: that of `KARAT_RUNTIMES`, else the usual one; a missing runtime is built.
pub fn runtimes() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut script = Command::new(root.join("scripts/build-runtime"));
        script.args(std::env::var_os("KARAT_RUNTIMES"));
        let output = script.output().expect("scripts/build-runtime can be started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).expect("paths");
        let file = PathBuf::from(said.lines().last().expect("a path"));
        file.parent().expect("a folder").to_owned()
    };
    FOLDER.get_or_init(make).clone()
}

/// The folder of compiled code, which all tests share.
pub fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled")
}

pub fn judge(engine: EngineKind) -> &'static Judge {
    static JUDGES: [OnceLock<Judge>; 2] = [OnceLock::new(), OnceLock::new()];
    let slot = &JUDGES[usize::from(engine == EngineKind::Pulley)];
    slot.get_or_init(|| {
        Judge::new(Options { engine, runtimes: runtimes(), cache: cache() }).expect("a judge")
    })
}

pub fn cranelift() -> &'static Judge {
    judge(EngineKind::Cranelift)
}

pub fn call(args: &[Value]) -> Run {
    Run::Call { function: "solve".to_owned(), args: args.to_vec() }
}

pub fn program(stdin: &str) -> Run {
    Run::Program { stdin: stdin.to_owned() }
}

pub fn compare(primitive: &str) -> Compare {
    Compare { primitive: primitive.to_owned(), options: BTreeMap::new() }
}

pub fn case(name: &str, run: Run, expect: Value) -> Case {
    let primitive = if matches!(run, Run::Call { .. }) { "exact_match" } else { "tokens" };
    Case { name: name.to_owned(), run, expect, compare: compare(primitive) }
}

pub fn job(code: &str, cases: Vec<Case>) -> Job {
    Job {
        runtime: "python".to_owned(),
        runtime_digest: None,
        files: BTreeMap::from([("solution.py".to_owned(), code.to_owned())]),
        limits: LIMITS,
        seed: 42,
        tasks: vec![Task::Cases { file: "hidden.toml".to_owned(), cases }],
    }
}

pub fn cases_of(report: &Report) -> &[CaseReport] {
    match report.results.as_slice() {
        [TaskReport::Cases { cases } | TaskReport::Suite { cases }] => cases,
        other => panic!("{other:?}"),
    }
}

/// Judges a job with one case.
pub fn one(job: &Job) -> CaseReport {
    let report = cranelift().judge(job).expect("a report");
    let [case] = cases_of(&report) else { panic!("{report:?}") };
    case.clone()
}

/// Checks what `solve()` of some code returns: the case that expects it passes.
pub fn returns(code: &str, expected: Value) {
    let report = one(&job(code, vec![case("case", call(&[]), expected)]));
    assert_eq!((report.verdict, &report.reason), (Verdict::Pass, &None), "{code}");
}

/// Checks that some code fails for a reason.
pub fn fails(code: &str, reason: &str) {
    let report = one(&job(code, vec![case("case", call(&[]), json!("expected"))]));
    assert_eq!((report.verdict, report.reason.as_deref()), (Verdict::Fail, Some(reason)), "{code}");
}

/// The places and findings of a challenge that is refused.
pub fn refused(job: &Job) -> Vec<String> {
    match cranelift().judge(job) {
        Err(JudgeError::Refused(faults)) => faults
            .iter()
            .map(|fault| format!("{}, {}: {}; {}", fault.file, fault.place, fault.found, fault.expected))
            .collect(),
        other => panic!("{other:?}"),
    }
}
