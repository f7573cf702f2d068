//! Reading and writing the tables: the port, in SQL.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::{Place, Result, schema};
use crate::error::Error;
use crate::item::{Moment, Term};
use crate::log::Tile;
use crate::port::{Commit, Head, Order, Read, Row, Totals};

/// A connection to a store.
pub(super) struct Tables {
    pub connection: Connection,
    pub place: Place,
}

impl Tables {
    fn run<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.connection).map_err(|error| self.place.error(&error))
    }

    /// Writes a commit in one transaction, and returns when it is synced.
    pub fn commit(&mut self, commit: &Commit) -> Result<()> {
        let place = self.place.clone();
        let transaction = self.connection.transaction().map_err(|error| place.error(&error))?;
        let found = size(&transaction).map_err(|error| place.error(&error))?;
        if found != commit.after {
            let [expected, found] = [commit.after, found].map(Option::unwrap_or_default);
            return Err(Error::Overtaken { expected, found });
        }
        // Dropping the transaction takes back everything.
        write(&transaction, commit).map_err(|error| place.error(&error))?;
        transaction.commit().map_err(|error| place.error(&error))
    }

    /// How many postings wait in the small tree.
    pub fn recent_postings(&self) -> Result<u64> {
        self.place.query(&self.connection, "SELECT count(*) FROM recent_posting")
    }

    /// Moves the postings of the small tree into the large one.
    pub fn merge_postings(&mut self) -> Result<()> {
        let place = self.place.clone();
        let mut merge = || -> rusqlite::Result<()> {
            let transaction = self.connection.transaction()?;
            transaction.execute_batch(
                "INSERT INTO posting SELECT term, position FROM recent_posting ORDER BY term, position; \
                 DELETE FROM recent_posting",
            )?;
            transaction.commit()
        };
        merge().map_err(|error| place.error(&error))
    }
}

fn size(connection: &Connection) -> rusqlite::Result<Option<u64>> {
    connection.prepare_cached("SELECT size FROM head")?.query_row([], |row| row.get(0)).optional()
}

fn write(transaction: &Transaction<'_>, commit: &Commit) -> rusqlite::Result<()> {
    let mut insert = transaction
        .prepare_cached("INSERT INTO item (position, known, entry, content) VALUES (?1, ?2, ?3, ?4)")?;
    for Row { position, known, entry, content } in &commit.rows {
        insert.execute(params![position, known.0, entry, content])?;
    }
    let mut insert =
        transaction.prepare_cached("INSERT INTO recent_posting (term, position) VALUES (?1, ?2)")?;
    for (term, position) in &commit.postings {
        insert.execute(params![term.0, position])?;
    }
    let mut insert =
        transaction.prepare_cached("INSERT OR REPLACE INTO tile (level, number, hashes) VALUES (?1, ?2, ?3)")?;
    for (tile, hashes) in &commit.tiles {
        insert.execute(params![tile.level, tile.number, hashes])?;
    }
    transaction
        .prepare_cached("INSERT OR REPLACE INTO head (one, size, checkpoint) VALUES (1, ?1, ?2)")?
        .execute(params![commit.head.size, commit.head.checkpoint])?;
    Ok(())
}

/// The positions of a term from both trees, in either order.
const OLDEST: &str = "SELECT position FROM posting WHERE term = ?1 AND position >= ?2 AND position < ?3 \
     UNION ALL SELECT position FROM recent_posting WHERE term = ?1 AND position >= ?2 AND position < ?3 \
     ORDER BY position LIMIT ?4";
const NEWEST: &str = "SELECT position FROM posting WHERE term = ?1 AND position >= ?2 AND position < ?3 \
     UNION ALL SELECT position FROM recent_posting WHERE term = ?1 AND position >= ?2 AND position < ?3 \
     ORDER BY position DESC LIMIT ?4";

/// A number as SQLite can hold it; nothing is stored beyond.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Read for Tables {
    fn head(&mut self) -> Result<Option<Head>> {
        self.run(|connection| {
            let mut select = connection.prepare_cached("SELECT size, checkpoint FROM head")?;
            let head = |row: &rusqlite::Row<'_>| Ok(Head { size: row.get(0)?, checkpoint: row.get(1)? });
            select.query_row([], head).optional()
        })
    }

    fn rows(&mut self, positions: Range<u64>) -> Result<Vec<Row>> {
        self.run(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT position, known, entry, content FROM item WHERE position >= ?1 AND position < ?2 \
                 ORDER BY position",
            )?;
            let row = |row: &rusqlite::Row<'_>| {
                let (position, known) = (row.get(0)?, Moment(row.get(1)?));
                Ok(Row { position, known, entry: row.get(2)?, content: row.get(3)? })
            };
            select.query_map([signed(positions.start), signed(positions.end)], row)?.collect()
        })
    }

    fn positions(
        &mut self,
        term: Term,
        range: Range<u64>,
        order: Order,
        limit: usize,
    ) -> Result<Vec<u64>> {
        self.run(|connection| {
            let mut select = connection.prepare_cached(match order {
                Order::Oldest => OLDEST,
                Order::Newest => NEWEST,
            })?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let (start, end) = (signed(range.start), signed(range.end));
            select.query_map(params![term.0, start, end, limit], |row| row.get(0))?.collect()
        })
    }

    fn tile(&mut self, tile: Tile) -> Result<Vec<u8>> {
        self.run(|connection| {
            let mut select =
                connection.prepare_cached("SELECT hashes FROM tile WHERE level = ?1 AND number = ?2")?;
            let hashes = select.query_row(params![tile.level, signed(tile.number)], |row| row.get(0));
            Ok(hashes.optional()?.unwrap_or_default())
        })
    }

    fn totals(&mut self) -> Result<Totals> {
        self.run(|connection| {
            connection.query_row(
                "SELECT (SELECT count(*) FROM item), \
                 (SELECT count(*) FROM posting) + (SELECT count(*) FROM recent_posting), \
                 (SELECT count(*) FROM tile)",
                [],
                |row| Ok(Totals { rows: row.get(0)?, postings: row.get(1)?, tiles: row.get(2)? }),
            )
        })
    }

    fn damage(&mut self) -> Result<Vec<String>> {
        let mut found = schema::differences(&self.connection, &self.place)?;
        found.extend(self.run(|connection| {
            let mut check = connection.prepare("PRAGMA integrity_check(20)")?;
            let lines = check.query_map([], |row| row.get::<_, String>(0))?;
            lines.collect::<rusqlite::Result<Vec<_>>>()
        })?);
        found.retain(|line| line != "ok");
        Ok(found)
    }
}
