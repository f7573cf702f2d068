//! What lists and leaderboards need of every record, in memory: 80 bytes a record, and each name once. It is rebuilt from
//! the log when a server starts, and follows what is committed.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use karat_core::facts::{Digest, Outcome};
use karat_core::number::Score;
use karat_core::timestamp::Timestamp;

use crate::stored::Trust;

/// A record that is new to the index.
#[derive(Debug, Clone)]
pub struct NewRow {
    /// Who is scored.
    pub subject: String,
    /// `id@version` of the rule.
    pub card: String,
    /// What stands for the task: its name or that of the challenge; none where the item is a task of its own.
    pub task: Option<String>,
    /// When it took place, if it says so.
    pub time: Option<Timestamp>,
    /// How it ended, if it says so.
    pub outcome: Option<Outcome>,
    /// The score, if there is one.
    pub score: Option<Score>,
    /// The digest of its evidence.
    pub evidence: Digest,
    /// Whose word its facts are.
    pub trust: Trust,
}

/// A record as the index keeps it; names are places in [`Index::name`].
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its place in the log.
    pub position: u64,
    /// When it took place, if it says so.
    pub time: Option<Timestamp>,
    /// The score, if there is one.
    pub score: Option<Score>,
    /// Who is scored.
    pub subject: u32,
    /// The rule.
    pub card: u32,
    /// What was attempted; none where it is a task of its own.
    pub task: Option<u32>,
    /// How it ended, if it says so.
    pub outcome: Option<Outcome>,
    /// Whose word its facts are.
    pub trust: Trust,
    /// The first half of the digest of its evidence.
    evidence: [u8; 16],
}

/// All records, in the order of the log.
#[derive(Debug, Default)]
pub struct Index {
    rows: Vec<Row>,
    names: Names,
    /// Evidence that was corrected, and where.
    replaced: BTreeMap<[u8; 16], u64>,
}

/// Names, each once, with a number.
#[derive(Debug, Default)]
struct Names {
    /// Only looked up, never walked through.
    places: HashMap<Arc<str>, u32>,
    list: Vec<Arc<str>>,
}

impl Names {
    fn place(&mut self, name: &str) -> u32 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let name: Arc<str> = name.into();
        // A log of four billion different names does not fit into the memory first.
        let place = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.push(Arc::clone(&name));
        self.places.insert(name, place);
        place
    }
}

impl Index {
    /// Adds the record at `position`, which is higher than all before.
    pub fn add(&mut self, position: u64, new: &NewRow) {
        let row = Row {
            position,
            time: new.time,
            score: new.score,
            subject: self.names.place(&new.subject),
            card: self.names.place(&new.card),
            task: new.task.as_deref().map(|task| self.names.place(task)),
            outcome: new.outcome,
            trust: new.trust,
            evidence: half(new.evidence),
        };
        self.rows.push(row);
    }

    /// Takes note that the evidence with that digest was corrected by the item at `position`.
    pub fn replace(&mut self, evidence: Digest, position: u64) {
        self.replaced.entry(half(evidence)).or_insert(position);
    }

    /// The records that the log had at `size` and that were not corrected until then, in order.
    pub fn rows(&self, size: u64) -> impl DoubleEndedIterator<Item = &Row> + Clone {
        let end = self.rows.partition_point(|row| row.position < size);
        let is_replaced =
            move |row: &Row| self.replaced.get(&row.evidence).is_some_and(|position| *position < size);
        let has_replaced = !self.replaced.is_empty();
        self.rows.iter().take(end).filter(move |row| !has_replaced || !is_replaced(row))
    }

    /// The same from the position `start` on.
    pub fn from(&self, start: u64, size: u64) -> impl Iterator<Item = &Row> {
        let skipped = self.rows.partition_point(|row| row.position < start);
        let end = self.rows.partition_point(|row| row.position < size);
        self.rows.iter().take(end).skip(skipped)
    }

    /// How many records there are, corrected ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many names there are.
    #[must_use]
    pub fn names(&self) -> usize {
        self.names.list.len()
    }

    /// The number of a name, if any record has it.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u32> {
        self.names.places.get(name).copied()
    }

    /// The name with that number.
    #[must_use]
    pub fn name(&self, number: u32) -> &str {
        usize::try_from(number).ok().and_then(|at| self.names.list.get(at)).map_or("", |name| name)
    }
}

fn half(digest: Digest) -> [u8; 16] {
    let mut half = [0; 16];
    half.iter_mut().zip(digest.0).for_each(|(to, from)| *to = from);
    half
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(subject: &str, evidence: &[u8]) -> NewRow {
        NewRow {
            subject: subject.to_owned(),
            card: "c@1.0.0".to_owned(),
            task: None,
            time: None,
            outcome: None,
            score: None,
            evidence: Digest::of(evidence),
            trust: Trust::Measured,
        }
    }

    #[test]
    fn corrections_count_from_where_they_stand() {
        let mut index = Index::default();
        index.add(1, &row("a", b"old"));
        index.add(3, &row("a", b"new"));
        index.replace(Digest::of(b"old"), 2);
        // The same evidence under another rule, scored after it was corrected.
        index.add(5, &row("a", b"old"));
        let positions = |size| index.rows(size).map(|row| row.position).collect::<Vec<_>>();
        assert_eq!((positions(2), positions(3), positions(9)), (vec![1], vec![], vec![3]));
        assert_eq!(index.from(2, 9).map(|row| row.position).collect::<Vec<_>>(), [3, 5]);
    }

    #[test]
    fn a_record_takes_80_bytes() {
        assert_eq!(size_of::<Row>(), 80);
    }
}
