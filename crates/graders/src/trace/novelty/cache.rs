//! The cache of vectors: what is in it, for how long, and which of them is most like another one.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::ops::Range;

use karat_core::facts::Digest;
use karat_core::timestamp::Timestamp;
use serde_json::Value;

use super::saved;
use super::search::{Best, Rows};
use super::vector::nearest;
use crate::instructions::Instructions;
use crate::trace::problems::shown;
use karat_evidence::json::problem::{Problem, Problems};

/// Capacity of a cache, and the time for which it keeps vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Most vectors; the oldest goes when one too many comes. 0 keeps none.
    pub capacity: u64,
    /// Numbers of a vector, from 1 to [`Settings::DIMENSION_MAX`].
    pub dimension: usize,
    /// A vector is alive while its age is below this; `None` keeps it until its place is needed, 0 keeps none.
    pub ttl_milliseconds: Option<u64>,
}

impl Settings {
    /// The most numbers of a vector.
    pub const DIMENSION_MAX: usize = 65_536;
}

impl Default for Settings {
    /// Defaults to those of the scoring document ("Temporal Decay for Novelty") with vectors of all-MiniLM-L6-v2: 1000
    /// of 384 numbers. No time to live: what is in a cache then depends on what was scored, not on when.
    fn default() -> Self {
        Self { capacity: 1000, dimension: 384, ttl_milliseconds: None }
    }
}

/// Reason for not taking a vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VectorError {
    /// It has the wrong number of elements.
    Dimension {
        /// Elements of the vector.
        found: usize,
        /// Elements of the vectors in the cache.
        expected: usize,
    },
    /// One of its numbers is infinite or not a number.
    NotFinite {
        /// Its position, from 0.
        at: usize,
        /// The number found.
        found: f32,
    },
    /// Its moment lies before that of the newest vector in the cache.
    Earlier {
        /// The moment that was given.
        found: Timestamp,
        /// Timestamp of the newest vector.
        newest: Timestamp,
    },
}

impl VectorError {
    /// Returns it as a problem of evidence whose vector is at the JSON path `path`.
    pub fn at(self, path: &str) -> Problem {
        match self {
            Self::Dimension { found, expected } => {
                let expected = format!("{expected} numbers, the dimension of the cache");
                let hint = "vectors of one cache come from one embedder; use the one that the cache was filled with, or a new \
                    cache";
                Problem::at(path, format!("{found} numbers"), expected, hint)
            }
            Self::NotFinite { at, found } => {
                Problem::at(format!("{path}[{at}]"), found.to_string(), "a finite number of 32 bits", "")
            }
            Self::Earlier { found, newest } => {
                let expected = format!("one not before {newest}, the moment of the newest in the cache");
                let hint = "score in the order of time, or give the cache as it was then";
                Problem::at(path, format!("a vector of {found}"), expected, hint)
            }
        }
    }
}

impl fmt::Display for VectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.at("$").fmt(f)
    }
}

impl Error for VectorError {}

/// A vector that is in a cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry<'a> {
    /// The id of the trace that the vector is of; several may have the same one.
    pub id: &'a str,
    /// Time at which it came in.
    pub moment: Timestamp,
    /// The vector.
    pub vector: &'a [f32],
}

/// The vector of a cache that is most like another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match<'a> {
    /// The vector; of equally similar ones, the one that came first.
    pub entry: Entry<'a>,
    /// Their cosine as computed: below 0 for vectors that point apart, one rounding step above 1 at most.
    pub similarity: f64,
}

/// A first-in-first-out cache of vectors. A value: it knows no clock, and equal ones are saved as the same bytes.
#[derive(Debug, Clone)]
pub struct VectorCache {
    settings: Settings,
    /// INVARIANT: as long as `rows`, `keys` and no longer than the capacity; moments never go back.
    labels: VecDeque<Label>,
    /// The key of every id, in one place, so that finding an id among 100,000 takes microseconds.
    keys: VecDeque<u64>,
    rows: Rows,
    /// INVARIANT: their lengths add up to that of `labels`, and each but the last ends with an entry that ends a chunk.
    chunks: VecDeque<Chunk>,
}

/// Entries one after the other, up to one that ends a chunk: the digest of the cache is made of those of its chunks, most of
/// which stay as they are when one entry comes and another goes.
#[derive(Debug, Clone)]
struct Chunk {
    length: usize,
    /// The digest, once its last entry has come; none again when its first one goes.
    digest: Option<Digest>,
}

