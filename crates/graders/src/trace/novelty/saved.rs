//! The saved form of a cache. The same cache gives the same bytes, and they give the same cache.
//!
//! Everything is little-endian:
//!
//! ```text
//! head    16 bytes   `karat vectors 2` and a line feed
//!         u64        capacity
//!         u64        dimension
//!         u64        1 if there is a time to live, else 0
//!         u64        time to live in milliseconds, or 0
//!         u64        number of entries, at most the capacity
//! entry   i64        moment in milliseconds since 1970, not before that of the entry before
//!         u64        bytes of the id
//!         ...        id, in UTF-8
//!         ...        vector: as many 32-bit floats as the dimension says, all finite
//! end     32 bytes   the digest of the cache
//! ```
//!
//! [`VectorCache::digest`] says how the digest is made of the head and the SHA-256 of each entry.

use std::error::Error;
use std::fmt;

use karat_core::facts::Digest;
use karat_core::timestamp::Timestamp;

use super::cache::{Entry, Settings, VectorCache, VectorError};

/// The first bytes. The digit is the version of the form.
const MAGIC: &[u8; 16] = b"karat vectors 2\n";

const DIGEST: usize = 32;

/// Problem of a saved cache.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadError {
    /// Its place, in bytes from the beginning.
    pub byte: usize,
    /// Position of the entry, from 0; none for the head and the end.
    pub entry: Option<usize>,
    /// The value found.
    pub found: String,
    /// The value expected.
    pub expected: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}", self.byte)?;
        if let Some(entry) = self.entry {
            write!(f, " (entry {entry})")?;
        }
        write!(f, ": found {}, expected {}", self.found, self.expected)
    }
}

impl Error for LoadError {}

impl VectorCache {
    /// Returns the cache as bytes, for a file: `karat vectors 2`, settings, entries, digest. Expired entries that were
    /// not removed are part of it.
    pub fn save(&self) -> Vec<u8> {
        let mut bytes = head(&self.settings(), self.len());
        for entry in self.entries() {
            write(entry, &mut bytes);
        }
        bytes.extend_from_slice(&self.digest().0);
        bytes
    }

    /// Reads the cache that was saved as `bytes`. Takes time and memory in proportion to them, whatever they say.
    ///
    /// # Errors
    ///
    /// If [`VectorCache::save`] would not have written it; the first such thing: another form or version, a dimension
    /// of 0 or above [`Settings::DIMENSION_MAX`], a number that is not finite, moments that go back, an end too early
    /// or too late, a digest that does not match the content.
    pub fn load(bytes: &[u8]) -> Result<Self, LoadError> {
        let mut rest = Rest { all: bytes, at: 0, entry: None };
        let magic = rest.take(MAGIC.len() as u64).unwrap_or(bytes);
        if magic != MAGIC {
            let found = format!("`{}`", magic.get(..MAGIC.len()).unwrap_or(magic).escape_ascii());
            return Err(rest.error(0, found, format!("`{}`, a saved cache", MAGIC.escape_ascii())));
        }
        let capacity = rest.number()?;
        let dimension_at = rest.at;
        let dimension = rest.number()?;
        let ttl_at = rest.at;
        let (has_ttl, ttl) = (rest.number()?, rest.number()?);
        let count_at = rest.at;
        let count = rest.number()?;

        let ttl_milliseconds = match (has_ttl, ttl) {
            (0, 0) => None,
            (1, ttl) => Some(ttl),
            _ => {
                let expected = "0 and 0 for no time to live, or 1 and the milliseconds";
                return Err(rest.error(ttl_at, format!("{has_ttl} and {ttl}"), expected));
            }
        };
        let size = usize::try_from(dimension).unwrap_or(usize::MAX);
        let settings = Settings { capacity, dimension: size, ttl_milliseconds };
        let mut cache = Self::empty(settings)
            .map_err(|expected| rest.error(dimension_at, format!("the dimension {dimension}"), expected))?;
        if count > capacity {
            let expected = format!("at most {capacity}, the capacity");
            return Err(rest.error(count_at, format!("{count} entries"), expected));
        }
        let mut vector = Vec::with_capacity(settings.dimension);
        for entry in 0..count {
            rest.entry = usize::try_from(entry).ok();
            rest.entry(&mut cache, &mut vector)?;
        }
        rest.entry = None;
        rest.end(cache.digest())?;
        Ok(cache)
    }
}

