//! The type checker for rules.

pub mod range;

use alloc::vec::Vec;

use crate::diagnostic::{Diagnostic, Severity};
use crate::scorecard::{Library, Scorecard};

/// Everything that is to say about a card file.
#[derive(Debug)]
pub struct Checked {
    /// The card, if nothing is wrong with it; warnings do not refuse it.
    pub card: Option<Scorecard>,
    /// All findings, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads and checks the text of a card.
#[must_use]
pub fn check_text(text: &str, library: Library<'_>) -> Checked {
    let (card, diagnostics) = Scorecard::read(text, library);
    let refused = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    Checked { card: card.filter(|_| !refused), diagnostics }
}
