//! The effects of items of the log on the memory of a server, and the jobs of the writer that carry them.

use karat_store::Outcome;
use tokio::sync::oneshot;

use crate::arena;
use crate::backfill::Backfill;
use crate::basics::*;
use crate::cards::ScorerPool;
use crate::content::Stored;
use crate::flows;
use crate::index::NewRow;
use crate::keys::{Key, Withdrawal};
use crate::spans;
use crate::weights::WeightsItem;

/// The change of memory by one item of the log.
#[derive(Debug)]
pub enum Effect {
    Record(Box<NewRow>),
    /// Evidence whose id has that digest was corrected, by that sender; true if it is a key of its subject.
    Replaced(Digest, Option<String>, bool),
    /// A mark of records that were handed in as history.
    Backfilled(Backfill),
    /// A withdrawal of what a revoked key sent.
    Withdrawn(Withdrawal),
    /// A decision or another event about a subject, which rests on that many entries of the log.
    Review(u64),
    Card(Arc<ScorerPool>),
    Key(Key, bool),
    Weights(Box<WeightsItem>),
    Arena(Box<arena::Content>),
    Workflow(Box<flows::Content>),
    Spans(Box<spans::Taken>),
}

/// Content whose item changes the memory, once it is stored.
pub trait IntoEffect: Stored {
    fn effect(self, item: &NewItem) -> Effect;
}

impl IntoEffect for arena::Content {
    fn effect(self, _: &NewItem) -> Effect {
        Effect::Arena(Box::new(self))
    }
}

impl IntoEffect for flows::Content {
    fn effect(self, _: &NewItem) -> Effect {
        Effect::Workflow(Box::new(self))
    }
}

impl IntoEffect for spans::Content {
    fn effect(self, item: &NewItem) -> Effect {
        // Its moment is its arrival in the log.
        let moment = Timestamp { milliseconds: 0 };
        Effect::Spans(Box::new(spans::Taken::new(&item.id, self, item.content.len(), moment)))
    }
}

/// A job of the store that waits to be written, with its effects and the receiver of the outcomes.
pub struct Waiting {
    /// For each batch, the effects of its items, each with the index of its item.
    pub effects: Vec<Vec<(usize, Effect)>>,
    pub answer: oneshot::Sender<Vec<Outcome>>,
}
