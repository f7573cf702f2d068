//! Databases on the command line: opened for reading only, with errors for people.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use karat_server::folder::STORE;
use karat_store::port::Backend as _;
use karat_store::sqlite::Sqlite;
use karat_store::{Error, Item, Reader};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;

/// Items that are read at a time.
const CHUNK: u64 = 256;

/// Opens the database that `path` names.
pub fn reader(path: &str) -> Result<Reader, Failure> {
    let database = database(path)?;
    let open = || Ok(Reader::new(Sqlite::open(&database)?.reader()?));
    open().map_err(|error| refused(&error))
}

/// Returns the file of the database that `path` names: itself, or that in the folder of a server.
pub fn database(path: &str) -> Result<PathBuf, Failure> {
    let about = |path: &Path| fs::metadata(path);
    let found = about(Path::new(path)).map_err(|error| Failure::reading(path, &error))?;
    if found.is_dir() {
        let inside = Path::new(path).join(STORE);
        if about(&inside).is_ok_and(|found| found.is_file()) {
            return Ok(inside);
        }
        return Err(Failure::new(format!("cannot read `{path}`: it is a folder without a `{STORE}`"))
            .help("name a database of karat, or the folder that `karat serve` writes to"));
    }
    if !found.is_file() {
        return Err(Failure::reading(path, &io::ErrorKind::Unsupported.into()));
    }
    Ok(PathBuf::from(path))
}

/// Returns the reason why a store cannot be read, for a person.
pub fn refused(error: &Error) -> Failure {
    let failure = |exit| Failure::with_exit(exit, error.to_string());
    match error {
        Error::Damaged(_) => failure(Exit::VerificationFailed)
            .help("`karat log verify` lists the damage; restore a copy that passes it"),
        Error::Foreign(_) => failure(Exit::CouldNotRun).help("name the file that `karat serve` writes to"),
        _ => failure(Exit::CouldNotRun),
    }
}

/// Hands the first `size` items to `visit`, in the order of the log.
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
