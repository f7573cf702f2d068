//! Code: the share of tests that pass, and how tidy it is; or the share of expected patterns that it contains.

use serde_json::{Value, json};

use super::described;
use karat_evidence::json::problem::{Problem, Problems};
use karat_evidence::report::TestResults;

/// Weights of tests and lint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CodeOptions {
    /// Weight of the share of passed tests, 0 to 1.
    pub tests_weight: f64,
    /// Weight of tidiness, 0 to 1; if it is 0, no count of violations is needed.
    pub lint_weight: f64,
    /// Deduction from tidiness for each violation, 0 to 1.
    pub lint_penalty: f64,
}

impl CodeOptions {
    /// The weights of published scores: 0.7 for tests, 0.3 for tidiness, of which each violation takes 0.05.
    pub const PUBLISHED: Self = Self { tests_weight: 0.7, lint_weight: 0.3, lint_penalty: 0.05 };
}

impl Default for CodeOptions {
    fn default() -> Self {
        Self::PUBLISHED
    }
}

/// The quality of code that was tested.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeGrade {
    /// `tests_weight * pass_rate + lint_weight * lint_score`, 0 to 1.
    pub value: f64,
    /// Passed tests as a share of those that ran or should have run, 0 to 1.
    pub pass_rate: f64,
    /// `max(0, 1 - lint_penalty * lint_violations)`, 0 to 1; none without a count.
    pub lint_score: Option<f64>,
    /// Violations found by the linter.
    pub lint_violations: Option<u64>,
    /// Results of the tests.
    pub tests: TestResults,
}

/// Grades code by its test results and the number of lint violations.
///
/// A test that ended in an error, or that the report announced and never ran, counts as failed; a skipped one does not
/// count.
///
/// ```
/// use karat_graders::quality::{CodeOptions, TestResults, code};
///
/// let tests = TestResults::from_counts(7, 1)?;
/// let grade = code(tests, Some(2), CodeOptions::default()).unwrap();
/// assert_eq!(grade.value, 0.7 * (7.0 / 8.0) + 0.3 * (1.0 - 0.05 * 2.0));
/// # Ok::<(), karat_evidence::Problems>(())
/// ```
///
/// # Errors
///
/// If no test ran, if the violations are not counted though they have a weight, or if the weights do not sum to 1.
pub fn code(
    tests: TestResults,
    lint_violations: Option<u64>,
    options: CodeOptions,
) -> Result<CodeGrade, Problems> {
    let mut problems = Problems::default();
    let CodeOptions { tests_weight, lint_weight, lint_penalty } = options;
    let shares = [tests_weight, lint_weight, lint_penalty];
    if !shares.iter().all(|share| (0.0..=1.0).contains(share))
        || (tests_weight + lint_weight - 1.0).abs() > 1e-9
    {
        let found = format!("weights {tests_weight} and {lint_weight}, penalty {lint_penalty}");
        problems
            .add(|| Problem::at("$.options", found, "numbers from 0 to 1, the weights with the sum 1", ""));
    }
    let counted = tests.counted();
    if counted == 0 {
        let found = format!("no test that ran ({} skipped)", tests.skipped);
        problems.add(|| {
            Problem::at(
                "$.tests",
                found,
                "at least one test",
                "untested code has no pass rate; run its tests",
            )
        });
    }
    if lint_violations.is_none() && lint_weight > 0.0 {
        let hint = "run the linter, or give lint no weight";
        problems.add(|| {
            Problem::at("$.lint_violations", "nothing".to_owned(), "the number of lint violations", hint)
        });
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let pass_rate = tests.passed as f64 / counted as f64;
    let lint_score = lint_violations.map(|violations| (1.0 - lint_penalty * violations as f64).max(0.0));
    let value = tests_weight * pass_rate + lint_weight * lint_score.unwrap_or_default();
    Ok(CodeGrade { value, pass_rate, lint_score, lint_violations, tests })
}

impl CodeGrade {
    /// Returns the observations: `pass_rate`, `lint_score`, `lint_violations`, `tests` (the detail of the results).
    pub fn detail(&self) -> Value {
        json!({
            "pass_rate": self.pass_rate,
            "lint_score": self.lint_score,
            "lint_violations": self.lint_violations,
            "tests": self.tests.detail(),
        })
    }
}

/// Patterns that code should contain literally. A weak substitute for tests: the code is not run.
#[derive(Debug)]
pub struct Patterns {
    patterns: Vec<String>,
}

/// Expected patterns that some code has.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternsGrade {
    /// Found patterns as a share of all, 0 to 1; a pattern that is expected twice counts twice.
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
                _ => problems.add(|| {
                    let found = described(pattern);
                    Problem::at(format!("{path}[{at}]"), found, "a text that code may lack", "")
                }),
            }
        }
        if !(1..=Self::PATTERNS_MAX).contains(&list.len()) {
            let expected = format!("an array of 1 to {} patterns", Self::PATTERNS_MAX);
            problems.add(|| Problem::at(path, described(patterns), &expected, ""));
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

impl PatternsGrade {
    /// Returns the observations: `found`, `missing`.
    pub fn detail(&self) -> Value {
        json!({ "found": self.found, "missing": self.missing })
    }
}
