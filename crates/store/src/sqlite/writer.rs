//! The one connection that writes, and what it does between commits: move postings into their table, have the write-ahead
//! log carried over into the file.

use std::ffi::c_int;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::hooks::Wal;

use super::ahead::CommittedNote;
use super::carry::{self, CARRY_PAGES, Carrying};
use super::filter::{Filter, Swept};
use super::recent::Posting;
use super::tables::Tables;
use super::{AHEAD, Result};
use crate::error::Error;
use crate::port::{Plan, Write};

/// From so many postings in memory on they are moved into their table.
const INDEX_POSTINGS: usize = 256 * 1024;
/// How many of them go there with each new one. Twice as many as come, so that memory holds half as many again at most.
const INDEX_RATE: usize = 2;
/// Terms of the table that go into the filter at a time.
const SWEEP_TERMS: usize = 8 * 1024;
pub(super) struct SqliteWriter {
    tables: Tables,
    carrying: Carrying,
    indexing: Option<Indexing>,
    /// How many pages the write-ahead log has, as the last commit left it.
    logged: Arc<AtomicU64>,
    /// Holds the lock, which the system gives back when it is closed, however the process ends.
    committed: CommittedNote,
}

/// Postings on their way into the table, some with every commit, so that none takes long. Nobody sees them there before all
/// of their rows are said to be indexed; those of a process that was stopped are written again.
struct Indexing {
    /// The last one that is there.
    last: Option<Posting>,
    /// They are those of the rows before this one.
    end: u64,
}

impl SqliteWriter {
    pub fn open(mut tables: Tables, lock: File) -> Result<Self> {
        tables.cover()?;
        let mut filter = Filter::default();
        tables.recent.read().postings().for_each(|(term, _)| filter.add(*term));
        tables.filter = Some(filter);
        let carrying = Carrying::open(&tables.place)?;
        let committed = CommittedNote::open(&tables.place.beside(AHEAD), lock)
            .map_err(|error| tables.place.io_error("read the log of", &error))?;
        let logged = Arc::new(AtomicU64::new(0));
        let told = Arc::clone(&logged);
        let tell = move |_: &mut Wal, pages: c_int| {
            told.store(u64::from(pages.unsigned_abs()), Ordering::Relaxed);
            Ok(())
        };
        tables.connection.wal_hook(Some(tell)).map_err(|error| tables.place.error(&error))?;
        Ok(Self { tables, carrying, indexing: None, logged, committed })
    }

    /// Begins to move the postings in memory into the table, from so many on.
    fn start_indexing(&mut self, many: usize) {
        let state = self.tables.recent.read();
        if self.indexing.is_none() && state.count() >= many {
            self.indexing = Some(Indexing { last: None, end: state.rows.end });
        }
    }

    /// Adds the next terms of the table to the filter, until it has them all.
    fn sweep(&mut self) -> Result<()> {
        let Some(after) = self.tables.filter.as_ref().map(Filter::swept) else { return Ok(()) };
        let terms = match after {
            Swept::Nothing => self.tables.terms_after(&[], SWEEP_TERMS)?,
            Swept::UpTo(term) => self.tables.terms_after(&term.0, SWEEP_TERMS)?,
            Swept::All => return Ok(()),
        };
        if let Some(filter) = &mut self.tables.filter {
            filter.sweep(&terms, terms.len() < SWEEP_TERMS);
        }
        Ok(())
    }
}

impl Drop for SqliteWriter {
    fn drop(&mut self) {
        self.carrying.finish();
    }
}

impl Write for SqliteWriter {
    fn commit(&mut self, plan: &mut Plan<'_>) -> Result<()> {
        let recent = Arc::clone(&self.tables.recent);
        let indexing = self.indexing.as_ref();
        let (mut before, mut indexed, mut is_over) = (0, None, false);
        let done = self.tables.transaction(|tables| {
            let found = tables.sizes()?.map(|sizes| sizes.rows);
            before = found.unwrap_or(0);
            let Some(mut commit) = plan(tables)? else { return Ok(()) };
            if found != commit.after {
                return Err(Error::Overtaken { expected: commit.after.unwrap_or(0), found: before });
            }
            tables.write(&commit)?;
            if let Some(Indexing { last, end }) = indexing {
                let many = INDEX_RATE * commit.postings.len();
                let next = recent.read().after(*last, *end, many);
                indexed = next.last().copied();
                is_over = next.len() < many;
                tables.index(&next)?;
                if is_over {
                    tables.set_indexed(*end)?;
                }
            }
            if let Some(filter) = &mut tables.filter {
                commit.postings.iter().for_each(|(term, _)| filter.add(*term));
            }
            // Before the head that covers them can be seen, so that no reader misses them.
            recent.write().extend(std::mem::take(&mut commit.postings), commit.head.size);
            Ok(())
        });
        if done.is_err() {
            recent.write().forget_from(before);
            return done;
        }
        if let Some(indexing) = &mut self.indexing {
            indexing.last = indexed.or(indexing.last);
            if is_over {
                recent.write().forget_before(indexing.end);
                self.indexing = None;
            }
        }
        Ok(())
    }

    fn tidy(&mut self) -> Result<()> {
        self.start_indexing(INDEX_POSTINGS);
        self.sweep()?;
        let Tables { place, connection, .. } = &self.tables;
        let pages = self.logged.load(Ordering::Relaxed);
        self.committed.write(pages).map_err(|error| place.io_error("write the lock of", &error))?;
        let waiting = if pages < CARRY_PAGES {
            pages // at most; to ask how many takes as long as a small commit
        } else {
            let (all, carried_over) = carry::log_pages(place, connection)?;
            all.saturating_sub(carried_over)
        };
        self.carrying.go_on(place, waiting)
    }
}

#[cfg(test)]
mod tests;
