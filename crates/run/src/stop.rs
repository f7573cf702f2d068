//! The wish to stop, which every attempt looks at while it waits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Whether a run is to stop.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

/// How long nothing looks at the wish at most.
pub(crate) const GLANCE: Duration = Duration::from_millis(10);

impl Stop {
    /// Asks the run to stop: attempts under way are ended, none begins.
    pub fn ask(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns whether it is to stop.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Waits until a moment. Returns false if it is to stop before.
    pub(crate) fn wait_until(&self, moment: Instant) -> bool {
        loop {
            if self.is_asked() {
                return false;
            }
            let left = moment.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(GLANCE));
        }
    }
}
