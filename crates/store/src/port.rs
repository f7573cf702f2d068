//! What a database must do to hold a store: keep four tables, write them together, read them. What the rows mean is the
//! matter of the layers above, the same for every database.
//!
//! `tests/contract.rs` says the same as a test, and runs for every backend there is.

use std::ops::Range;

use crate::error::Error;
use crate::item::{Moment, Term};
use crate::log::Tile;

/// An item as a database keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its place in the log, from 0, without gaps.
    pub position: u64,
    /// From when on it is known: the latest moment of all entries up to this one.
    pub known: Moment,
    /// Its entry, as it is hashed.
    pub entry: Vec<u8>,
    /// Its content.
    pub content: Vec<u8>,
}

/// The signed head of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// How many rows there are.
    pub size: u64,
    /// The signed checkpoint of the tree of that size.
    pub checkpoint: String,
}

/// What is written together, or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The size of the log that it goes on from; none where it is the first.
    pub after: Option<u64>,
    /// New rows, the first at the place `after`.
    pub rows: Vec<Row>,
    /// Which terms find which of the new rows.
    pub postings: Vec<(Term, u64)>,
    /// Tiles that are new or longer than before.
    pub tiles: Vec<(Tile, Vec<u8>)>,
    /// The head with the new rows.
    pub head: Head,
}

/// Which end a list begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// With the lowest position.
    Oldest,
    /// With the highest position.
    Newest,
}

/// How much is stored, for whoever compares it with what should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Rows.
    pub rows: u64,
    /// Postings.
    pub postings: u64,
    /// Tiles.
    pub tiles: u64,
}

/// A database that holds a store.
pub trait Backend: Send + Sync + 'static {
    /// The one writer.
    ///
    /// # Errors
    /// That there is one already, here or in another process; that the database cannot be written.
    fn writer(&self) -> Result<Box<dyn Write>, Error>;

    /// A reader; there may be many, and none keeps the writer waiting.
    ///
    /// # Errors
    /// That the database cannot be read.
    fn reader(&self) -> Result<Box<dyn Read>, Error>;
}

/// What reads much of what is stored.
pub type Work<'a> = dyn FnMut(&mut dyn Read) -> Result<(), Error> + 'a;

/// Reading. Every call sees the whole of each commit that was made before it, and nothing of any other.
///
/// Each call fails where the database cannot be read or is damaged.
pub trait Read: Send {
    /// The head; none before the first commit.
    ///
    /// # Errors
    /// That the database cannot be read.
    fn head(&mut self) -> Result<Option<Head>, Error>;

    /// The rows at those positions that exist, in order.
    ///
    /// # Errors
    /// That the database cannot be read.
    fn rows(&mut self, positions: Range<u64>) -> Result<Vec<Row>, Error>;

    /// At most `limit` of the positions within `range` at which `term` is found, in that order.
    ///
    /// # Errors
    /// That the database cannot be read.
    fn positions(
        &mut self,
        term: Term,
        range: Range<u64>,
        order: Order,
        limit: usize,
    ) -> Result<Vec<u64>, Error>;

    /// The bytes of a tile, as they were last written; empty if they never were.
    ///
    /// # Errors
    /// That the database cannot be read.
    fn tile(&mut self, tile: Tile) -> Result<Vec<u8>, Error>;

    /// Does `work`, which reads much. Within it the database need not look before each call what was committed meanwhile:
    /// calls may leave out what was committed since `work` began.
    ///
    /// # Errors
    /// What `work` says; that the database cannot be read.
    fn together(&mut self, work: &mut Work<'_>) -> Result<(), Error>;

    /// How much is stored.
    ///
    /// # Errors
    /// That the database cannot be read.
    fn totals(&mut self) -> Result<Totals, Error>;

    /// What the database itself finds wrong with how it is stored.
    ///
    /// # Errors
    /// That the database cannot be read.
    fn damage(&mut self) -> Result<Vec<String>, Error>;
}

/// What a writer makes of what is stored: a commit, or nothing to write.
pub type Plan<'a> = dyn FnMut(&mut dyn Read) -> Result<Option<Commit>, Error> + 'a;

/// Writing.
pub trait Write: Send {
    /// Writes what `plan` makes of what is stored, and returns when it would outlive a loss of power.
    ///
    /// # Errors
    /// That nothing was written, and why: what `plan` says; [`Error::Overtaken`] if the log has not the size `after`.
    fn commit(&mut self, plan: &mut Plan<'_>) -> Result<(), Error>;
}
