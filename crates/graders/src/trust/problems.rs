//! Problems of evidence about agents, made in one line.

use std::fmt::Display;

use karat_evidence::json::problem::{Problem, Problems, quoted};

/// Returns a problem without a hint, its line not known.
pub(super) fn found(path: &str, found: impl Display, expected: impl Display) -> Problem {
    Problem::at(path, found.to_string(), expected.to_string(), "")
}

/// Refuses a name that is blank.
pub(super) fn required(name: &str, path: &str, problems: &mut Problems) {
    if name.trim().is_empty() {
        problems.add(|| found(path, "a text without letters", "a name"));
    }
}

/// Refuses a number that is not finite or lies outside of `low..=high`.
pub(super) fn within(number: f64, low: f64, high: f64, path: &str, problems: &mut Problems) {
    if (low..=high).contains(&number) && number.is_finite() {
        return;
    }
    problems.add(|| {
        let expected = match high {
            f64::INFINITY => format!("a number not below {low}"),
            _ => format!("a number from {low} to {high}"),
        };
        found(path, quoted(&number.to_string()), expected)
    });
}
