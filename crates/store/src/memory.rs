//! A store in memory: for tests, and the shortest implementation of the contract of a database.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Error;
use crate::item::Term;
use crate::log::Tile;
use crate::port::{Backend, Head, Order, Plan, Read, Row, Totals, Work, Write};

/// A store in memory, gone when the last handle is dropped.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    tables: Arc<Mutex<Tables>>,
}

#[derive(Debug, Default)]
struct Tables {
    head: Option<Head>,
    rows: Vec<Row>,
    postings: BTreeSet<(Term, u64)>,
    tiles: BTreeMap<Tile, Vec<u8>>,
    writers: usize,
}

impl Memory {
    /// Makes an empty one.
    pub fn new() -> Self {
        Self::default()
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        // Every change is made whole before the lock is let go, so what a panic elsewhere left is sound.
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Memory {
    fn writer(&self) -> Result<Box<dyn Write>, Error> {
        let mut tables = self.tables();
        if tables.writers > 0 {
            return Err(Error::Locked("(memory)".into()));
        }
        tables.writers += 1;
        Ok(Box::new(Writer(self.clone())))
    }

    fn reader(&self) -> Result<Box<dyn Read>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Read for Memory {
    fn head(&mut self) -> Result<Option<Head>, Error> {
        Ok(self.tables().head.clone())
    }

    fn rows(&mut self, positions: Range<u64>) -> Result<Vec<Row>, Error> {
        let start = usize::try_from(positions.start).unwrap_or(usize::MAX);
        let count = usize::try_from(positions.end.saturating_sub(positions.start)).unwrap_or(usize::MAX);
        Ok(self.tables().rows.iter().skip(start).take(count).cloned().collect())
    }

    fn positions(
        &mut self,
        term: Term,
        range: Range<u64>,
        order: Order,
        limit: usize,
    ) -> Result<Vec<u64>, Error> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let tables = self.tables();
        let found =
            tables.postings.range((term, range.start)..(term, range.end)).map(|(_, position)| *position);
        Ok(match order {
            Order::Oldest => found.take(limit).collect(),
            Order::Newest => found.rev().take(limit).collect(),
        })
    }

    fn tile(&mut self, tile: Tile) -> Result<Vec<u8>, Error> {
        Ok(self.tables().tiles.get(&tile).cloned().unwrap_or_default())
    }

    fn together(&mut self, work: &mut Work<'_>) -> Result<(), Error> {
        work(self)
    }

    fn totals(&mut self) -> Result<Totals, Error> {
        let tables = self.tables();
        Ok(Totals {
            rows: tables.rows.len() as u64,
            postings: tables.postings.len() as u64,
            tiles: tables.tiles.len() as u64,
        })
    }

    fn damage(&mut self) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }
}

/// The right to write, given back when it is dropped.
struct Writer(Memory);

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.tables().writers -= 1;
    }
}

impl Write for Writer {
    fn commit(&mut self, plan: &mut Plan<'_>) -> Result<(), Error> {
        // The plan reads without the lock held: there is no other writer that could come between.
        let Some(commit) = plan(&mut self.0)? else { return Ok(()) };
        let mut tables = self.0.tables();
        let size = tables.head.as_ref().map(|head| head.size);
        if size != commit.after {
            let [expected, found] = [commit.after, size].map(Option::unwrap_or_default);
            return Err(Error::Overtaken { expected, found });
        }
        tables.rows.extend(commit.rows);
        tables.postings.extend(commit.postings);
        tables.tiles.extend(commit.tiles);
        tables.head = Some(commit.head);
        Ok(())
    }
}
