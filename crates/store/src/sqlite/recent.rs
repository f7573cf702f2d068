//! Postings that are not in their table yet. They follow from the rows, so nothing is lost with them: kept in memory and
//! written many at a time in the order of the table, they touch each page of it once and not once each.

use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::item::Term;
use crate::port::Order;

/// A posting: what finds, and which row.
pub(super) type Posting = (Term, u64);

/// The postings of the rows of one range, shared by the connections of a process.
#[derive(Debug, Default)]
pub(super) struct Recent {
    state: RwLock<State>,
}

/// How many bits of a term say in which bucket its postings are: of a million postings a bucket has some 30.
const BUCKET_BITS: u32 = 15;

/// What is known of which rows.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The rows whose postings are here.
    pub rows: Range<u64>,
    /// By the first bits of the term, each in the order of the table, which is then that of all of them. A posting is put
    /// in its place at once, so no commit has to wait until many are put in order.
    buckets: Vec<Vec<Posting>>,
    /// How many there are in all: asked after every commit, which is too often to add up the buckets.
    count: usize,
}

impl Recent {
    pub fn read(&self) -> RwLockReadGuard<'_, State> {
        // Every change is made whole before the lock is let go.
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Adds the postings of the rows up to `end`.
    pub fn extend(&mut self, postings: impl IntoIterator<Item = Posting>, end: u64) {
        self.buckets.resize_with(1 << BUCKET_BITS, Vec::new);
        for posting in postings {
            if let Some(bucket) = self.buckets.get_mut(bucket_of(posting.0)) {
                let place = bucket.partition_point(|other| *other < posting);
                bucket.insert(place, posting);
                self.count += 1;
            }
        }
        self.rows.end = end;
    }

    /// Every posting, in the order of the table.
    pub fn postings(&self) -> impl Iterator<Item = &Posting> {
        self.buckets.iter().flatten()
    }

    /// How many postings there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The next `limit` postings of the rows before `end`, in the order of the table; none is before the first.
    pub fn after(&self, last: Option<Posting>, end: u64, limit: usize) -> Vec<Posting> {
        let first = last.map_or(0, |(term, _)| bucket_of(term));
        let begin = |bucket: &Vec<Posting>| last.map_or(0, |last| bucket.partition_point(|it| *it <= last));
        let here = self.buckets.get(first).map(|bucket| bucket.iter().skip(begin(bucket)));
        let later = self.buckets.iter().skip(first + 1).flatten();
        let wanted = here.into_iter().flatten().chain(later).filter(|(_, position)| *position < end);
        wanted.take(limit).copied().collect()
    }

    /// Forgets rows before `start`, which are in the table.
    pub fn forget_before(&mut self, start: u64) {
        if start > self.rows.start {
            self.keep(|position| position >= start);
            self.rows = start..self.rows.end.max(start);
        }
    }

    /// Forgets rows from `end` on, which were not committed after all.
    pub fn forget_from(&mut self, end: u64) {
        if end < self.rows.end {
            self.keep(|position| position < end);
            self.rows.end = end.max(self.rows.start);
        }
    }

    fn keep(&mut self, whether: impl Fn(u64) -> bool) {
        self.buckets.iter_mut().for_each(|bucket| bucket.retain(|(_, position)| whether(*position)));
        self.count = self.buckets.iter().map(Vec::len).sum();
    }

    /// The positions of `term` within `range`.
    pub fn positions(&self, term: Term, range: Range<u64>, order: Order, limit: usize) -> Vec<u64> {
        let bucket = self.buckets.get(bucket_of(term)).map(Vec::as_slice).unwrap_or_default();
        let place = |position| bucket.partition_point(|posting| *posting < (term, position));
        let found = bucket.get(place(range.start)..place(range.end)).unwrap_or_default();
        let found = found.iter().map(|(_, position)| *position);
        match order {
            Order::Oldest => found.take(limit).collect(),
            Order::Newest => found.rev().take(limit).collect(),
        }
    }
}

fn bucket_of(term: Term) -> usize {
    let [first, second, ..] = term.0;
    usize::from(u16::from_be_bytes([first, second]) >> (u16::BITS - BUCKET_BITS))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        /// They say what one sorted set says, after rows were forgotten at either end too.
        #[test]
        fn buckets_are_one_sorted_set(
            commits in proptest::collection::vec(proptest::collection::vec(0u8..5, 0..40), 1..20),
            cut in 0.0..1.0f64,
            limit in 0usize..50,
        ) {
            let (mut state, mut set, mut end) = (State::default(), BTreeSet::new(), 0);
            for terms in commits {
                let postings: Vec<Posting> = (end..).zip(terms).map(|(at, term)| (Term([60 * term; 16]), at)).collect();
                end += postings.len() as u64;
                set.extend(postings.iter().copied());
                state.extend(postings, end);
            }
            let middle = (end as f64 * cut) as u64;
            state.forget_before(middle / 2);
            state.forget_from(middle);
            set.retain(|(_, at)| (middle / 2..middle).contains(at));
            prop_assert!(state.rows == (middle / 2..middle) && state.count() == set.len());
            prop_assert!(state.postings().eq(&set));
            let (mut last, end) = (None, middle.saturating_sub(1));
            for posting in set.iter().filter(|(_, at)| *at < end) {
                let next = state.after(last, end, 1 + limit);
                prop_assert_eq!(next.first(), Some(posting));
                prop_assert!(next.len() <= 1 + limit);
                last = Some(*posting);
            }
            prop_assert!(state.after(last, end, 1).is_empty());
            for term in [0, 60, 120, 180, 240, 255].map(|byte| Term([byte; 16])) {
                let range = middle / 3..middle.saturating_sub(2);
                let mut found: Vec<u64> =
                    set.iter().filter(|(of, at)| *of == term && range.contains(at)).map(|(_, at)| *at).collect();
                let oldest = state.positions(term, range.clone(), Order::Oldest, limit);
                prop_assert!(oldest.iter().eq(found.iter().take(limit)));
                found.reverse();
                let newest = state.positions(term, range, Order::Newest, limit);
                prop_assert!(newest.iter().eq(found.iter().take(limit)));
            }
        }
    }
}
