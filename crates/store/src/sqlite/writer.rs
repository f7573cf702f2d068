//! The one connection that writes.

use std::fs::File;

use super::postings::Batch;
use super::tables::Tables;
use super::{Place, Result};
use crate::error::Error;
use crate::port::{Plan, Write};

pub(super) struct SqliteWriter {
    tables: Tables,
    /// Holds the lock, which the system gives back when it is closed, however the process ends.
    _lock: File,
}

impl SqliteWriter {
    pub fn open(tables: Tables, lock: File) -> Result<Self> {
        // A write-ahead log that filled its disk would stay full otherwise.
        checkpoint(&tables);
        tables.load_postings()?;
        Ok(Self { tables, _lock: lock })
    }
}

impl Drop for SqliteWriter {
    /// Empties the write-ahead log, so that a stopped store is one file.
    fn drop(&mut self) {
        checkpoint(&self.tables);
    }
}

/// Copies the write-ahead log into the file and empties it. Where that fails, or a reader is in the way, it stays as long
/// as it is and nothing is lost: it is part of the store.
fn checkpoint(Tables { connection, place, .. }: &Tables) {
    let _: Result<i64> = Place::query(place, connection, "PRAGMA wal_checkpoint(TRUNCATE)");
}

impl Write for SqliteWriter {
    fn commit(&mut self, plan: &mut Plan<'_>) -> Result<()> {
        let written = self.tables.transaction(|tables| {
            let found = tables.size()?;
            let Some(commit) = plan(tables)? else { return Ok(None) };
            if found != commit.after {
                let [expected, found] = [commit.after, found].map(Option::unwrap_or_default);
                return Err(Error::Overtaken { expected, found });
            }
            tables.write(&commit)?;
            Ok(Some(commit))
        })?;
        // Only now: what is not committed must not be found.
        if let Some(commit) = written {
            let mut batch = Batch::default();
            batch.add(&commit.postings);
            self.tables.postings.extend(batch, commit.head.size);
        }
        Ok(())
    }
}
