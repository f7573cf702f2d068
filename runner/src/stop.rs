//! The wish to stop, which every attempt looks at while it waits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A switch by which a run is asked to stop.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

/// The longest time in which nothing looks at the switch.
pub(crate) const GLANCE: Duration = Duration::from_millis(10);

impl Stop {
    /// Asks the run to stop: attempts under way are ended, none begins.
    pub fn ask(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns whether it is to stop.
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
