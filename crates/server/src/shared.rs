//! Memory that many read and one changes, without waiting for each other: a reader takes what there is at that moment, and
//! keeps it for as long as its work takes. The writer copies the parts that are still being read before it changes them.
//!
//! No lock leaves this module, so none can be held while something is done that grows with the data.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::RwLock;

use crate::basics::*;

/// A value that is read as of a moment.
#[derive(Debug, Default)]
pub(crate) struct Shared<T>(RwLock<Arc<T>>);

impl<T: Clone> Shared<T> {
    pub fn new(value: T) -> Self {
        Self(RwLock::new(Arc::new(value)))
    }

    /// Returns the value as it is now.
    pub fn now(&self) -> Arc<T> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the value for those who read it from now on. A copy of `T` must cost little, however large it is.
    pub fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        change(Arc::make_mut(&mut self.0.write().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// The number of elements that are copied together.
const SEGMENT: usize = 1024;

/// A list that grows at its end, of which a copy costs a thousandth of the list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Segments<T>(Vec<Arc<Vec<T>>>);

impl<T> Default for Segments<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone> Segments<T> {
    pub fn push(&mut self, element: T) {
        match self.0.last_mut().filter(|last| last.len() < SEGMENT) {
            Some(last) => match Arc::get_mut(last) {
                Some(own) => own.push(element),
                None => {
                    let mut own = Vec::with_capacity(SEGMENT);
                    own.extend_from_slice(last);
                    own.push(element);
                    *last = Arc::new(own);
                }
            },
            None => {
                let mut own = Vec::with_capacity(SEGMENT);
                own.push(element);
                self.0.push(Arc::new(own));
            }
        }
    }

    pub fn len(&self) -> usize {
        self.0.last().map_or(0, |last| (self.0.len() - 1) * SEGMENT + last.len())
    }

    pub fn get(&self, place: usize) -> Option<&T> {
        self.0.get(place / SEGMENT)?.get(place % SEGMENT)
    }

    pub fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        Arc::make_mut(self.0.get_mut(place / SEGMENT)?).get_mut(place % SEGMENT)
    }

    /// Returns the elements at places within `range`, in order.
    pub fn range(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = &T> + Clone {
        let Range { start, end } = range;
        let first = (start / SEGMENT).min(self.0.len());
        let segments = self.0.get(first..).unwrap_or_default();
        segments.iter().enumerate().flat_map(move |(at, segment)| {
            let base = (first + at) * SEGMENT;
            let place = |place: usize| place.saturating_sub(base).min(segment.len());
            segment.get(place(start)..place(end)).unwrap_or_default()
        })
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.range(0..self.len())
    }

    /// Returns the number of elements before the first that `is_before` does not hold for; it holds for none after that.
    pub fn partition_point(&self, is_before: impl Fn(&T) -> bool) -> usize {
        let after = self.0.partition_point(|segment| segment.first().is_some_and(&is_before));
        let Some(last) = after.checked_sub(1) else { return 0 };
        last * SEGMENT + self.0.get(last).map_or(0, |segment| segment.partition_point(is_before))
    }
}

/// A map that only grows, which all copies share: one that was taken earlier finds what came later, too.
#[derive(Debug)]
pub(crate) struct Grown<V>(Arc<RwLock<HashMap<Arc<str>, V>>>);

impl<V> Clone for Grown<V> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<V> Default for Grown<V> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<V: PartialEq + Clone> PartialEq for Grown<V> {
    fn eq(&self, other: &Self) -> bool {
        let all = |it: &Self| it.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        all(self) == all(other)
    }
}

impl<V: Clone> Grown<V> {
    pub fn get(&self, key: &str) -> Option<V> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub fn insert(&self, key: impl Into<Arc<str>>, value: V) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(key.into(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_in_segments_is_a_list() {
        let mut list = Segments::default();
        let size = 3 * SEGMENT + 7;
        (0..size).for_each(|it| list.push(it));
        assert_eq!((list.len(), list.iter().count()), (size, size));
        for range in
            [0..0, 0..1, 5..SEGMENT, SEGMENT..SEGMENT + 1, 7..size, size - 1..size, size..size, 0..9 * size]
        {
            let expected: Vec<usize> = (0..size).filter(|it| range.contains(it)).collect();
            assert_eq!(list.range(range.clone()).copied().collect::<Vec<_>>(), expected);
            assert!(list.range(range).rev().eq(expected.iter().rev()));
        }
        for at in [0, 1, SEGMENT - 1, SEGMENT, SEGMENT + 1, size - 1, size] {
            assert_eq!(list.partition_point(|it| *it < at), at);
            assert_eq!(list.get(at).copied(), (at < size).then_some(at));
        }
    }

    #[test]
    fn what_was_taken_before_stays_as_it_was() {
        let shared = Shared::new(Segments::default());
        (0..SEGMENT + 2).for_each(|it| shared.change(|list| list.push(it)));
        let before = shared.now();
        shared.change(|list| {
            list.push(99);
            list.get_mut(0).into_iter().for_each(|first| *first = 7);
        });
        assert_eq!((before.len(), before.get(0)), (SEGMENT + 2, Some(&0)));
        assert_eq!((shared.now().len(), shared.now().get(0)), (SEGMENT + 3, Some(&7)));
    }
}
