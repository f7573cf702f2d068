//! A store in a file of SQLite. No word of SQLite stands outside of this folder.
//!
//! * `ahead`: the write-ahead log as a file.
//! * `block`: rows, packed together.
//! * `carry`: the write-ahead log carried over into the file.
//! * `filter`: which terms are certainly not stored.
//! * `pages`: a checksum for every page.
//! * `recent`: postings that are not in their table yet.
//! * `schema`: the tables, by version.
//! * `tables`: the port, in SQL.
//! * `writer`: the one connection that writes.

mod ahead;
mod block;
mod carry;
mod filter;
mod pages;
mod recent;
mod schema;
mod tables;
mod writer;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::config::DbConfig;
use rusqlite::types::FromSql;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::audit::{Audit, audit_watched};
use crate::error::Error;
use crate::log::VerifyingKey;
use crate::port::{Backend, Read, Write};
use crate::reader::Reader;
use block::Block;
use pages::Pages;
use recent::Recent;
use tables::Tables;
use writer::SqliteWriter;

type Result<T> = std::result::Result<T, Error>;

/// What every connection is set to. The schema of a file is not trusted: no function is called because it says so.
const SETTINGS: &str = "PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; \
     PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 0; \
     PRAGMA cache_size = -32768; PRAGMA busy_timeout = 0";

/// What the name of the write-ahead log ends in.
const AHEAD: &str = "-wal";
/// What the name of the file ends in whose lock is the right to write. It also says how much of that log is committed.
const LOCK: &str = "-lock";

/// A store in a file. Beside it stand its write-ahead log (`-wal`) with an index (`-shm`), the checksums of its pages
/// (`-pages`) and its lock (`-lock`), which also says how much of the write-ahead log is committed. A copy is made while no
/// process has it open, of the file, `-pages` and, if it is there, `-wal`.
#[derive(Debug, Clone)]
pub struct Sqlite {
    place: Place,
    recent: Arc<Recent>,
    pages_max: Option<u32>,
}

impl Sqlite {
    /// Makes an empty store in a new file.
    ///
    /// # Errors
    /// That there is something already, that the folder is missing or cannot be written, or that the disk is full. Then
    /// nothing is at `path`.
    pub fn create(path: &Path) -> Result<Self> {
        let place = Place { path: path.to_owned() };
        if path.exists() {
            return Err(Error::Exists(place.path));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(Error::Failed(format!(
                "the folder `{}` does not exist; make it first",
                folder.display()
            )));
        }
        let _lock = place.lock()?;
        if path.exists() {
            return Err(Error::Exists(place.path)); // made by another process meanwhile
        }
        // Under another name until it is whole, so that a store of the right name is a store.
        let draft = Place { path: place.beside("-new") };
        let made = draft.make().and_then(|()| {
            let rename = || {
                fs::rename(draft.beside("-pages"), place.beside("-pages"))?;
                fs::rename(&draft.path, path)?;
                File::open(folder)?.sync_all()
            };
            rename().map_err(|error| place.io_error("make", &error))
        });
        draft.remove();
        match made {
            Ok(()) => Ok(Self { place, recent: Arc::default(), pages_max: None }),
            // Nobody knows the draft.
            Err(Error::Full(_)) => Err(Error::Full(place.path)),
            Err(Error::ReadOnly(_)) => Err(Error::ReadOnly(place.path)),
            Err(error) => Err(error),
        }
    }

    /// The same store, which may not grow beyond so many pages of 4 KiB. What goes beyond is refused as if the disk were
    /// full.
    #[must_use]
    pub fn with_pages_at_most(self, pages: u32) -> Self {
        Self { pages_max: Some(pages), ..self }
    }

    fn tables(&self, connection: Connection) -> Tables {
        Tables {
            connection,
            place: self.place.clone(),
            recent: Arc::clone(&self.recent),
            fixed: None,
            filter: None,
            block: Block::default(),
        }
    }

    /// The store in the file at `path`.
    ///
    /// # Errors
    /// That there is none, or that it is something else or from a newer version.
    pub fn open(path: &Path) -> Result<Self> {
        let place = Place { path: path.to_owned() };
        if !path.exists() {
            return Err(Error::Missing(place.path));
        }
        schema::check(&place.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?, &place)?;
        Ok(Self { place, recent: Arc::default(), pages_max: None })
    }
}

impl Backend for Sqlite {
    fn writer(&self) -> Result<Box<dyn Write>> {
        let lock = self.place.lock()?;
        let mut connection = self.place.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        schema::check(&connection, &self.place)?;
        schema::migrate(&mut connection, &self.place)?;
        if let Some(pages) = self.pages_max {
            self.place.query::<i64>(&connection, &format!("PRAGMA max_page_count = {pages}"))?;
        }
        Ok(Box::new(SqliteWriter::open(self.tables(connection), lock)?))
    }

