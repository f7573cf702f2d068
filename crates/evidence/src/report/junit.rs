//! JUnit XML. There is no one schema; what is read here is common to all runners.

use std::collections::BTreeMap;

use super::xml::{Element, Elements, Step};
use super::{TestCase, TestResults, TestVerdict, Visited, problem};
use crate::json::problem::{Problems, quoted};

enum Open {
    Suite(Suite),
    Case(Case),
    Other,
}

/// Counts that a suite states, and the tests in it.
#[derive(Default)]
struct Suite {
    name: String,
    /// The names of those around it and its own.
    path: String,
    announced: Option<u64>,
    announced_failing: Option<u64>,
    /// True if pytest wrote it.
    is_of_pytest: bool,
    /// The number of those that were skipped, as it is announced and as it is listed.
    skipped: (Option<u64>, u64),
    listed: u64,
    passed: u64,
    /// The last test of each name, if it passed, and the tests that passed and are followed by another of the same name: by their
    /// numbers in the report.
    last_passed: BTreeMap<String, u64>,
    followed: Vec<u64>,
    /// `failure` and `error` elements; one test may have several.
    failing: u64,
    /// True if a test has attempts that a later one made good.
    has_reruns: bool,
}

#[derive(Default)]
struct Case {
    name: String,
    /// The byte at which it begins.
    at: usize,
    seconds: Option<f64>,
    is_time_unclear: bool,
    failures: u64,
    errors: u64,
    is_skipped: bool,
    has_reruns: bool,
}

pub(super) fn read(text: &str) -> Result<TestResults, Problems> {
    visit(text, &mut |_| true).map(|(results, _)| results)
}

