//! The hostile submissions of `examples/judge/hostile`, as jobs.

use std::collections::{BTreeMap, BTreeSet};

use karat_graders::execution::{Case, Compare, Job, Limits, Run, Task, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{base64, examples, job, read, text};

/// Small, so that an interpreter gets there too.
pub const LIMITS: Limits = Limits { fuel: 60_000_000, memory_mib: 96, output_kib: 64 };

/// Returns the names of all files of attacks.
pub fn all() -> BTreeSet<String> {
    let files = std::fs::read_dir(examples().join("hostile")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned())).collect()
}

/// A file of attacks.
#[derive(Deserialize)]
pub struct File {
    #[serde(default)]
    pub language: Language,
    pub suite: Option<String>,
    pub attack: Vec<Attack>,
}

/// The language of a submission, unless it is a module.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
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
pub struct Attack {
    pub name: String,
    #[serde(default)]
    pub code: String,
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    pub wat: Option<String>,
    pub module: Option<String>,
    pub bytes: Option<String>,
    pub stdin: Option<String>,
    pub expect_stdout: Option<String>,
    pub expect: Option<Value>,
    #[serde(default)]
    pub cases: Vec<Call>,
    /// In place of that of [`LIMITS`].
    pub fuel: Option<u64>,
    pub verdict: Option<Verdicts>,
    #[serde(default)]
    pub reason: Vec<String>,
    #[serde(default)]
    pub pass: Vec<String>,
}

#[derive(Deserialize)]
pub struct Call {
    pub args: Vec<Value>,
    pub expect: Value,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub enum Verdicts {
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

    /// Returns the job that it is.
    pub fn job(&self, of: &File) -> Job {
        let (runtime, files) = self.submission(of.language);
        let limits = Limits { fuel: self.fuel.unwrap_or(LIMITS.fuel), ..LIMITS };
        job(runtime, files, limits, self.task(of))
    }
}

impl File {
    /// Reads the attacks of a file.
    pub fn of(name: &str) -> Self {
        toml::from_str(&text(&format!("hostile/{name}.toml"))).unwrap()
    }
}