/// Returns whether an entry with this digest is the last of its chunk, which one of 32 is.
fn ends_chunk(digest: &Digest) -> bool {
    digest.0.first().is_some_and(|byte| byte % 32 == 0)
}

/// Facts about a vector besides its numbers.
#[derive(Debug, Clone)]
struct Label {
    id: Box<str>,
    moment: Timestamp,
    /// The digest of the saved form of the entry.
    digest: Digest,
}

impl VectorCache {
    /// Makes an empty cache.
    ///
    /// # Errors
    ///
    /// If the dimension is 0 or above [`Settings::DIMENSION_MAX`].
    pub fn new(settings: Settings) -> Result<Self, Problems> {
        let found = settings.dimension;
        Self::empty(settings)
            .map_err(|expected| Problem::at("$.dimension", found.to_string(), &expected, "").into())
    }

    pub(super) fn empty(settings: Settings) -> Result<Self, String> {
        if !(1..=Settings::DIMENSION_MAX).contains(&settings.dimension) {
            return Err(format!("1 to {}", Settings::DIMENSION_MAX));
        }
        let rows = Rows::new(settings.dimension);
        Ok(Self { settings, labels: VecDeque::new(), keys: VecDeque::new(), rows, chunks: VecDeque::new() })
    }

    /// Its settings.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Returns how many vectors are in it, expired ones included until [`VectorCache::expire`].
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Returns the moment of the newest vector, if there is one.
    pub fn newest(&self) -> Option<Timestamp> {
        self.labels.back().map(|label| label.moment)
    }

