//! A file with the rows of the index beside the store, so that a start need not read every record again.
//!
//! The file is derived and may be removed at any time. It is a list of segments. Each has the rows of a range of the
//! log and a note, signed with the key of the log, with the version of karat that computed them, the range, the root of
//! the log at the end of the range, and the digest of the rows. A start uses the segments up to the first one that
//! fails a check, and computes the rest from the records: so a row that differs from its record was signed by the
//! holder of the key.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::Path;

use karat_store::Error;
use karat_store::log::Signer;

use crate::basics::*;
use crate::index::Index;

/// The first line of a note. The number changes whenever rows are computed or encoded differently.
const FORMAT: &str = "karat/index/7";
pub(crate) const SEGMENT_ROWS: usize = 16 * 1024;
const NOTE_MAX_BYTES: u64 = 4096;

/// The cache of one store, open for writing. It is never synced: after a power loss, its intact segments are used.
pub(crate) struct IndexCache {
    file: File,
    signer: Signer,
    /// The length of the valid part of the file, in bytes.
    length: u64,
    /// The position in the log up to which the file has the rows.
    end: u64,
}

impl IndexCache {
    /// Opens the cache at `path`, or creates an empty one, and adds its rows to `index`. `None` if the file cannot be
    /// opened: then the server runs without a cache.
    pub fn open(path: &Path, signer: Signer, reader: &mut Reader, index: &mut Index) -> Option<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.inspect_err(|error| tracing::warn!(%error, "there is no cache of the index")).ok()?;
        let mut cache = Self { file, signer, length: 0, end: 0 };
        cache.read(reader, index);
        Some(cache)
    }

    /// Returns the position in the log up to which the rows are known.
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

    /// Adds the rows of the first `size` items of the log, a segment at a time, as `encode` gives them.
    pub fn save(
        &mut self,
        size: u64,
        encode: impl Fn(Range<u64>) -> (Range<u64>, Vec<u8>),
        reader: &mut Reader,
    ) -> Result<(), Error> {
        while self.end < size {
            let (range, rows) = encode(self.end..size);
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
}

fn text_of(range: Range<u64>, reader: &mut Reader, rows: &[u8]) -> Result<String, Error> {
    let Range { start, end } = range;
    let (root, version) = (reader.root(end)?, env!("CARGO_PKG_VERSION"));
    Ok(format!("{FORMAT}\n{version}\n{start} {end}\n{root}\n{}\n", Digest::of(rows)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use std::path::PathBuf;

    use crate::authority::Provenances;

    use karat_core::number::Score;
    use karat_core::timestamp::Timestamp;
    use karat_store::memory::Memory as MemoryBackend;
    use karat_store::{Kind, Limits, NewItem, Store};

    use super::*;
    use crate::index::NewRow;
    use crate::stored::Trust;

    const ITEMS: u64 = 60;
    /// The number of rows of a segment in these tests.
    const FEW: usize = 7;

    fn signer(name: &str) -> Signer {
        Signer::new(name, &[7; 32]).unwrap()
    }

    /// Returns a log whose items have `mark` in them.
    fn log(mark: &str) -> Reader {
        let store = Store::open(Arc::new(MemoryBackend::new()), signer("log"), Limits::default()).unwrap();
        let item = |at: u64| NewItem {
            kind: Kind::Evidence,
            id: at.to_string(),
            subject: None,
            sources: Vec::new(),
            replaces: None,
            sender: None,
            content: format!("{mark} {at}").into_bytes(),
        };
        store.append(Timestamp { milliseconds: 0 }, (0..ITEMS).map(item).collect()).unwrap();
        store.reader().unwrap()
    }

    /// Returns an index of every second item of the log.
    fn index() -> Index {
        let mut index = Index::default();
        for position in (1..ITEMS).step_by(2) {
            let row = NewRow {
                id: String::new(),
                stated: Provenances::default(),
                subject: format!("agent-{}", position % 5),
                card: String::from("c@1.0.0"),
                task: (position % 3 == 0).then(|| format!("task {position}")),
                time: (position % 4 == 1).then_some(Timestamp { milliseconds: -(position as i64) }),
                outcome: karat_core::facts::Outcome::ALL.get(position as usize % 8).copied(),
                score: (position % 5 > 0).then_some(Score::from_units(position as i64)),
                evidence: Digest::of(b""),
                item: Digest::of(&position.to_be_bytes()),
                trust: Trust::ALL[position as usize % 4],
                is_backfilled: position % 3 == 1,
                is_over_cases: position % 7 == 1,
                sender: (position % 4 > 0).then(|| format!("key {}", position % 3)),
            };
            index.add(position, &row);
        }
        index.replace(Digest::of(b"old"), 30, Some("key 1"), true);
        index
    }

    /// Lists everything that an index has about the first items of a log.
    fn said(index: &Index, size: u64) -> Vec<String> {
        let name = |number| index.name(number);
        let row = |row: &crate::index::Row| {
            let names = (name(row.subject), name(row.card), row.task.map(name));
            let sender = row.sender().map(|sender| index.name(sender));
            format!(
                "{names:?} {:?}",
                (
                    row.position, row.time, row.score, row.outcome, row.trust, row.is_backfilled,
                    row.is_over_cases, sender
                )
            )
        };
        index.from(0, size).map(row).collect()
    }

    struct File(PathBuf);

    impl File {
        fn new(name: &str) -> Self {
            Self(std::env::temp_dir().join(format!("karat-index-{name}-{}", std::process::id())))
        }
    }

    impl Drop for File {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    /// Saves the cache of `index()` at several sizes of the log.
    fn saved(file: &File) {
        let (index, mut reader) = (index(), log("a"));
        for size in [5, 5, 40, ITEMS] {
            let mut loaded = Index::default();
            let mut cache = IndexCache::open(&file.0, signer("log"), &mut reader, &mut loaded).unwrap();
            assert_eq!(said(&loaded, ITEMS), said(&index, cache.end()));
            cache.save(size, |range| index.encode(range, FEW), &mut reader).unwrap();
            assert_eq!(cache.end(), size);
        }
    }

    fn load(file: &File, name: &str, mark: &str) -> (u64, Index) {
        let mut loaded = Index::default();
        let cache = IndexCache::open(&file.0, signer(name), &mut log(mark), &mut loaded).unwrap();
        (cache.end(), loaded)
    }

    #[test]
    fn rows_come_back_as_they_were_saved() {
        let file = File::new("back");
        saved(&file);
        let (end, loaded) = load(&file, "log", "a");
        assert_eq!((end, said(&loaded, ITEMS)), (ITEMS, said(&index(), ITEMS)));
        assert_eq!(format!("{:?}", loaded.rows(ITEMS).last()), format!("{:?}", index().rows(ITEMS).last()));
        // Corrections are included.
        let hidden = |mut index: Index| {
            let row = NewRow {
                id: String::new(),
                stated: Provenances::default(),
                subject: String::from("a"),
                card: String::from("c"),
                task: None,
                time: None,
                outcome: None,
                score: None,
                evidence: Digest::of(b""),
                item: Digest::of(b"old"),
                trust: Trust::Measured,
                is_backfilled: false,
                is_over_cases: false,
                sender: None,
            };
            index.add(ITEMS, &row);
            [30, 31].map(|size| index.rows(size).count() as u64) == [15, 15]
                && index.rows(ITEMS + 1).count() == 30
        };
        assert!(hidden(loaded) && hidden(index()));
    }

    #[test]
    fn the_cache_of_another_log_or_key_is_not_used() {
        let file = File::new("other");
        saved(&file);
        assert_eq!(load(&file, "log", "b").0, 0);
        assert_eq!(load(&file, "another", "a").0, 0);
        assert_eq!(load(&file, "log", "a").0, ITEMS);
    }

    #[test]
    fn a_changed_byte_costs_time_and_changes_no_row() {
        let file = File::new("flips");
        saved(&file);
        let (good, whole) = (std::fs::read(&file.0).unwrap(), said(&index(), ITEMS));
        let mut ends = std::collections::BTreeSet::new();
        for at in (0..good.len()).step_by(11).chain(0..8) {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            std::fs::write(&file.0, &bad).unwrap();
            let (end, loaded) = load(&file, "log", "a");
            assert!(end < ITEMS, "byte {at}");
            assert_eq!(said(&loaded, ITEMS), said(&index(), end), "byte {at}");
            ends.insert(end);
        }
        assert!(ends.len() > 3 && whole.len() == 30, "{ends:?}");
        for length in (0..good.len()).step_by(97) {
            std::fs::write(&file.0, &good[..length]).unwrap();
            let (end, loaded) = load(&file, "log", "a");
            assert_eq!(said(&loaded, ITEMS), said(&index(), end), "{length} bytes");
        }
        // Segments that were not used are written again.
        let (mut reader, mut loaded) = (log("a"), Index::default());
        let mut cache = IndexCache::open(&file.0, signer("log"), &mut reader, &mut loaded).unwrap();
        cache.save(ITEMS, |range| index().encode(range, FEW), &mut reader).unwrap();
        assert_eq!(said(&load(&file, "log", "a").1, ITEMS), whole);
    }
}
