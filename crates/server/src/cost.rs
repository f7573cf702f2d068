//! The cost of a request: the records that it reads. Its caller pays for them as for further requests.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::task::JoinError;

/// The number of records that are read at the price of a request.
pub(crate) const RECORDS: f64 = 100.0;
/// The number of rows of the index that take as long to look at as a record takes to read.
const ROWS: usize = 1000;

thread_local! {
    /// Records that the work on this thread has read.
    static READ: Cell<u64> = const { Cell::new(0) };
}

tokio::task_local! {
    static OF_REQUEST: AtomicU64;
}

/// Counts records that were read.
pub(crate) fn records(count: usize) {
    READ.set(READ.get().saturating_add(count as u64));
}

/// Counts rows of the index that were looked at.
pub(crate) fn rows(count: usize) {
    records(count / ROWS);
}

/// Runs long work on a separate thread, and counts what it reads for the request that waits for it.
pub(crate) async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    let counted = move || {
        READ.set(0);
        (work(), READ.take())
    };
    let (done, read) = tokio::task::spawn_blocking(counted).await?;
    // Work that no request waits for is free.
    let _ = OF_REQUEST.try_with(|all| all.fetch_add(read, Ordering::Relaxed));
    Ok(done)
}

/// Answers a request. Returns also the number of records that it has read.
pub(crate) async fn of<T>(request: impl Future<Output = T>) -> (T, u64) {
    let work = async { (request.await, OF_REQUEST.with(|all| all.load(Ordering::Relaxed))) };
    OF_REQUEST.scope(AtomicU64::new(0), work).await
}
