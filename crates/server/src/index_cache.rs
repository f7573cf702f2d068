//! A file with the rows of the index beside the store, so that a start need not read every record again.
//!
//! The file is derived and may be removed at any time. It is a list of segments. Each has the rows of a range of the log and
//! a note, signed with the key of the log, that says which version of karat worked them out, which range they are of, the
//! root of the log at the end of the range, and the digest of the rows. A start uses the segments up to the first one of
//! which anything does not hold, and works out the rest from the records: so a row that differs from its record is one that
//! the holder of the key signed.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use karat_core::facts::Digest;
use karat_store::log::Signer;
use karat_store::{Error, Reader};

use crate::index::Index;
use crate::memory::Memory;

/// The first line of a note. The number changes whenever a row is worked out or written otherwise.
const FORMAT: &str = "karat/index/1";
/// Rows that go into one segment.
const SEGMENT_ROWS: usize = 16 * 1024;
/// Time between two looks at how much the index has grown.
const PERIOD: Duration = Duration::from_secs(1);
/// The longest note; they have some 300 bytes.
const NOTE_MAX_BYTES: u64 = 4096;

/// The cache of one store, open for writing. It is never synced: what a loss of power leaves of it is used as far as it is
/// whole.
pub(crate) struct IndexCache {
    file: File,
    signer: Signer,
    /// The bytes of the file that hold.
    length: u64,
    /// The position in the log up to which the file has the rows.
    end: u64,
}

impl IndexCache {
    /// Opens the cache at `path`, or makes an empty one, and adds its rows to `index`. `None` if the file cannot be opened:
    /// then there is no cache, and nothing else is lost.
    pub fn open(path: &Path, signer: Signer, reader: &mut Reader, index: &mut Index) -> Option<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.inspect_err(|error| tracing::warn!(%error, "there is no cache of the index")).ok()?;
        let mut cache = Self { file, signer, length: 0, end: 0 };
        cache.read(reader, index);
        Some(cache)
    }

    /// The position in the log up to which the rows are known.
    pub fn end(&self) -> u64 {
        self.end
    }

    fn read(&mut self, reader: &mut Reader, index: &mut Index) -> Option<()> {
        let all = self.file.metadata().ok()?.len();
        let size = reader.head().ok()?.size;
        let mut file = BufReader::with_capacity(1 << 18, self.file.try_clone().ok()?);
        loop {
            let mut lengths = [0; 8];
            file.read_exact(&mut lengths).ok()?;
            let lengths = u64::from_be_bytes(lengths);
            let (note_bytes, row_bytes) = (lengths >> 48, lengths & ((1 << 48) - 1));
            let length = self.length + 8 + note_bytes + row_bytes;
            if note_bytes > NOTE_MAX_BYTES || length > all {
                return None;
            }
            let mut note = vec![0; usize::try_from(note_bytes).ok()?];
            file.read_exact(&mut note).ok()?;
            let mut rows = vec![0; usize::try_from(row_bytes).ok()?];
            file.read_exact(&mut rows).ok()?;
            let text = self.signer.verifying_key().open(std::str::from_utf8(&note).ok()?).ok()?;
            let end = text.lines().nth(2)?.split_once(' ')?.1.parse().ok().filter(|end| *end <= size)?;
            if text != text_of(self.end..end, reader, &rows).ok()? {
                return None;
            }
            index.decode(self.end..end, &rows)?;
            (self.end, self.length) = (end, length);
        }
    }

    /// Adds the rows that the index has by now, a segment at a time.
    fn save(&mut self, memory: &Memory, reader: &mut Reader) -> Result<(), Error> {
        // Whatever has a lower position is in the index.
        let size = *memory.size().borrow();
        while self.end < size {
            let (range, rows) = memory.index().encode(self.end..size, SEGMENT_ROWS);
            let end = range.end;
            let note = self.signer.sign(&text_of(range, reader, &rows)?)?;
            let lengths = (note.len() as u64) << 48 | rows.len() as u64;
            let segment = [&lengths.to_be_bytes(), note.as_bytes(), &rows].concat();
            let mut write = || {
                self.file.set_len(self.length)?;
                self.file.seek(SeekFrom::Start(self.length))?;
                self.file.write_all(&segment)
            };
            write().map_err(|error| Error::Failed(error.to_string()))?;
            (self.end, self.length) = (end, self.length + segment.len() as u64);
        }
        Ok(())
    }

    /// Starts the thread that adds rows to the cache as the log grows.
    pub fn follow(mut self, memory: Arc<Memory>, mut reader: Reader) -> Option<Follower> {
        let (stop, stopped) = mpsc::channel::<()>();
        let mut known = 0; // so that what is not in the file after a start is written at once
        let follow = move || {
            loop {
                let is_over = stopped.recv_timeout(PERIOD) != Err(RecvTimeoutError::Timeout);
                let rows = memory.index().len();
                if is_over || rows >= known + SEGMENT_ROWS {
                    known = rows;
                    if let Err(error) = self.save(&memory, &mut reader) {
                        // The next start works out what is missing.
                        tracing::warn!(%error, "the cache of the index cannot be written");
                    }
                }
                if is_over {
                    break;
                }
            }
        };
        let thread = thread::Builder::new().name(String::from("karat-index")).spawn(follow).ok()?;
        Some(Follower { stop: Some(stop), thread: Some(thread) })
    }
}

/// The text of the note of a segment.
fn text_of(range: Range<u64>, reader: &mut Reader, rows: &[u8]) -> Result<String, Error> {
    let Range { start, end } = range;
    let (root, version) = (reader.root(end)?, env!("CARGO_PKG_VERSION"));
    Ok(format!("{FORMAT}\n{version}\n{start} {end}\n{root}\n{}\n", Digest::of(rows)))
}

/// The thread that adds rows to the cache. When this is dropped it adds the last ones and ends.
pub(crate) struct Follower {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Follower {
    fn drop(&mut self) {
        drop(self.stop.take());
        // A thread that broke down has told why.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
