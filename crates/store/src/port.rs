//! The contract of a database that stores a log: rows, postings, tiles and a head, written together. The layers above know
//! what the rows mean, the same for every database.
//!
//! `tests/contract.rs` is the contract as a test, and runs for every backend.

use std::ops::Range;

use crate::error::Error;
use crate::item::Term;
use crate::log::Tile;
use karat_core::timestamp::Timestamp;

/// An item in a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The place in the log, from 0, without gaps.
    pub position: u64,
    /// The moment from which on it is known: the latest moment of all entries up to this one.
    pub known: Timestamp,
    /// The entry, as it is hashed.
    pub entry: Vec<u8>,
    /// The content.
    pub content: Vec<u8>,
}

/// The signed head of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The number of rows.
    pub size: u64,
    /// The signed checkpoint of the tree of that size.
    pub checkpoint: String,
}

/// A change that is written as a whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The size of the log that it goes on from; `None` for the first.
    pub after: Option<u64>,
    /// New rows, the first at the place `after`.
    pub rows: Vec<Row>,
    /// The postings of the new rows: each term of an entry, with the position of its row.
    pub postings: Vec<(Term, u64)>,
    /// Tiles that are new or longer than before.
    pub tiles: Vec<(Tile, Vec<u8>)>,
    /// The head with the new rows.
    pub head: Head,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The lowest position comes first.
    Oldest,
    /// The highest position comes first.
    Newest,
}

/// The size of everything that is stored, for comparison with what the log accounts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Rows.
    pub rows: u64,
    /// Postings.
    pub postings: u64,
    /// Tiles.
    pub tiles: u64,
}

/// A database that stores a log.
pub trait Backend: Send + Sync + 'static {
    /// Opens the one writer.
    ///
    /// # Errors
    /// If there is one already, here or in another process, or if the database cannot be written.
    fn writer(&self) -> Result<Box<dyn Write>, Error>;

    /// Opens a reader; there may be many, and none keeps the writer waiting.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn reader(&self) -> Result<Box<dyn Read>, Error>;
}

/// Work that reads much.
pub type Work<'a> = dyn FnMut(&mut dyn Read) -> Result<(), Error> + 'a;

/// Reading. Every call sees each commit that was made before it as a whole, and nothing of any other.
///
/// Each call fails where the database cannot be read or is damaged.
pub trait Read: Send {
    /// Returns the head; `None` before the first commit.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn head(&mut self) -> Result<Option<Head>, Error>;

    /// Returns the rows at those positions that exist, in order.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn rows(&mut self, positions: Range<u64>) -> Result<Vec<Row>, Error>;

    /// Returns the first `limit` positions within `range` of rows that `term` finds, in that order.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn positions(
        &mut self,
        term: Term,
        range: Range<u64>,
        order: Order,
        limit: usize,
    ) -> Result<Vec<u64>, Error>;

    /// Returns the bytes of a tile, as they were last written; none if they never were.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn tile(&mut self, tile: Tile) -> Result<Vec<u8>, Error>;

    /// Runs `work`, which reads much. Its calls may leave out what was committed since it began, so that the database need
    /// not look for that before each call.
    ///
    /// # Errors
    /// If `work` fails, or if the database cannot be read.
    fn together(&mut self, work: &mut Work<'_>) -> Result<(), Error>;

    /// Counts what is stored.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn totals(&mut self) -> Result<Totals, Error>;

    /// Returns the problems that the database itself finds in its file.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn damage(&mut self) -> Result<Vec<String>, Error>;
}

/// A decision about what is stored: a commit, or nothing to write.
pub type Plan<'a> = dyn FnMut(&mut dyn Read) -> Result<Option<Commit>, Error> + 'a;

/// Writing.
pub trait Write: Send {
    /// Writes the commit that `plan` decides on, and returns when it would outlive a loss of power.
    ///
    /// # Errors
    /// If nothing was written: `plan` failed, the database cannot be written, or, as [`Error::Overtaken`], the log does not
    /// have the size `after`.
    fn commit(&mut self, plan: &mut Plan<'_>) -> Result<(), Error>;
}
