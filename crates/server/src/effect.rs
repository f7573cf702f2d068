//! The effects of items of the log on the memory of a server, and the jobs of the writer that carry them.

use std::sync::Arc;

use karat_core::facts::Digest;
use karat_evidence::canonical_json;
use karat_store::{Kind, NewItem, Outcome};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;

use crate::arena;
use crate::backfill::Backfill;
use crate::cards::ScorerPool;
use crate::flows;
use crate::index::NewRow;
use crate::keys::{Key, Withdrawal};
use crate::spans;
use crate::weights::WeightsItem;

/// The change of memory by one item of the log.
#[derive(Debug)]
pub enum Effect {
    /// A record.
    Record(Box<NewRow>),
    /// Evidence whose id has that digest was corrected, by that sender; true if it is a key of its subject.
    Replaced(Digest, Option<String>, bool),
    /// A mark of records that were handed in as history.
    Backfilled(Backfill),
    /// A withdrawal of what a revoked key sent.
    Withdrawn(Withdrawal),
    /// A scorecard.
    Card(Arc<ScorerPool>),
    /// A key was created, or revoked.
    Key(Key, bool),
    /// A proposal of weights, or a decision on one.
    Weights(Box<WeightsItem>),
    /// An item of the arena.
    Arena(Box<arena::Content>),
    /// An item of workflows.
    Workflow(Box<flows::Content>),
    /// Spans of a trace, or its end.
    Spans(Box<spans::Taken>),
}

/// The content of items of one kind: JSON with a schema, from which the state in memory follows.
pub trait Stored: Serialize + DeserializeOwned {
    /// The kind of the items.
    const KIND: Kind;

    /// Returns the place of its item in the store.
    fn place(&self) -> Place;

    /// Returns what it changes, once its item is stored.
    fn effect(self, item: &NewItem) -> Effect;

    /// Reads the content of an item.
    ///
    /// # Errors
    /// If it is not of this kind.
    fn parse(content: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(content).map_err(|error| error.to_string())
    }

    /// Returns the item that stores it.
    ///
    /// # Errors
    /// If it has no canonical JSON. Content made here always has: texts are keys, numbers are finite.
    fn item(&self) -> Result<NewItem, String> {
        let value = serde_json::to_value(self).map_err(|error| error.to_string())?;
        let Place { id, subject, sources, replaces } = self.place();
        let content = canonical_json(&value).into_bytes();
        Ok(NewItem { kind: Self::KIND, id, subject, sources, replaces, sender: None, content })
    }
}

/// The place of an item in the store.
#[derive(Debug, Default)]
pub struct Place {
    /// Its id.
    pub id: String,
    /// Its subject.
    pub subject: Option<String>,
    /// The digests of what it was made from.
    pub sources: Vec<Digest>,
    /// The id of the item that it replaces.
    pub replaces: Option<String>,
}

/// A job of the store that waits to be written, with its effects and the receiver of the outcomes.
pub struct Waiting {
    /// For each batch, the effects of its items, each with the index of its item.
    pub effects: Vec<Vec<(usize, Effect)>>,
    /// The sender of the outcomes.
    pub answer: oneshot::Sender<Vec<Outcome>>,
}
