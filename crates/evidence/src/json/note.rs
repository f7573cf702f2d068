//! Notes on an item that is not refused.

use std::fmt;

/// A note about an item that is scored anyway, for readers of the score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// JSON path of what the note is about.
    pub path: String,
    /// The note.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.text)
    }
}
