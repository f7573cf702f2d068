//! The hostile submissions of `examples/judge/hostile`: each gets the verdict that it must get, every time.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on must fail"
)]

mod shown;

use std::collections::BTreeMap;

use karat_evidence::execution::{Case, CaseReport, Compare, Limits, Run, Task, TaskReport, Verdict};
use karat_judge::EngineKind;
use serde::Deserialize;
use serde_json::{Value, json};
use shown::{base64, job, judge, read, text};

/// Small, so that an interpreter gets there too.
const LIMITS: Limits = Limits { fuel: 60_000_000, memory_mib: 96, output_kib: 64 };

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    language: Language,
    suite: Option<String>,
    attack: Vec<Attack>,
}

/// The language of what is no module.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Language {
    #[default]
    Python,
    JavaScript,
}

impl Language {
    /// Returns the runtime, the file of a submission and that of a suite.
    const fn names(self) -> [&'static str; 3] {
        match self {
            Self::Python => ["python", "solution.py", "hidden_test.py"],
            Self::JavaScript => ["javascript", "solution.js", "hidden.test.mjs"],
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attack {
    name: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    wat: Option<String>,
    module: Option<String>,
    bytes: Option<String>,
    stdin: Option<String>,
    expect_stdout: Option<String>,
    expect: Option<Value>,
    #[serde(default)]
    cases: Vec<Call>,
    /// In place of that of [`LIMITS`].
    fuel: Option<u64>,
    verdict: Option<Verdicts>,
    #[serde(default)]
    reason: Vec<String>,
    #[serde(default)]
    pass: Vec<String>,
}

#[derive(Deserialize)]
struct Call {
    args: Vec<Value>,
    expect: Value,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Verdicts {
    One(Verdict),
    Each(Vec<Verdict>),
}

impl Attack {
    fn task(&self, of: &File) -> Task {
        let file = "hidden".to_owned();
        if let Some(source) = &of.suite {
            let [.., file] = of.language.names();
            return Task::Suite { file: file.to_owned(), source: source.clone() };
        }
        let is_module = self.wat.is_some() || self.module.is_some() || self.bytes.is_some();
        if is_module || self.stdin.is_some() {
            let stdin = self.stdin.clone().unwrap_or_default();
            let expect = self.expect_stdout.clone().unwrap_or_else(|| "42".to_owned());
            let run = Run::Program { stdin };
            let case =
                Case { name: "case".to_owned(), run, expect: expect.into(), compare: Compare::tokens() };
            return Task::Cases { file, cases: vec![case] };
        }
        let usual =
            Call { args: vec![json!(7)], expect: self.expect.clone().unwrap_or_else(|| json!(815_162_342)) };
        let calls = if self.cases.is_empty() { vec![&usual] } else { self.cases.iter().collect() };
        let cases = calls.iter().enumerate().map(|(at, call)| Case {
            name: format!("case {at}"),
            run: Run::Call { function: "solve".to_owned(), args: call.args.clone() },
            expect: call.expect.clone(),
            compare: Compare::exact(),
        });
        Task::Cases { file, cases: cases.collect() }
    }

    fn submission(&self, language: Language) -> (&'static str, BTreeMap<String, String>) {
        let module = self.wat.as_deref().map(|wat| base64(&wat::parse_str(wat).unwrap()));
        let module = module.or_else(|| Some(base64(&read(&format!("hostile/{}", self.module.as_deref()?)))));
        match module.or_else(|| self.bytes.clone()) {
            Some(module) => ("wasm", BTreeMap::from([("program.wasm".to_owned(), module)])),
            None => {
                let [runtime, file, _] = language.names();
                let mut files = self.files.clone();
                files.insert(file.to_owned(), self.code.clone());
                (runtime, files)
            }
        }
    }
}

fn run(attack: &Attack, of: &File, engine: EngineKind) -> Result<Vec<CaseReport>, String> {
    let (runtime, files) = attack.submission(of.language);
    let limits = Limits { fuel: attack.fuel.unwrap_or(LIMITS.fuel), ..LIMITS };
    let report = judge(engine).judge(&job(runtime, files, limits, attack.task(of)));
    match report.map_err(|error| format!("no report: {error}"))?.results.pop() {
        Some(TaskReport::Cases { cases } | TaskReport::Suite { cases }) => Ok(cases),
        other => Err(format!("{other:?}")),
    }
}

/// Returns everything that is not as it must be.
fn faults(attack: &Attack, of: &File) -> Vec<String> {
    let first = match run(attack, of, EngineKind::Cranelift) {
        Ok(reports) => reports,
        Err(why) => return vec![why],
    };
    let mut faults = Vec::new();
    for (at, report) in first.iter().enumerate() {
        let reason = report.reason.as_deref().unwrap_or_default();
        let expected = match &attack.verdict {
            Some(Verdicts::One(verdict)) => *verdict,
            Some(Verdicts::Each(verdicts)) => verdicts[at],
            None if attack.pass.contains(&report.name) => Verdict::Pass,
            None => Verdict::Fail,
        };
        if report.verdict != expected {
            faults.push(format!("{}: {:?} {reason}, not {expected:?}", report.name, report.verdict));
        }
        if !attack.reason.is_empty() && !attack.reason.iter().any(|begin| reason.starts_with(begin.as_str()))
        {
            faults.push(format!("{}: `{reason}`, not {:?}", report.name, attack.reason));
        }
        // Whatever the submission says, a reason is a line.
        if reason.len() > 200 || reason.contains(char::is_control) {
            faults.push(format!("{}: the reason has {} bytes", report.name, reason.len()));
        }
    }
    if let Some(lost) = attack.pass.iter().find(|name| !first.iter().any(|report| report.name == **name)) {
        faults.push(format!(
            "no test {lost}: {:?}",
            first.iter().map(|report| &report.name).collect::<Vec<_>>()
        ));
    }
    for (engine, words) in [(EngineKind::Cranelift, "the second time"), (EngineKind::Pulley, "interpreted")] {
        match run(attack, of, engine) {
            Ok(again) if again == first => {}
            Ok(again) => faults.push(format!("{words} {again:?}, first {first:?}")),
            Err(why) => faults.push(format!("{words}: {why}")),
        }
    }
    faults
}

fn check(name: &str) {
    let file: File = toml::from_str(&text(&format!("hostile/{name}.toml"))).unwrap();
    let only = std::env::var("KARAT_ATTACK").unwrap_or_default();
    let mut found = Vec::new();
    for attack in file.attack.iter().filter(|attack| attack.name.contains(&only)) {
        let begun = std::time::Instant::now();
        let faults = faults(attack, &file);
        println!("{:5.1} s  {}", begun.elapsed().as_secs_f64(), attack.name);
        found.extend(faults.into_iter().map(|fault| format!("{}: {fault}", attack.name)));
    }
    assert!(found.is_empty(), "{} faults\n{}", found.len(), found.join("\n"));
}

#[test]
fn against_cases() {
    check("python");
}

#[test]
fn against_a_suite() {
    check("suite");
}

#[test]
fn against_cases_in_javascript() {
    check("javascript");
}

#[test]
fn against_a_suite_in_javascript() {
    check("javascript-suite");
}

#[test]
fn as_modules() {
    check("wasm");
}
