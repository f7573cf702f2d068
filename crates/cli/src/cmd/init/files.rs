//! The files that `karat init` writes: all of them or none.

use std::fs;
use std::io::ErrorKind;

use crate::failure::Failure;
use crate::output::{create, replace};

/// Refuses files that exist already: all of them at once.
pub fn refuse_existing(paths: &[&str]) -> Result<(), Failure> {
    let found: Vec<String> = paths
        .iter()
        .filter(|path| fs::symlink_metadata(path).is_ok())
        .map(|path| format!("`{path}`"))
        .collect();
    if found.is_empty() {
        return Ok(());
    }
    let (names, verb) = (found.join(" and "), if found.len() == 1 { "exists" } else { "exist" });
    Err(Failure::new(format!("{names} {verb} already"))
        .help("--force replaces, --dry-run shows what would be written; --out names another scorecard"))
}

/// Writes the files. If one cannot be written, those before it are put back.
pub fn write(texts: &[(&str, &str)], is_forced: bool) -> Result<(), Failure> {
    let mut before: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
    for (path, text) in texts {
        let old = match fs::read(path) {
            Ok(old) => Some(old),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return undo(&before, Failure::writing(path, &error)),
        };
        let written = if is_forced { replace(path, text.as_bytes()) } else { create(path, text.as_bytes()) };
        if let Err(failure) = written {
            return undo(&before, failure);
        }
        before.push((path, old));
    }
    Ok(())
}

/// Puts back what was there, as far as that can be, and passes on why.
fn undo(before: &[(&str, Option<Vec<u8>>)], why: Failure) -> Result<(), Failure> {
    for (path, old) in before.iter().rev() {
        match old {
            Some(old) => drop(replace(path, old)),
            None => drop(fs::remove_file(path)),
        }
    }
    Err(why)
}
