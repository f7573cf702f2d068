//! Code shared by the commands over many items.

use std::io::Write as _;

use serde::Serialize;

use crate::failure::Failure;
use crate::output::lines;
use karat::answers;

/// Writes an answer as one line of JSON.
pub fn print<T: Serialize>(answer: &T) -> Result<(), Failure> {
    let mut out = lines();
    writeln!(out, "{}", answers::write(answer))?;
    Ok(out.flush()?)
}
