//! Reading a store: items as they were known at a size of the log, lists, proofs, tiles, receipts.

use std::ops::Range;

use crate::error::Error;
use crate::item::{Entry, Term};
use crate::kind::Kind;
use crate::log::{self, BUNDLE_ENTRY_MAX_BYTES, Hash, Rotation, TILE_HASHES, Tile, TilePath};
use crate::port::{Head, Order, Read, Row};
use crate::receipt::Receipt;
use karat_core::timestamp::Timestamp;

/// An item that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its place in the log.
    pub position: u64,
    /// Its entry in the log.
    pub entry: Entry,
    /// Its content.
    pub content: Vec<u8>,
}

/// A reader of a store. It has no lock between calls, and the writer never waits for it; make one for each thread.
///
/// A log only grows, so its size is a state of the store: `size` in the calls below says which. [`Self::size_at`] gives the
/// size for a moment, [`Self::head`] the latest one.
pub struct Reader {
    backend: Box<dyn Read>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reader")
    }
}

impl Reader {
    /// Makes a reader of the store that `backend` reads.
    pub fn new(backend: Box<dyn Read>) -> Self {
        Self { backend }
    }

    /// Returns the backend underneath.
    pub(crate) fn backend(&mut self) -> &mut dyn Read {
        &mut *self.backend
    }

    /// Returns the latest head of the log.
    ///
    /// # Errors
    /// If the store cannot be read, or was never written to.
    pub fn head(&mut self) -> Result<Head, Error> {
        self.backend.head()?.ok_or_else(|| Error::Damaged(String::from("it has no head")))
    }

