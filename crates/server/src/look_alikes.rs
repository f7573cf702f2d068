//! Subjects of the log whose names look like another's. Names are looked at when someone asks, each once, so that posting
//! stays as quick as it is.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use karat::look_alikes::LookAlikes;
use karat_evidence::names;

use crate::basics::*;
use crate::index::Index;

#[derive(Debug, Default)]
pub(crate) struct Looks {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    names: names::LookAlikes,
    /// The position of the first record of each subject. Only looked up.
    firsts: HashMap<u32, u64>,
    /// The position from which on records were not looked at yet.
    next: u64,
}

impl Looks {
    /// Finds those of `names` that look like a subject with a record among the first `size` entries of the log.
    pub fn of<'n>(&self, index: &Index, names: impl IntoIterator<Item = &'n str>, size: u64) -> LookAlikes {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.catch_up(index);
        let is_there = |number: &u32| known.firsts.get(number).is_some_and(|first| *first < size);
        let name = |number: u32| index.name(number);
        let found = |own: &'n str| known.names.like(own).into_iter().filter(is_there).map(name).collect();
        let names: Vec<&str> = names.into_iter().collect();
        names.into_iter().map(|own| (own, found(own))).collect()
    }
}

impl Known {
    /// Looks at the names of the subjects that are new.
    fn catch_up(&mut self, index: &Index) {
        for row in index.from(self.next, u64::MAX) {
            self.next = row.position + 1;
            if let Entry::Vacant(new) = self.firsts.entry(row.subject) {
                new.insert(row.position);
                self.names.add(row.subject, index.name(row.subject));
            }
        }
    }
}
