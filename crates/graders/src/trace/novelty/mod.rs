//! Novelty: how unlike a trace is to those before it, by the cosines of vectors.
//!
//! [`observe`] takes a [`VectorCache`], an [`Item`] and a [`Timestamp`], and gives the next cache and what it read;
//! [`novelty`] only reads. `cache` has the cache as a value, `saved` its form as bytes, `search` the exact search
//! and why its quick pass never drops the best match, `vector` the choice of instructions.
//!
//! Source: scoring document of reasoning traces, "Temporal Decay for Novelty".

mod cache;
mod saved;
mod search;
#[cfg(test)]
mod tests;
mod vector;

use karat_core::facts::Digest;
use serde::Serialize;
use serde_json::{Value, json};

use karat_core::timestamp::Timestamp;
use karat_evidence::json::problem::Problems;

pub use cache::{Entry, Match, Settings, VectorCache, VectorError, vector};
pub use saved::LoadError;

/// The novelty of what cannot be compared.
const UNKNOWN: f64 = 0.5;

/// Item to be compared with the cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Item<'a> {
    /// Its id. The same trace has the same id.
    pub id: &'a str,
    /// The ids of the items that it corrects, and those these corrected: it is not compared with them.
    pub replaces: &'a [String],
    /// Its vector; none if there is no embedder, or no text to embed.
    pub vector: Option<&'a [f32]>,
}

/// Basis of a novelty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The most similar vector.
    Compared,
    /// Nothing in the cache came before: the novelty is 0.5.
    NothingEarlier,
    /// The item has no vector: the novelty is 0.5, and the item is not stored.
    NoVector,
    /// The vector is zero and has no direction: the novelty is 0.5, and the item is not stored.
    ZeroVector,
}

/// The most similar earlier vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearest {
    /// The id of its trace.
    pub id: String,
    /// Time at which it came into the cache.
    pub moment: Timestamp,
    /// The cosine as computed, from -1 to one rounding step above 1.
    pub similarity: f64,
}

/// A novelty, and what was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Novelty {
    /// The novelty, from 0 (seen before) to 1 (like nothing before).
    pub value: f64,
    /// Its basis.
    pub basis: Basis,
    /// The most similar vector, if anything was compared.
    pub nearest: Option<Nearest>,
    /// Number of vectors that it was compared with.
    pub compared: usize,
    /// Number of vectors of the cache that were expired.
    pub expired: usize,
    /// True if this item was in the cache already: it was compared with what came before it then.
    pub is_repeat: bool,
    /// True if the item is in the next cache because of this.
    pub is_stored: bool,
    /// The digest of the cache that was given. With it, the item and the moment anyone can compute the same again.
    pub cache: Digest,
    /// The settings of that cache.
    pub settings: Settings,
}

impl Novelty {
    /// Returns it for a record: `novelty`, `basis`, `nearest` (`id`, `moment`, `similarity`; null if absent),
    /// `compared`, `expired`, `repeat`, `stored`, `cache`, and the settings of the cache: `capacity`, `dimension`,
    /// `ttl_milliseconds` (null for no time to live).
    pub fn detail(&self) -> Value {
        let nearest = self.nearest.as_ref().map(|nearest| {
            json!({
                "id": nearest.id,
                "moment": nearest.moment.to_string(),
                "similarity": nearest.similarity,
            })
        });
        json!({
            "novelty": self.value,
            "basis": self.basis,
            "nearest": nearest,
            "compared": self.compared,
            "expired": self.expired,
            "repeat": self.is_repeat,
            "stored": self.is_stored,
            "cache": self.cache.to_string(),
            "capacity": self.settings.capacity,
            "dimension": self.settings.dimension,
            "ttl_milliseconds": self.settings.ttl_milliseconds,
        })
    }
}

/// Returns the novelty by the highest similarity: 1 less its positive part; 0.5 without a similarity.
///
/// A vector that points away is as new as one that has nothing in common: 1, not more.
pub fn value(similarity: Option<f64>) -> f64 {
    similarity.map_or(UNKNOWN, |similarity| 1.0 - similarity.clamp(0.0, 1.0))
}

