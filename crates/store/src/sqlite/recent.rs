//! Postings that are not in their table yet. They follow from the rows, so nothing is lost with them: kept in memory and
//! written many at a time in the order of the table, they touch each page of it once and not once each.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::item::Term;
use crate::port::Order;

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
    pub postings: BTreeSet<(Term, u64)>,
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
    pub fn extend(&mut self, postings: impl IntoIterator<Item = (Term, u64)>, end: u64) {
        self.postings.extend(postings);
        self.rows.end = end;
    }

    /// Forgets rows before `start`, which are in the table.
    pub fn forget_before(&mut self, start: u64) {
        if start >= self.rows.end {
            self.postings.clear();
            self.rows = start..start;
        } else if start > self.rows.start {
            self.postings.retain(|(_, position)| *position >= start);
            self.rows.start = start;
        }
    }

    /// Forgets rows from `end` on, which were not committed after all.
    pub fn forget_from(&mut self, end: u64) {
        if end < self.rows.end {
            self.postings.retain(|(_, position)| *position < end);
            self.rows.end = end.max(self.rows.start);
        }
    }

    /// The positions of `term` within `range`.
    pub fn positions(&self, term: Term, range: Range<u64>, order: Order, limit: usize) -> Vec<u64> {
        if range.is_empty() {
            return Vec::new();
        }
        let found =
            self.postings.range((term, range.start)..(term, range.end)).map(|(_, position)| *position);
        match order {
            Order::Oldest => found.take(limit).collect(),
            Order::Newest => found.rev().take(limit).collect(),
        }
    }
}
