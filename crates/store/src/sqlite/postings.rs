//! The postings in memory: which rows each term finds.
//!
//! An ordered index of random terms on disk costs more with every row, because each posting touches a different page.
//! So the file has the postings in the order of commits, one blob per commit, and a process that asks for terms reads
//! all blobs once into a sorted set.
//!
//! Set and blobs have the first 64 bits of each term. Two terms may share them, by chance or on purpose:
//! a position found here is a candidate, and its row says whether the term finds it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use crate::item::Term;
use crate::port::Order;

/// A posting in a blob: the first eight bytes of the term, and in four bytes how far its row is behind the first row of
/// the commit. The highest byte comes first in both.
const POSTING_BYTES: usize = 12;
/// From this many postings on it is faster to sort them all than to add them one by one.
const MANY: usize = 4096;

/// Returns the first 64 bits of a term.
fn key(term: Term) -> u64 {
    let [key @ .., _, _, _, _, _, _, _, _] = term.0;
    u64::from_be_bytes(key)
}

/// Returns the blob of the postings of a commit whose first row is at `first`, or `None` if a row is before that or too
/// far behind it.
pub(super) fn blob(first: u64, postings: &[(Term, u64)]) -> Option<Vec<u8>> {
    let mut blob = Vec::with_capacity(POSTING_BYTES * postings.len());
    for (term, position) in postings {
        let offset = u32::try_from(position.checked_sub(first)?).ok()?;
        blob.extend(key(*term).to_be_bytes());
        blob.extend(offset.to_be_bytes());
    }
    Some(blob)
}

/// Returns the number of postings in a blob of `bytes` bytes, or `None` if it cannot be a blob.
pub(super) fn count(bytes: u64) -> Option<u64> {
    let each = POSTING_BYTES as u64;
    bytes.is_multiple_of(each).then_some(bytes / each)
}

/// Postings that were read from blobs, in any order.
#[derive(Default)]
pub(super) struct Batch(Vec<(u64, u64)>);

impl Batch {
    /// Adds those of the blob of the commit whose first row is at `first`. Returns `false` if it cannot be a blob.
    pub fn read(&mut self, first: u64, blob: &[u8]) -> bool {
        let (postings, rest) = blob.as_chunks::<POSTING_BYTES>();
        self.0.extend(postings.iter().map(|&[a, b, c, d, e, f, g, h, offset @ ..]| {
            let position = first.saturating_add(u64::from(u32::from_be_bytes(offset)));
            (u64::from_be_bytes([a, b, c, d, e, f, g, h]), position)
        }));
        rest.is_empty()
    }

    /// Adds the postings of a commit.
    pub fn add(&mut self, postings: &[(Term, u64)]) {
        self.0.extend(postings.iter().map(|(term, position)| (key(*term), *position)));
    }
}

/// The postings of all rows of a store up to some position, shared by the connections of a process.
#[derive(Debug, Default)]
pub(super) struct Postings {
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    set: BTreeSet<(u64, u64)>,
    /// The postings of all rows before this position are in the set.
    end: u64,
}

impl Postings {
    /// Returns the position up to which the postings of all rows are known.
    pub fn end(&self) -> u64 {
        self.state.read().unwrap_or_else(PoisonError::into_inner).end
    }

    /// Adds postings, which may be there already. With them, those of all rows before `end` are known.
    pub fn extend(&self, Batch(mut postings): Batch, end: u64) {
        postings.sort_unstable();
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.set.is_empty() && postings.len() >= MANY {
            state.set = postings.into_iter().collect();
        } else {
            state.set.extend(postings);
        }
        state.end = state.end.max(end);
    }

    /// Returns the first `limit` positions within `range` at which `term` may be found.
    pub fn candidates(&self, term: Term, range: &Range<u64>, order: Order, limit: usize) -> Vec<u64> {
        if range.is_empty() {
            return Vec::new();
        }
        let key = key(term);
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let found = state.set.range((key, range.start)..(key, range.end)).map(|(_, position)| *position);
        match order {
            Order::Oldest => found.take(limit).collect(),
            Order::Newest => found.rev().take(limit).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Each commit is added twice: as the writer adds it, and as a reader that saw the larger head loads it.
        #[test]
        fn what_was_logged_is_found_in_either_order(
            commits in proptest::collection::vec(proptest::collection::vec((0u8..5, 0u64..9), 0..40), 1..20),
            limit in 0usize..50,
        ) {
            let postings = Postings::default();
            let (mut all, mut first) = (BTreeSet::new(), 0);
            for commit in commits {
                let commit: Vec<(Term, u64)> =
                    commit.into_iter().map(|(term, offset)| (Term([term; 16]), first + offset)).collect();
                let blob = blob(first, &commit).unwrap();
                prop_assert_eq!(count(blob.len() as u64), Some(commit.len() as u64));
                let (mut read, mut added) = (Batch::default(), Batch::default());
                prop_assert!(read.read(first, &blob));
                added.add(&commit);
                all.extend(commit);
                first += 9;
                postings.extend(added, first);
                postings.extend(read, first);
            }
            prop_assert_eq!(postings.end(), first);
            let range = first / 3..first - first / 4;
            for term in (0..6).map(|byte| Term([byte; 16])) {
                let mut found: Vec<u64> =
                    all.iter().filter(|(of, at)| *of == term && range.contains(at)).map(|(_, at)| *at).collect();
                let oldest = postings.candidates(term, &range, Order::Oldest, limit);
                prop_assert!(oldest.iter().eq(found.iter().take(limit)));
                found.reverse();
                let newest = postings.candidates(term, &range, Order::Newest, limit);
                prop_assert!(newest.iter().eq(found.iter().take(limit)));
            }
        }
    }

    #[test]
    fn blobs_that_cannot_be_are_refused() {
        assert_eq!(blob(5, &[(Term([0; 16]), 4)]), None);
        assert_eq!(blob(5, &[(Term([0; 16]), 5 + (1 << 32))]), None);
        assert_eq!(count(13), None);
        assert!(!Batch::default().read(0, &[0; 13]));
        let mut last = Batch::default();
        assert!(last.read(u64::MAX, &[0xff; 12]));
        assert_eq!(last.0, [(u64::MAX, u64::MAX)]);
    }
}
