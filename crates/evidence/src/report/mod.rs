//! Test reports: what each test of a run said, from JUnit XML, TRX or TAP.
//!
//! Results are read from the structure of a report only. What a program under test prints, such as a line "8 passed",
//! is in places that are not looked at.

mod junit;
mod tap;
mod trx;
mod xml;

use std::collections::BTreeSet;

use serde::Serialize;

use self::xml::{Elements, Step};
use crate::json::problem::{Problem, Problems};

/// The results of one run of tests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TestResults {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
    /// Tests that ended in an error, in the test or in the runner.
    pub errors: u64,
    /// Tests that were left out on purpose.
    pub skipped: u64,
    /// Tests that a TAP plan announced and that never reported.
    pub missing: u64,
    /// Number of tests that the report announces, if it does. A runner may count parts of a test that it does not
    /// list.
    pub announced: Option<u64>,
    /// The first [`Self::LISTED`] tests that failed or ended in an error.
    pub failing: Vec<String>,
}

/// One test of a report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TestCase<'a> {
    /// The name, after that of its class.
    pub name: &'a str,
    /// The result.
    pub verdict: TestVerdict,
    /// The time it took, if the report says so.
    pub seconds: Option<f64>,
    /// True if the report states a time that can be read in two ways, such as `1,234`, or in none.
    pub is_time_unclear: bool,
    /// The line in which it begins, from 1.
    pub line: u64,
    /// The names of the suites that it is in, the outermost first, joined by ` > `. The root and suites without a name are
    /// left out.
    pub suite: &'a str,
}

/// The rest of a report in JUnit XML, beside its tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Visited {
    /// The tests that are attempts before another, as their numbers in order, from 0.
    pub attempts: BTreeSet<u64>,
    /// The first suite that counts more failures than its tests have, or more tests than it lists, in words.
    pub note: Option<String>,
}

/// Result of one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestVerdict {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It ended in an error, in the test or in the runner.
    Error,
    /// It was left out on purpose.
    Skipped,
}

impl TestResults {
    /// More failing tests than this are not named.
    pub const LISTED: usize = 100;
    /// Longest report, in bytes.
    pub const BYTES_MAX: usize = 64 << 20;

    /// Results that were counted elsewhere.
    ///
    /// # Errors
    ///
    /// If there are more tests than 2^53, which a score could not distinguish.
    pub fn from_counts(passed: u64, failed: u64) -> Result<Self, Problems> {
        const MOST: u64 = 1 << 53;
        if passed > MOST || failed > MOST - passed {
            let found = format!("{passed} passed and {failed} failed");
            return Err(problem(found, "fewer than 2^53 tests", None));
        }
        Ok(Self { passed, failed, ..Self::default() })
    }

    /// Reads a report in any of the three forms: XML whose root is `TestRun` is TRX, other XML is JUnit, anything else
    /// is TAP.
    ///
    /// # Errors
    ///
    /// If the reader of the form fails.
    pub fn from_report(text: &str) -> Result<Self, Problems> {
        if !sized(text)?.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
            return tap::read(text);
        }
        match Elements::new(text).next()? {
            Some(Step::Open(root)) if root.name() == "TestRun" => trx::read(text),
            _ => junit::read(text),
        }
    }

    /// Reads JUnit XML: `testcase` elements in `testsuite` elements, failed with a `failure`, in error with an `error`,
    /// skipped with a `skipped` inside; attempts that a later one made good (`flakyFailure`, `rerunFailure`) count for
    /// nothing, and so do tests that passed and are followed by one of the same name, in a suite with more than it announces.
    ///
    /// # Errors
    ///
    /// If the text is not such XML or has a document type; if a suite lists more passed tests than it announces, or announces
    /// tests and lists none; if it lists fewer failures and errors than it announces, unless it lists all tests and one of
    /// them failed or was tried again: runners count such a test more than once.
    pub fn from_junit(text: &str) -> Result<Self, Problems> {
        sized(text).and_then(junit::read)
    }

    /// Hands each test of a report in JUnit XML to `take`, in order, until that returns false.
    ///
    /// # Errors
    ///
    /// If [`TestResults::from_junit`] fails; what came before was handed on.
    pub fn visit_junit(text: &str, take: &mut dyn FnMut(TestCase<'_>) -> bool) -> Result<Visited, Problems> {
        junit::visit(sized(text)?, take).map(|(_, visited)| visited)
    }

    /// Reads TRX, the XML of the test runner of .NET: the results by their `outcome`. Inner results replace
    /// the result that is made of them.
    ///
    /// # Errors
    ///
    /// If the text is not such XML or has a document type; if an outcome is unknown; if a summary says that more tests
    /// passed than there are, or that more failed than are listed.
    pub fn from_trx(text: &str) -> Result<Self, Problems> {
        sized(text).and_then(trx::read)
    }

    /// Reads TAP, the Test Anything Protocol up to version 14: top-level test lines and the plan. Failures marked `TODO`
    /// and tests marked `SKIP` count as skipped. Subtests, diagnostics and what a program prints between are not read.
    ///
    /// # Errors
    ///
    /// If there is no plan, or two; if a test number is given twice or is not planned.
    pub fn from_tap(text: &str) -> Result<Self, Problems> {
        sized(text).and_then(tap::read)
    }

    /// Returns the number of tests that a pass rate is a share of: all but the skipped ones.
    pub fn counted(&self) -> u64 {
        self.passed.saturating_add(self.failed).saturating_add(self.errors).saturating_add(self.missing)
    }

    fn add(&mut self, verdict: TestVerdict, name: impl FnOnce() -> String) {
        match verdict {
            TestVerdict::Passed => self.passed += 1,
            TestVerdict::Failed => self.failed += 1,
            TestVerdict::Error => self.errors += 1,
            TestVerdict::Skipped => self.skipped += 1,
        }
        if matches!(verdict, TestVerdict::Failed | TestVerdict::Error) && self.failing.len() < Self::LISTED {
            self.failing.push(name());
        }
    }
}

fn sized(text: &str) -> Result<&str, Problems> {
    let most = TestResults::BYTES_MAX;
    if text.len() > most {
        let expected = format!("a report of at most {most} bytes");
        return Err(problem(format!("{} bytes", text.len()), &expected, None));
    }
    Ok(text)
}

fn problem(found: impl Into<String>, expected: &str, line: Option<u64>) -> Problems {
    Problem { line, ..Problem::at("report", found, expected, "") }.into()
}
