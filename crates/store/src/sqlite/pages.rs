//! A checksum for every page of the file, used and unused bytes alike.
//!
//! SQLite has no checksum over pages, and a page has bytes that mean nothing: a bit that flips there goes unnoticed, and
//! with it the disk that flips bits. So beside the store stands a file of checksums, `-pages`. The file of the store only
//! changes when the write-ahead log is carried over into it; before that, the checksum of every page in the log is noted
//! and synced. A page is sound if it has one of the checksums noted for it, so it does not matter at which point a process
//! was stopped.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, ErrorKind, Read as _, Write as _};

use super::ahead::AheadLog;
use super::{Place, Result};
use crate::error::Error;

/// The size of a page of the database: that of the blocks of most disks and of the memory, so that a page is written whole or
/// not at all where a disk gets full or a process is killed. Larger ones would take a tenth less time.
pub(super) const PAGE_BYTES: usize = 4096;
/// Page number and CRC-32, four bytes each, the highest first.
const NOTE_BYTES: usize = 8;
/// Beyond twice as many notes as pages and so many more, old notes are left behind. Fewer in tests, whose stores are small.
const SPARE_NOTES: u64 = if cfg!(test) { 64 } else { 16 * 1024 };
/// Most pages that are told to be wrong.
const TOLD_MAX: usize = 20;

/// The file of checksums, open for notes.
#[derive(Debug)]
pub(super) struct Pages {
    place: Place,
    file: File,
    notes: u64,
    /// Which write-ahead log was read last, and how many of its pages.
    log: [u8; 8],
    read: u64,
}

impl Pages {
    /// Makes the file for a database that no connection has open.
    pub fn make(place: &Place) -> Result<()> {
        let pages = fs::read(&place.path).map_err(|error| place.io_error("read", &error))?;
        let notes: Vec<u8> =
            (1..).zip(pages.chunks_exact(PAGE_BYTES)).flat_map(|(page, bytes)| note(page, bytes)).collect();
        replace(place, &notes)
    }

    pub fn open(place: &Place) -> Result<Self> {
        let opened = OpenOptions::new().append(true).open(place.beside(PAGES));
        let file = opened.map_err(|error| missing_or(place, &error))?;
        let bytes = file.metadata().map_err(|error| place.io_error("read", &error))?.len();
        // A note that was cut off is not followed by others.
        let whole = bytes - bytes % NOTE_BYTES as u64;
        file.set_len(whole).map_err(|error| place.io_error("write", &error))?;
        Ok(Self { place: place.clone(), file, notes: whole / NOTE_BYTES as u64, log: [0; 8], read: 0 })
    }

    /// Notes the first `pages` pages of the write-ahead log, as far as they are not noted yet, and syncs.
    pub fn note_log(&mut self, pages: u64) -> Result<()> {
        let mut notes = Vec::new();
        self.read_log(pages, &mut notes).map_err(|error| self.place.io_error("read the log of", &error))?;
        self.notes += (notes.len() / NOTE_BYTES) as u64;
        let written = self.file.write_all(&notes).and_then(|()| self.file.sync_data());
        written.map_err(|error| self.place.io_error("write the checksums of", &error))
    }

    fn read_log(&mut self, pages: u64, notes: &mut Vec<u8>) -> std::io::Result<()> {
        let Some(mut log) = AheadLog::open(&self.place.beside(super::AHEAD))?.filter(|_| pages > 0) else {
            return Ok(());
        };
        if log.salts() != self.log {
            (self.log, self.read) = (log.salts(), 0);
        }
        log.seek(self.read)?;
        for _ in self.read..pages {
            let (page, bytes) = log.next()?.ok_or(ErrorKind::UnexpectedEof)?;
            notes.extend(note(page, bytes));
        }
        self.read = self.read.max(pages);
        Ok(())
    }

    /// Leaves old notes behind where there are many; only while everything that is noted is carried over, so that the last
    /// note of a page is the one that holds.
    pub fn shorten(&mut self) -> Result<()> {
        let last: BTreeMap<u32, u32> = read(&self.place)?.into_iter().collect();
        if self.notes < 2 * last.len() as u64 + SPARE_NOTES {
            return Ok(());
        }
        let notes: Vec<u8> =
            last.iter().flat_map(|(page, sum)| [page.to_be_bytes(), sum.to_be_bytes()].concat()).collect();
        replace(&self.place, &notes)?;
        let (log, read) = (self.log, self.read);
        *self = Self { log, read, ..Self::open(&self.place)? };
        Ok(())
    }

