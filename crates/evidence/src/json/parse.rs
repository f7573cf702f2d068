//! Parsing the text of one item within limits.

use super::document::{Document, Tape};
use super::explain;
use super::problem::{Problem, Problems};

/// Limits on the text of one item.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The deepest nesting of brackets; more than [`Limits::DEEPEST`] counts as that.
    pub max_depth: usize,
    /// The most bytes; more than 2 GiB counts as that.
    pub max_bytes: usize,
}

impl Limits {
    /// The deepest nesting that can be allowed, because the parser recurses.
    pub const DEEPEST: usize = 120;
    /// Places in an item are kept in 31 bits.
    const LARGEST: usize = i32::MAX as usize;
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_depth: 64, max_bytes: 16 << 20 }
    }
}

/// Parses an item within the limits.
///
/// # Errors
/// If the text is longer or deeper than allowed, or is not JSON in UTF-8.
pub fn parse<'a>(tape: &'a mut Tape, bytes: &'a [u8], limits: &Limits) -> Result<Document<'a>, Problems> {
    let limit = limits.max_bytes.min(Limits::LARGEST);
    if bytes.len() > limit {
        return Err(too_long(bytes.len() as u64, limit).into());
    }
    let text = std::str::from_utf8(bytes).map_err(|error| explain::not_utf8(bytes, error.valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let max_depth = limits.max_depth.min(Limits::DEEPEST);
    let outcome = tape.parse(text, max_depth);
    let last = tape.last();
    let document = Document::new(tape, text);
    outcome.map_err(|failure| explain::parse_failure(&failure, document, last, max_depth))?;
    Ok(document)
}

/// Returns the problem of an item that is longer than allowed.
pub fn too_long(bytes: u64, limit: usize) -> Problem {
    let (found, expected) = (format!("an item of {bytes} bytes or more"), format!("at most {limit} bytes"));
    Problem::at("$", found, expected, "leave out what is not scored").on(1, 1)
}
