//! Items for those who hand them on, to a reader that knows neither the place of an item nor the flags that name its fields.

use std::borrow::Cow;
use std::collections::BTreeMap;

use karat_reader::Kind;
use serde_json::value::{RawValue, to_raw_value};

use super::Engine;
use crate::error::{Code, Error};

/// An item that is handed on.
#[derive(Debug)]
pub struct HandedOn<'i> {
    /// The item, with subject and task under these names.
    pub item: Cow<'i, [u8]>,
    /// True if it has no id, so that its digest would name it.
    pub is_nameless: bool,
}

impl Engine {
    /// Returns an item as it is handed on. One that cannot be read is refused where it arrives, unless its fields have other
    /// names; items of other kinds than facts have ids, or their readers say that one lacks.
    ///
    /// # Errors
    ///
    /// If the engine has names of fields, and the item is refused.
    pub fn hand_on<'i>(&mut self, item: &'i [u8]) -> Result<HandedOn<'i>, Error> {
        let same = HandedOn { item: Cow::Borrowed(item), is_nameless: false };
        if self.reader.kind() != Kind::Facts {
            return Ok(same);
        }
        let read = match self.reader.read(item) {
            Ok(read) => read,
            Err(_) if self.named.is_empty() => return Ok(same),
            Err(problems) => return Err(Error::refused(&problems)),
        };
        let found = read.item();
        let is_nameless = found.id == found.digest.to_string();
        if self.named.is_empty() {
            return Ok(HandedOn { is_nameless, ..same });
        }
        let names = [("subject", Some(found.subject)), ("task", found.context.task)];
        let renamed = || -> serde_json::Result<Vec<u8>> {
            // The text of every other value stays as it is.
            let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(item)?;
            for (name, value) in names {
                members.remove(name);
                if let Some(value) = value {
                    members.insert(name.to_owned(), to_raw_value(value)?);
                }
            }
            serde_json::to_vec(&members)
        };
        let item = renamed().map_err(|error| Error::new(Code::EvidenceRefused, error.to_string()))?;
        Ok(HandedOn { item: Cow::Owned(item), is_nameless })
    }
}
