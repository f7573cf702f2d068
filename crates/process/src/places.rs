//! Places: how many jobs are at work at a time, how many wait, and one that must be alone.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The places of a pool.
#[derive(Debug)]
pub(super) struct Places {
    count: usize,
    queue: usize,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    at_work: usize,
    waiting: usize,
    /// Jobs that wait until no other is at work. None begins before them.
    alone: usize,
}

/// A place, free again once it is dropped.
#[derive(Debug)]
pub(super) struct Place<'a> {
    places: &'a Places,
    weight: usize,
}

/// The turn of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Its first.
    First,
    /// A later one: it has had its turn in the queue.
    Again,
    /// A later one, with no other job beside it.
    Alone,
}

/// The reason for which there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    /// Too many wait.
    Queue,
    /// The wait was too long.
    Time,
}

impl Places {
    pub(super) fn new(count: usize, queue: usize) -> Self {
        Self { count, queue, state: Mutex::default(), freed: Condvar::new() }
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// Returns the numbers of jobs at work, and of those that wait.
    pub(super) fn taken(&self) -> (usize, usize) {
        let state = self.lock();
        (state.at_work.min(self.count), state.waiting)
    }

    /// Waits for a place, or for all of them, and no longer than `most`.
    ///
    /// # Errors
    ///
    /// If it gets no place.
    pub(super) fn take(&self, turn: Turn, most: Duration) -> Result<Place<'_>, Full> {
        let until = Instant::now().checked_add(most);
        let alone = turn == Turn::Alone;
        let weight = if alone { self.count } else { 1 };
        let mut state = self.lock();
        let is_free = |state: &State| match alone {
            true => state.at_work == 0,
            false => state.alone == 0 && state.at_work < self.count,
        };
        if !is_free(&state) {
            if turn == Turn::First && state.waiting >= self.queue {
                return Err(Full::Queue);
            }
            state.waiting += 1;
            state.alone += usize::from(alone);
            let mut is_late = false;
            while !is_free(&state) && !is_late {
                state = match until {
                    None => self.freed.wait(state).unwrap_or_else(PoisonError::into_inner),
                    Some(until) => {
                        let left = until.saturating_duration_since(Instant::now());
                        is_late = left.is_zero();
                        self.freed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                    }
                };
            }
            state.waiting -= 1;
            state.alone -= usize::from(alone);
            if !is_free(&state) {
                // It may have kept others waiting.
                self.freed.notify_all();
                return Err(Full::Time);
            }
        }
        state.at_work += weight;
        Ok(Place { places: self, weight })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    /// Lets others begin beside this job, if it is alone.
    pub(super) fn share(&mut self) {
        if self.weight > 1 {
            self.places.lock().at_work -= self.weight - 1;
            self.weight = 1;
            self.places.freed.notify_all();
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.places.lock().at_work -= self.weight;
        self.places.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn no_more_are_at_work_than_there_are_places_and_one_alone_has_them_all() {
        let places = Places::new(3, usize::MAX);
        let (at_work, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for number in 0..40 {
                let (places, at_work, most) = (&places, &at_work, &most);
                scope.spawn(move || {
                    let alone = number % 8 == 7;
                    let _place = places.take(if alone { Turn::Alone } else { Turn::First }, LONG).unwrap();
                    let now = at_work.fetch_add(1, Ordering::SeqCst) + 1;
                    assert!(!alone || now == 1, "{now} beside one that must be alone");
                    most.fetch_max(now, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(2));
                    at_work.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!((1..=3).contains(&most.load(Ordering::SeqCst)));
        assert_eq!(places.taken(), (0, 0));
    }

    #[test]
    fn the_queue_and_the_wait_are_bounded() {
        let places = Places::new(1, 1);
        let held = places.take(Turn::First, LONG).unwrap();
        assert_eq!(places.take(Turn::First, Duration::from_millis(5)).unwrap_err(), Full::Time);
        assert_eq!(places.take(Turn::Alone, Duration::from_millis(5)).unwrap_err(), Full::Time);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| places.take(Turn::First, LONG).map(drop));
            while places.taken().1 == 0 {
                thread::yield_now();
            }
            assert_eq!(places.take(Turn::First, LONG).unwrap_err(), Full::Queue);
            // What was at work before is not turned away.
            assert_eq!(places.take(Turn::Again, Duration::from_millis(5)).unwrap_err(), Full::Time);
            drop(held);
            waiting.join().unwrap().unwrap();
        });
        assert!(Places::new(1, 0).take(Turn::First, Duration::ZERO).is_ok(), "a free place needs no queue");
        assert_eq!(places.taken(), (0, 0));
    }

    #[test]
    fn one_alone_that_shares_keeps_one_place() {
        let places = Places::new(3, usize::MAX);
        let mut alone = places.take(Turn::Alone, LONG).unwrap();
        assert_eq!(places.take(Turn::First, Duration::ZERO).unwrap_err(), Full::Time);
        alone.share();
        alone.share();
        let others = [(); 2].map(|()| places.take(Turn::First, Duration::ZERO).unwrap());
        assert_eq!(places.take(Turn::First, Duration::ZERO).unwrap_err(), Full::Time);
        drop(alone);
        assert!(places.take(Turn::First, Duration::ZERO).is_ok());
        drop(others);
        assert_eq!(places.taken(), (0, 0));
    }
}
