//! Reading and writing the tables: the port, in SQL.

use std::ops::Range;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::block::{self, Block, Packer, Stored};
use super::postings::{self, Batch, Postings};
use super::{Place, Result, schema};
use crate::error::Error;
use crate::item::{Entry, Term};
use crate::log::{Hash, TILE_HASHES, Tile};
use crate::port::{Commit, Head, Order, Read, Row, Totals, Work};

/// A connection to a store.
pub(super) struct Tables {
    pub connection: Connection,
    pub place: Place,
    pub postings: Arc<Postings>,
    /// The block that was read last. What is committed never changes, so it need not be read again for its next row.
    pub block: Block,
}

impl Tables {
    fn run<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.connection).map_err(|error| self.place.error(&error))
    }

    /// Runs `work` in one transaction, which is synced when this returns, or rolled back if `work` fails. No other
    /// connection can write meanwhile.
    pub fn transaction<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.begin("BEGIN IMMEDIATE", work)
    }

    fn begin<T>(&mut self, begin: &str, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.execute(begin)?;
        let done = work(self).and_then(|done| self.execute("COMMIT").map(|()| done));
        if done.is_err() && !self.connection.is_autocommit() {
            // Some failures roll back everything themselves; the first one is the one to report.
            let _ = self.execute("ROLLBACK");
        }
        done
    }

    fn execute(&self, statement: &str) -> Result<()> {
        self.run(|connection| connection.prepare_cached(statement)?.execute([]).map(drop))
    }

    /// Returns the number of rows; `None` in an empty store.
    pub fn size(&self) -> Result<Option<u64>> {
        self.run(|connection| {
            connection.prepare_cached("SELECT size FROM head")?.query_row([], |row| row.get(0)).optional()
        })
    }

    /// Writes rows, postings, tiles and head of a commit.
    pub fn write(&self, commit: &Commit) -> Result<()> {
        self.write_rows(&commit.rows)?;
        self.write_postings(commit)?;
        self.write_tiles(&commit.tiles)?;
        self.run(|connection| {
            let mut insert = connection.prepare_cached(
                "INSERT INTO head (one, size, checkpoint) VALUES (1, ?1, ?2) \
                 ON CONFLICT (one) DO UPDATE SET size = ?1, checkpoint = ?2",
            )?;
            insert.execute(params![commit.head.size, commit.head.checkpoint]).map(drop)
        })
    }

    fn write_rows(&self, rows: &[Row]) -> Result<()> {
        let mut packer = Packer::default();
        for rows in block::cut(rows) {
            let packed = packer.pack(rows).map_err(Error::Failed)?;
            self.run(|connection| {
                let mut insert = connection
                    .prepare_cached("INSERT INTO block (first, rows, packed) VALUES (?1, ?2, ?3)")?;
                insert.execute(params![rows.first().map(|row| row.position), rows.len(), packed]).map(drop)
            })?;
        }
        Ok(())
    }

    fn write_postings(&self, Commit { rows, postings, .. }: &Commit) -> Result<()> {
        let Some(Row { position: first, .. }) = rows.first() else { return Ok(()) };
        let blob = postings::blob(*first, postings)
            .ok_or_else(|| Error::Failed(String::from("a posting finds none of the rows of its commit")))?;
        self.run(|connection| {
            let mut insert =
                connection.prepare_cached("INSERT INTO posting (first, hashes) VALUES (?1, ?2)")?;
            insert.execute(params![first, blob]).map(drop)
        })
    }

    /// Adds to each tile the hashes that it does not have yet: a log only grows, so those that it has stay as they are.
    fn write_tiles(&self, tiles: &[(Tile, Vec<u8>)]) -> Result<()> {
        self.run(|connection| {
            let mut length = connection.prepare_cached(
                "SELECT coalesce(sum(length(hashes)), 0) FROM tile WHERE place >= ?1 AND place < ?2",
            )?;
            let mut insert = connection.prepare_cached("INSERT INTO tile (place, hashes) VALUES (?1, ?2)")?;
            for (tile, hashes) in tiles {
                let Range { start, end } = places(*tile);
                let stored: usize = length.query_row([start, end], |row| row.get(0))?;
                if let Some(new) = hashes.get(stored..).filter(|new| !new.is_empty()) {
                    insert.execute(params![start + signed((stored / Hash::BYTES) as u64), new])?;
                }
            }
            Ok(())
        })
    }

    /// Reads into memory the postings that were logged since they were last read.
    pub(crate) fn load_postings(&self) -> Result<()> {
        let Some(size) = self.size()? else { return Ok(()) };
        let known = self.postings.end();
        if size <= known {
            return Ok(());
        }
        let mut batch = Batch::default();
        let mut broken = None;
        self.run(|connection| {
            let mut select = connection
                .prepare_cached("SELECT first, hashes FROM posting WHERE first >= ?1 ORDER BY first")?;
            let mut found = select.query([signed(known)])?;
            while let Some(row) = found.next()? {
                let first = row.get(0)?;
                if !batch.read(first, row.get_ref(1)?.as_blob()?) {
                    broken.get_or_insert(first);
                }
            }
            Ok(())
        })?;
        if let Some(first) = broken {
            let problem = format!("the postings of the rows from {first} on cannot be read");
            return Err(self.place.damaged(&problem));
        }
        // What was committed after the size was read may be in the batch too, and is loaded again.
        self.postings.extend(batch, size);
        Ok(())
    }

    /// Shows `take` each row at `positions`, in order.
    fn each_row(&mut self, mut positions: Range<u64>, mut take: impl FnMut(Stored<'_>)) -> Result<()> {
        let Self { connection, place, block, .. } = self;
        if block.positions().contains(&positions.start) {
            block.rows(&positions).for_each(&mut take);
            positions.start = block.positions().end;
        }
        if positions.is_empty() {
            return Ok(());
        }
        let failed = |error| place.error(&error);
        let mut select = connection.prepare_cached(BLOCKS).map_err(failed)?;
        let range = [signed(positions.start), signed(positions.end)];
        let mut found = select.query(range).map_err(failed)?;
        while let Some(row) = found.next().map_err(failed)? {
            let read = || Ok((row.get(0)?, row.get(1)?, row.get_ref(2)?.as_blob()?));
            let (first, rows, packed) = read().map_err(failed)?;
            block.unpack(first, rows, packed).map_err(|problem| place.damaged(&problem))?;
            block.rows(&positions).for_each(&mut take);
            // Each row comes once, even if damaged blocks overlap.
            positions.start = positions.start.max(block.positions().end);
        }
        if block.is_large() {
            *block = Block::default();
        }
        Ok(())
    }

    /// Returns whether `term` finds the row at `position`, as its entry says.
    fn is_found(&mut self, position: u64, term: Term) -> Result<bool> {
        let mut is_found = false;
        self.each_row(position..position.saturating_add(1), |row| {
            // An entry that cannot be read is found by nothing; a check of the store reports it.
            is_found = Entry::parse(row.entry).is_ok_and(|entry| entry.terms().contains(&term));
        })?;
        Ok(is_found)
    }
}

