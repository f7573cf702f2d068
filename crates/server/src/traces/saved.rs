//! Caches of vectors in files beside the store, so that a start need not embed what is in them again.
//!
//! A file is derived and may be removed at any time. It has a note, signed with the key of the log, and the cache. The note
//! says which log the cache is of, up to where, and how it was made; a file that does not fit is not used.

use std::fs;
use std::path::{Path, PathBuf};

use karat_graders::trace::novelty::VectorCache;
use karat_store::Error;
use karat_store::log::Signer;

use super::rebuild::{Rebuild, Rebuilt};
use crate::basics::*;

/// The first line of a note. The number changes whenever a cache is computed or encoded differently.
const FORMAT: &str = "karat/vectors/1";

#[derive(Debug)]
pub(crate) struct Files {
    folder: PathBuf,
    signer: Signer,
}

impl Files {
    pub fn new(folder: &Path, signer: Signer) -> Self {
        Self { folder: folder.to_owned(), signer }
    }

    fn path(&self, card: &str) -> PathBuf {
        self.folder.join(format!("{card}.vectors"))
    }

    /// Saves the cache after the records of `card` before the position `end`.
    pub fn save(
        &self,
        card: &str,
        rebuild: &Rebuild,
        end: u64,
        latest: Timestamp,
        cache: &VectorCache,
        reader: &mut Reader,
    ) -> Result<(), Error> {
        let bytes = cache.save();
        let text = text(card, rebuild, end, &reader.root(end)?.to_string(), latest, &bytes);
        let note = self.signer.sign(&text)?;
        let content = [&(note.len() as u64).to_be_bytes(), note.as_bytes(), &bytes].concat();
        let path = self.path(card);
        let new = path.with_extension("vectors.new");
        let written = fs::write(&new, content).and_then(|()| fs::rename(&new, &path));
        written.map_err(|error| Error::Failed(format!("{}: {error}", path.display())))
    }

    /// Returns the saved cache, with the position up to which the log is in it; None if no file fits.
    pub fn load(&self, card: &str, rebuild: &Rebuild, reader: &mut Reader) -> Option<(u64, Rebuilt)> {
        let content = fs::read(self.path(card)).ok()?;
        let (length, rest) = content.split_first_chunk()?;
        let length = usize::try_from(u64::from_be_bytes(*length)).ok()?;
        let (note, bytes) = rest.split_at_checked(length)?;
        let found = self.signer.verifying_key().open(std::str::from_utf8(note).ok()?).ok()?;
        let mut lines = found.lines().skip(4);
        let end = lines.next()?.parse().ok()?;
        let latest = Timestamp { milliseconds: lines.nth(1)?.parse().ok()? };
        if end > reader.head().ok()?.size
            || found != text(card, rebuild, end, &reader.root(end).ok()?.to_string(), latest, bytes)
        {
            return None;
        }
        let cache = VectorCache::load(bytes).ok().filter(|cache| cache.settings() == rebuild.settings)?;
        Some((end, Rebuilt { cache, latest }))
    }
}

fn text(card: &str, rebuild: &Rebuild, end: u64, root: &str, latest: Timestamp, bytes: &[u8]) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let embedder = rebuild.embedder().unwrap_or_else(|| String::from("none"));
    let (latest, digest) = (latest.milliseconds, Digest::of(bytes));
    format!("{FORMAT}\n{version}\n{card}\n{embedder}\n{end}\n{root}\n{latest}\n{digest}\n")
}
