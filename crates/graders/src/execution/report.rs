//! The check of a report: a judge that breaks its word is faulty, and gives no verdict.

use std::collections::BTreeSet;

use karat_core::facts::Digest;

use super::{CaseReport, Identity, Job, Report, Task, TaskReport, Verdict};

/// Most tests of a suite.
const TESTS_MAX: usize = 1000;
/// Most bytes of the name of a test.
const TEST_NAME_MAX_BYTES: usize = 300;
/// Most characters of a reason that are kept.
const REASON_MAX: usize = 200;
/// Every count below this is exact in JSON.
const COUNT_MAX: u64 = 1 << 53;

impl Report {
    /// Returns the report if it answers `job`: a result for each task, a verdict for each case by its name, values from 0 to
    /// 1 that fit their verdicts, finite points from 0 to 1000 for each dimension of a script. Reasons are cut to a line.
    ///
    /// # Errors
    ///
    /// If it does not: what the judge did wrong. The submission has no part in that, so the match has no verdict.
    pub fn checked(mut self, job: &Job) -> Result<Self, String> {
        check_identity(&self.judge, job)?;
        if self.results.len() != job.tasks.len() {
            return Err(format!("{} results for {} tasks", self.results.len(), job.tasks.len()));
        }
        for (task, result) in job.tasks.iter().zip(&mut self.results) {
            let file = task.file();
            check_result(task, result).map_err(|wrong| format!("{file}: {wrong}"))?;
        }
        Ok(self)
    }
}

fn check_identity(judge: &Identity, job: &Job) -> Result<(), String> {
    let Identity { engine, runtime, runtime_digest, version } = judge;
    for (name, text) in [("engine", engine), ("version", version)] {
        if !is_label(text, TEST_NAME_MAX_BYTES) {
            return Err(format!("no `{name}` in its identity"));
        }
    }
    if *runtime != job.runtime {
        return Err(format!("the runtime `{}` in place of `{}`", runtime.escape_debug(), job.runtime));
    }
    let is_wanted = job.runtime_digest.as_ref().is_none_or(|wanted| wanted == runtime_digest);
    if Digest::parse(runtime_digest).is_none() || !is_wanted {
        let wanted = job.runtime_digest.as_deref().unwrap_or("a digest");
        return Err(format!("the runtime of `{}` in place of {wanted}", runtime_digest.escape_debug()));
    }
    Ok(())
}

fn check_result(task: &Task, result: &mut TaskReport) -> Result<(), String> {
    match (task, result) {
        (Task::Cases { cases, .. }, TaskReport::Cases { cases: reports }) => {
            if reports.len() != cases.len() {
                return Err(format!("{} verdicts for {} cases", reports.len(), cases.len()));
            }
            for (case, report) in cases.iter().zip(reports) {
                if case.name != report.name {
                    let found = report.name.escape_debug();
                    return Err(format!("the case `{found}` in place of `{}`", case.name.escape_debug()));
                }
                check_case(report)?;
            }
        }
        (Task::Suite { .. }, TaskReport::Suite { cases }) => {
            if cases.len() > TESTS_MAX {
                return Err(format!("{} tests, of which there are at most {TESTS_MAX}", cases.len()));
            }
            let mut names = BTreeSet::new();
            for report in cases.iter_mut() {
                check_case(report)?;
                let is_name = is_label(&report.name, TEST_NAME_MAX_BYTES);
                if !is_name || !names.insert(report.name.as_str()) {
                    return Err(format!(
                        "the test `{}` a second time, or no name",
                        report.name.escape_debug()
                    ));
                }
            }
        }
        (Task::Script { dimensions, .. }, TaskReport::Script { scores, fuel }) => {
            if !scores.keys().eq(dimensions.iter().collect::<BTreeSet<_>>()) {
                let found: Vec<&str> = scores.keys().map(String::as_str).collect();
                return Err(format!(
                    "scores of `{}` in place of `{}`",
                    found.join(", ").escape_debug(),
                    dimensions.join(", ")
                ));
            }
            for (dimension, points) in scores.iter() {
                if !(0.0..=1000.0).contains(points) {
                    return Err(format!("{points} points for `{dimension}`, which is not within 0 to 1000"));
                }
            }
            check_fuel(*fuel)?;
        }
        (Task::Run { .. }, TaskReport::Run { fuel, .. }) => check_fuel(*fuel)?,
        _ => return Err("the result of another kind of task".to_owned()),
    }
    Ok(())
}

fn check_case(report: &mut CaseReport) -> Result<(), String> {
    let CaseReport { name, value, verdict, reason, fuel, .. } = report;
    let fits = match verdict {
        Verdict::Pass => *value == 1.0,
        Verdict::Partial => *value > 0.0 && *value < 1.0,
        Verdict::Fail => *value == 0.0,
    };
    if !fits {
        return Err(format!(
            "the value {value} with the verdict `{}` of `{}`",
            verdict.name(),
            name.escape_debug()
        ));
    }
    // Of two zeros and more, JSON writes only one.
    *value = value.abs();
    if let Some(reason) = reason {
        let line =
            reason.chars().map(|c| if karat_core::diagnostic::steers_terminal(c) { '\u{fffd}' } else { c });
        *reason = line.take(REASON_MAX).collect();
    }
    check_fuel(*fuel)
}

fn check_fuel(fuel: u64) -> Result<(), String> {
    if fuel < COUNT_MAX { Ok(()) } else { Err(format!("{fuel} units of fuel")) }
}

/// Returns true if a text may be the name of a case or test.
pub fn is_label(text: &str, most: usize) -> bool {
    text.len() <= most
        && !text.trim().is_empty()
        && !text.chars().any(karat_core::diagnostic::steers_terminal)
}
