//! The answer of the arena to a submission: the breakdown in points, and the findings.

use karat::record::MatchAnswer;
use karat::text::{clean, fit, wrap};

use crate::output::{CARE, FAINT, STRONG};

/// The members of `grading` that are shown here.
pub const FINDINGS: [&str; 3] = ["constraint_violations", "harness_warning", "submission_warnings"];
/// Columns of a key and of a number.
const KEY: usize = 20;
const NUMBER: usize = 12;

/// Returns the breakdown of a match, one line a dimension, and a line for each finding.
pub fn answer(answer: &MatchAnswer, width: usize) -> String {
    let head = format!("{:>NUMBER$}{:>NUMBER$}{:>NUMBER$}", "score", "weight", "weighted");
    let mut text = format!("\n{STRONG}Breakdown{STRONG:#}\n{FAINT}  {}{head}{FAINT:#}\n", fit("", KEY));
    for (key, found) in &answer.score_breakdown {
        let numbers = [found.score, found.weight, found.weighted].map(|number| format!("{number:>NUMBER$}"));
        text.push_str(&format!("  {}{}\n", fit(key, KEY), numbers.concat()));
    }
    for sentence in answer.sentences() {
        for line in wrap(&clean(&sentence), width.saturating_sub(2)) {
            text.push_str(&format!("  {CARE}{line}{CARE:#}\n"));
        }
    }
    text
}
