//! Reasoning traces, scored in the order of the log: each counts for the novelty of the next.
//!
//! `queue` scores the traces of one scorecard one after the other and stores them in that order; `rebuild` computes the
//! cache of vectors from the log, as it was before any record; `saved` keeps it in a file between starts.

pub mod queue;
pub mod rebuild;
mod saved;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use karat::engine::kind;
use karat_evidence::Kind;
use karat_evidence::grade::trace::budget::Budget;
use karat_evidence::grade::trace::embedder::Embedder;
use karat_evidence::grade::trace::novelty::Settings;
use karat_store::Error;
use karat_store::log::Signer;

use self::queue::Queue;
use self::rebuild::Rebuild;
use self::saved::Files;
use crate::cards::ScorerPool;

/// The options for traces.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceOptions {
    /// The folder of the model that embeds texts. Without one, only the vectors that traces bring are compared.
    pub embedder: Option<PathBuf>,
    /// The settings of the cache of each scorecard.
    pub cache: Settings,
    /// The time that a trace may take until its text is embedded.
    pub budget: Duration,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self { embedder: None, cache: Settings::default(), budget: Budget::default().limit }
    }
}

/// Scoring of traces: a queue for each scorecard.
#[derive(Debug)]
pub struct Traces {
    embedder: Option<Arc<Embedder>>,
    cache: Settings,
    budget: Duration,
    files: Option<Files>,
    queues: Mutex<BTreeMap<String, Arc<Queue>>>,
}

impl Traces {
    /// Loads the embedder. Caches are kept in files in `folder`, if there is one, signed by `signer`.
    ///
    /// # Errors
    /// If there is no such embedder, or its vectors have another dimension than the cache.
    pub fn open(options: &TraceOptions, folder: Option<&Path>, signer: Signer) -> Result<Self, Error> {
        let dimension = options.cache.dimension;
        let embedder = match &options.embedder {
            None => None,
            Some(_) if dimension != Embedder::DIMENSION => {
                let own = Embedder::DIMENSION;
                return Err(Error::Failed(format!(
                    "the embedder makes vectors of {own} numbers, not {dimension}"
                )));
            }
            Some(folder) => Some(Arc::new(Embedder::load(folder).map_err(|problems| {
                Error::Failed(format!("there is no embedder in `{}`: {problems}", folder.display()))
            })?)),
        };
        let files = folder.map(|folder| Files::new(folder, signer));
        Ok(Self { embedder, cache: options.cache, budget: options.budget, files, queues: Mutex::default() })
    }

    /// Returns how caches are computed from the log.
    #[must_use]
    pub fn rebuild(&self) -> Rebuild {
        Rebuild { settings: self.cache, embedder: self.embedder.clone() }
    }

    /// Returns the queue of a scorecard, if it scores traces.
    #[must_use]
    pub fn queue(&self, pool: &ScorerPool) -> Option<Arc<Queue>> {
        if kind(&pool.card) != Ok(Kind::ReasoningTrace) || pool.card.family.is_some() {
            return None;
        }
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(queues.entry(pool.name()).or_default()))
    }
}

impl Drop for Traces {
    /// Saves the caches.
    fn drop(&mut self) {
        for queue in self.queues.lock().unwrap_or_else(PoisonError::into_inner).values() {
            queue.save(self);
        }
    }
}
