//! TRX, the test results of Visual Studio and `dotnet test`.

use super::xml::{Element, Elements, Step};
use super::{TestResults, TestVerdict};
use crate::json::problem::{Problems, quoted};

enum Open {
    Result { name: String, outcome: TestVerdict, has_inner: bool },
    Other,
}

#[derive(Default)]
struct Counters {
    total: Option<u64>,
    passed: u64,
    failing: u64,
}

pub(super) fn read(text: &str) -> Result<TestResults, Problems> {
    let mut elements = Elements::new(text);
    let mut results = TestResults::default();
    let mut counters = Counters::default();
    let (mut listed, mut listed_failing) = (0, 0);
    let mut open: Vec<Open> = Vec::new();
    // The innermost open result, so that a result in it is seen without a search.
    let mut open_results: Vec<usize> = Vec::new();
    while let Some(step) = elements.next()? {
        match step {
            Step::Open(element) => {
                let name = element.name();
                if open.is_empty() && name != "TestRun" {
                    return Err(element.refuse(format!("the root {}", quoted(name)), "`TestRun`"));
                }
                if name == "Counters" {
                    counters = Counters::new(&element)?;
                }
                if !name.ends_with("TestResult") {
                    open.push(Open::Other);
                    continue;
                }
                let outer = open_results.last().and_then(|&at| open.get_mut(at));
                if let Some(Open::Result { has_inner, .. }) = outer {
                    *has_inner = true;
                }
                let outcome = outcome(&element)?;
                listed += 1;
                listed_failing += u64::from(matches!(outcome, TestVerdict::Failed | TestVerdict::Error));
                open_results.push(open.len());
                let name = element.attribute("testName")?.unwrap_or_default();
                open.push(Open::Result { name, outcome, has_inner: false });
            }
            Step::Close => {
                if let Some(Open::Result { name, outcome, has_inner }) = open.pop() {
                    open_results.pop();
                    if !has_inner {
                        results.add(outcome, || name);
                    }
                }
            }
        }
    }
    results.announced = counters.total;
    let refuse = |found: String, expected: &str| Err(super::problem(found, expected, None));
    if counters.passed > listed
        || counters.total.is_some_and(|total| counters.passed.max(results.passed) > total)
    {
        let passed = counters.passed.max(results.passed);
        let tests = counters.total.unwrap_or(listed).min(listed);
        return refuse(format!("{passed} passed tests"), &format!("at most the {tests} tests of the report"));
    }
    if counters.failing > listed_failing {
        let found = format!("{} failed tests in the summary and {listed_failing} listed", counters.failing);
        return refuse(found, "as many listed as in the summary");
    }
    Ok(results)
}

impl Counters {
    fn new(element: &Element<'_>) -> Result<Self, Problems> {
        let mut failing = 0u64;
        for name in ["failed", "error", "timeout", "aborted"] {
            failing = failing.saturating_add(element.count(name)?.unwrap_or_default());
        }
        let passed = element.count("passed")?.unwrap_or_default();
        Ok(Self { total: element.count("total")?, passed, failing })
    }
}

fn outcome(element: &Element<'_>) -> Result<TestVerdict, Problems> {
    let expected = "an outcome such as `Passed`, `Failed` or `NotExecuted`";
    let Some(outcome) = element.attribute("outcome")? else {
        return Err(element.refuse("a result without an outcome".to_owned(), expected));
    };
    Ok(match outcome.as_str() {
        "Passed" | "Warning" => TestVerdict::Passed,
        "Failed" => TestVerdict::Failed,
        "Error" | "Timeout" | "Aborted" | "PassedButRunAborted" | "Disconnected" | "InProgress" => {
            TestVerdict::Error
        }
        "NotExecuted" | "NotRunnable" | "Inconclusive" | "Pending" => TestVerdict::Skipped,
        _ => return Err(element.refuse(quoted(&outcome), expected)),
    })
}
