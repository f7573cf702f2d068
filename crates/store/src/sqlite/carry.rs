//! Carrying the write-ahead log over into the file: most of it on a thread of its own while commits go on, the rest between
//! two of them.
//!
//! SQLite begins its log anew when all of it is carried over, and syncs the file only then. Under constant load nobody would
//! get there who has to keep up with the thread that writes, so that thread does the last few pages itself.

use std::thread::{self, JoinHandle};

use rusqlite::{Connection, OpenFlags};

use super::pages::Pages;
use super::{Place, Result};
use crate::error::Error;

/// From so many pages on the log is carried over: 16 MiB.
pub(super) const CARRY_PAGES: u64 = 4096;
/// From so many on the thread that writes waits for the other, so that the log has an end.
const WAIT_PAGES: u64 = 4 * CARRY_PAGES;
/// How often the other thread goes after what was written meanwhile. In one of the later rounds, which are short, it is
/// likely to have all there is for a moment, and then the file is synced too.
const ROUNDS: usize = 6;

/// All three return whether they were held up, how many pages the log has, and how many of them are carried over.
const COUNT: &str = "PRAGMA wal_checkpoint(NOOP)";
const CARRY_OVER: &str = "PRAGMA wal_checkpoint(PASSIVE)";
const CARRY_OVER_AND_EMPTY: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// How many pages the log of a connection has that are committed, and how many of them are carried over.
pub(super) fn log_pages(place: &Place, connection: &Connection) -> Result<(u64, u64)> {
    log_pages_after(place, connection, COUNT)
}

/// The same, after doing what `pragma` says.
fn log_pages_after(place: &Place, connection: &Connection, pragma: &str) -> Result<(u64, u64)> {
    connection
        .prepare_cached(pragma)
        // Without a log both are -1.
        .and_then(|mut statement| {
            statement.query_row([], |row| Ok((row.get::<_, i64>(1)?.max(0), row.get::<_, i64>(2)?.max(0))))
        })
        .map(|(all, carried_over)| (all.unsigned_abs(), carried_over.unsigned_abs()))
        .map_err(|error| place.error(&error))
}

/// Who carries the log over: there is one at most, here or on a thread.
pub(super) enum Carrying {
    /// It waits for work.
    Here(Box<Carrier>),
    /// It works beside the thread that writes.
    Beside(JoinHandle<(Box<Carrier>, Result<()>)>),
    /// Its thread could not start, or broke down.
    Lost,
}

impl Carrying {
    /// Carries over what was left in the log.
    pub fn open(place: &Place) -> Result<Self> {
        let mut carrier = Box::new(Carrier::open(place)?);
        carrier.carry_over(CARRY_OVER)?;
        Ok(Self::Here(carrier))
    }

    /// Does what is to be done between two commits where so many pages are not carried over.
    pub fn go_on(&mut self, place: &Place, waiting: u64) -> Result<()> {
        match std::mem::replace(self, Self::Lost) {
            Self::Here(mut carrier) if waiting >= CARRY_PAGES => {
                let thread = thread::Builder::new().name(String::from("karat-carry")).spawn(move || {
                    let done = carrier.carry_over_beside();
                    (carrier, done)
                });
                *self = Self::Beside(thread.map_err(|error| place.io_error("start a thread for", &error))?);
                Ok(())
            }
            Self::Beside(thread) if thread.is_finished() || waiting >= WAIT_PAGES => {
                let (mut carrier, done) = joined(thread)?;
                let done = done.and_then(|()| carrier.carry_over_rest());
                *self = Self::Here(carrier);
                done
            }
            Self::Lost => {
                *self = Self::open(place)?;
                Ok(())
            }
            nothing_to_do => {
                *self = nothing_to_do;
                Ok(())
            }
        }
    }

