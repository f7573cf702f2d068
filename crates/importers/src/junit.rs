//! JUnit XML: each test a task.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use karat_core::facts::Outcome;

use super::detect::trimmed;
use super::out::{Out, Run, mended};
use super::{Fault, Importer, Input, Stop};
use karat_evidence::json::problem::quoted;
use karat_evidence::report::{TestCase, TestResults, TestVerdict};

pub(super) static IMPORTER: Importer =
    Importer { name: "junit", words: "a JUnit report", begins: is_report, read, ..Importer::RUNS };

fn is_report(head: &[u8]) -> bool {
    let text = trimmed(head);
    let head = String::from_utf8_lossy(text.get(..4096.min(text.len())).unwrap_or_default());
    head.starts_with('<') && head.contains("<testsuite")
}

fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let mut bytes = Vec::new();
    let most = TestResults::BYTES_MAX as u64;
    input.open()?.take(most + 1).read_to_end(&mut bytes)?;
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(Fault::new("", "bytes that are not UTF-8", "text in UTF-8").into());
    };
    let subject = input.stem();
    let mut suites = BTreeMap::<String, Option<String>>::new();
    let visited = TestResults::visit_junit(&text, &mut |case| {
        let suite = suites.entry(case.name.to_owned()).or_insert_with(|| Some(case.suite.to_owned()));
        suite.take_if(|suite| suite != case.suite);
        true
    });
    // What is wrong with the report, the second time says.
    let (visited, mut number) = (visited.unwrap_or_default(), 0);
    visited.note.into_iter().for_each(|note| out.note(note));
    let mut seen = BTreeMap::<String, u64>::new();
    let mut names = BTreeSet::<String>::new();
    let mut stop = None;
    let read = TestResults::visit_junit(&text, &mut |case: TestCase<'_>| {
        number += 1;
        if visited.attempts.contains(&(number - 1)) {
            out.left_out("an attempt that failed and was tried again: the report says nothing of it");
            return true;
        }
        let task = task(&suites, &case);
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
        if case.is_time_unclear {
            out.left_out("a time of a test that can be read in two ways, such as `1,234`, or in none");
        } else if case.seconds.is_none() {
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
        Ok(_) => Ok(()),
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

/// Returns the name of a test, with that of its suite if tests of several suites are called so; `suites` has the suite of each
/// name, none of a name in several.
fn task(suites: &BTreeMap<String, Option<String>>, case: &TestCase<'_>) -> String {
    match suites.get(case.name) {
        Some(None) if !case.suite.is_empty() => format!("{} > {}", case.suite, case.name),
        _ => case.name.to_owned(),
    }
}