/// The blocks with rows at these positions, from the one on that the first is in.
const BLOCKS: &str = "SELECT first, rows, packed FROM block \
     WHERE first >= coalesce((SELECT max(first) FROM block WHERE first <= ?1), ?1) AND first < ?2 ORDER BY first";

/// Returns the places of the hashes of a tile: those of one level follow each other, and the level that grows most
/// comes last, where a table takes new rows most easily.
fn places(tile: Tile) -> Range<i64> {
    const LEVEL_BITS: u32 = 56;
    const LEVELS: u64 = 64;
    let level = LEVELS.saturating_sub(1 + u64::from(tile.level)) << LEVEL_BITS;
    let start = level + tile.number.saturating_mul(TILE_HASHES).min((1 << LEVEL_BITS) - TILE_HASHES);
    signed(start)..signed(start + TILE_HASHES)
}

/// Converts a number to one that SQLite can store; no stored number is larger.
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
        let mut rows = Vec::new();
        self.each_row(positions, |Stored { position, known, entry, content }| {
            rows.push(Row { position, known, entry: entry.to_vec(), content: content.to_vec() });
        })?;
        Ok(rows)
    }

    fn positions(
        &mut self,
        term: Term,
        mut range: Range<u64>,
        order: Order,
        limit: usize,
    ) -> Result<Vec<u64>> {
        if range.end > self.postings.end() {
            self.load_postings()?;
        }
        let mut found = Vec::new();
        while found.len() < limit {
            let wanted = limit - found.len();
            let candidates = self.postings.candidates(term, &range, order, wanted);
            match (candidates.last(), order) {
                (None, _) => break,
                (Some(last), Order::Oldest) => range.start = last + 1,
                (Some(last), Order::Newest) => range.end = *last,
            }
            for position in candidates {
                // A row that another connection committed may not be visible here yet.
                if self.is_found(position, term)? {
                    found.push(position);
                }
            }
        }
        Ok(found)
    }

    fn tile(&mut self, tile: Tile) -> Result<Vec<u8>> {
        let Range { start, end } = places(tile);
        self.run(|connection| {
            let mut select = connection
                .prepare_cached("SELECT hashes FROM tile WHERE place >= ?1 AND place < ?2 ORDER BY place")?;
            let parts: Vec<Vec<u8>> =
                select.query_map([start, end], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            Ok(parts.concat())
        })
    }

    fn together(&mut self, work: &mut Work<'_>) -> Result<()> {
        if self.connection.is_autocommit() { self.begin("BEGIN", |tables| work(tables)) } else { work(self) }
    }

    fn totals(&mut self) -> Result<Totals> {
        let (rows, posting_bytes, tiles) = self.run(|connection| {
            connection.query_row(
                "SELECT (SELECT coalesce(sum(rows), 0) FROM block), \
                 (SELECT coalesce(sum(length(hashes)), 0) FROM posting), \
                 (SELECT count(DISTINCT place >> 8) FROM tile)",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
        })?;
        let postings =
            postings::count(posting_bytes).ok_or_else(|| self.place.damaged("some postings are cut off"))?;
        Ok(Totals { rows, postings, tiles })
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
