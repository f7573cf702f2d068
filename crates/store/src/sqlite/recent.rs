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

/// What is known of which rows.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The rows whose postings are here.
    pub rows: Range<u64>,
    /// Sorted runs: each has the postings of rows that follow those of the run before, and is longer than all after it, so
    /// that there are few and a posting is moved seldom.
    runs: Vec<Vec<Posting>>,
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
    pub fn extend(&mut self, mut postings: Vec<Posting>, end: u64) {
        while let Some(mut before) = self.runs.pop_if(|before| before.len() <= 2 * postings.len()) {
            before.append(&mut postings);
            postings = before;
        }
        sort(&mut postings);
        self.runs.push(postings);
        self.rows.end = end;
    }

    /// Every posting, run by run.
    pub fn postings(&self) -> impl Iterator<Item = &Posting> {
        self.runs.iter().flatten()
    }

    /// How many postings there are.
    pub fn count(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }

    /// Every posting in the order of the table.
    pub fn sorted(&self) -> Vec<Posting> {
        let mut sorted = self.runs.concat();
        sort(&mut sorted);
        sorted
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
        self.runs.iter_mut().for_each(|run| run.retain(|(_, position)| whether(*position)));
        self.runs.retain(|run| !run.is_empty());
    }

    /// The positions of `term` within `range`.
    pub fn positions(&self, term: Term, range: Range<u64>, order: Order, limit: usize) -> Vec<u64> {
        let found = self.runs.iter().flat_map(|run| {
            let place = |position| run.partition_point(|posting| *posting < (term, position));
            run.get(place(range.start)..place(range.end)).unwrap_or_default()
        });
        let found = found.map(|(_, position)| *position);
        match order {
            Order::Oldest => found.take(limit).collect(),
            Order::Newest => found.rev().take(limit).collect(),
        }
    }
}

/// Puts postings into the order of the table; takes no longer than to merge them where parts are sorted. Numbers are
/// compared faster than bytes.
fn sort(postings: &mut [Posting]) {
    postings.sort_by_key(|(term, position)| (u128::from_be_bytes(term.0), *position));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        /// Runs of any lengths say what one sorted set says, after rows were forgotten at either end too.
        #[test]
        fn runs_are_one_sorted_set(
            commits in proptest::collection::vec(proptest::collection::vec(0u8..5, 0..40), 1..20),
            cut in 0.0..1.0f64,
            limit in 0usize..50,
        ) {
            let (mut state, mut set, mut end) = (State::default(), BTreeSet::new(), 0);
            for terms in commits {
                let postings: Vec<Posting> = (end..).zip(terms).map(|(at, term)| (Term([term; 16]), at)).collect();
                end += postings.len() as u64;
                set.extend(postings.iter().copied());
                state.extend(postings, end);
            }
            let middle = (end as f64 * cut) as u64;
            state.forget_before(middle / 2);
            state.forget_from(middle);
            set.retain(|(_, at)| (middle / 2..middle).contains(at));
            prop_assert!(state.rows == (middle / 2..middle) && state.count() == set.len());
            prop_assert!(state.sorted().iter().eq(&set));
            for term in (0..6).map(|term| Term([term; 16])) {
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
