//! Subjects of the log whose names look like another's. Names are looked at when someone asks, each once, so that posting
//! stays as quick as it is.

use std::collections::HashMap;

use karat::look_alikes::{KnownNames, LookAlikes};

use crate::basics::*;
use crate::index::Index;

/// The number of names that are looked up before others have their turn.
const TURN: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Looks {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    names: KnownNames,
    /// The subjects in the order of their first records: each with its number in the index and the position of that record.
    firsts: Vec<(u32, u64)>,
    /// The place of each in that order. Only looked up.
    places: HashMap<u32, u32>,
    /// The position from which on records were not looked at yet.
    next: u64,
}

impl Looks {
    /// Finds those of `names` that look like a subject with a record among the first `size` entries of the log.
    pub fn of<'n>(&self, index: &Index, names: impl IntoIterator<Item = &'n str>, size: u64) -> LookAlikes {
        let names: Vec<&str> = names.into_iter().collect();
        let parts = names.chunks(TURN).flat_map(|part| {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.catch_up(index);
            // A copy of the index that is older than another reader's has no names for what came since.
            let end = known.firsts.partition_point(|(_, first)| *first < size.min(index.end()));
            let name = |place: u32| Some(index.name(known.firsts.get(place as usize)?.0));
            let of = |own: &&str| {
                let place = index.number(own).and_then(|number| known.places.get(&number)).copied();
                known.names.of(own, place, end as u32, name)
            };
            part.iter().map(of).collect::<Vec<_>>()
        });
        parts.collect()
    }
}

impl Known {
    /// Looks at the names of the subjects that are new.
    fn catch_up(&mut self, index: &Index) {
        for row in index.from(self.next, u64::MAX) {
            self.next = row.position + 1;
            if !self.places.contains_key(&row.subject) {
                self.places.insert(row.subject, self.firsts.len() as u32);
                self.firsts.push((row.subject, row.position));
                self.names.add(index.name(row.subject));
            }
        }
    }
}
