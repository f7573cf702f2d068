//! Reasoning traces, scored in the order of the log: each counts for the novelty of the next.
//!
//! `queue` has the traces of one scorecard that wait, and their engine, which `in_order` sets to work; `rebuild` computes the
//! cache of vectors from the log, as it was before any record; `saved` keeps it in a file between starts.

pub mod queue;
pub mod rebuild;
mod saved;

use std::path::{Path, PathBuf};

use karat::engine::kind;
use karat_graders::trace::embedder::Embedder;
use karat_graders::trace::novelty::Settings;
use karat_reader::Kind;
use karat_store::Error;
use karat_store::log::Signer;

use self::queue::Queue;
use self::rebuild::Rebuild;
use self::saved::Files;
use crate::basics::*;
use crate::cards::ScorerPool;
use crate::ids;

/// The largest number of items that a correction is not compared with.
const CORRECTED_MAX: usize = 1000;
/// The largest number that every double has.
const NUMBER_MAX: u64 = 1 << 53;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TraceOptions {
    /// The folder of the model that embeds texts. Without one, only the vectors that traces bring are compared.
    pub embedder: Option<PathBuf>,
    pub cache: Settings,
}

/// The queues of traces, with what scores them.
#[derive(Debug)]
pub struct Traces {
    pub(crate) embedder: Option<Arc<Embedder>>,
    pub(crate) cache: Settings,
    pub(crate) files: Option<Files>,
    queues: Mutex<BTreeMap<String, Arc<Queue>>>,
}

impl Traces {
    /// Loads the embedder. Caches are kept in files in `folder`, if there is one, signed by `signer`.
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
        if options.cache.capacity.max(options.cache.ttl_milliseconds.unwrap_or_default()) > NUMBER_MAX {
            return Err(Error::Failed(format!(
                "a cache of vectors has a capacity and a time to live in milliseconds of at most {NUMBER_MAX}"
            )));
        }
        let files = folder.map(|folder| Files::new(folder, signer));
        Ok(Self { embedder, cache: options.cache, files, queues: Mutex::default() })
    }

    /// Returns how caches are computed from the log.
    pub(crate) fn rebuild(&self) -> Rebuild {
        Rebuild { settings: self.cache, embedder: self.embedder.clone() }
    }

    /// Returns the queue of a scorecard, if it scores traces.
    pub fn queue(&self, pool: &ScorerPool) -> Option<Arc<Queue>> {
        if kind(&pool.card) != Ok(Kind::ReasoningTrace) || pool.card.family.is_some() {
            return None;
        }
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(queues.entry(pool.name()).or_default()))
    }
}

/// Returns the ids of the items of `subject` that a correction of the item `old` corrects: that one, the one it corrected, and
/// so on.
pub(crate) fn corrected(
    reader: &mut Reader,
    subject: &str,
    old: &str,
    size: u64,
) -> Result<Vec<String>, Error> {
    let mut all = vec![old.to_owned()];
    while let Some(last) = all.last().filter(|_| all.len() < CORRECTED_MAX)
        && let Some(item) = reader.find(karat_store::Kind::Evidence, &ids::evidence(subject, last), size)?
        && let Some(older) = item.entry.replaces.as_deref().and_then(|older| ids::own(subject, older))
    {
        all.push(older);
    }
    Ok(all)
}

impl Drop for Traces {
    fn drop(&mut self) {
        for queue in self.queues.lock().unwrap_or_else(PoisonError::into_inner).values() {
            queue.save(self);
        }
    }
}
