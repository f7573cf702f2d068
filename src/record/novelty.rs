//! The part of a record that says what the novelty of a trace was read from.

use karat_core::facts::Digest;
use karat_graders::trace::novelty::Settings;
use serde::Deserialize;

use super::document::{RecordDocument, digest};

/// Statement of a record about the cache of vectors that its trace was compared with: `grading.novelty`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CacheReading {
    /// The digest of the cache before the trace.
    #[serde(with = "digest")]
    pub cache: Digest,
    /// True if the vector of the trace is in the next cache.
    #[serde(rename = "stored")]
    pub is_stored: bool,
    capacity: u64,
    dimension: usize,
    ttl_milliseconds: Option<u64>,
    /// The digest of the model that embeds texts; none if traces bring their own vectors.
    #[serde(skip)]
    pub embedder: Option<String>,
}

impl CacheReading {
    /// Returns the settings of the cache.
    pub fn settings(&self) -> Settings {
        Settings {
            capacity: self.capacity,
            dimension: self.dimension,
            ttl_milliseconds: self.ttl_milliseconds,
        }
    }
}

impl RecordDocument {
    /// Returns what it says of the cache that its trace was compared with, if there was one.
    pub fn cache_reading(&self) -> Option<CacheReading> {
        #[derive(Deserialize)]
        struct Seen {
            novelty: CacheReading,
            embedding: Option<Embedding>,
        }
        let grading = self.grading.as_ref()?;
        let Seen { novelty, embedding } = serde_json::from_str(grading.as_str()).ok()?;
        Some(CacheReading { embedder: embedding.map(|it| it.embedder), ..novelty })
    }
    /// Returns true if an embedder of the engine made the vector of its text: then its novelty was measured, and the evidence did
    /// not state it.
    pub fn is_embedded(&self) -> bool {
        #[derive(Deserialize)]
        struct Seen {
            embedding: Option<Embedding>,
        }
        let read = self.grading.as_ref().and_then(|it| serde_json::from_str::<Seen>(it.as_str()).ok());
        read.is_some_and(|seen| seen.embedding.is_some())
    }
}

/// Statement of a record about the embedder of its text: `grading.embedding`.
#[derive(Deserialize)]
struct Embedding {
    embedder: String,
}