    /// Whether it may be worth while to [shorten](Self::shorten).
    pub fn are_many(&self, pages: u64) -> bool {
        self.notes >= 2 * pages + SPARE_NOTES
    }
}

/// What the name of the file of checksums ends in.
const PAGES: &str = "-pages";

/// What of the file of a store does not have a checksum that was noted for it, and what is wrong with its write-ahead
/// log. No connection of this process may have the
/// file open: the system would take the locks of such a connection away when the file is closed here.
pub(super) fn check(place: &Place) -> Result<Vec<String>> {
    let mut wrong = wrong_pages(place, None)?;
    let mut damage = ahead_damage(place)?;
    // Whoever writes meanwhile may have changed a page while it was read, or noted it since.
    for _ in 0..3 {
        if !wrong.is_empty() {
            wrong = wrong_pages(place, Some(&wrong))?;
        }
        if damage.is_some() {
            damage = ahead_damage(place)?;
        }
    }
    let path = place.path.display();
    let mut told: Vec<String> = wrong
        .iter()
        .take(TOLD_MAX)
        .map(|page| format!("page {page} of `{path}` is not as it was written"))
        .collect();
    if wrong.len() > TOLD_MAX {
        told.push(format!("and {} more pages", wrong.len() - TOLD_MAX));
    }
    told.extend(damage.map(|what| format!("the write-ahead log of `{path}`: {what}")));
    Ok(told)
}

fn ahead_damage(place: &Place) -> Result<Option<String>> {
    let log = AheadLog::open(&place.beside(super::AHEAD));
    let damage = log.and_then(|log| log.map_or(Ok(None), |mut log| log.damage(&place.beside(super::LOCK))));
    damage.map_err(|error| place.io_error("read the log of", &error))
}

/// The numbers of wrong pages: of all, or of some.
fn wrong_pages(place: &Place, among: Option<&[u32]>) -> Result<Vec<u32>> {
    let mut notes = read(place)?;
    notes.sort_unstable();
    let failed = |error| place.io_error("read", &error);
    let mut file = BufReader::with_capacity(1 << 18, File::open(&place.path).map_err(failed)?);
    let mut wrong = Vec::new();
    let mut bytes = Vec::with_capacity(PAGE_BYTES);
    for page in 1.. {
        bytes.clear();
        file.by_ref().take(PAGE_BYTES as u64).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.is_empty() {
            break;
        }
        let sound = || notes.binary_search(&(page, crc32fast::hash(&bytes))).is_ok();
        if among.is_none_or(|some| some.contains(&page)) && !sound() {
            wrong.push(page);
        }
    }
    Ok(wrong)
}

/// Every note, in the order in which they were made.
fn read(place: &Place) -> Result<Vec<(u32, u32)>> {
    let notes = fs::read(place.beside(PAGES)).map_err(|error| missing_or(place, &error))?;
    let pair = |note: &[u8]| {
        let (page, sum) = note.split_first_chunk()?;
        Some((u32::from_be_bytes(*page), u32::from_be_bytes(*sum.first_chunk()?)))
    };
    Ok(notes.chunks_exact(NOTE_BYTES).filter_map(pair).collect())
}

fn note(page: u32, bytes: &[u8]) -> Vec<u8> {
    [page.to_be_bytes(), crc32fast::hash(bytes).to_be_bytes()].concat()
}

/// Puts `notes` in place of the file, whole or not at all.
fn replace(place: &Place, notes: &[u8]) -> Result<()> {
    let draft = place.beside("-pages-new");
    let write = || {
        let mut file = File::create(&draft)?;
        file.write_all(notes)?;
        file.sync_all()?;
        fs::rename(&draft, place.beside(PAGES))
    };
    write().map_err(|error| place.io_error("write the checksums of", &error))
}

fn missing_or(place: &Place, error: &std::io::Error) -> Error {
    if error.kind() == ErrorKind::NotFound {
        let pages = place.beside(PAGES);
        return Error::Damaged(format!(
            "`{}` is missing, the checksums of its pages; it belongs to the store and is copied with it",
            pages.display()
        ));
    }
    place.io_error("read the checksums of", error)
}
