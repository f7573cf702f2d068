//! The tables, by version. `user_version` of a file says which version it has; the writer carries older ones over.

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::block::Block;
use super::{Place, Result, postings};
use crate::error::Error;
use crate::item::Entry;
use crate::port::Head;

/// `karat` cannot be written in four bytes; this is `krat`.
const APPLICATION_ID: i64 = 0x6b72_6174;
/// The version of the tables below. Version 1 had each posting as a row of a table in the order of terms.
const NEWEST: i64 = 2;

/// The tables, by name.
///
/// A `block` has `rows` rows from the position `first` on, [packed](super::block). A `tile` is stored in parts, as it grew
/// from commit to commit, each at the place of its first hash. A `posting` has those of one commit, whose first row is
/// `first`, [as a blob](super::postings).
const TABLES: &[(&str, &str)] = &[
    (
        "block",
        "CREATE TABLE block (first INTEGER PRIMARY KEY, rows INTEGER NOT NULL, packed BLOB NOT NULL) STRICT",
    ),
    (HEAD.0, HEAD.1),
    (POSTING.0, POSTING.1),
    ("tile", "CREATE TABLE tile (place INTEGER PRIMARY KEY, hashes BLOB NOT NULL) STRICT"),
];
const HEAD: (&str, &str) = (
    "head",
    "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), size INTEGER NOT NULL, \
     checkpoint TEXT NOT NULL) STRICT",
);
const POSTING: (&str, &str) =
    ("posting", "CREATE TABLE posting (first INTEGER PRIMARY KEY, hashes BLOB NOT NULL) STRICT");

/// Refuses a file that is not a store, and one that this version cannot read.
pub(super) fn check(connection: &Connection, place: &Place) -> Result<()> {
    match version(connection, place)? {
        NEWEST => Ok(()),
        found if found > NEWEST => Err(Error::Newer { path: place.path.clone(), found, known: NEWEST }),
        _ => Err(Error::Older(place.path.clone())),
    }
}

/// Returns the version of a store.
fn version(connection: &Connection, place: &Place) -> Result<i64> {
    let application: i64 = place.query(connection, "PRAGMA application_id")?;
    let found: i64 = place.query(connection, "PRAGMA user_version")?;
    if application == APPLICATION_ID && found > 0 {
        Ok(found)
    } else {
        Err(Error::Foreign(place.path.clone()))
    }
}

/// Makes the tables of an empty store.
pub(super) fn make(connection: &mut Connection, place: &Place) -> Result<()> {
    let made = connection.transaction().and_then(|transaction| {
        TABLES.iter().try_for_each(|(_, statement)| transaction.execute_batch(statement))?;
        mark(&transaction)?;
        transaction.commit()
    });
    made.map_err(|error| place.error(&error))
}

fn mark(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction
        .execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {NEWEST}"))
}

/// Brings a store of an older version to the newest one, in one transaction.
pub(super) fn carry_over(connection: &mut Connection, place: &Place) -> Result<()> {
    if version(connection, place)? != 1 {
        return check(connection, place);
    }
    let failed = |error: rusqlite::Error| place.error(&error);
    let transaction = connection.transaction().map_err(failed)?;
    let head = transaction
        .query_row("SELECT size, checkpoint FROM head", [], |row| {
            Ok(Head { size: row.get(0)?, checkpoint: row.get(1)? })
        })
        .optional()
        .map_err(failed)?;
    let remade = format!("DROP TABLE posting; DROP TABLE head; {}; {}", POSTING.1, HEAD.1);
    transaction.execute_batch(&remade).map_err(failed)?;
    if let Some(Head { size, checkpoint }) = head {
        let insert = "INSERT INTO head (one, size, checkpoint) VALUES (1, ?1, ?2)";
        transaction.execute(insert, params![size, checkpoint]).map_err(failed)?;
    }
    log_postings(&transaction, place)?;
    mark(&transaction).and_then(|()| transaction.commit()).map_err(failed)
}

/// Works out the postings of all rows and logs them, those of each block as of one commit.
fn log_postings(transaction: &Transaction<'_>, place: &Place) -> Result<()> {
    let failed = |error: rusqlite::Error| place.error(&error);
    let mut select =
        transaction.prepare("SELECT first, rows, packed FROM block ORDER BY first").map_err(failed)?;
    let mut insert =
        transaction.prepare("INSERT INTO posting (first, hashes) VALUES (?1, ?2)").map_err(failed)?;
    let (mut blocks, mut block) = (select.query([]).map_err(failed)?, Block::default());
    while let Some(row) = blocks.next().map_err(failed)? {
        let read = || Ok((row.get(0)?, row.get(1)?, row.get_ref(2)?.as_blob()?));
        let (first, rows, packed) = read().map_err(failed)?;
        block.unpack(first, rows, packed).map_err(|problem| place.damaged(&problem))?;
        let found: Vec<_> = block
            .rows(&block.positions())
            .flat_map(|row| {
                // An entry that cannot be read has no terms; a check of the store reports it.
                let terms = Entry::parse(row.entry).map(|entry| entry.terms()).unwrap_or_default();
                terms.into_iter().map(move |term| (term, row.position))
            })
            .collect();
        if let Some(blob) = postings::blob(first, &found).filter(|blob| !blob.is_empty()) {
            insert.execute(params![first, blob]).map_err(failed)?;
        }
    }
    Ok(())
}

/// Returns the differences between the tables and those that are made here. Statistics for the planner of queries,
/// which `ANALYZE` leaves, change no answer.
pub(super) fn differences(connection: &Connection, place: &Place) -> Result<Vec<String>> {
    let read = || -> rusqlite::Result<Vec<(String, String)>> {
        let mut statement = connection.prepare(
            "SELECT name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT GLOB 'sqlite_stat*' ORDER BY name",
        )?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    };
    let found = read().map_err(|error| place.error(&error))?;
    if found.iter().map(|(name, sql)| (name.as_str(), sql.as_str())).eq(TABLES.iter().copied()) {
        return Ok(Vec::new());
    }
    Ok(vec![String::from("the definitions of its tables differ from those in a store of karat")])
}
