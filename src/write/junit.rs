//! JUnit XML, as runners of tests write it and services of continuous integration read it.
//!
//! XML has no way to write most control characters: they are replaced.

use std::fmt::Write as _;

use crate::document::{Case, CaseResult, Document, Level};

/// Returns the whole file: one suite, a case for each test case, and the warnings.
pub(crate) fn document(document: &Document) -> String {
    let mut counts = Counts::default();
    // An answer that nothing can fail is one case, so that a report of tests is never empty.
    let only = Case {
        class: document.name.to_owned(),
        name: document.title.clone(),
        result: CaseResult::Passed,
        seconds: None,
        place: None,
        output: document.lines.clone(),
    };
    let all = if document.cases.is_empty() { std::slice::from_ref(&only) } else { &document.cases };
    all.iter().for_each(|it| counts.see(&it.result));
    let cases: String = all.iter().map(case).collect();
    whole(&document.title, counts, &(cases + &warnings(document)))
}

/// Returns the warnings that no case says, as what the suite wrote.
fn warnings(document: &Document) -> String {
    let is_said = |text: &String| {
        document.cases.iter().any(|case| match &case.result {
            CaseResult::Passed => false,
            CaseResult::Failed(why) | CaseResult::Error(why) | CaseResult::Skipped(why) => why.contains(text),
        })
    };
    let findings = document.all_findings();
    let warnings = findings.iter().filter(|it| it.level == Level::Warning && !is_said(&it.text));
    let lines: Vec<String> = warnings.map(|it| content(&it.text)).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("    <system-err>{}</system-err>\n", lines.join("\n"))
}

/// The numbers of a suite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    tests: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
}

impl Counts {
    /// Counts a case.
    fn see(&mut self, result: &CaseResult) {
        self.tests += 1;
        match result {
            CaseResult::Passed => {}
            CaseResult::Failed(_) => self.failures += 1,
            CaseResult::Error(_) => self.errors += 1,
            CaseResult::Skipped(_) => self.skipped += 1,
        }
    }
}

/// Returns a file of `cases` that are written already.
fn whole(title: &str, counts: Counts, cases: &str) -> String {
    let Counts { tests, failures, errors, skipped } = counts;
    let counts =
        format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"");
    let title = attribute(title);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"karat\" {counts}>\n  \
         <testsuite name=\"{title}\" {counts}>\n{cases}  </testsuite>\n</testsuites>\n"
    )
}

/// Returns a case.
fn case(case: &Case) -> String {
    let mut text =
        format!("    <testcase classname=\"{}\" name=\"{}\"", attribute(&case.class), attribute(&case.name));
    if let Some(place) = &case.place {
        let _ = write!(text, " file=\"{}\"", attribute(&place.file));
        let _ = place.line.map_or(Ok(()), |line| write!(text, " line=\"{line}\""));
    }
    if let Some(seconds) = case.seconds.filter(|it| it.is_finite() && *it >= 0.0) {
        let _ = write!(text, " time=\"{seconds}\"");
    }
    let (tag, why) = match &case.result {
        CaseResult::Passed => ("", ""),
        CaseResult::Failed(why) => ("failure", why.as_str()),
        CaseResult::Error(why) => ("error", why.as_str()),
        CaseResult::Skipped(why) => ("skipped", why.as_str()),
    };
    if tag.is_empty() && case.output.is_empty() {
        text.push_str("/>\n");
        return text;
    }
    text.push_str(">\n");
    if !tag.is_empty() {
        let (message, body) = (attribute(why), content(why));
        let _ = writeln!(text, "      <{tag} message=\"{message}\">{body}</{tag}>");
    }
    if !case.output.is_empty() {
        let lines: Vec<String> = case.output.iter().map(|line| content(line)).collect();
        let _ = writeln!(text, "      <system-out>{}</system-out>", lines.join("\n"));
    }
    text.push_str("    </testcase>\n");
    text
}

/// Escapes a text for an attribute. A line end in it would be read as a blank.
fn attribute(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' => out.push_str("&#9;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            c => sign(c, &mut out),
        }
    }
    out
}

/// Escapes a text between tags.
fn content(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\r' => out.push_str("&#13;"),
            '\t' | '\n' => out.push(c),
            c => sign(c, &mut out),
        }
    }
    out
}

fn sign(c: char, out: &mut String) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        // XML 1.0 has these in no form.
        '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
        '\u{7f}'..='\u{9f}' => {
            let _ = write!(out, "&#{};", u32::from(c));
        }
        c => out.push(c),
    }
}
