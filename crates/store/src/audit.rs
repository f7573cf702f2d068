//! Checking a whole store: every entry, tile, posting and the signed head against each other.

use std::fmt;

use karat_core::facts::Digest;
use karat_core::timestamp::Timestamp;

use crate::error::Error;
use crate::item::{Entry, Term};
use crate::kind::Kind;
use crate::log::{Checkpoint, Hash, Keys, NoteError, Rotation, Tile, Tree, VerifyingKey, verify_consistency};
use crate::port::{Order, Read, Row, Totals};
use crate::reader::Reader;

/// Number of rows that are read at a time.
const CHUNK_ROWS: u64 = 256;
/// The most problems that are kept; a store with this many cannot be repaired anyway.
const PROBLEMS_MAX: usize = 1000;

/// The result of a check of a whole store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// The counts.
    pub totals: Totals,
    /// The root of the tree as it was computed from the entries.
    pub root: Hash,
    /// The changes of the key of the log, each with the position of its entry.
    pub rotations: Vec<(u64, Rotation)>,
    /// The problems; none if the store is sound.
    pub problems: Vec<String>,
}

impl Audit {
    /// Returns whether the store is sound.
    pub fn holds(&self) -> bool {
        self.problems.is_empty()
    }
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LISTED: usize = 20;
        let Totals { rows, tiles, .. } = self.totals;
        if self.holds() {
            return write!(f, "{rows} entries and {tiles} tiles are sound, the root is {}", self.root);
        }
        write!(f, "{}", self.problems.iter().take(LISTED).cloned().collect::<Vec<_>>().join("\n"))?;
        match self.problems.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

/// Checks all parts of a store against each other, and the head against `key` and against `known`, checkpoints of the
/// same log that were kept elsewhere: a log that was rewritten as a whole shows only against those. `key` is the key of
/// the log now or before a change; each head must be signed by the key of its time.
///
/// It takes memory for one chunk of rows and the right edge of the tree, whatever the size, and reads as of the head that
/// it finds: what is appended meanwhile is left out.
///
/// # Errors
/// If the store cannot be read at all. Problems of a store that can be read are in the result.
pub fn audit(reader: &mut Reader, key: &VerifyingKey, known: &[String]) -> Result<Audit, Error> {
    audit_watched(reader, Some(key), known, &mut |_, _| {})
}

/// Does the same, and calls `watch` with the number of entries that are checked and of all. Without a key the head and
/// what is `known` are trusted as given: then the result says whether the store is consistent, not whose it is.
///
/// # Errors
/// If [`audit`] fails.
pub fn audit_watched(
    reader: &mut Reader,
    key: Option<&VerifyingKey>,
    known: &[String],
    watch: &mut dyn FnMut(u64, u64),
) -> Result<Audit, Error> {
    let mut problems = reader.backend().damage()?;
    let head = reader.head()?;
    let mut check = Check {
        problems: &mut problems,
        size: head.size,
        tree: Tree::default(),
        known: None,
        postings: 0,
        rotations: Vec::new(),
    };
    while check.tree.size() < head.size {
        let before = check.tree.size();
        reader.backend().together(&mut |read| check.chunk(read))?;
        if check.tree.size() == before {
            break;
        }
        watch(check.tree.size(), head.size);
    }
    let Check { tree, postings, rotations, .. } = check;
    let (root, tiles) = (tree.root(), Tile::of_tree(head.size).count() as u64);
    let keys = match key.map(|key| Keys::follow(key, &rotations)).transpose() {
        Ok(keys) => keys,
        Err(problem) => {
            problems.push(problem);
            key.map(|key| key.clone().into())
        }
    };
    let keys = keys.as_ref();
    match opened(&head.checkpoint, keys) {
        Err(error) => problems.push(format!("the head: {error}")),
        Ok(signed) if signed != (Checkpoint { size: head.size, root }) => problems.push(format!(
            "the head signs the root {} of {} entries, the entries have the root {root}",
            signed.root, signed.size
        )),
        Ok(_) => {}
    }
    for note in known {
        if let Err(problem) = earlier(reader, note, keys, head.size, root)? {
            problems.push(problem);
        }
    }
    // A store that is written to during the check has more by now, and never less.
    let totals = reader.backend().totals()?;
    let grown = reader.head()?.size > head.size;
    for (what, counted, expected) in [
        ("entries", totals.rows, head.size),
        ("postings", totals.postings, postings),
        ("tiles", totals.tiles, tiles),
    ] {
        if counted < expected || (counted > expected && !grown) {
            problems.push(format!("there are {counted} {what}, and the log accounts for {expected}"));
        }
    }
    problems.truncate(PROBLEMS_MAX);
    Ok(Audit { totals: Totals { rows: head.size, postings, tiles }, root, rotations, problems })
}

/// Returns the checkpoint in `note`, which the key of its time must have signed; without keys, what it claims.
fn opened(note: &str, keys: Option<&Keys>) -> Result<Checkpoint, NoteError> {
    match keys {
        Some(keys) => keys.open(note).map(|(checkpoint, _)| checkpoint),
        None => Checkpoint::claimed(note).map(|(_, checkpoint)| checkpoint),
    }
}

/// Checks that the log goes on from a checkpoint that was kept elsewhere.
fn earlier(
    reader: &mut Reader,
    note: &str,
    keys: Option<&Keys>,
    size: u64,
    root: Hash,
) -> Result<Result<(), String>, Error> {
    let old = match opened(note, keys) {
        Ok(old) => old,
        Err(error) => return Ok(Err(format!("a checkpoint from elsewhere: {error}"))),
    };
    let missing = || format!("a checkpoint from elsewhere signs {} entries, the log has {size}", old.size);
    if old.size > size {
        return Ok(Err(missing()));
    }
    let path = reader.consistency(old.size, size)?;
    let problem =
        |error| format!("the log does not go on from the checkpoint of {} entries: {error}", old.size);
    Ok(verify_consistency(old.size, size, &path, old.root, root).map_err(problem))
}

struct Check<'a> {
    problems: &'a mut Vec<String>,
    /// The tree of the rows so far.
    tree: Tree,
    known: Option<Timestamp>,
    postings: u64,
    /// The size of the log that is checked.
    size: u64,
    /// The changes of the key so far.
    rotations: Vec<(u64, Rotation)>,
}

