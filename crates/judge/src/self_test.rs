//! A few small jobs whose verdicts are known.

use std::collections::BTreeMap;

use karat_evidence::execution::{Case, Compare, Job, Limits, Run, Task, TaskReport, Verdict};
use serde_json::json;

use crate::judge::Judge;

/// Runs the jobs; returns a line about each, and whether all came out as they must.
pub fn run(judge: &Judge) -> (Vec<String>, bool) {
    let mut lines = Vec::new();
    let mut all = true;
    for (name, code, expected) in [
        ("a sum", "def solve(a, b):\n    return a + b\n", Verdict::Pass),
        ("a wrong sum", "def solve(a, b):\n    return a - b\n", Verdict::Fail),
        ("an endless loop", "def solve(a, b):\n    while True:\n        pass\n", Verdict::Fail),
    ] {
        let case = Case {
            name: name.to_owned(),
            run: Run::Call { function: "solve".to_owned(), args: vec![json!(1), json!(2)] },
            expect: json!(3),
            compare: Compare { primitive: "exact_match".to_owned(), options: BTreeMap::new() },
        };
        let job = Job {
            runtime: "python".to_owned(),
            runtime_digest: None,
            files: BTreeMap::from([("solution.py".to_owned(), code.to_owned())]),
            limits: Limits { fuel: 100_000_000, memory_mib: 256, output_kib: 64 },
            seed: 1,
            tasks: vec![Task::Cases { file: "self-test".to_owned(), cases: vec![case] }],
        };
        let found = match judge.judge(&job) {
            Err(error) => Err(error.to_string()),
            Ok(report) => match report.results.first() {
                Some(TaskReport::Cases { cases }) => {
                    cases.first().cloned().ok_or_else(|| "no case".to_owned())
                }
                _ => Err("no cases".to_owned()),
            },
        };
        let (ok, words) = match found {
            Err(why) => (false, why),
            Ok(case) => {
                let reason = case.reason.unwrap_or_default();
                (case.verdict == expected, format!("{:?} {reason}, fuel {}", case.verdict, case.fuel))
            }
        };
        all &= ok;
        lines.push(format!("{} {name}: {words}", if ok { "ok    " } else { "FAILED" }));
    }
    (lines, all)
}
