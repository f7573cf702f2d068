//! Files of moderate size, read whole: scorecards, overrides, single records. Evidence is streamed by its reader.

use std::fs::File;
use std::io::{self, Read};

use crate::exit::Exit;
use crate::failure::Failure;

/// Largest file that is read whole, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Reads a file, or standard input for `-`. `what` names in messages what was expected; `refused` is how the command
/// ends if the file was read and cannot be that; a file that cannot be read at all ends it with [`Exit::CouldNotRun`].
pub fn read_text(path: &str, what: &str, refused: Exit) -> Result<String, Failure> {
    let bytes = match path {
        "-" => read(io::stdin().lock()),
        path => File::open(path).and_then(read),
    };
    let bytes = bytes.map_err(|error| Failure::reading(path, &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("`{path}` is larger than {MAX_BYTES} bytes, so it is not {what}");
        return Err(Failure::with_exit(refused, message));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::with_exit(refused, format!("`{path}` is not {what}: byte {at} is not UTF-8 text"))
    })
}

fn read(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