/// Reads the novelty of an item and stores it: the next cache, and the reading.
///
/// The next cache lacks what is expired, and holds the item, unless the item has no vector or a zero one, or is there
/// already with the same id and vector. If the item is refused, the cache comes back as it was.
pub fn observe(
    mut cache: VectorCache,
    item: &Item<'_>,
    moment: Timestamp,
) -> (VectorCache, Result<Novelty, Problems>) {
    let mut novelty = match novelty(&cache, item, moment) {
        Ok(novelty) => novelty,
        Err(problems) => return (cache, Err(problems)),
    };
    cache.expire(moment);
    novelty.is_stored = belongs(&cache, &novelty);
    if let (Some(vector), true) = (item.vector, novelty.is_stored)
        && let Err(wrong) = cache.insert(item.id, vector, moment)
    {
        return (cache, Err(wrong.at(PATH).into()));
    }
    (cache, Ok(novelty))
}

/// Returns whether what was read of an item says that it belongs into the next cache: it has a direction, and it is not
/// there.
pub fn belongs(cache: &VectorCache, novelty: &Novelty) -> bool {
    let has_direction = matches!(novelty.basis, Basis::Compared | Basis::NothingEarlier);
    has_direction && !novelty.is_repeat && cache.settings().capacity > 0
}

/// The JSON path at which the vector of an item is expected.
const PATH: &str = "$.vector";

/// Reads the novelty of an item at a moment, and stores nothing.
///
/// An item is compared with what is alive, but for the items that it corrects. If it is in the cache with the same id and
/// vector, it is scored again: it is compared with what came before it, so that no copy that came later lowers its novelty.
///
/// # Errors
///
/// If its vector has another dimension than the cache or a number that is not finite, or if `moment` lies before that of
/// the newest vector of the cache: what came between would be missed. Of an item that is there with the same vector the
/// cache knows what came before it, so its moment may be any.
pub fn novelty(cache: &VectorCache, item: &Item<'_>, moment: Timestamp) -> Result<Novelty, Problems> {
    let refused = |wrong: VectorError| Problems::from(wrong.at(PATH));
    let alive = cache.expired(moment);
    let unknown = |basis| Novelty {
        value: UNKNOWN,
        basis,
        nearest: None,
        compared: 0,
        expired: alive,
        is_repeat: false,
        is_stored: false,
        cache: cache.digest(),
        settings: cache.settings(),
    };
    let Some(vector) = item.vector else {
        return Ok(unknown(Basis::NoVector));
    };
    cache.check(vector).map_err(refused)?;
    if vector.iter().all(|&number| number == 0.0) {
        return Ok(unknown(Basis::ZeroVector));
    }
    let is_same = |row: &usize| cache.entry(*row).is_some_and(|entry| entry.vector == vector);
    let repeat = cache.rows_of(item.id).into_iter().find(|row| *row >= alive && is_same(row));
    if repeat.is_none() {
        cache.check_moment(moment).map_err(refused)?;
    }
    let end = repeat.unwrap_or(cache.len());
    let corrected = item.replaces.iter().flat_map(|old| cache.rows_of(old));
    let mut corrected: Vec<usize> = corrected.filter(|row| (alive..end).contains(row)).collect();
    corrected.sort_unstable();
    corrected.dedup();
    let nearest = cache.nearest_of(alive..end, vector, &corrected).map(|best| Nearest {
        id: best.entry.id.to_owned(),
        moment: best.entry.moment,
        similarity: best.similarity,
    });
    let basis = if nearest.is_some() { Basis::Compared } else { Basis::NothingEarlier };
    Ok(Novelty {
        value: value(nearest.as_ref().map(|nearest| nearest.similarity)),
        nearest,
        compared: end - alive - corrected.len(),
        is_repeat: repeat.is_some(),
        ..unknown(basis)
    })
}
