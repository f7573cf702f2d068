//! Code: the share of tests that pass, and how tidy it is; or the share of expected patterns that it contains.

use serde::Serialize;
use serde_json::Value;

use super::described;
use karat_evidence::json::problem::Problems;
use karat_evidence::report::TestResults;

/// The weights of published scores: 0.7 for tests, 0.3 for tidiness, of which each violation takes 0.05.
const TESTS_WEIGHT: f64 = 0.7;
const LINT_WEIGHT: f64 = 0.3;
const LINT_PENALTY: f64 = 0.05;

/// The quality of code that was tested.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CodeGrade {
    /// 0.7 of the pass rate and 0.3 of the lint score, 0 to 1.
    #[serde(skip)]
    pub value: f64,
    /// Passed tests as a share of those that ran or should have run, 0 to 1.
    pub pass_rate: f64,
    /// `max(0, 1 - 0.05 * lint_violations)`, 0 to 1.
    pub lint_score: f64,
    /// Violations found by the linter.
    pub lint_violations: u64,
    /// Results of the tests.
    pub tests: TestResults,
}

/// Grades code by its test results and the number of lint violations.
///
/// A test that ended in an error, or that the report announced and never ran, counts as failed; a skipped one does not
/// count.
///
/// # Errors
///
/// If no test ran, or the violations are not counted.
pub fn code(tests: TestResults, lint_violations: Option<u64>) -> Result<CodeGrade, Problems> {
    let mut problems = Problems::default();
    let counted = tests.counted();
    if counted == 0 {
        let found = format!("no test that ran ({} skipped)", tests.skipped);
        let hint = "untested code has no pass rate; run its tests";
        problems.refuse("$.tests", found, "at least one test", hint);
    }
    if lint_violations.is_none() {
        let hint = "run the linter";
        problems.refuse("$.lint_violations", "nothing", "the number of lint violations", hint);
    }
    let Some(lint_violations) = lint_violations.filter(|_| problems.is_empty()) else { return Err(problems) };
    let pass_rate = tests.passed as f64 / counted as f64;
    let lint_score = (1.0 - LINT_PENALTY * lint_violations as f64).max(0.0);
    let value = TESTS_WEIGHT * pass_rate + LINT_WEIGHT * lint_score;
    Ok(CodeGrade { value, pass_rate, lint_score, lint_violations, tests })
}

/// Patterns that code should contain literally. A weak substitute for tests: the code is not run.
#[derive(Debug)]
pub struct Patterns {
    patterns: Vec<String>,
}

/// Expected patterns that some code has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PatternsGrade {
    /// Found patterns as a share of all, 0 to 1; a pattern that is expected twice counts twice.
    #[serde(skip)]
    pub value: f64,
    /// Number of patterns found.
    pub found: usize,
    /// Patterns that were not found, in the order of the task.
    pub missing: Vec<String>,
}

impl Patterns {
    /// Most patterns of a task: the code is searched once for each.
    pub const PATTERNS_MAX: usize = 1000;

    /// Reads the patterns of a task.
    ///
    /// # Errors
    ///
    /// If there are no patterns, too many, or an empty one, which every code contains.
    pub fn load(patterns: &Value) -> Result<Self, Problems> {
        let path = "$.reference.expected_patterns";
        let list = patterns.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut problems = Problems::default();
        let mut loaded = Vec::with_capacity(list.len());
        for (at, pattern) in list.iter().enumerate() {
            match pattern.as_str() {
                Some(text) if !text.trim().is_empty() => loaded.push(text.to_owned()),
                _ => {
                    let place = format!("{path}[{at}]");
                    problems.refuse(place, described(pattern), "a text that code may lack", "");
                }
            }
        }
        if !(1..=Self::PATTERNS_MAX).contains(&list.len()) {
            let expected = format!("an array of 1 to {} patterns", Self::PATTERNS_MAX);
            problems.refuse(path, described(patterns), expected, "");
        }
        if problems.is_empty() { Ok(Self { patterns: loaded }) } else { Err(problems) }
    }

    /// Grades code: see [`code_patterns`].
    pub fn grade(&self, code: &str) -> PatternsGrade {
        code_patterns(&self.patterns, code)
    }
}

/// Grades code by the patterns that it contains, literally and in the same case; without patterns it is worth 0.
pub fn code_patterns(patterns: &[String], code: &str) -> PatternsGrade {
    let (found, missing): (Vec<&String>, Vec<_>) =
        patterns.iter().partition(|pattern| code.contains(pattern.as_str()));
    let value = found.len() as f64 / patterns.len().max(1) as f64;
    PatternsGrade { value, found: found.len(), missing: missing.into_iter().cloned().collect() }
}
