//! Input of graders besides the item that they grade.

use std::sync::Arc;

use serde_json::{Map, Value};

use karat_core::timestamp::Timestamp;
use karat_graders::arena::{Challenge, Evaluator, MatchOptions};
use karat_graders::execution::Judge;
use karat_graders::quality;
use karat_graders::trace::embedder::Embedder;
use karat_graders::trace::novelty::{Settings, VectorCache};
use karat_graders::trust::jury::JuryRules;

/// Input of graders besides the item: everything that a fact may depend on and that is not in the item.
///
/// A reader has one. Without anything in it, items are graded as far as they can be by themselves.
#[derive(Debug, Clone, Default)]
pub struct Graders {
    /// The timestamp of the verdict. If it is not given, the time in an item counts.
    pub as_of: Option<Timestamp>,
    /// Options for grading outputs of workflows.
    pub quality: quality::Options,
    /// Evaluator of a challenge, for matches that come as they were played.
    pub evaluator: Option<Evaluator>,
    /// Judge that runs what was submitted, where the evaluator has parts for one.
    pub judge: Option<Arc<dyn Judge>>,
    /// The challenge of the card, whose matches no other card may score.
    pub challenge: Option<Challenge>,
    /// Options for grading such matches.
    pub matches: MatchOptions,
    /// The rules of juries, for the evidence of agents.
    pub jury: JuryRules,
    /// Embedder that turns the text of a trace into a vector.
    pub embedder: Option<Arc<Embedder>>,
    /// The vector that an embedder elsewhere made of the text of the next trace; it counts instead of `embedder`.
    pub handed: Option<HandedVector>,
    /// The number of traces so far, if each counts as a separate observation: a trace that comes again is then compared
    /// with what it was before. If none, an id that comes again is the same observation.
    pub observed: Option<u64>,
    /// The vectors of earlier traces; every trace with a vector goes into it. Without one, the first vector begins one.
    pub cache: Option<VectorCache>,
    /// The settings of a cache that a vector begins; if not given, those of the documents for vectors of its length.
    pub settings: Option<Settings>,
    /// The ids of the traces of the same subject that the next one corrects, and those these corrected: it is not compared
    /// with them.
    pub replaces: Vec<String>,
}

/// The result of an embedder that runs elsewhere, and answers in its own time.
#[derive(Debug, Clone, PartialEq)]
pub struct HandedVector {
    /// The name of the model, which the record keeps.
    pub model: String,
    /// The vector.
    pub vector: Vec<f32>,
}

/// Watcher of the work on an item. The code here reads no clock; a watch may.
pub trait Watch {
    /// Says that a stage ended: `read`, `embed`, `novelty`, `grade`.
    fn ended(&mut self, stage: &'static str);
}

/// A watch that only hears of the stages.
impl<F: FnMut(&'static str)> Watch for F {
    fn ended(&mut self, stage: &'static str) {
        self(stage);
    }
}

/// A trace that was read, on its way into the cache: it goes in once the caller has not refused it.
#[derive(Debug)]
pub(crate) struct Pending {
    pub id: String,
    /// `None` if the trace does not belong in the cache; then only expired entries are removed.
    pub vector: Option<Vec<f32>>,
    pub moment: Timestamp,
}

impl Graders {
    /// Makes the cache the next one.
    pub(crate) fn keep(&mut self, pending: Pending) {
        if let Some(observed) = &mut self.observed {
            *observed += 1;
        }
        let Some(cache) = &mut self.cache else { return };
        cache.expire(pending.moment);
        if let Some(vector) = &pending.vector {
            // Dimension and moment were checked when the trace was compared with this very cache.
            let _ = cache.insert(&pending.id, vector, pending.moment);
        }
    }
}

/// The graders at work on one item: what they need, what they saw, and the watcher of the stages.
pub(crate) struct Work<'g> {
    pub graders: &'g mut Graders,
    /// The vector that was handed over for this item.
    pub handed: Option<HandedVector>,
    /// Observations of each grader, by its name.
    pub seen: Map<String, Value>,
    /// True if an embedder of these graders read the text of the item.
    pub is_embedded: bool,
    /// Entry for the cache, if the item is not refused.
    pub pending: Option<Pending>,
    pub watch: &'g mut dyn Watch,
}

impl<'g> Work<'g> {
    pub(crate) fn new(graders: &'g mut Graders, watch: &'g mut dyn Watch) -> Self {
        let handed = graders.handed.take();
        Self { graders, handed, seen: Map::new(), is_embedded: false, pending: None, watch }
    }

    pub(crate) fn saw(&mut self, grader: &str, detail: Value) {
        self.seen.insert(grader.to_owned(), detail);
    }
}