    /// Returns what is in it, the oldest first.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.len()).filter_map(|row| self.entry(row))
    }

    /// Adds a vector, also one that is there already; if the capacity is exceeded, the oldest goes.
    ///
    /// # Errors
    ///
    /// If the vector has another dimension or a number that is not finite, or if `moment` lies before that of the newest
    /// vector. The cache is then as it was.
    pub fn insert(&mut self, id: &str, vector: &[f32], moment: Timestamp) -> Result<(), VectorError> {
        self.check(vector)?;
        self.check_moment(moment)?;
        if self.settings.capacity == 0 {
            return Ok(());
        }
        let digest = saved::digest(Entry { id, moment, vector });
        if self.labels.back().is_none_or(|last| ends_chunk(&last.digest)) {
            self.chunks.push_back(Chunk { length: 0, digest: None });
        }
        self.labels.push_back(Label { id: id.into(), moment, digest });
        self.keys.push_back(key(id));
        self.rows.push(vector);
        if let Some(chunk) = self.chunks.back_mut() {
            chunk.length += 1;
            let first = self.labels.len().saturating_sub(chunk.length);
            chunk.digest = ends_chunk(&digest).then(|| digest_of(self.labels.range(first..)));
        }
        if self.len() as u64 > self.settings.capacity {
            self.remove_first(1);
        }
        Ok(())
    }

    /// Removes what is expired at `moment`, and says how many vectors that were.
    pub fn expire(&mut self, moment: Timestamp) -> usize {
        let expired = self.expired(moment);
        self.remove_first(expired);
        expired
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.remove_first(self.len());
    }

    /// Returns the vector that is most like `vector`, expired ones included until [`VectorCache::expire`]; none if the
    /// cache is empty. Exact, though not every vector is looked at in full.
    ///
    /// # Errors
    ///
    /// If the vector has another dimension or a number that is not finite.
    pub fn nearest(&self, vector: &[f32]) -> Result<Option<Match<'_>>, VectorError> {
        self.check(vector)?;
        Ok(self.nearest_of(0..self.len(), vector, &[]))
    }

    /// Returns the SHA-256 of its [saved form](VectorCache::save), part by part, so that it is known without hashing
    /// a hundred megabytes for every item. Hashed are the head and after it the 32 bytes of the digest of each chunk: the
    /// SHA-256 of the SHA-256 of each of its entries. A chunk ends after an entry of whose SHA-256 the first byte is a multiple
    /// of 32, and at the end.
    pub fn digest(&self) -> Digest {
        let mut head = saved::head(&self.settings, self.len());
        let mut first = 0;
        for chunk in &self.chunks {
            let end = first + chunk.length;
            let digest = chunk.digest.unwrap_or_else(|| digest_of(self.labels.range(first..end)));
            head.extend_from_slice(&digest.0);
            first = end;
        }
        Digest::of(&head)
    }

    /// Returns how many of the oldest are expired at `moment`.
    pub(super) fn expired(&self, moment: Timestamp) -> usize {
        let Some(ttl) = self.settings.ttl_milliseconds else {
            return 0;
        };
        let is_alive = |label: &Label| {
            // A moment before that of an entry makes it new, not old.
            let age = i128::from(moment.milliseconds) - i128::from(label.moment.milliseconds);
            age.max(0) < i128::from(ttl)
        };
        self.labels.partition_point(|label| !is_alive(label))
    }

    /// Returns the best of `rows`; those in `skipped`, which are ascending and some of `rows`, are left out.
    pub(super) fn nearest_of(
        &self,
        rows: Range<usize>,
        vector: &[f32],
        skipped: &[usize],
    ) -> Option<Match<'_>> {
        let Best { row, similarity } = nearest(Instructions::best(), &self.rows, rows, vector, skipped)?;
        Some(Match { entry: self.entry(row)?, similarity })
    }

    pub(super) fn rows_of(&self, id: &str) -> Vec<usize> {
        let wanted = key(id);
        let found = self.keys.iter().enumerate().filter(|&(_, &key)| key == wanted).map(|(row, _)| row);
        found.filter(|&row| self.labels.get(row).is_some_and(|label| *label.id == *id)).collect()
    }

    pub(super) fn entry(&self, row: usize) -> Option<Entry<'_>> {
        let label = self.labels.get(row)?;
        Some(Entry { id: &label.id, moment: label.moment, vector: self.rows.get(row)? })
    }

    pub(super) fn check(&self, vector: &[f32]) -> Result<(), VectorError> {
        if vector.len() != self.settings.dimension {
            return Err(VectorError::Dimension { found: vector.len(), expected: self.settings.dimension });
        }
        match vector.iter().enumerate().find(|(_, number)| !number.is_finite()) {
            Some((at, &found)) => Err(VectorError::NotFinite { at, found }),
            None => Ok(()),
        }
    }

    pub(super) fn check_moment(&self, moment: Timestamp) -> Result<(), VectorError> {
        match self.labels.back() {
            Some(newest) if moment < newest.moment => {
                Err(VectorError::Earlier { found: moment, newest: newest.moment })
            }
            _ => Ok(()),
        }
    }

    fn remove_first(&mut self, count: usize) {
        self.labels.drain(..count);
        self.keys.drain(..count);
        self.rows.remove_first(count);
        let mut left = count;
        while left > 0
            && let Some(chunk) = self.chunks.front_mut()
        {
            if left < chunk.length {
                *chunk = Chunk { length: chunk.length - left, digest: None };
                break;
            }
            left -= chunk.length;
            self.chunks.pop_front();
        }
    }
}

fn digest_of<'a>(labels: impl Iterator<Item = &'a Label>) -> Digest {
    Digest::of(&labels.flat_map(|label| label.digest.0).collect::<Vec<u8>>())
}

/// Returns a short form of an id. Ids with the same one are compared in full; with SHA-256 there is no way to make
/// many.
fn key(id: &str) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = Digest::of(id.as_bytes()).0;
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// Reads the vector in evidence at the JSON path `path`: an array of numbers, rounded to 32 bits.
///
/// # Errors
///
/// If it is not an array, and every element that is not a number or too large for 32 bits.
pub fn vector(value: &Value, path: &str) -> Result<Vec<f32>, Problems> {
    let expected = "a number that 32 bits can hold";
    let Some(elements) = value.as_array() else {
        return Err(Problem::at(path, shown(Some(value)), "an array of numbers", "").into());
    };
    let mut problems = Problems::default();
    let mut numbers = Vec::with_capacity(elements.len());
    for (at, element) in elements.iter().enumerate() {
        match element.as_f64().map(|number| number as f32).filter(|number| number.is_finite()) {
            Some(number) => numbers.push(number),
            None => problems.add(|| Problem::at(format!("{path}[{at}]"), shown(Some(element)), expected, "")),
        }
    }
    if problems.is_empty() { Ok(numbers) } else { Err(problems) }
}
