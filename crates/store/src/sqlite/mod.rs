//! A store in a file of SQLite. Nothing outside of this folder knows of SQLite.
//!
//! * `block`: rows, packed together.
//! * `postings`: which rows each term finds, in memory and as blobs.
//! * `schema`: the tables, by version.
//! * `tables`: the port, in SQL.
//! * `writer`: the one connection that writes.

mod block;
mod postings;
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
use postings::Postings;
use tables::Tables;
use writer::SqliteWriter;

type Result<T> = std::result::Result<T, Error>;

/// The settings of every connection. The schema of a file is not trusted: no function is called because it says so.
/// Another program may have the file locked for a moment, so a connection waits a while for its turn.
const SETTINGS: &str = "PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; \
     PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 1000; \
     PRAGMA cache_size = -32768; PRAGMA busy_timeout = 5000";

/// The size of a page of a new store.
const PAGE_BYTES: u32 = 4096;
/// The end of the name of the file whose lock is the right to write.
const LOCK: &str = "-lock";

/// A store in a file. Beside it are the write-ahead log of SQLite (`-wal`), its index (`-shm`), and an empty file whose
/// lock is the right to write (`-lock`).
#[derive(Debug, Clone)]
pub struct Sqlite {
    place: Place,
    postings: Arc<Postings>,
    pages_max: Option<u32>,
}

impl Sqlite {
    /// Makes an empty store in a new file.
    ///
    /// # Errors
    /// If there is something already, if the folder is missing or cannot be written, or if the disk is full. Then nothing is
    /// at `path`.
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
                fs::rename(&draft.path, path)?;
                File::open(folder)?.sync_all()
            };
            rename().map_err(|error| place.io_error("make", &error))
        });
        draft.remove();
        match made {
            Ok(()) => Ok(Self { place, postings: Arc::default(), pages_max: None }),
            // Errors name the store: the draft means nothing to the caller.
            Err(Error::Full(_)) => Err(Error::Full(place.path)),
            Err(Error::ReadOnly(_)) => Err(Error::ReadOnly(place.path)),
            Err(error) => Err(error),
        }
    }

    /// Limits the store to a number of pages of 4 KiB. What goes beyond is refused as if the disk were full.
    #[must_use]
    pub fn with_pages_at_most(self, pages: u32) -> Self {
        Self { pages_max: Some(pages), ..self }
    }

    fn tables(&self, connection: Connection) -> Tables {
        Tables {
            connection,
            place: self.place.clone(),
            postings: Arc::clone(&self.postings),
            block: Block::default(),
        }
    }

    /// Opens the store in the file at `path`. One of an older version can be opened too; [`Self::writer`] carries it over,
    /// and before that it cannot be read.
    ///
    /// # Errors
    /// If there is no store at `path`, or if it is something else or from a newer version.
    pub fn open(path: &Path) -> Result<Self> {
        let place = Place { path: path.to_owned() };
        if !path.exists() {
            return Err(Error::Missing(place.path));
        }
        match schema::check(&place.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?, &place) {
            Ok(()) | Err(Error::Older(_)) => Ok(Self { place, postings: Arc::default(), pages_max: None }),
            Err(error) => Err(error),
        }
    }
}

impl Backend for Sqlite {
    fn writer(&self) -> Result<Box<dyn Write>> {
        let lock = self.place.lock()?;
        let mut connection = self.place.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        schema::carry_over(&mut connection, &self.place)?;
        // A copy that another program made may have left it.
        self.place.query::<String>(&connection, "PRAGMA journal_mode = WAL")?;
        // Stores of version 1 had checksums of their pages beside them, and a note in the file of the lock.
        let _ = fs::remove_file(self.place.beside("-pages"));
        let _ = lock.set_len(0);
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

/// Checks a whole store: how SQLite stores it, then everything that it says, as [`audit_watched`] does. Another process may
/// have it open for writing meanwhile.
///
/// # Errors
/// If there is no store, or if it cannot be read: then it is damaged, foreign or not accessible, as the error says.
pub fn verify(path: &Path, key: &VerifyingKey, known: &[String]) -> Result<Audit> {
    verify_watched(path, Some(key), known, &mut |_, _| {})
}

/// Does the same, reports the progress, and needs no key, as [`audit_watched`].
///
/// # Errors
/// If [`verify`] fails.
pub fn verify_watched(
    path: &Path,
    key: Option<&VerifyingKey>,
    known: &[String],
    watch: &mut dyn FnMut(u64, u64),
) -> Result<Audit> {
    audit_watched(&mut Reader::new(Sqlite::open(path)?.reader()?), key, known, watch)
}

/// Writes a copy of the store at `path` to the new file `copy`, as the store is at one moment. Another process may have the
/// store open for writing meanwhile, and goes on writing. Returns when the copy would outlive a loss of power.
///
/// # Errors
/// If there is no store at `path`, if it cannot be read, or if the copy cannot be written; then there may be a part of it.
pub fn copy(path: &Path, copy: &Path) -> Result<()> {
    let place = Place { path: path.to_owned() };
    if !path.exists() {
        return Err(Error::Missing(place.path));
    }
    if copy.exists() {
        return Err(Error::Exists(copy.to_owned()));
    }
    let connection = place.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    schema::check(&connection, &place)?;
    let target = Place { path: copy.to_owned() };
    let name = copy.to_str().ok_or_else(|| {
        Error::Failed(format!("`{}` is not text (UTF-8); use another name", copy.display()))
    })?;
    connection.execute("VACUUM INTO ?1", [name]).map_err(|error| match place.error(&error) {
        Error::Full(_) => Error::Full(target.path.clone()),
        Error::ReadOnly(_) => Error::ReadOnly(target.path.clone()),
        other => other,
    })?;
    let sync = || OpenOptions::new().write(true).open(copy)?.sync_all();
    sync().map_err(|error| target.io_error("write", &error))
}

/// The path of a store, for its files and for messages.
#[derive(Debug, Clone)]
struct Place {
    path: PathBuf,
}

impl Place {
    /// Returns the file beside the store whose name ends in `suffix`.
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
        self.remove(); // left by a process that was killed here
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut connection = self.connect(flags)?;
        connection
            .execute_batch(&format!("PRAGMA page_size = {PAGE_BYTES}"))
            .map_err(|error| self.error(&error))?;
        schema::make(&mut connection, self)?;
        self.query::<String>(&connection, "PRAGMA journal_mode = WAL")?;
        connection.close().map_err(|(_, error)| self.error(&error))
    }

    /// Removes the files of a draft.
    fn remove(&self) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            // A file that is not there need not be removed.
            let _ = fs::remove_file(self.beside(suffix));
        }
    }

    /// Takes the right to write, against other processes and within this one.
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

    fn damaged(&self, problem: &str) -> Error {
        Error::Damaged(format!("`{}`: {problem}", self.path.display()))
    }

    /// Returns what an error of SQLite means for a store.
    fn error(&self, error: &rusqlite::Error) -> Error {
        let path = self.path.clone();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Error::Full(path),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Error::ReadOnly(path),
            Some(ErrorCode::NotADatabase) => Error::Foreign(path),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Locked(path),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch) => {
                self.damaged(&error.to_string())
            }
            Some(ErrorCode::SystemIoFailure) => Error::Failed(format!(
                "cannot write or read `{}`: {error}; look at its disk, and at limits on the size of files",
                path.display()
            )),
            Some(_) => Error::Failed(format!("`{}`: {error}", path.display())),
            // No error of SQLite itself: a value of another type or out of range.
            None => self.damaged(&error.to_string()),
        }
    }
}
