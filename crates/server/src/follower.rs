//! The thread that adds the rows of new records to the cache of the index.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use karat_store::Reader;

use crate::index_cache::{IndexCache, SEGMENT_ROWS};
use crate::memory::Memory;

/// The time between two checks of how much the index has grown.
const PERIOD: Duration = Duration::from_secs(1);

/// The thread that adds rows to the cache. When this is dropped, the thread adds the last rows and ends.
pub(crate) struct Follower {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    /// Starts the thread.
    pub fn start(mut cache: IndexCache, memory: Arc<Memory>, mut reader: Reader) -> Option<Self> {
        let (stop, stopped) = mpsc::channel::<()>();
        let mut known = 0;
        let follow = move || {
            loop {
                let is_over = stopped.recv_timeout(PERIOD) != Err(RecvTimeoutError::Timeout);
                let rows = memory.index().len();
                if is_over || rows >= known + SEGMENT_ROWS {
                    known = rows;
                    // Every row before this position is in the index.
                    let size = *memory.size().borrow();
                    let encode = |range| memory.index().encode(range, SEGMENT_ROWS);
                    if let Err(error) = cache.save(size, encode, &mut reader) {
                        // The next start computes the missing rows.
                        tracing::warn!(%error, "the cache of the index cannot be written");
                    }
                }
                if is_over {
                    break;
                }
            }
        };
        let thread = thread::Builder::new().name(String::from("karat-index")).spawn(follow).ok()?;
        Some(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        drop(self.stop.take());
        // A thread that panicked has already reported why.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