    fn reader(&self) -> Result<Box<dyn Read>> {
        let connection = self.place.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        schema::check(&connection, &self.place)?;
        Ok(Box::new(self.tables(connection)))
    }
}

/// Checks a whole store: every byte of its file against the checksums of its pages, then everything that it says, as
/// [`audit_watched`] does. Another process may have it open for writing meanwhile; this one must not have it open at all.
///
/// # Errors
/// That there is no store, or that it cannot be read: then it is damaged, foreign or not accessible, as the error says.
pub fn verify(path: &Path, key: &VerifyingKey, known: &[String]) -> Result<Audit> {
    verify_watched(path, Some(key), known, &mut |_, _| {})
}

/// The same, with the progress and without need of a key, as [`audit_watched`] has it.
///
/// # Errors
/// As [`verify`].
pub fn verify_watched(
    path: &Path,
    key: Option<&VerifyingKey>,
    known: &[String],
    watch: &mut dyn FnMut(u64, u64),
) -> Result<Audit> {
    let place = Place { path: path.to_owned() };
    if !path.exists() {
        return Err(Error::Missing(place.path));
    }
    let mut problems = pages::check(&place).map_err(|error| match Sqlite::open(path) {
        // Whatever it is, it is not a store whose checksums were lost.
        Err(foreign @ Error::Foreign(_)) => foreign,
        _ => error,
    })?;
    let audited = Sqlite::open(path)
        .and_then(|store| audit_watched(&mut Reader::new(store.reader()?), key, known, watch));
    match audited {
        Ok(mut audit) => {
            problems.append(&mut audit.problems);
            Ok(Audit { problems, ..audit })
        }
        Err(error) if problems.is_empty() => Err(error),
        Err(error) => {
            problems.push(error.to_string());
            Err(Error::Damaged(problems.join("; ")))
        }
    }
}

/// Where a store is, for its files and for messages.
#[derive(Debug, Clone)]
struct Place {
    path: PathBuf,
}

impl Place {
    /// The file beside the store whose name ends in `suffix`.
    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(suffix);
        name.into()
    }

    fn connect(&self, flags: OpenFlags) -> Result<Connection> {
        let open = || {
            let connection =
                Connection::open_with_flags(&self.path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            // Plans do not depend on what is bound, so statements are not prepared again for every value.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
            connection.execute_batch(SETTINGS)?;
            connection.set_prepared_statement_cache_capacity(32);
            Ok(connection)
        };
        open().map_err(|error| self.error(&error))
    }

    /// Makes the database of an empty store.
    fn make(&self) -> Result<()> {
        self.remove(); // what a process left that was stopped here
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut connection = self.connect(flags)?;
        connection
            .execute_batch(&format!("PRAGMA page_size = {}", pages::PAGE_BYTES))
            .map_err(|error| self.error(&error))?;
        schema::migrate(&mut connection, self)?;
        self.query::<String>(&connection, "PRAGMA journal_mode = WAL")?;
        connection.close().map_err(|(_, error)| self.error(&error))?;
        Pages::make(self)
    }

    /// Removes what there is of a draft.
    fn remove(&self) {
        for suffix in ["", AHEAD, "-shm", "-journal", "-pages"] {
            // What is not there need not be removed.
            let _ = fs::remove_file(self.beside(suffix));
        }
    }

    /// The right to write, against other processes and within this one.
    fn lock(&self) -> Result<File> {
        let path = self.beside(LOCK);
        let options = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = options.map_err(|error| self.io_error("lock", &error))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(Error::Locked(self.path.clone())),
            Err(TryLockError::Error(error)) => Err(self.io_error("lock", &error)),
        }
    }

    fn query<T: FromSql>(&self, connection: &Connection, statement: &str) -> Result<T> {
        connection.query_row(statement, [], |row| row.get(0)).map_err(|error| self.error(&error))
    }

    fn io_error(&self, what: &str, error: &std::io::Error) -> Error {
        match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Error::ReadOnly(self.path.clone()),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Full(self.path.clone()),
            ErrorKind::AlreadyExists => Error::Exists(self.path.clone()),
            _ => Error::Failed(format!("cannot {what} `{}`: {error}", self.path.display())),
        }
    }

    /// What an error of SQLite means for a store.
    fn error(&self, error: &rusqlite::Error) -> Error {
        let path = self.path.clone();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Error::Full(path),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Error::ReadOnly(path),
            Some(ErrorCode::NotADatabase) => Error::Foreign(path),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Locked(path),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch) => {
                Error::Damaged(format!("`{}`: {error}", path.display()))
            }
            Some(ErrorCode::SystemIoFailure) => Error::Failed(format!(
                "cannot write or read `{}`: {error}; look at its disk, and at limits on the size of files",
                path.display()
            )),
            Some(_) => Error::Failed(format!("`{}`: {error}", path.display())),
            // No error of SQLite itself: a value of another type or out of range.
            None => Error::Damaged(format!("`{}`: {error}", path.display())),
        }
    }
}