/// Reads a report and hands each test to `take`, until it says that it has enough.
pub(super) fn visit(
    text: &str,
    take: &mut dyn FnMut(TestCase<'_>) -> bool,
) -> Result<(TestResults, Visited), Problems> {
    let mut elements = Elements::new(text);
    let mut results = TestResults::default();
    let mut lines = Lines { text: text.trim_start_matches('\u{feff}'), at: 0, line: 1 };
    let mut open: Vec<Open> = Vec::new();
    let (mut count, mut visited) = (0, Visited::default());
    while let Some(step) = elements.next()? {
        match step {
            Step::Open(element) => {
                let mut inner = opened(&element, open.last_mut())?;
                if let Open::Suite(suite) = &mut inner {
                    suite.path = match open.last() {
                        Some(Open::Suite(outer)) if outer.path.is_empty() => suite.name.clone(),
                        Some(Open::Suite(outer)) if suite.name.is_empty() => outer.path.clone(),
                        Some(Open::Suite(outer)) => format!("{} > {}", outer.path, suite.name),
                        _ if element.name() == "testsuites" => String::new(),
                        _ => suite.name.clone(),
                    };
                    let outer = open.last();
                    suite.is_of_pytest |= matches!(outer, Some(Open::Suite(outer)) if outer.is_of_pytest);
                }
                open.push(inner);
            }
            Step::Close => match (open.pop(), open.last_mut()) {
                (Some(Open::Case(case)), Some(Open::Suite(suite))) => {
                    let (line, seconds, is_time_unclear) =
                        (lines.of(case.at), case.seconds, case.is_time_unclear);
                    let (name, verdict) = case.close(count, suite, &mut results);
                    count += 1;
                    let suite = suite.path.as_str();
                    if !take(TestCase { name: &name, verdict, seconds, is_time_unclear, line, suite }) {
                        return Ok((results, visited));
                    }
                }
                (Some(Open::Suite(mut inner)), outer) => {
                    let own = inner.leave_out_attempts();
                    results.passed -= own.len() as u64;
                    visited.attempts.extend(own);
                    let note = inner.check()?;
                    visited.note = visited.note.or(note);
                    match outer {
                        Some(Open::Suite(outer)) => outer.add(&inner),
                        _ => results.announced = inner.announced,
                    }
                }
                _ => {}
            },
        }
    }
    Ok((results, visited))
}

fn opened(element: &Element<'_>, outer: Option<&mut Open>) -> Result<Open, Problems> {
    Ok(match (element.name(), outer) {
        ("testsuites" | "testsuite", None | Some(Open::Suite(_))) => Open::Suite(Suite::new(element)?),
        (name, None) => {
            return Err(element.refuse(format!("the root {}", quoted(name)), "`testsuites` or `testsuite`"));
        }
        ("testcase", Some(Open::Suite(_))) => Open::Case(Case::new(element)?),
        (name, Some(Open::Case(case))) => {
            match name {
                "failure" => case.failures += 1,
                "error" => case.errors += 1,
                "skipped" => case.is_skipped = true,
                "flakyFailure" | "flakyError" | "rerunFailure" | "rerunError" => case.has_reruns = true,
                _ => {}
            }
            Open::Other
        }
        _ => Open::Other,
    })
}

impl Suite {
    fn new(element: &Element<'_>) -> Result<Self, Problems> {
        let failing = [element.count("failures")?, element.count("errors")?];
        let announced_failing = failing.into_iter().flatten().reduce(u64::saturating_add);
        let (name, skipped) =
            (element.attribute("name")?.unwrap_or_default(), (element.count("skipped")?, 0));
        let is_of_pytest = element.name() == "testsuites" && name == "pytest tests";
        let announced = element.count("tests")?;
        Ok(Self { name, announced, announced_failing, is_of_pytest, skipped, ..Self::default() })
    }

    /// Adds the suite `inner`: a suite without a number has the sum of the numbers of the suites in it.
    fn add(&mut self, inner: &Self) {
        self.listed += inner.listed;
        self.skipped.1 += inner.skipped.1;
        self.passed += inner.passed;
        self.failing += inner.failing;
        self.has_reruns |= inner.has_reruns;
    }

    /// Leaves out the attempts before another, and returns their numbers. pytest writes each attempt that failed and was tried
    /// again like a test that passed, and does not count it; version 9 counts parts of a test that it does not list, so that its
    /// count says nothing of attempts.
    fn leave_out_attempts(&mut self) -> Vec<u64> {
        let attempts = match self.announced {
            Some(announced) if self.listed > announced || self.is_of_pytest => {
                std::mem::take(&mut self.followed)
            }
            _ => Vec::new(),
        };
        self.listed -= attempts.len() as u64;
        self.passed -= attempts.len() as u64;
        attempts
    }

    /// Returns what there is to know of the counts. Some runners count a test as often as it failed, or as a failure and as an
    /// error, and list it once; where a test is missing, the failure may be of that.
    fn check(&self) -> Result<Option<String>, Problems> {
        let refuse = |found: String, expected: &str| {
            Err(problem(format!("{found} in the suite {}", quoted(&self.name)), expected, None))
        };
        let more = |stated: Option<u64>, what: &str, listed: u64| {
            let stated = stated.filter(|stated| *stated > listed)?;
            Some(format!("the suite {} counts {stated} {what} and lists {listed}", quoted(&self.name)))
        };
        match (self.announced, self.announced_failing) {
            (Some(announced), _) if self.passed > announced => refuse(
                format!("{} passed tests", self.passed),
                &format!("at most the {announced} it announces"),
            ),
            (Some(announced), _) if announced > 0 && self.listed == 0 => {
                refuse(format!("{announced} tests announced and none listed"), "the result of each test")
            }
            (tests, Some(announced)) if announced > self.failing => {
                let is_repeated = self.failing > 0 || self.has_reruns;
                if is_repeated && tests.is_some_and(|tests| tests <= self.listed) {
                    let note = more(Some(announced), "failures and errors", self.failing);
                    return Ok(note.map(|note| note + ": each test counts once"));
                }
                refuse(
                    format!("{announced} failures and errors announced and {} listed", self.failing),
                    "as many listed as announced",
                )
            }
            _ => Ok(more(self.announced, "tests", self.listed)
                .or_else(|| more(self.skipped.0, "skipped tests", self.skipped.1))),
        }
    }
}

impl Case {
    fn new(element: &Element<'_>) -> Result<Self, Problems> {
        let name = element.attribute("name")?.unwrap_or_default();
        let name = match element.attribute("classname")? {
            Some(class) if !class.is_empty() => format!("{class}.{name}"),
            _ => name,
        };
        let time = element.attribute("time")?;
        let seconds = time.as_deref().and_then(seconds);
        let is_time_unclear = seconds.is_none() && time.is_some_and(|time| !time.trim().is_empty());
        let mut case = Self { name, at: element.place(), seconds, is_time_unclear, ..Self::default() };
        // Some runners say it in an attribute.
        match element.attribute("status")?.unwrap_or_default().to_ascii_lowercase().as_str() {
            "notrun" | "disabled" | "skipped" | "ignored" => case.is_skipped = true,
            "failed" | "failure" => case.failures = 1,
            "error" => case.errors = 1,
            _ => {}
        }
        Ok(case)
    }

    fn close(self, number: u64, suite: &mut Suite, results: &mut TestResults) -> (String, TestVerdict) {
        let verdict = match self {
            Self { failures: 1.., .. } => TestVerdict::Failed,
            Self { errors: 1.., .. } => TestVerdict::Error,
            Self { is_skipped: true, .. } => TestVerdict::Skipped,
            _ => TestVerdict::Passed,
        };
        suite.listed += 1;
        suite.followed.extend(suite.last_passed.remove(&self.name));
        if verdict == TestVerdict::Passed {
            suite.last_passed.insert(self.name.clone(), number);
        }
        suite.passed += u64::from(verdict == TestVerdict::Passed);
        suite.skipped.1 += u64::from(self.is_skipped);
        suite.failing += self.failures + self.errors;
        suite.has_reruns |= self.has_reruns;
        results.add(verdict, || self.name.clone());
        (self.name, verdict)
    }
}

/// Returns a time as runners write it: some group its digits, and some write the comma of their country for the point. A single
/// comma before three digits, as in `1,234`, can be both.
fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let are_groups = |text: &str| {
        let (first, rest) = text.split_once(',').unwrap_or((text, ""));
        (1..=3).contains(&first.len())
            && !first.starts_with('0')
            && rest.split(',').all(|group| group.len() == 3 && group.bytes().all(|it| it.is_ascii_digit()))
    };
    let plain = match (text.matches(',').count(), text.split_once('.')) {
        (0, _) => text.to_owned(),
        (_, Some((whole, rest))) if !rest.contains([',', '.']) && are_groups(whole) => text.replace(',', ""),
        (1, None) if !are_groups(text) => text.replace(',', "."),
        (2.., None) if are_groups(text) => text.replace(',', ""),
        _ => return None,
    };
    plain.parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0)
}

/// The lines of places that come in about the order of the text.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u64,
}

impl Lines<'_> {
    fn of(&mut self, at: usize) -> u64 {
        if at < self.at {
            (self.at, self.line) = (0, 1);
        }
        let passed = self.text.as_bytes().get(self.at..at).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.at = at;
        self.line
    }
}
