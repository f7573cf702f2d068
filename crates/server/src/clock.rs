//! The only place where a clock is read and random numbers are drawn. Nothing below the server does either: it hands
//! moments, keys and nonces in.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use karat_store::Moment;

/// The clock of a server: what time it is, and how long it has been running.
#[derive(Debug, Clone)]
pub struct Clock {
    started: Instant,
    fixed: Option<Moment>,
}

impl Clock {
    /// The clock of the machine.
    #[must_use]
    pub fn system() -> Self {
        Self { started: Instant::now(), fixed: None }
    }

    /// A clock that stands still at a moment, for tests and examples.
    #[must_use]
    pub fn fixed(moment: Moment) -> Self {
        Self { started: Instant::now(), fixed: Some(moment) }
    }

    /// The moment, to the millisecond. A clock before 1970 shows 1970.
    #[must_use]
    pub fn now(&self) -> Moment {
        self.fixed.unwrap_or_else(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Moment(i64::try_from(since.as_millis()).unwrap_or(i64::MAX).min(Moment::MAX.0))
        })
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
