//! JUnit XML: each test a task.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use karat_core::facts::Outcome;

use super::out::{Out, Run, mended};
use super::{Fault, Input, Stop};
use crate::grade::quality::{TestCase, TestResults, TestVerdict};
use crate::json::problem::quoted;

pub(super) fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let mut bytes = Vec::new();
    let most = TestResults::BYTES_MAX as u64;
    input.open()?.take(most + 1).read_to_end(&mut bytes)?;
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(Fault::new("", "bytes that are not UTF-8", "text in UTF-8").into());
    };
    let subject = input.stem();
    let mut look = Look::default();
    // What is wrong with it, the second time says.
    let _ = TestResults::visit_junit(&text, &mut |case| look.see(&case));
    let (repeated, mut number) = (look.repeated(), 0);
    let mut seen = BTreeMap::<String, u64>::new();
    let mut names = BTreeSet::<String>::new();
    let mut stop = None;
    let read = TestResults::visit_junit(&text, &mut |case: TestCase<'_>| {
        number += 1;
        if repeated.contains(&(number - 1)) {
            out.left_out("an attempt that failed and was tried again: the report says nothing of it");
            return true;
        }
        let task = look.task(&case);
        // The place is read by people, too.
        let name = mended(&task);
        let times = seen.entry(name.clone()).or_default();
        *times += 1;
        let mut own = if *times > 1 { format!("{name}#{times}") } else { name.clone() };
        // Another test may be called that.
        while !names.insert(own.clone()) {
            own.push('#');
        }
        let (outcome, solved) = match case.verdict {
            TestVerdict::Passed => (Outcome::Succeeded, Some(1.0)),
            TestVerdict::Failed => (Outcome::Failed, Some(0.0)),
            TestVerdict::Error => {
                out.left_out("no result of a test that ended in an error: it has no verdict");
                (Outcome::NoVerdict, None)
            }
            TestVerdict::Skipped => {
                out.left_out("no result of a test that was skipped: it does not apply");
                (Outcome::NotApplicable, None)
            }
        };
        if case.seconds.is_none() {
            out.left_out("no time of a test");
        }
        let run = Run {
            subject: subject.to_owned(),
            task: Some(task),
            id: format!("{subject}/{own}"),
            outcome: Some(outcome),
            solved,
            seconds: case.seconds,
            ..Run::default()
        };
        stop = out.run(&format!("line {}, test {}", case.line, quoted(&name)), run).err();
        stop.is_none()
    });
    if let Some(stop) = stop {
        return Err(stop);
    }
    match read.map_err(|problems| problems.iter().next().cloned()) {
        Ok(()) => Ok(()),
        Err(problem) => {
            let (found, expected, line) = match problem {
                Some(problem) => (problem.found, problem.expected, problem.line),
                None => (String::from("something else"), String::from("a report"), None),
            };
            let place = line.map_or_else(String::new, |line| format!("line {line}"));
            Err(Fault::new(place, found, &expected).into())
        }
    }
}

/// A first look at the tests of a report, which are numbered from 0.
#[derive(Default)]
struct Look {
    count: u64,
    /// The suite of each name; none of a name in several.
    suites: BTreeMap<String, Option<String>>,
    by_suite: BTreeMap<u64, Tests>,
}

/// The tests of one suite.
#[derive(Default)]
struct Tests {
    listed: u64,
    announced: Option<u64>,
    /// The last test of each name, if it passed.
    passed: BTreeMap<String, u64>,
    /// Tests that passed, and are followed by another of the same name.
    followed: Vec<u64>,
}

impl Look {
    fn see(&mut self, case: &TestCase<'_>) -> bool {
        let suite = self.suites.entry(case.name.to_owned()).or_insert_with(|| Some(case.suite.to_owned()));
        suite.take_if(|suite| suite != case.suite);
        let (number, announced) = case.of_suite;
        let tests = self.by_suite.entry(number).or_default();
        tests.listed += 1;
        tests.announced = announced;
        tests.followed.extend(tests.passed.remove(case.name));
        if case.verdict == TestVerdict::Passed {
            tests.passed.insert(case.name.to_owned(), self.count);
        }
        self.count += 1;
        true
    }

    /// Returns the tests that are attempts before another. pytest writes each attempt that failed and was tried again like a
    /// test that passed, and does not count it.
    fn repeated(&self) -> BTreeSet<u64> {
        let is_over = |tests: &&Tests| tests.announced.is_some_and(|announced| tests.listed > announced);
        self.by_suite.values().filter(is_over).flat_map(|tests| tests.followed.iter().copied()).collect()
    }

    /// Returns the name of a test, with that of its suite if tests of several suites are called so.
    fn task(&self, case: &TestCase<'_>) -> String {
        match self.suites.get(case.name) {
            Some(None) if !case.suite.is_empty() => format!("{} > {}", case.suite, case.name),
            _ => case.name.to_owned(),
        }
    }
}
