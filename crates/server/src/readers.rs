//! Readers of the store: a few, passed from request to request.

use karat_store::{Error, Store};
use tokio::sync::Semaphore;

use crate::basics::*;
use crate::cost;
use crate::effect::Waiting;
use crate::problem::Problem;

/// The largest number of readers at work: more would only wait for the same disk.
const READERS: usize = 8;

pub struct Readers {
    store: Arc<Store<Waiting>>,
    idle: Mutex<Vec<Reader>>,
    turns: Semaphore,
}

impl std::fmt::Debug for Readers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Readers")
    }
}

impl Readers {
    /// Creates the pool without readers.
    pub fn new(store: Arc<Store<Waiting>>) -> Self {
        Self { store, idle: Mutex::default(), turns: Semaphore::new(READERS) }
    }

    /// Reads the store on a thread that may wait for the disk.
    pub async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&mut Reader) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let _turn = self.turns.acquire().await.map_err(|_| Problem::from(Error::Stopped))?;
        let readers = Arc::clone(self);
        let task = cost::apart(move || {
            let mut reader = readers.take()?;
            let answer = read(&mut reader);
            readers.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
            answer
        });
        task.await.map_err(|error| Problem::internal(&error))?
    }

    fn take(&self) -> Result<Reader, Problem> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| Ok(self.store.reader()?), Ok)
    }
}
