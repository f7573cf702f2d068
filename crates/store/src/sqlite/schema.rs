//! The tables, by version. A file says in `user_version` which version it has; older ones are brought forward on opening.

use rusqlite::Connection;

use super::{Place, Result};
use crate::error::Error;

/// `karat` cannot be written in four bytes; this is `krat`.
const APPLICATION_ID: i64 = 0x6b72_6174;

/// What leads from each version to the next; a released one never changes.
///
/// A `block` has so many rows from the position `first` on, [packed](super::block). Of the rows of `head.size`, those before
/// `head.indexed` have their postings in the table; of the others they follow from the rows.
const STEPS: &[&[(&str, &str)]] = &[&[
    (
        "block",
        "CREATE TABLE block (first INTEGER PRIMARY KEY, rows INTEGER NOT NULL, packed BLOB NOT NULL) STRICT",
    ),
    (
        "posting",
        "CREATE TABLE posting (term BLOB NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (term, position)) \
         STRICT, WITHOUT ROWID",
    ),
    (
        "tile",
        "CREATE TABLE tile (level INTEGER NOT NULL, number INTEGER NOT NULL, hashes BLOB NOT NULL, \
         PRIMARY KEY (level, number)) STRICT, WITHOUT ROWID",
    ),
    (
        "head",
        "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), size INTEGER NOT NULL, \
         indexed INTEGER NOT NULL, checkpoint TEXT NOT NULL) STRICT",
    ),
]];

/// The newest version that is known here.
#[expect(clippy::cast_possible_wrap, reason = "there are few")]
const NEWEST: i64 = STEPS.len() as i64;

/// Refuses what is no store, or one from the future.
pub(super) fn check(connection: &Connection, place: &Place) -> Result<()> {
    let application: i64 = place.query(connection, "PRAGMA application_id")?;
    let found: i64 = place.query(connection, "PRAGMA user_version")?;
    if application != APPLICATION_ID || found < 1 {
        return Err(Error::Foreign(place.path.clone()));
    }
    if found > NEWEST {
        return Err(Error::Newer { path: place.path.clone(), found, known: NEWEST });
    }
    Ok(())
}

/// Brings a store of any version, or an empty database, to the newest one, in one transaction.
pub(super) fn migrate(connection: &mut Connection, place: &Place) -> Result<()> {
    let transaction = connection.transaction().map_err(|error| place.error(&error))?;
    let found: i64 = place.query(&transaction, "PRAGMA user_version")?;
    let done = usize::try_from(found).unwrap_or(0);
    for (_, statement) in STEPS.iter().skip(done).copied().flatten() {
        transaction.execute_batch(statement).map_err(|error| place.error(&error))?;
    }
    if found != NEWEST {
        let marks = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {NEWEST}");
        transaction.execute_batch(&marks).map_err(|error| place.error(&error))?;
    }
    transaction.commit().map_err(|error| place.error(&error))
}

/// What of the tables themselves is not as the steps make them.
pub(super) fn differences(connection: &Connection, place: &Place) -> Result<Vec<String>> {
    let read = || -> rusqlite::Result<Vec<(String, String)>> {
        let mut statement = connection.prepare("SELECT name, sql FROM sqlite_schema ORDER BY rowid")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    };
    let found = read().map_err(|error| place.error(&error))?;
    let found: Vec<_> = found.iter().map(|(name, sql)| (name.as_str(), sql.as_str())).collect();
    let expected: Vec<_> = STEPS.iter().copied().flatten().copied().collect();
    if found == expected {
        return Ok(Vec::new());
    }
    Ok(vec![String::from("the definitions of its tables are not those of a store of karat")])
}
