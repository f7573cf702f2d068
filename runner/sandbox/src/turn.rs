//! Turns: runs go side by side, and one whose time counts again goes alone.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The runs of this process at the moment.
struct Running {
    /// The number of those that go side by side.
    together: usize,
    /// True if one goes alone.
    is_alone: bool,
    /// The number of those that wait to go alone. While one does, no other begins.
    waiting: usize,
}

static RUNNING: Mutex<Running> = Mutex::new(Running { together: 0, is_alone: false, waiting: 0 });
static CHANGED: Condvar = Condvar::new();
const GLANCE: Duration = Duration::from_millis(10);

fn locked() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A turn. It ends with the value.
#[derive(Debug)]
pub(crate) struct Turn {
    is_alone: bool,
}

impl Turn {
    /// Waits for a turn beside others. Returns nothing if it is to stop before.
    pub(crate) fn together(stop: &dyn Fn() -> bool) -> Option<Self> {
        let mut running = locked();
        while running.is_alone || running.waiting > 0 {
            if stop() {
                return None;
            }
            running = CHANGED.wait_timeout(running, GLANCE).unwrap_or_else(PoisonError::into_inner).0;
        }
        running.together += 1;
        Some(Self { is_alone: false })
    }

    /// Waits for a turn alone. Returns nothing if it is to stop before.
    pub(crate) fn alone(stop: &dyn Fn() -> bool) -> Option<Self> {
        let mut running = locked();
        running.waiting += 1;
        while running.is_alone || running.together > 0 {
            if stop() {
                running.waiting -= 1;
                CHANGED.notify_all();
                return None;
            }
            running = CHANGED.wait_timeout(running, GLANCE).unwrap_or_else(PoisonError::into_inner).0;
        }
        running.waiting -= 1;
        running.is_alone = true;
        Some(Self { is_alone: true })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut running = locked();
        if self.is_alone {
            running.is_alone = false;
        } else {
            running.together -= 1;
        }
        CHANGED.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn who_goes_alone_has_no_one_beside_and_everyone_gets_a_turn() {
        let (beside, alone) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let wait = || thread::sleep(Duration::from_millis(3));
        thread::scope(|scope| {
            for number in 0..12 {
                let (beside, alone) = (&beside, &alone);
                scope.spawn(move || {
                    for _ in 0..5 {
                        if number % 3 == 0 {
                            let _turn = Turn::alone(&|| false).unwrap();
                            assert_eq!(alone.fetch_add(1, Ordering::SeqCst), 0);
                            wait();
                            assert_eq!(beside.load(Ordering::SeqCst), 0);
                            alone.fetch_sub(1, Ordering::SeqCst);
                        } else {
                            let _turn = Turn::together(&|| false).unwrap();
                            beside.fetch_add(1, Ordering::SeqCst);
                            assert_eq!(alone.load(Ordering::SeqCst), 0);
                            wait();
                            beside.fetch_sub(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        let turn = Turn::together(&|| false).unwrap();
        assert!(Turn::alone(&|| true).is_none(), "it stops waiting");
        drop(turn);
        assert!(Turn::together(&|| true).is_some(), "no one waits any more");
    }
}
