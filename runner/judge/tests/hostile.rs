//! The hostile submissions of `examples/judge/hostile`: each gets the verdict that it must get, every time.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on must fail"
)]

mod shown;

use karat_graders::execution::{CaseReport, TaskReport, Verdict};
use karat_judge::EngineKind;
use shown::attacks::{Attack, File, Verdicts};
use shown::judge;

fn run(attack: &Attack, of: &File, engine: EngineKind) -> Result<Vec<CaseReport>, String> {
    let report = judge(engine).judge(&attack.job(of));
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
    let file = File::of(name);
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
