//! The key of a log on the command line.

use std::fs;
use std::io;

use crate::exit::Exit;
use crate::failure::Failure;
use karat::text::clean;
use karat_store::log::VerifyingKey;

use crate::input::read_text;

/// Reads the key of a log: `NAME+ID+KEY`, or a file with nothing else in it.
pub fn key(given: &str) -> Result<VerifyingKey, Failure> {
    if let Ok(key) = given.parse() {
        return Ok(key);
    }
    let hint = "expected `NAME+ID+KEY` as the operator of the log publishes it, or a file with that";
    match fs::metadata(given) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let message = format!("`{}` is neither the public key of a log nor a file", clean(given));
            Err(Failure::new(message).help(hint))
        }
        _ => {
            let text = read_text(given, "the public key of a log", Exit::CouldNotRun)?;
            text.trim().parse().map_err(|_| {
                Failure::new(format!("`{}` is not the public key of a log", clean(given))).help(hint)
            })
        }
    }
}
