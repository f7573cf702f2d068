//! A store that is open for writing: hand in items, get an answer when they would outlive a loss of power.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};

use karat_core::timestamp::Timestamp;

use crate::error::Error;
use crate::item::NewItem;
use crate::log::{Signer, VerifyingKey};
use crate::port::Backend;
use crate::reader::Reader;
use crate::writer::{Accepted, Answer, Follow, Job, Limits, Outcome, Writer};

/// A store that is open for writing. Many threads may hand in items at once; one thread writes, and commits together what
/// arrived while it was writing.
///
/// Outcomes go to the thread that called [`Self::append`], or to the follower that [`Self::open_with`] was given, with the
/// `T` that was handed in with the items.
pub struct Store<T = ()> {
    backend: Arc<dyn Backend>,
    key: VerifyingKey,
    queue: Option<SyncSender<Job<T>>>,
    thread: Option<JoinHandle<()>>,
}

impl<T> fmt::Debug for Store<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("key", &self.key).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store in `backend`, whose log `signer` signs; an empty one begins a log.
    ///
    /// # Errors
    /// If the backend cannot be written, if its log is signed with another key, or if it is damaged.
    pub fn open(backend: Arc<dyn Backend>, signer: Signer, limits: Limits) -> Result<Self, Error> {
        Self::open_with(backend, signer, limits, |_: Vec<((), Vec<Outcome>)>| {})
    }
}

/// Replaces the key of the log in `backend`: the statement that `new` follows `old` becomes an entry under a head that both
/// sign, in one commit; from then on only `new` opens the store for writing. Returns the position of the entry.
///
/// `prepare` runs before, once no other process can write, and must make sure that the secret of `new` survives a loss of
/// power; `finish` runs when the change is committed, before others may write.
///
/// # Errors
/// If the log is not open to `old`, if nothing can be written, or if `prepare` or `finish` fails. After an error of
/// `finish` the change stands.
pub fn rotate(
    backend: &dyn Backend,
    (old, new): (Signer, Signer),
    (moment, sender): (Timestamp, &str),
    prepare: impl FnOnce() -> Result<(), Error>,
    finish: impl FnOnce() -> Result<(), Error>,
) -> Result<u64, Error> {
    let mut writer = Writer::open(backend.writer()?, old)?;
    let mut reader = Reader::new(backend.reader()?);
    let size = reader.head()?.size;
    let number = reader.rotations(size)?.len() as u64 + 1;
    prepare()?;
    let position = writer.rotate(new, number, moment, sender)?;
    finish()?;
    Ok(position)
}

impl<T> Store<T> {
    /// Stores the items of one batch, all of them or none, and waits until they would outlive a loss of power. `moment` is
    /// when they were handed in. Waits too while the queue is full.
    ///
    /// An item that is there with the same content, subject, sources and replaced item is accepted and changes nothing.
    ///
    /// # Errors
    /// If items cannot be accepted, which names them all, or if nothing can be written.
    pub fn append(&self, moment: Timestamp, items: Vec<NewItem>) -> Result<Vec<Accepted>, Error> {
        self.append_each(moment, vec![items])?.pop().unwrap_or(Err(Error::Stopped))
    }

    /// Stores several batches with one commit; each is accepted whole or not at all, independently of the others.
    ///
    /// # Errors
    /// If nothing can be written. The problems of a batch are its outcome.
    pub fn append_each(&self, moment: Timestamp, batches: Vec<Vec<NewItem>>) -> Result<Vec<Outcome>, Error> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let job = Job::new(moment, batches, Answer::Caller(sender));
        self.queue()?.send(job).map_err(|_| Error::Stopped)?;
        receiver.recv().map_err(|_| Error::Stopped)
    }

    /// Hands in several batches without waiting: the follower gets `ticket` with one outcome for each batch.
    ///
    /// # Errors
    /// If the queue is full ([`Error::Busy`]) or the store was stopped ([`Error::Stopped`]): then the ticket is
    /// dropped.
    pub fn submit(&self, moment: Timestamp, batches: Vec<Vec<NewItem>>, ticket: T) -> Result<(), Error> {
        let job = Job::new(moment, batches, Answer::Follower(ticket));
        self.queue()?.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => Error::Busy,
            TrySendError::Disconnected(_) => Error::Stopped,
        })
    }

    /// Opens a reader of what is committed.
    ///
    /// # Errors
    /// If the backend cannot be read.
    pub fn reader(&self) -> Result<Reader, Error> {
        Ok(Reader::new(self.backend.reader()?))
    }

    /// Returns the key that checks the signatures of the log.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.key
    }

    /// Returns whether the thread that writes is at work.
    pub fn is_writing(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Takes no more, answers everything that waits, and gives up the right to write. Dropping a store does the same.
    ///
    /// # Errors
    /// If the thread that writes broke down.
    pub fn stop(mut self) -> Result<(), Error> {
        self.finish()
    }

    fn queue(&self) -> Result<&SyncSender<Job<T>>, Error> {
        self.queue.as_ref().ok_or(Error::Stopped)
    }

    fn finish(&mut self) -> Result<(), Error> {
        // The thread ends when the queue is empty and nothing more can be handed in.
        drop(self.queue.take());
        let broken = |_| Error::Failed(String::from("the thread that writes broke down"));
        self.thread.take().map_or(Ok(()), |thread| thread.join().map_err(broken))
    }
}

impl<T: Send + 'static> Store<T> {
    /// Opens a store as [`Store::open`] does. The writing thread asks `follower` what it may store, and tells it what it did.
    ///
    /// # Errors
    /// If [`Store::open`] fails.
    pub fn open_with(
        backend: Arc<dyn Backend>,
        signer: Signer,
        limits: Limits,
        follower: impl Follow<T> + 'static,
    ) -> Result<Self, Error> {
        let key = signer.verifying_key().clone();
        let writer = Writer::open(backend.writer()?, signer)?;
        let (queue, jobs) = mpsc::sync_channel(limits.queue_jobs);
        let thread = thread::Builder::new()
            .name(String::from("karat-store"))
            .spawn(move || writer.run(&jobs, limits, follower))
            .map_err(|error| Error::Failed(format!("cannot start the thread that writes: {error}")))?;
        Ok(Self { backend, key, queue: Some(queue), thread: Some(thread) })
    }
}

impl<T> Drop for Store<T> {
    fn drop(&mut self) {
        // `stop` is for callers who want the error.
        let _ = self.finish();
    }
}
