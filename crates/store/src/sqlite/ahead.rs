//! The write-ahead log as a file: its pages, and whether it is whole. The format is the one that SQLite documents.
//!
//! SQLite takes a page of the log with a wrong checksum for the end of the log, as it must after a loss of power. What
//! follows it would be lost without a word, so a check of the store looks beyond.

use std::fs::{self, File};
use std::io::{BufReader, ErrorKind, Read, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use super::pages::PAGE_BYTES;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
const FRAME_BYTES: usize = FRAME_HEADER_BYTES + PAGE_BYTES;
/// The first four bytes, but for the last bit, which says in which order the words of checksums are read.
const MAGIC: u32 = 0x377f_0682;
/// Where in the header the salts are.
const SALTS: usize = 16;

/// Notes in the file of the lock how much of a log was committed. It is not synced: it is there for whoever looks after a
/// process was killed, to tell a commit that broke off from one that was damaged. After a loss of power it says too little,
/// never too much.
pub(super) struct CommittedNote {
    ahead: File,
    lock: File,
}

impl CommittedNote {
    /// For the log at `path`, with the lock held.
    pub fn open(path: &Path, lock: File) -> std::io::Result<Self> {
        Ok(Self { ahead: File::open(path)?, lock })
    }

    /// So many pages of the log are committed.
    pub fn write(&mut self, pages: u64) -> std::io::Result<()> {
        let mut header = [0; HEADER_BYTES];
        self.ahead.rewind()?;
        if pages == 0 || !fill(&mut self.ahead, &mut header)? {
            return Ok(()); // a log that has not begun
        }
        self.lock.rewind()?;
        self.lock.write_all(&[part::<8>(&header, SALTS), pages.to_be_bytes()].concat())
    }
}

/// How many pages of the log with these salts are known to be committed, from the file of the lock at `path`.
fn committed(path: &Path, salts: [u8; 8]) -> Option<u64> {
    // A store that was copied comes without; where it cannot be read, nothing is known.
    let note = fs::read(path).ok()?;
    let (noted, pages) = note.split_first_chunk::<8>()?;
    let generation = |salts: &[u8]| u32::from_be_bytes(part(salts, 0));
    if *noted == salts {
        Some(u64::from_be_bytes(*pages.first_chunk()?))
    } else {
        // Whenever the log begins anew its first salt grows by one.
        (generation(noted).wrapping_add(1) == generation(&salts)).then_some(0)
    }
}

/// A write-ahead log that is read from one frame to the next: a page with a header before it.
pub(super) struct AheadLog {
    file: BufReader<File>,
    header: [u8; HEADER_BYTES],
    frame: [u8; FRAME_BYTES],
}

impl AheadLog {
    /// Opens the log at `path`; none if there is none or nothing in it. SQLite holds no lock on it that could be lost.
    pub fn open(path: &Path) -> std::io::Result<Option<Self>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut log = Self {
            file: BufReader::with_capacity(1 << 18, file),
            header: [0; HEADER_BYTES],
            frame: [0; FRAME_BYTES],
        };
        Ok(fill(&mut log.file, &mut log.header)?.then_some(log))
    }

    /// The two numbers that every frame of this log has too, and that change whenever the log begins anew.
    pub fn salts(&self) -> [u8; 8] {
        part(&self.header, SALTS)
    }

    /// Goes to the frame with that number, from 0.
    pub fn seek(&mut self, frame: u64) -> std::io::Result<()> {
        let offset = HEADER_BYTES as u64 + frame * FRAME_BYTES as u64;
        self.file.seek(SeekFrom::Start(offset)).map(drop)
    }

    /// The next frame: its page number and page; none at the end of the file.
    pub fn next(&mut self) -> std::io::Result<Option<(u32, &[u8])>> {
        if !fill(&mut self.file, &mut self.frame)? {
            return Ok(None);
        }
        let page = u32::from_be_bytes(part(&self.frame, 0));
        Ok(Some((page, self.frame.get(FRAME_HEADER_BYTES..).unwrap_or_default())))
    }

    /// What is wrong with it, from its start to its end. What no end of a commit follows was never part of the store: a
    /// process that is killed may leave a page half written. That the page which ends a commit is such a page is known from
    /// what is noted in the file of the lock at `lock`.
    pub fn damage(&mut self, lock: &Path) -> std::io::Result<Option<String>> {
        let big = part(&self.header, 3) == [(MAGIC & 0xff) as u8 | 1];
        let sum = checksum([0; 2], &part::<24>(&self.header, 0), big);
        if u32::from_be_bytes(part(&self.header, 0)) & !1 != MAGIC || sum != words(part(&self.header, 24)) {
            return Ok(Some(String::from("its header does not have its checksum")));
        }
        let (mut sum, salts, mut whole, mut broken) = (sum, self.salts(), true, None);
        let committed = committed(lock, salts);
        let is_committed = |number| committed.is_some_and(|pages| number <= pages);
        for number in 1u64.. {
            if self.next()?.is_none() {
                if is_committed(number) {
                    return Ok(Some(format!("it ends before its page {number}, which was committed")));
                }
                break;
            }
            let (header, page) = self.frame.split_at(FRAME_HEADER_BYTES);
            let expected = checksum(checksum(sum, &part::<8>(header, 0), big), page, big);
            if part::<8>(header, 8) != salts && !is_committed(number) {
                // Left over from before the log began anew; nothing of this log may follow.
                whole = false;
                continue;
            }
            if whole && expected == words(part(header, 16)) {
                sum = expected;
                continue;
            }
            whole = false;
            let first = *broken.get_or_insert(number);
            let ends_commit = part::<4>(header, 4) != [0; 4];
            let broke_off = number == first && committed.is_some();
            if is_committed(number) || (ends_commit && !broke_off) {
                return Ok(Some(format!(
                    "it breaks off before its page {first}, and what follows cannot be read"
                )));
            }
        }
        Ok(None)
    }
}

/// Reads until `bytes` are full; whether they are.
fn fill(file: &mut impl Read, bytes: &mut [u8]) -> std::io::Result<bool> {
    match file.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// The bytes of a header from `start` on.
fn part<const BYTES: usize>(header: &[u8], start: usize) -> [u8; BYTES] {
    header.get(start..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; BYTES])
}

fn words(bytes: [u8; 8]) -> [u32; 2] {
    [u32::from_be_bytes(part(&bytes, 0)), u32::from_be_bytes(part(&bytes, 4))]
}

/// The checksum of the format, going on from `sum`: two running sums over pairs of words.
fn checksum(sum: [u32; 2], bytes: &[u8], big: bool) -> [u32; 2] {
    let word = |bytes| if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
    bytes.chunks_exact(8).fold(sum, |[first, second], pair| {
        let first = first.wrapping_add(word(part(pair, 0))).wrapping_add(second);
        [first, second.wrapping_add(word(part(pair, 4))).wrapping_add(first)]
    })
}
