//! The only place that reads a clock and draws random numbers. Crates below the server do neither: the server passes
//! them timestamps, keys and nonces.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::basics::*;

/// The clock of a server: the time, and the time since the start.
#[derive(Debug, Clone)]
pub struct Clock {
    started: Instant,
    /// The moment of the newest entry of the log, in milliseconds: the time of a server is never before it.
    newest: Arc<AtomicI64>,
    put: Option<Arc<Put>>,
}

/// A clock set to a time.
#[derive(Debug)]
struct Put {
    moment: AtomicI64,
    /// Milliseconds since the start at which it began to run; the largest number while it is stopped.
    since: AtomicI64,
    /// The number of times it drew.
    draws: AtomicU64,
}

impl Clock {
    pub fn system() -> Self {
        Self { started: Instant::now(), newest: Arc::new(AtomicI64::new(i64::MIN)), put: None }
    }

    /// Returns a stopped clock, for tests and examples; its clones share the time.
    pub fn fixed(moment: Timestamp) -> Self {
        let put = Put {
            moment: AtomicI64::new(moment.milliseconds),
            since: AtomicI64::new(i64::MAX),
            draws: AtomicU64::default(),
        };
        Self { put: Some(Arc::new(put)), ..Self::system() }
    }

    /// Sets a stopped clock to another time. Does nothing to the clock of the machine.
    pub fn put(&self, moment: Timestamp) {
        if let Some(put) = &self.put {
            put.moment.store(moment.milliseconds, Ordering::SeqCst);
        }
    }

    /// Starts a stopped clock.
    pub fn run(&self) {
        if let Some(put) = &self.put {
            put.since.store(self.running_milliseconds(), Ordering::SeqCst);
        }
    }

    /// Returns the time to the millisecond: that of the clock, or that of the newest entry of the log if the clock has gone
    /// back. A clock before 1970 shows 1970.
    pub fn now(&self) -> Timestamp {
        let newest = Timestamp { milliseconds: self.newest.load(Ordering::Acquire) };
        self.shown().max(newest)
    }

    /// Returns the seconds by which the clock is behind the newest entry of the log; none if that is no more than a second, as
    /// between two threads.
    pub(crate) fn behind_seconds(&self) -> Option<u64> {
        let behind = self.newest.load(Ordering::Acquire).saturating_sub(self.shown().milliseconds);
        (behind > 1000).then_some(behind.unsigned_abs() / 1000)
    }

    /// Returns this clock for one log.
    pub(crate) fn of_log(self) -> Self {
        Self { newest: Self::system().newest, ..self }
    }

    /// Returns the moment of the newest entry of the log, for the memory that follows the log.
    pub(crate) fn newest(&self) -> Arc<AtomicI64> {
        Arc::clone(&self.newest)
    }

    fn shown(&self) -> Timestamp {
        if let Some(put) = &self.put {
            let passed = self.running_milliseconds().saturating_sub(put.since.load(Ordering::SeqCst));
            return Timestamp {
                milliseconds: put.moment.load(Ordering::SeqCst).saturating_add(passed.max(0)),
            };
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp { milliseconds: i64::try_from(since.as_millis()).unwrap_or(i64::MAX) }
    }

    /// Draws 32 bytes: from the operating system, as [`random`] does. While a clock is stopped, which is so in tests and while
    /// examples are prepared, they are the same in every run, and anyone can foretell them.
    pub fn draw(&self) -> Result<[u8; 32], String> {
        match self.put.as_ref().filter(|put| put.since.load(Ordering::SeqCst) == i64::MAX) {
            None => random(),
            Some(put) => {
                let number = put.draws.fetch_add(1, Ordering::SeqCst);
                let Digest(bytes) = Digest::of(format!("karat/stopped-clock/1\n{number}\n").as_bytes());
                Ok(bytes)
            }
        }
    }

    fn running_milliseconds(&self) -> i64 {
        i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX)
    }

    /// Returns the seconds since the server started; never goes back.
    pub(crate) fn running_seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }
}

/// Fills `bytes` from the random source of the operating system.
pub fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| format!("there is no source of random numbers: {error}"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_can_be_foretold_only_while_the_clock_is_stopped() {
        let stopped = || Clock::fixed(Timestamp { milliseconds: 0 });
        let draws = |clock: &Clock| [clock.draw().unwrap(), clock.draw().unwrap()];
        let (one, other) = (stopped(), stopped());
        assert_eq!(draws(&one), draws(&other));
        let [first, second] = draws(&one.clone());
        assert_ne!(first, second);
        assert!(!draws(&other.clone()).contains(&draws(&one)[0]), "clones draw from one row");
        one.run();
        other.run();
        assert!(!draws(&one).iter().any(|draw| draws(&other).contains(draw)));
        let system = Clock::system();
        assert!(!draws(&system).iter().any(|draw| draws(&system).contains(draw)));
    }
}