    /// Returns the size of the log at `moment`: the number of entries before the first one that was handed in later. An entry
    /// whose moment lies before that of an earlier entry became known with that one, so a clock that was put back hides
    /// nothing.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn size_at(&mut self, moment: Timestamp) -> Result<u64, Error> {
        let mut range = 0..self.head()?.size;
        while !range.is_empty() {
            let middle = range.start + (range.end - range.start) / 2;
            if self.row(middle)?.known <= moment { range.start = middle + 1 } else { range.end = middle }
        }
        Ok(range.start)
    }

    /// Finds the item with that id, as of `size`.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn find(&mut self, kind: Kind, id: &str, size: u64) -> Result<Option<Item>, Error> {
        self.first(Term::id(kind, id), size)
    }

    /// Returns the item that replaced the one with the id `old`, as of `size`.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn replacement(&mut self, kind: Kind, old: &str, size: u64) -> Result<Option<Item>, Error> {
        self.first(Term::replaced(kind, old), size)
    }

    /// Returns the items that `term` finds at positions within `range`, at most `limit`, in that order.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list(
        &mut self,
        term: Term,
        range: Range<u64>,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Item>, Error> {
        let positions = self.backend.positions(term, range, order, limit)?;
        positions.into_iter().map(|position| self.item(position)).collect()
    }

    /// Returns every item at a position within `range`.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn items(&mut self, range: Range<u64>) -> Result<Vec<Item>, Error> {
        self.backend.rows(range)?.into_iter().map(item).collect()
    }

    /// Returns the item at that position.
    ///
    /// # Errors
    /// If there is no such item, or if the store cannot be read.
    pub fn item(&mut self, position: u64) -> Result<Item, Error> {
        item(self.row(position)?)
    }

    /// Returns the proof that the entry at `position` is in the log of that `size`.
    ///
    /// # Errors
    /// If it is not, or if the store cannot be read.
    pub fn inclusion(&mut self, position: u64, size: u64) -> Result<Vec<Hash>, Error> {
        log::inclusion(position, size, |tile| self.backend.tile(tile))
    }

    /// Returns the proof that the log of size `new` goes on from that of size `old`.
    ///
    /// # Errors
    /// If it does not, or if the store cannot be read.
    pub fn consistency(&mut self, old: u64, new: u64) -> Result<Vec<Hash>, Error> {
        log::consistency(old, new, |tile| self.backend.tile(tile))
    }

    /// Returns the root of the log at that `size`.
    ///
    /// # Errors
    /// If it was never that large, or if the store cannot be read.
    pub fn root(&mut self, size: u64) -> Result<Hash, Error> {
        log::root_of(size, |tile| self.backend.tile(tile))
    }

    /// Returns the bytes that the C2SP document `tlog-tiles` puts at `path`; none if the log has too few entries.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn resource(&mut self, path: TilePath) -> Result<Option<Vec<u8>>, Error> {
        let (tile, width) = match path {
            TilePath::Hashes { tile, width } => (tile, width),
            TilePath::Entries { number, width } => (Tile { level: 0, number }, width),
        };
        if width == 0 || tile.width(self.head()?.size) < width {
            return Ok(None);
        }
        match path {
            TilePath::Hashes { .. } => {
                let mut bytes = self.backend.tile(tile)?;
                bytes.truncate(usize::try_from(width).unwrap_or(usize::MAX).saturating_mul(Hash::BYTES));
                Ok(Some(bytes))
            }
            TilePath::Entries { number, .. } => {
                let start = number * TILE_HASHES;
                let rows = self.backend.rows(start..start + width)?;
                let long =
                    || Error::Damaged(format!("an entry is longer than {BUNDLE_ENTRY_MAX_BYTES} bytes"));
                log::bundle(rows.iter().map(|row| row.entry.as_slice())).map(Some).ok_or_else(long)
            }
        }
    }

    /// Returns the changes of the key of the log as of `size`, each with the position of its entry.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn rotations(&mut self, size: u64) -> Result<Vec<(u64, Rotation)>, Error> {
        let mut found = Vec::new();
        while let Some(item) = self.find(Kind::Key, &Rotation::id(found.len() as u64 + 1), size)? {
            let position = item.position;
            let wrong = |problem: String| Error::Damaged(format!("the entry {position}: {problem}"));
            let change = Rotation::parse(&item.content).map_err(wrong)?;
            found.push((position, change.ok_or_else(|| wrong(String::from("it is not a change of a key")))?));
        }
        Ok(found)
    }

    /// Returns the receipt of the item at `position`, against the latest head.
    ///
    /// # Errors
    /// If there is no such item, if its content is not text, or if the store cannot be read.
    pub fn receipt(&mut self, position: u64) -> Result<Receipt, Error> {
        let head = self.head()?;
        self.receipt_at(position, head)
    }

    /// Does the same against an earlier head of this log, whose checkpoint may have cosignatures.
    ///
    /// # Errors
    /// If [`Self::receipt`] fails, or if the head does not cover the item.
    pub fn receipt_at(&mut self, position: u64, head: Head) -> Result<Receipt, Error> {
        let Head { size, checkpoint } = head;
        let Item { entry, content, .. } = self.item(position)?;
        let content = String::from_utf8(content)
            .map_err(|_| Error::Failed(format!("the content of the entry {position} is not text (UTF-8)")))?;
        let path = self.inclusion(position, size)?;
        Ok(Receipt { content, entry, index: position, path, checkpoint })
    }

    fn first(&mut self, term: Term, size: u64) -> Result<Option<Item>, Error> {
        Ok(self.list(term, 0..size, Order::Oldest, 1)?.pop())
    }

    fn row(&mut self, position: u64) -> Result<Row, Error> {
        let row = self.backend.rows(position..position.saturating_add(1))?.pop();
        row.ok_or_else(|| Error::Failed(format!("the log has no entry {position}")))
    }
}

fn item(row: Row) -> Result<Item, Error> {
    let Row { position, entry, content, .. } = row;
    let entry =
        Entry::parse(&entry).map_err(|problem| Error::Damaged(format!("the entry {position}: {problem}")))?;
    Ok(Item { position, entry, content })
}