    /// Carries over everything that no reader still needs, once nothing more is written.
    pub fn finish(&mut self) {
        let carrier = match std::mem::replace(self, Self::Lost) {
            Self::Here(carrier) => Some(carrier),
            Self::Beside(thread) => joined(thread).ok().map(|(carrier, _)| carrier),
            Self::Lost => None,
        };
        if let Some(mut carrier) = carrier {
            // What is not carried over stays in the log, which is part of the store.
            let _ = carrier.carry_over(CARRY_OVER_AND_EMPTY);
        }
    }
}

fn joined(thread: JoinHandle<(Box<Carrier>, Result<()>)>) -> Result<(Box<Carrier>, Result<()>)> {
    let broken =
        |_| Error::Failed(String::from("the thread that carries the write-ahead log over broke down"));
    thread.join().map_err(broken)
}

/// What it takes to carry the log over.
pub(super) struct Carrier {
    place: Place,
    connection: Connection,
    /// Reads while the other carries over beside commits: nothing is carried over that it does not see yet.
    witness: Connection,
    pages: Pages,
    /// Whether everything that is noted is carried over, so that the last note of each page is the one that holds.
    is_whole: bool,
    /// How many pages the log had when carrying over beside commits began.
    began_with: u64,
}

impl Carrier {
    fn open(place: &Place) -> Result<Self> {
        let connection = place.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let witness = place.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let pages = Pages::open(place)?;
        let carrier =
            Self { place: place.clone(), connection, witness, pages, is_whole: false, began_with: 0 };
        // A connection knows the log when it has read.
        carrier.pages_in_file()?;
        Ok(carrier)
    }

    fn pages_in_file(&self) -> Result<u64> {
        self.place.query(&self.connection, "PRAGMA page_count")
    }

    /// Carries the log over, as far as no reader still needs the old pages. Nobody writes meanwhile, or waits for it.
    fn carry_over(&mut self, mode: &str) -> Result<()> {
        self.note_and_carry_over(mode)?;
        self.shorten_notes()
    }

    /// Carries over what is left of a log of which the most was carried over beside commits. They wait for it, so it is not
    /// done where the log began anew all by itself.
    fn carry_over_rest(&mut self) -> Result<()> {
        let (all, _) = log_pages(&self.place, &self.connection)?;
        if all < self.began_with { Ok(()) } else { self.note_and_carry_over(CARRY_OVER) }
    }

    /// Leaves old notes behind where there are many.
    fn shorten_notes(&mut self) -> Result<()> {
        if self.is_whole && self.pages.are_many(self.pages_in_file()?) {
            self.pages.shorten()
        } else {
            Ok(())
        }
    }

    /// Carries most of the log over while another connection goes on writing.
    fn carry_over_beside(&mut self) -> Result<()> {
        self.shorten_notes()?;
        (self.began_with, _) = log_pages(&self.place, &self.connection)?;
        for _ in 0..ROUNDS {
            self.witness.execute_batch("BEGIN").map_err(|error| self.place.error(&error))?;
            let done = self.place.query::<u64>(&self.witness, "SELECT count(*) FROM head").and_then(|_| {
                // A log of which something is left does not begin anew while it is read here.
                let (all, carried_over) = log_pages(&self.place, &self.connection)?;
                if all == carried_over {
                    return Ok(());
                }
                self.note_and_carry_over(CARRY_OVER)
            });
            let ended = self.witness.execute_batch("COMMIT").map_err(|error| self.place.error(&error));
            done.and(ended)?;
        }
        Ok(())
    }

    /// Notes the pages of the log, then carries over what the witness sees of them, or all if it sees the newest.
    fn note_and_carry_over(&mut self, mode: &str) -> Result<()> {
        // What is written from here on is not noted, and the witness does not see it.
        let (noted, _) = log_pages(&self.place, &self.connection)?;
        self.is_whole = false;
        self.pages.note_log(noted)?;
        let (all, carried_over) = log_pages_after(&self.place, &self.connection, mode)?;
        self.is_whole = all == carried_over;
        Ok(())
    }
}
