//! The mark of history that is old on purpose: an entry of the log, in one batch with the items that it names. They count from the
//! time that they state, as in files, and the log says who handed them in and why.

use crate::basics::*;

const SCHEMA: &str = "karat/backfill/1";

/// A mark, as stored: these records were handed in as history. Its entry has the moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backfill {
    schema: String,
    /// The id of the key that handed them in.
    pub key: String,
    pub reason: String,
    /// The ids of the records. Of a record that was stored before the mark, it says nothing.
    pub records: Vec<String>,
}

impl Backfill {
    pub fn new(key: &str, reason: &str, records: Vec<String>) -> Self {
        Self { schema: SCHEMA.to_owned(), key: key.to_owned(), reason: reason.to_owned(), records }
    }

    /// Returns the item that stores it. The same mark has the same id, so that what is sent again changes nothing.
    pub fn item(&self) -> NewItem {
        let content = serde_json::to_value(self).map(|value| canonical_json(&value)).unwrap_or_default();
        let digest = Digest::of(content.as_bytes()).to_string();
        let digest = digest.strip_prefix("sha256:").unwrap_or(&digest);
        NewItem::new(Kind::Key, format!("{}/backfill/{digest}", self.key), content)
    }

    /// Reads it from an item of the store; `None` if the item is a state of a key.
    pub fn parse(content: &[u8]) -> Option<Self> {
        serde_json::from_slice(content).ok().filter(|it: &Self| it.schema == SCHEMA)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Key, KeyRequest};

    #[test]
    fn a_mark_is_read_as_it_was_written_and_is_no_key() {
        let key = KeyRequest::admin("a").make([7; 32]).unwrap().key;
        let mark = Backfill::new(&key.id, "moved here", vec![String::from("a/1/c@1.0.0")]);
        let item = mark.item();
        assert_eq!(Backfill::parse(&item.content), Some(mark.clone()));
        assert!(Key::parse(&item.content).is_err() && Backfill::parse(&key.item(false).content).is_none());
        assert_eq!(mark.item(), item);
        assert_ne!(Backfill::new(&key.id, "another", mark.records).item().id, item.id);
    }
}