pub(super) fn head(settings: &Settings, count: usize) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    let has_ttl = u64::from(settings.ttl_milliseconds.is_some());
    let ttl = settings.ttl_milliseconds.unwrap_or(0);
    for number in [settings.capacity, settings.dimension as u64, has_ttl, ttl, count as u64] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes
}

/// Returns the SHA-256 of the saved form of an entry.
pub(super) fn digest(entry: Entry<'_>) -> Digest {
    let mut bytes = Vec::new();
    write(entry, &mut bytes);
    Digest::of(&bytes)
}

fn write(entry: Entry<'_>, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&entry.moment.milliseconds.to_le_bytes());
    bytes.extend_from_slice(&(entry.id.len() as u64).to_le_bytes());
    bytes.extend_from_slice(entry.id.as_bytes());
    bytes.extend(entry.vector.iter().flat_map(|number| number.to_le_bytes()));
}

/// The bytes not read yet.
struct Rest<'a> {
    all: &'a [u8],
    at: usize,
    entry: Option<usize>,
}

impl<'a> Rest<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8], LoadError> {
        let left = self.all.get(self.at..).unwrap_or_default();
        match usize::try_from(count).ok().and_then(|count| left.split_at_checked(count)) {
            Some((taken, _)) => {
                self.at += taken.len();
                Ok(taken)
            }
            None => {
                Err(self.error(self.at, format!("{} bytes", left.len()), format!("{count} bytes or more")))
            }
        }
    }

    fn number(&mut self) -> Result<u64, LoadError> {
        let bytes = self.take(8)?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn entry(&mut self, cache: &mut VectorCache, vector: &mut Vec<f32>) -> Result<(), LoadError> {
        let start = self.at;
        let moment = Timestamp { milliseconds: self.number()?.cast_signed() };
        let id_bytes = self.number()?;
        let id_at = self.at;
        let id = str::from_utf8(self.take(id_bytes)?)
            .map_err(|error| self.error(id_at + error.valid_up_to(), "an id that is not UTF-8", "UTF-8"))?;
        let vector_at = self.at;
        let (numbers, _) = self.take(4 * cache.settings().dimension as u64)?.as_chunks::<4>();
        vector.clear();
        vector.extend(numbers.iter().map(|&number| f32::from_le_bytes(number)));
        cache.insert(id, vector, moment).map_err(|wrong| {
            let byte = match wrong {
                VectorError::NotFinite { at, .. } => vector_at + 4 * at,
                VectorError::Dimension { .. } | VectorError::Earlier { .. } => start,
            };
            let problem = wrong.at("$");
            self.error(byte, problem.found, problem.expected)
        })
    }

    fn end(&mut self, expected: Digest) -> Result<(), LoadError> {
        let at = self.at;
        let found: Vec<u8> = self.take(DIGEST as u64)?.to_vec();
        let left = self.all.len() - self.at;
        if left > 0 {
            return Err(self.error(self.at, format!("{left} bytes more"), "the end"));
        }
        if found != expected.0 {
            let found = "the digest of another content";
            return Err(self.error(at, found, format!("`{expected}`: the file was damaged")));
        }
        Ok(())
    }

    fn error(&self, byte: usize, found: impl Into<String>, expected: impl Into<String>) -> LoadError {
        LoadError { byte, entry: self.entry, found: found.into(), expected: expected.into() }
    }
}
