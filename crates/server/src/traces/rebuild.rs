//! The cache of vectors as the log has it: a function of the records before a position, of the settings of the cache, and of
//! the embedder.

use karat::record::novelty::CacheReading;
use karat::record::{Record, RecordDocument};
use karat_evidence::ids;
use karat_graders::trace::embedder::Embedder;
use karat_graders::trace::novelty::{Settings, VectorCache};
use karat_reader::{embedding_text, trace_vector};

use crate::basics::*;
use crate::ids as stored_ids;
use crate::problem::Problem;

/// A way to compute a cache: its settings, and the model that makes its vectors, if traces do not bring them.
#[derive(Debug, Clone)]
pub struct Rebuild {
    pub settings: Settings,
    pub embedder: Option<Arc<Embedder>>,
}

/// The cache after some records.
#[derive(Debug, Clone)]
pub struct Rebuilt {
    pub cache: VectorCache,
    /// The moment of the newest verdict, also of those that left nothing in the cache.
    pub latest: Timestamp,
}

/// A vector of the log, on its way into the cache.
struct Found {
    id: String,
    evidence: String,
    moment: Timestamp,
}

impl Rebuild {
    /// Returns the digest of the model, as records have it.
    pub fn embedder(&self) -> Option<String> {
        self.embedder.as_ref().map(|embedder| embedder.digest().to_string())
    }

    /// Returns a cache without vectors.
    pub fn empty(&self) -> Result<VectorCache, Problem> {
        VectorCache::new(self.settings).map_err(|problems| Problem::internal(&problems))
    }

    /// Computes the cache after the records at `positions`, all of one scorecard and in the order of the log, going
    /// on from `before`. `None` if nothing was ever compared.
    pub fn run(
        &self,
        reader: &mut Reader,
        positions: &[u64],
        before: Option<Rebuilt>,
    ) -> Result<Option<Rebuilt>, Problem> {
        let own = self.embedder();
        let mut newest = None;
        let mut found = Vec::new();
        // From the newest on: most of a long log is older than anything in the cache.
        for position in positions.iter().rev() {
            if found.len() as u64 >= self.settings.capacity && newest.is_some() {
                break;
            }
            let item = reader.item(*position)?;
            let Some((record, reading)) = reading(&item.content) else { continue };
            let document = record.document();
            // A vector of another origin says nothing about these.
            if reading.embedder != own || reading.settings().dimension != self.settings.dimension {
                continue;
            }
            let moment = moment(document)
                .ok_or_else(|| Problem::internal(&"a record with a novelty has no moment"))?;
            newest.get_or_insert((moment, reading.is_stored));
            if reading.is_stored {
                let (subject, id) = (&document.subject, &document.evidence.id);
                let evidence = stored_ids::evidence(subject, id);
                found.push(Found { id: ids::joined([subject, id]), evidence, moment });
            }
        }
        let latest = newest.map(|(moment, _)| moment).or(before.as_ref().map(|before| before.latest));
        let Some(latest) = latest else { return Ok(None) };
        let mut cache = match before {
            Some(before) => before.cache,
            None => self.empty()?,
        };
        let size = reader.head()?.size;
        for Found { id, evidence, moment } in found.into_iter().rev() {
            let item = reader.find(Kind::Evidence, &evidence, size)?;
            let vector = item.and_then(|item| self.vector(&item.content));
            let vector = vector.ok_or_else(|| Problem::internal(&format!("`{evidence}` has no vector")))?;
            // Records of before there was a cache have the time of their trace, in any order.
            let moment = cache.newest().map_or(moment, |newest| newest.max(moment));
            cache.expire(moment);
            cache.insert(&id, &vector, moment).map_err(|error| Problem::internal(&error))?;
        }
        let latest = cache.newest().map_or(latest, |newest| newest.max(latest));
        // What is in the newest record itself stays until the next trace, even if its time to live is 0.
        if let Some((_, false)) = newest {
            cache.expire(latest);
        }
        Ok(Some(Rebuilt { cache, latest }))
    }

    fn vector(&self, trace: &[u8]) -> Option<Vec<f32>> {
        match &self.embedder {
            Some(embedder) => Some(embedder.embed(&embedding_text(trace).ok()?).ok()?.vector),
            None => trace_vector(trace),
        }
    }
}

/// Returns the record in `content` with what it says of a cache; nothing if it is a record without.
fn reading(content: &[u8]) -> Option<(Record, CacheReading)> {
    let record = Record::parse(content).ok()??;
    let reading = record.document().cache_reading()?;
    Some((record, reading))
}

/// Returns the moment at which a vector came into the cache.
fn moment(record: &RecordDocument) -> Option<Timestamp> {
    record.as_of().map(|as_of| as_of.at).or_else(|| record.time())
}
