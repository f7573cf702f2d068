//! The content of items of the log: JSON with a schema, and the place of its item.

use serde::de::DeserializeOwned;

use crate::basics::*;

/// The content of items of one kind: JSON with a schema, from which the state in memory follows.
pub trait Stored: Serialize + DeserializeOwned {
    const KIND: Kind;

    fn place(&self) -> Place;

    fn parse(content: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(content).map_err(|error| error.to_string())
    }

    /// Returns the item that stores it.
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
    pub id: String,
    pub subject: Option<String>,
    /// The digests of what it was made from.
    pub sources: Vec<Digest>,
    pub replaces: Option<String>,
}
