//! The only place where a clock is read and random numbers are drawn. Nothing below the server does either: it hands
//! moments, keys and nonces in.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use karat_store::Moment;

/// The clock of a server: what time it is, and how long it has been running.
#[derive(Debug, Clone)]
pub struct Clock {
    started: Instant,
    fixed: Option<Arc<AtomicI64>>,
}

impl Clock {
    /// The clock of the machine.
    #[must_use]
    pub fn system() -> Self {
        Self { started: Instant::now(), fixed: None }
    }

    /// A clock that stands still at a moment, for tests and examples; its clones stand still together.
    #[must_use]
    pub fn fixed(moment: Moment) -> Self {
        Self { started: Instant::now(), fixed: Some(Arc::new(AtomicI64::new(moment.0))) }
    }

    /// Puts a clock that stands still, and its clones, to another moment. The clock of the machine is not ours to put.
    pub fn put(&self, moment: Moment) {
        if let Some(fixed) = &self.fixed {
            fixed.store(moment.0, Ordering::SeqCst);
        }
    }

    /// The moment, to the millisecond. A clock before 1970 shows 1970.
    #[must_use]
    pub fn now(&self) -> Moment {
        if let Some(fixed) = &self.fixed {
            return Moment(fixed.load(Ordering::SeqCst));
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment(i64::try_from(since.as_millis()).unwrap_or(i64::MAX).min(Moment::MAX.0))
    }

    /// Seconds since the server began; never goes back.
    #[must_use]
    pub fn running_seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }
}

/// Fills `bytes` from the random source of the operating system.
///
/// # Errors
/// That there is none.
pub fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| format!("there is no source of random numbers: {error}"))?;
    Ok(bytes)
}
