//! TAP, the Test Anything Protocol, up to version 14.
//!
//! A program under test often prints to the stream that carries its results. Its output may look like results, so a
//! stream that contradicts its plan is refused rather than believed.

use std::collections::BTreeSet;

use super::{TestResults, TestVerdict, problem};
use crate::json::problem::{Problems, quoted};

pub(super) fn read(text: &str) -> Result<TestResults, Problems> {
    let mut results = TestResults::default();
    let mut seen = BTreeSet::new();
    let mut last = 0u64;
    for (line, text) in (1..).zip(text.lines()) {
        if let Some(planned) = plan(text) {
            if let Some(before) = results.announced.replace(planned) {
                let found = format!("a second plan {}, after `1..{before}`", quoted(text));
                return Err(problem(found, "one plan", Some(line)));
            }
        } else if let Some(test) = Test::read(text) {
            let number = test.number.unwrap_or_else(|| last.saturating_add(1));
            if !seen.insert(number) {
                return Err(problem(format!("test {number} twice"), "each test once", Some(line)));
            }
            last = number;
            results.add(test.outcome, || test.name(number));
        } else if text.starts_with("Bail out!") {
            break;
        }
    }
    let Some(planned) = results.announced else {
        let expected = "a plan `1..N`, without which tests that never ran would not be missed";
        return Err(problem("no plan".to_owned(), expected, None));
    };
    let highest = seen.last().copied().unwrap_or_default();
    if highest > planned || seen.first() == Some(&0) {
        let found = format!("test {}", if highest > planned { highest } else { 0 });
        return Err(problem(found, &format!("tests 1 to {planned}, as planned"), None));
    }
    results.missing = planned - seen.len() as u64;
    Ok(results)
}

/// Returns the number of tests that a line plans: `1..N`, perhaps with a directive.
fn plan(line: &str) -> Option<u64> {
    let count = line.strip_prefix("1..")?;
    let count = count.split_once('#').map_or(count, |(count, _)| count).trim();
    if count.bytes().all(|byte| byte.is_ascii_digit()) { count.parse().ok() } else { None }
}

/// A test line: `ok` or `not ok`, perhaps a number, a description, a directive.
struct Test<'a> {
    outcome: TestVerdict,
    number: Option<u64>,
    description: &'a str,
}

impl<'a> Test<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (is_ok, rest) = match line.strip_prefix("not ok") {
            Some(rest) => (false, rest),
            None => (true, line.strip_prefix("ok")?),
        };
        if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            return None;
        }
        let rest = rest.trim();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = rest.split_at_checked(digits).unwrap_or_default();
        let (description, directive) = split_directive(rest);
        let directive = directive.trim_start().to_ascii_lowercase();
        let outcome = match is_ok {
            _ if directive.starts_with("skip") || directive.starts_with("todo") => TestVerdict::Skipped,
            true => TestVerdict::Passed,
            false => TestVerdict::Failed,
        };
        let description = description.trim().trim_start_matches('-').trim();
        Some(Self { outcome, number: number.parse().ok(), description })
    }

    fn name(&self, number: u64) -> String {
        if self.description.is_empty() { format!("test {number}") } else { self.description.to_owned() }
    }
}

/// Splits a description from what follows its first `#` that is not escaped.
fn split_directive(text: &str) -> (&str, &str) {
    let mut is_escaped = false;
    let at = text.find(|c| {
        let begins = c == '#' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        begins
    });
    let (description, directive) = at.and_then(|at| text.split_at_checked(at)).unwrap_or((text, ""));
    (description, directive.trim_start_matches('#'))
}