impl Check<'_> {
    fn report(&mut self, problem: String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem);
        }
    }

    /// Checks the next rows and their tiles; goes no further where rows are missing.
    fn chunk(&mut self, read: &mut dyn Read) -> Result<(), Error> {
        let start = self.tree.size();
        let end = (start + CHUNK_ROWS).min(self.size);
        let rows = read.rows(start..end)?;
        if rows.len() as u64 != end - start || rows.iter().zip(start..).any(|(row, at)| row.position != at) {
            self.report(format!("of the entries {start} to {} some are missing", end - 1));
            return Ok(());
        }
        rows.into_iter().try_for_each(|row| self.row(read, row))?;
        self.tiles(read)
    }

    fn row(&mut self, read: &mut dyn Read, row: Row) -> Result<(), Error> {
        let Row { position, known, entry: bytes, content } = row;
        self.tree.append(Hash::of_leaf(&bytes));
        let entry = match Entry::parse(&bytes) {
            Ok(entry) => entry,
            Err(problem) => {
                self.report(format!("entry {position}: {problem}"));
                return Ok(());
            }
        };
        let digest = Digest::of(&content);
        if digest != entry.content {
            self.report(format!(
                "entry {position}: its content has the digest {digest}, expected {}",
                entry.content
            ));
        }
        if entry.kind == Kind::Key {
            self.rotation(position, &entry.id, &content);
        }
        let expected = self.known.map_or(entry.moment, |known| known.max(entry.moment));
        self.known = Some(expected);
        if known != expected {
            self.report(format!(
                "entry {position}: it is known from {} on, expected {}",
                known.milliseconds, expected.milliseconds
            ));
        }
        let terms = entry.terms();
        self.postings += terms.len() as u64;
        let mut found = |term, range| read.positions(term, range, Order::Oldest, 1);
        // Ids are found there first, everything else there too.
        let id = Term::id(entry.kind, &entry.id);
        let replaced = entry.replaces.as_deref().map(|old| Term::replaced(entry.kind, old));
        for term in terms {
            let only = term == id || Some(term) == replaced;
            match found(term, if only { 0 } else { position }..position + 1)?.first() {
                Some(at) if *at == position => {}
                None => {
                    self.report(format!(
                        "entry {position}: it is not found by all that it should be found by"
                    ));
                }
                Some(_) if term == id => self.report(format!(
                    "entry {position}: the {} `{}` is given twice",
                    entry.kind,
                    entry.id.escape_debug()
                )),
                Some(_) => {
                    let old = entry.replaces.as_deref().unwrap_or_default().escape_debug();
                    self.report(format!("entry {position}: the {} `{old}` is replaced twice", entry.kind));
                }
            }
        }
        let Some(old) = &entry.replaces else { return Ok(()) };
        if found(Term::id(entry.kind, old), 0..position)?.is_empty() {
            self.report(format!(
                "entry {position}: it replaces `{}`, which is not there",
                old.escape_debug()
            ));
        }
        Ok(())
    }

    /// Takes in a change of the key of the log, if the entry is one, and checks that it follows the one before it.
    fn rotation(&mut self, position: u64, id: &str, content: &[u8]) {
        let change = match Rotation::parse(content) {
            Ok(Some(change)) => change,
            Ok(None) => return,
            Err(problem) => return self.report(format!("entry {position}: {problem}")),
        };
        let expected = Rotation::id(self.rotations.len() as u64 + 1);
        if id != expected {
            let id = id.escape_debug();
            self.report(format!(
                "entry {position}: the change of the key has the id `{id}`, expected `{expected}`"
            ));
        }
        self.rotations.push((position, change));
        if let Some((_, first)) = self.rotations.first()
            && let Err(problem) = Keys::follow(&first.old, &self.rotations)
        {
            self.rotations.pop();
            self.report(format!("entry {position}: {problem}"));
        }
    }

    /// Compares the tiles that the rows so far changed with those that are stored, which may have grown since.
    fn tiles(&mut self, read: &mut dyn Read) -> Result<(), Error> {
        for (tile, hashes) in self.tree.take_changed() {
            let stored = read.tile(tile)?;
            let length = |size| tile.width(size) * Hash::BYTES as u64;
            let long = stored.len() as u64 > length(self.size)
                && stored.len() as u64 > length(read.head()?.map_or(0, |head| head.size));
            if long || !stored.starts_with(&hashes) {
                let Tile { level, number } = tile;
                self.report(format!("tile {number} of level {level}: its hashes do not match the entries"));
            }
        }
        Ok(())
    }
}
