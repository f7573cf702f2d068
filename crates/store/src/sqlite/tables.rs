//! Reading and writing the tables: the port, in SQL.

use std::ops::Range;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::block::{self, Block, Packer, Stored};
use super::filter::Filter;
use super::recent::{Posting, Recent};
use super::{Place, Result, schema};
use crate::error::Error;
use crate::item::{Entry, Term};
use crate::log::{Hash, TILE_HASHES, Tile};
use crate::port::{Commit, Head, Order, Read, Row, Totals, Work};

/// Rows that are read at a time where their postings are worked out.
const CHUNK_ROWS: u64 = 1024;

/// A connection to a store.
pub(super) struct Tables {
    pub connection: Connection,
    pub place: Place,
    pub recent: Arc<Recent>,
    /// Within a transaction, the sizes at its beginning.
    pub fixed: Option<Sizes>,
    /// Of the writer, which terms are certainly not stored.
    pub filter: Option<Filter>,
    /// The block that was read last. What is committed never changes, so it need not be read again for its next row.
    pub block: Block,
}

/// How far rows and postings go.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// How many rows there are.
    pub rows: u64,
    /// How many of the first ones have their postings in the table.
    pub indexed: u64,
}

impl Tables {
    fn run<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.connection).map_err(|error| self.place.error(&error))
    }

    /// Runs `work` in one transaction, which is synced when this returns, or taken back if `work` fails. Nobody else can
    /// write meanwhile.
    pub fn transaction<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.begin("BEGIN IMMEDIATE", work)
    }

    fn begin<T>(&mut self, begin: &str, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.execute(begin)?;
        let begun = self.cover().map(|sizes| self.fixed = sizes);
        let done = begun.and_then(|()| work(self)).and_then(|done| self.execute("COMMIT").map(|()| done));
        if done.is_err() {
            // It may be one that was written just now, and is taken back.
            self.block = Block::default();
            if !self.connection.is_autocommit() {
                // Some failures take back everything themselves; the first one is the one to tell.
                let _ = self.execute("ROLLBACK");
            }
        }
        self.fixed = None;
        done
    }

    fn execute(&self, statement: &str) -> Result<()> {
        self.run(|connection| connection.prepare_cached(statement)?.execute([]).map(drop))
    }

    /// Lets a transaction of a reader, if there is one, see what was committed since it began: postings that were in memory
    /// then are in the table now. The writer has no need of it, for nobody else moves them.
    fn look_again(&self) -> Result<()> {
        if self.connection.is_autocommit() {
            return Ok(());
        }
        self.execute("COMMIT")?;
        self.execute("BEGIN")
    }

    /// How far rows and postings go; none in an empty store.
    pub fn sizes(&self) -> Result<Option<Sizes>> {
        self.run(|connection| {
            let mut select = connection.prepare_cached("SELECT size, indexed FROM head")?;
            select.query_row([], |row| Ok(Sizes { rows: row.get(0)?, indexed: row.get(1)? })).optional()
        })
    }

    /// Writes rows, tiles and head of a commit; its postings follow later, with many others.
    pub fn write(&self, commit: &Commit) -> Result<()> {
        self.write_rows(&commit.rows)?;
        self.write_tiles(&commit.tiles)?;
        self.run(|connection| {
            let mut insert = connection.prepare_cached(
                "INSERT INTO head (one, size, indexed, checkpoint) VALUES (1, ?1, 0, ?2) \
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

    /// Sees to it that the postings which are not in the table are in memory, and says of which rows; none in an empty
    /// store. The process that writes has them from its commits, others work them out.
    pub fn cover(&mut self) -> Result<Option<Sizes>> {
        if self.fixed.is_some() {
            return Ok(self.fixed);
        }
        loop {
            let Some(sizes) = self.sizes()? else { return Ok(None) };
            {
                let state = self.recent.read();
                if state.rows.start <= sizes.indexed && sizes.rows <= state.rows.end {
                    return Ok(Some(sizes));
                }
                if state.rows.start > sizes.indexed && state.rows.end > 0 {
                    // Postings went into the table after the sizes were read.
                    drop(state);
                    self.look_again()?;
                    continue;
                }
            }
            let recent = Arc::clone(&self.recent);
            let mut state = recent.write();
            state.forget_before(sizes.indexed);
            while state.rows.end < sizes.rows {
                let end = sizes.rows.min(state.rows.end + CHUNK_ROWS);
                let mut postings = Vec::new();
                self.each_row(state.rows.end..end, |Stored { position, entry, .. }| {
                    // An entry that cannot be read is reported by whoever reads it.
                    let terms = Entry::parse(entry).map(|entry| entry.terms()).unwrap_or_default();
                    postings.extend(terms.into_iter().map(|term| (term, position)));
                })?;
                state.extend(postings, end);
            }
        }
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
            let unpacked = block.unpack(first, rows, packed);
            unpacked.map_err(|problem| Error::Damaged(format!("`{}`: {problem}", place.path.display())))?;
            block.rows(&positions).for_each(&mut take);
            // Whatever damaged blocks say, a row comes once.
            positions.start = positions.start.max(block.positions().end);
        }
        if block.is_large() {
            *block = Block::default();
        }
        Ok(())
    }

    /// Writes postings into their table, where they may stand already; they come in its order.
    pub fn index(&self, postings: &[Posting]) -> Result<()> {
        self.run(|connection| {
            let mut insert = connection
                .prepare_cached("INSERT OR IGNORE INTO posting (term, position) VALUES (?1, ?2)")?;
            for (term, position) in postings {
                insert.execute(params![term.0, position])?;
            }
            Ok(())
        })
    }

    /// Says that all postings of the rows before `end` are in their table.
    pub fn set_indexed(&self, end: u64) -> Result<()> {
        self.run(|connection| {
            connection.prepare_cached("UPDATE head SET indexed = ?1")?.execute([end]).map(drop)
        })
    }

    /// The first `limit` of the terms after `term` in their table; one may come more than once.
    pub fn terms_after(&self, term: &[u8], limit: usize) -> Result<Vec<Term>> {
        self.run(|connection| {
            let mut select = connection
                .prepare_cached("SELECT term FROM posting WHERE term > ?1 ORDER BY term LIMIT ?2")?;
            select.query_map(params![term, limit], |row| row.get(0).map(Term))?.collect()
        })
    }

    /// The positions of `term` that the table has.
    pub fn indexed(&self, term: Term, range: &Range<u64>, order: Order, limit: usize) -> Result<Vec<u64>> {
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
}

/// The blocks with rows at these positions, from the one on that the first is in.
const BLOCKS: &str = "SELECT first, rows, packed FROM block \
     WHERE first >= coalesce((SELECT max(first) FROM block WHERE first <= ?1), ?1) AND first < ?2 ORDER BY first";
const OLDEST: &str = "SELECT position FROM posting WHERE term = ?1 AND position >= ?2 AND position < ?3 \
     ORDER BY position LIMIT ?4";
const NEWEST: &str = "SELECT position FROM posting WHERE term = ?1 AND position >= ?2 AND position < ?3 \
     ORDER BY position DESC LIMIT ?4";

/// The places of the hashes of a tile: those of one level follow each other, and the level that grows most comes last, where
/// a table takes new rows most easily.
fn places(tile: Tile) -> Range<i64> {
    const LEVEL_BITS: u32 = 56;
    const LEVELS: u64 = 64;
    let level = LEVELS.saturating_sub(1 + u64::from(tile.level)) << LEVEL_BITS;
    let start = level + tile.number.saturating_mul(TILE_HASHES).min((1 << LEVEL_BITS) - TILE_HASHES);
    signed(start)..signed(start + TILE_HASHES)
}

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
        let mut rows = Vec::new();
        self.each_row(positions, |Stored { position, known, entry, content }| {
            rows.push(Row { position, known, entry: entry.to_vec(), content: content.to_vec() });
        })?;
        Ok(rows)
    }

    fn positions(&mut self, term: Term, range: Range<u64>, order: Order, limit: usize) -> Result<Vec<u64>> {
        if self.filter.as_ref().is_some_and(|filter| !filter.may_have(term)) {
            return Ok(Vec::new());
        }
        loop {
            let Some(sizes) = self.cover()? else { return Ok(Vec::new()) };
            // What was committed since the sizes were read is left out, here as there.
            let old = range.start..range.end.min(sizes.indexed);
            let new = range.start.max(sizes.indexed)..range.end.min(sizes.rows);
            let mut found = if old.is_empty() { Vec::new() } else { self.indexed(term, &old, order, limit)? };
            let state = self.recent.read();
            if state.rows.start > sizes.indexed {
                drop(state);
                self.fixed = None;
                self.look_again()?;
                continue;
            }
            let recent = state.positions(term, new, order, limit);
            match order {
                Order::Oldest => found.extend(recent),
                Order::Newest => {
                    found.splice(0..0, recent);
                }
            }
            found.truncate(limit);
            return Ok(found);
        }
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
        if self.fixed.is_some() { work(self) } else { self.begin("BEGIN", |tables| work(tables)) }
    }

    fn totals(&mut self) -> Result<Totals> {
        let Some(sizes) = self.cover()? else { return Ok(Totals { rows: 0, postings: 0, tiles: 0 }) };
        let recent =
            self.recent.read().postings().filter(|(_, at)| (sizes.indexed..sizes.rows).contains(at)).count()
                as u64;
        self.run(|connection| {
            connection.query_row(
                // Of the rows between, the table may have some postings already.
                "SELECT (SELECT coalesce(sum(rows), 0) FROM block), (SELECT count(*) FROM posting WHERE position < indexed \
                 OR position >= size), (SELECT count(DISTINCT place >> 8) FROM tile) FROM head",
                [],
                |row| {
                    let postings: u64 = row.get(1)?;
                    Ok(Totals { rows: row.get(0)?, postings: postings + recent, tiles: row.get(2)? })
                },
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
