//! A few small jobs whose verdicts are known.

use std::collections::BTreeMap;

use karat_graders::execution::{Case, CaseReport, Compare, Job, Limits, Run, Task, TaskReport, Verdict};
use serde_json::json;

use crate::judge::Judge;
use crate::runtimes::Language;

/// Runs the jobs; returns a line about each, and whether all came out as they must. A language without a runtime fails as well.
pub fn run(judge: &Judge) -> (Vec<String>, bool) {
    let mut lines = Vec::new();
    let mut all = true;
    for language in Language::ALL {
        let (file, [sum, wrong, endless]) = match language {
            Language::Python => (
                "solution.py",
                [
                    "def solve(a, b):\n    return a + b\n", "def solve(a, b):\n    return a - b\n",
                    "def solve(a, b):\n    while True:\n        pass\n",
                ],
            ),
            Language::JavaScript => (
                "solution.js",
                [
                    "function solve(a, b) { return a + b; }", "function solve(a, b) { return a - b; }",
                    "function solve(a, b) { for (;;); }",
                ],
            ),
        };
        for (name, code, expected) in [
            ("a sum", sum, Verdict::Pass),
            ("a wrong sum", wrong, Verdict::Fail),
            ("an endless loop", endless, Verdict::Fail),
        ] {
            let (ok, words) = match judged(judge, language, file, code) {
                Err(why) => (false, why),
                Ok(case) => {
                    let reason = case.reason.unwrap_or_default();
                    (case.verdict == expected, format!("{:?} {reason}, fuel {}", case.verdict, case.fuel))
                }
            };
            all &= ok;
            let mark = if ok { "ok    " } else { "FAILED" };
            lines.push(format!("{mark} {}, {name}: {words}", language.name()));
        }
    }
    (lines, all)
}

fn judged(judge: &Judge, language: Language, file: &str, code: &str) -> Result<CaseReport, String> {
    let case = Case {
        name: "self-test".to_owned(),
        run: Run::Call { function: "solve".to_owned(), args: vec![json!(1), json!(2)] },
        expect: json!(3),
        compare: Compare { primitive: "exact_match".to_owned(), options: BTreeMap::new() },
    };
    let job = Job {
        runtime: language.name().to_owned(),
        runtime_digest: None,
        files: BTreeMap::from([(file.to_owned(), code.to_owned())]),
        limits: Limits { fuel: 100_000_000, memory_mib: 256, output_kib: 64 },
        seed: 1,
        tasks: vec![Task::Cases { file: "self-test".to_owned(), cases: vec![case] }],
    };
    let report = judge.judge(&job).map_err(|error| error.to_string())?;
    match report.results.first() {
        Some(TaskReport::Cases { cases }) => cases.first().cloned().ok_or_else(|| "no case".to_owned()),
        _ => Err("no cases".to_owned()),
    }
}
