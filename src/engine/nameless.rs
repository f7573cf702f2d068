//! Items without an id, for those who hand items on and have to name them.

use karat_reader::{Kind, Reader, ReaderOptions};

use super::Wanted;

/// A look at items that asks whether they have an id.
pub struct Ids {
    reader: Option<Reader>,
}

impl Ids {
    /// Prepares for items of a kind. Items of other kinds than facts have ids, or their readers say that one lacks.
    pub fn of(wanted: &Wanted) -> Self {
        let is_facts = wanted.kind == Kind::Facts;
        let reader = is_facts.then(|| Reader::new(wanted.kind, &wanted.facts, ReaderOptions::default()));
        Self { reader: reader.and_then(Result::ok) }
    }

    /// Returns true if the item has no id, so that its digest would name it. What cannot be read has none to miss.
    pub fn is_missing(&mut self, item: &[u8]) -> bool {
        let read = self.reader.as_mut().and_then(|reader| reader.read(item).ok());
        read.is_some_and(|evidence| {
            let item = evidence.item();
            item.id == item.digest.to_string()
        })
    }
}
