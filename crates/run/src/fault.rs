//! Faults in what a run is made from, for the person who must correct them.

use std::fmt;

use karat_core::diagnostic::steers_terminal;
use serde::{Deserialize, Serialize};

/// One fault, with its place where it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Line and column in characters, from 1.
    pub place: Option<(u64, u64)>,
    /// The finding, and what was expected.
    pub message: String,
    /// A hint. Empty if the message says everything.
    pub hint: String,
}

impl Fault {
    /// Creates a fault without a place.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { place: None, message: message.into(), hint: hint.into() }
    }

    pub(crate) fn at_line(line: usize, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { place: Some((line as u64, 1)), ..Self::new(message, hint) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.hint.is_empty() {
            write!(f, "; {}", self.hint)?;
        }
        match self.place {
            Some((line, column)) => write!(f, " (line {line}, column {column})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}

/// Puts a foreign text in backticks, cut to a length that fits a line, without what could steer a terminal.
pub fn quoted(text: &str) -> String {
    format!("`{}`", shown(text, 60))
}

/// Returns at most `most` characters of a foreign text, without what could steer a terminal.
pub fn shown(text: &str, most: usize) -> String {
    let mut short: String =
        text.chars().take(most).map(|c| if steers_terminal(c) { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(most).is_some() {
        short.push('…');
    }
    short
}
