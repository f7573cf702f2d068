//! Databases on the command line: opened for reading only, and what is said of one that cannot be.

use std::fs;
use std::io;
use std::path::Path;

use karat_report::exit::Exit;
use karat_report::failure::Failure;
use karat_store::port::Backend as _;
use karat_store::sqlite::Sqlite;
use karat_store::{Error, Item, Reader};

/// Items that are read at a time.
const CHUNK: u64 = 256;

/// A reader of the database at `path`.
pub fn reader(path: &str) -> Result<Reader, Failure> {
    is_file(path)?;
    let open = || Ok(Reader::new(Sqlite::open(Path::new(path))?.reader()?));
    open().map_err(|error| refused(&error))
}

/// Fails where no file is at `path`.
pub fn is_file(path: &str) -> Result<(), Failure> {
    let about = fs::metadata(path).map_err(|error| Failure::reading(path, &error))?;
    if about.is_dir() {
        return Err(Failure::new(format!(
            "cannot read `{path}`: it is a folder, and a database of karat is a file"
        )));
    }
    if !about.is_file() {
        return Err(Failure::reading(path, &io::ErrorKind::Unsupported.into()));
    }
    Ok(())
}

/// Why a store cannot be read, for a person.
pub fn refused(error: &Error) -> Failure {
    let failure = |exit| Failure::with_exit(exit, error.to_string());
    match error {
        Error::Damaged(_) => failure(Exit::VerificationFailed)
            .help("`karat log verify` says what is damaged; go back to a copy that it finds sound"),
        Error::Foreign(_) => failure(Exit::CouldNotRun).help("name the file that `karat serve` writes to"),
        _ => failure(Exit::CouldNotRun),
    }
}

/// Hands the first `size` items to `visit`, in the order of the log, and how many there were with each.
pub fn each(
    reader: &mut Reader,
    size: u64,
    visit: &mut dyn FnMut(Item) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut position = 0;
    while position < size {
        let end = (position + CHUNK).min(size);
        reader
            .items(position..end)
            .map_err(|error| refused(&error))?
            .into_iter()
            .try_for_each(&mut *visit)?;
        position = end;
    }
    Ok(())
}
