//! The content of items of the log: JSON with a schema, and the place of its item.

use karat_core::facts::Digest;
use karat_evidence::canonical_json;
use karat_store::{Kind, NewItem};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The content of items of one kind: JSON with a schema, from which the state in memory follows.
pub trait Stored: Serialize + DeserializeOwned {
    /// The kind of the items.
    const KIND: Kind;

    /// Returns the place of its item in the store.
    fn place(&self) -> Place;

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
