//! The checks of a receipt or of a store as a list: a mark, a name, what was found.

use std::fmt::Write as _;

use karat_report::text::{clean, list, wrap};
use karat_report::verification::{Cause, Check, Outcome, Status, causes};

use crate::output::{CARE, FAINT, GAIN, LOSS, STRONG};

/// Columns before the words of a check: a mark and a name.
const LEAD: usize = 15;

/// What is shown.
#[derive(Debug)]
pub struct Shown<'a> {
    /// The file.
    pub file: &'a str,
    /// What it is, and where it was kept.
    pub about: Option<(String, String)>,
    /// The checks in their order.
    pub checks: &'a [Check],
    /// What is said where all of them hold.
    pub holds: &'a str,
}

/// A list of checks with a verdict below.
pub fn verification(shown: &Shown<'_>, width: usize) -> String {
    let file = if shown.file == "-" { "standard input" } else { shown.file };
    let mut text = format!("{STRONG}{}{STRONG:#}", clean(file));
    if let Some((what, log)) = &shown.about {
        let _ = write!(text, "  {what}\n{FAINT}{log}{FAINT:#}");
    }
    text.push_str("\n\n");
    for check in shown.checks {
        text.push_str(&line(check, width));
    }
    text.push('\n');
    text.push_str(&verdict(shown, width));
    text
}

/// One check, with its details below.
fn line(check: &Check, width: usize) -> String {
    let (style, mark) = match check.outcome {
        Outcome::Holds => (GAIN, '✓'),
        Outcome::Fails => (LOSS, '✗'),
        Outcome::Lacking => (CARE, '?'),
        Outcome::Left => (FAINT, '·'),
    };
    let mut text = format!("  {style}{mark}{style:#} {:<1$}", check.name, LEAD - 4);
    let words = wrap(&check.says, width.saturating_sub(LEAD));
    for (place, words) in words.iter().enumerate() {
        let indent = if place == 0 { 0 } else { LEAD };
        let _ = writeln!(text, "{:indent$}{words}", "");
    }
    for detail in &check.details {
        for words in wrap(detail, width.saturating_sub(LEAD + 2)) {
            let _ = writeln!(text, "{:1$}{FAINT}{words}{FAINT:#}", "", LEAD + 2);
        }
    }
    text
}

/// What all checks say together.
fn verdict(shown: &Shown<'_>, width: usize) -> String {
    let checks = shown.checks;
    let (style, words) = match Status::of(checks) {
        Status::Verified => (GAIN, format!("verified: {}", shown.holds)),
        Status::Consistent => {
            let lacking: Vec<&str> = checks
                .iter()
                .filter(|check| check.outcome == Outcome::Lacking)
                .map(|check| check.name)
                .collect();
            let words = "consistent, not verified: nothing contradicts; what could not be checked:";
            (CARE, format!("{words} {}", list(&lacking)))
        }
        Status::Failed => {
            let causes: Vec<&str> = causes(checks).into_iter().map(what_changed).collect();
            let why = if causes.is_empty() { String::new() } else { format!(": {}", list(&causes)) };
            (LOSS, format!("failed{why}"))
        }
    };
    let words = wrap(&words, width);
    words.iter().map(|line| format!("{style}{line}{style:#}\n")).collect()
}

/// What has changed, in words.
fn what_changed(cause: Cause) -> &'static str {
    match cause {
        Cause::Text => "the text was changed since it was kept",
        Cause::Rule => "the rule is another one (scorecard)",
        Cause::Evidence => "the evidence is another one",
        Cause::Engine => "the engine makes something else of the same rule and facts",
    }
}
