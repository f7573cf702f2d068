//! The checks of a receipt or of a store as a list: a mark, a name, the finding.

use std::fmt::Write as _;

use karat::answers::{ChangedPart, CheckOutcome, VerificationStatus};
use karat::text::{clean, list, wrap};
use karat::verification::{Check, causes, status};

use crate::output::{CARE, FAINT, GAIN, LOSS, STRONG};

/// Columns before the words of a check: a mark and a name.
const LEAD: usize = 15;

/// The contents of the screen.
#[derive(Debug)]
pub struct Shown<'a> {
    /// The file.
    pub file: &'a str,
    /// Its item, and the log that has it.
    pub about: Option<(String, String)>,
    /// The checks in their order.
    pub checks: &'a [Check],
    /// The words if all of them pass.
    pub verified: &'a str,
}

/// Returns a list of checks with a verdict below.
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

/// Returns one check, with its details below.
fn line(check: &Check, width: usize) -> String {
    let (style, mark) = match check.shown.outcome {
        CheckOutcome::Verified => (GAIN, '✓'),
        CheckOutcome::Failed => (LOSS, '✗'),
        CheckOutcome::Inconclusive => (CARE, '?'),
        CheckOutcome::Skipped => (FAINT, '·'),
    };
    let mut text = format!("  {style}{mark}{style:#} {:<1$}", check.shown.name, LEAD - 4);
    let words = wrap(&check.shown.says, width.saturating_sub(LEAD));
    for (place, words) in words.iter().enumerate() {
        let indent = if place == 0 { 0 } else { LEAD };
        let _ = writeln!(text, "{:indent$}{words}", "");
    }
    for detail in &check.shown.details {
        for words in wrap(detail, width.saturating_sub(LEAD + 2)) {
            let _ = writeln!(text, "{:1$}{FAINT}{words}{FAINT:#}", "", LEAD + 2);
        }
    }
    text
}

/// Returns the verdict of all checks together.
fn verdict(shown: &Shown<'_>, width: usize) -> String {
    let checks = shown.checks;
    let (style, words) = match status(checks) {
        VerificationStatus::Verified => (GAIN, format!("verified: {}", shown.verified)),
        VerificationStatus::Consistent => {
            let lacking: Vec<&str> = checks
                .iter()
                .filter(|check| check.shown.outcome == CheckOutcome::Inconclusive)
                .map(|check| check.shown.name.as_ref())
                .collect();
            let words = "consistent, not verified: no contradiction found; not checked:";
            (CARE, format!("{words} {}", list(&lacking)))
        }
        VerificationStatus::Failed => {
            let causes: Vec<&str> = causes(checks).into_iter().map(what_changed).collect();
            let why = if causes.is_empty() { String::new() } else { format!(": {}", list(&causes)) };
            (LOSS, format!("failed{why}"))
        }
    };
    let words = wrap(&words, width);
    words.iter().map(|line| format!("{style}{line}{style:#}\n")).collect()
}

/// Returns the changed part in words.
fn what_changed(changed: ChangedPart) -> &'static str {
    match changed {
        ChangedPart::Text => "the text was changed since it was kept",
        ChangedPart::Scorecard => "the scorecard differs",
        ChangedPart::Evidence => "the evidence differs",
        ChangedPart::Engine => "the engine gives another record for the same scorecard and facts",
    }
}
