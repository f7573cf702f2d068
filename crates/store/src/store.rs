//! A store that is open for writing: hand in items, get an answer when they would outlive a loss of power.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};

use karat_core::facts::Digest;

use crate::error::{Error, Refusal};
use crate::item::{Moment, NewItem, Prepared, limit_broken};
use crate::log::{Signer, VerifyingKey};
use crate::port::Backend;
use crate::reader::Reader;
use crate::writer::{Job, Outcome, Writer};

/// How much may wait, and how much is committed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Jobs that may wait before a further one has to wait to be queued, or is turned away.
    pub queue_jobs: usize,
    /// From so many items on a commit takes in no further job.
    pub commit_items: usize,
    /// From so many bytes on a commit takes in no further job.
    pub commit_bytes: usize,
}

impl Default for Limits {
    /// 1,024 jobs; 4,096 items or 8 MiB a commit.
    fn default() -> Self {
        Self { queue_jobs: 1024, commit_items: 4096, commit_bytes: 8 << 20 }
    }
}

/// What a store says of an item that it keeps from now on, or had before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// Its place in the log.
    pub position: u64,
    /// The digest of its content.
    pub content: Digest,
    /// The moment at which it was first handed in.
    pub moment: Moment,
    /// Whether it was there before, so that nothing changed.
    pub repeated: bool,
}

/// A store that is open for writing. Many threads may hand in items at once; one thread writes, and commits together what
/// arrived while it was writing.
pub struct Store {
    backend: Arc<dyn Backend>,
    key: VerifyingKey,
    queue: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("key", &self.key).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store in `backend`, whose log `signer` signs; an empty one begins a log.
    ///
    /// # Errors
    /// That the backend cannot be written, that its log is signed with another key, or that it is damaged.
    pub fn open(backend: Arc<dyn Backend>, signer: Signer, limits: Limits) -> Result<Self, Error> {
        Self::open_with(backend, signer, limits, || {})
    }

    /// The same, and calls `committed` from the writing thread whenever everybody was answered whose items were committed
    /// together: whoever passes answers on can pass them on together. The next commit waits for it.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with(
        backend: Arc<dyn Backend>,
        signer: Signer,
        limits: Limits,
        committed: impl FnMut() + Send + 'static,
    ) -> Result<Self, Error> {
        let key = signer.verifying_key().clone();
        let writer = Writer::open(backend.writer()?, signer)?;
        let (queue, jobs) = mpsc::sync_channel(limits.queue_jobs);
        let thread = thread::Builder::new()
            .name(String::from("karat-store"))
            .spawn(move || writer.run(&jobs, limits, committed))
            .map_err(|error| Error::Failed(format!("cannot start the thread that writes: {error}")))?;
        Ok(Self { backend, key, queue: Some(queue), thread: Some(thread) })
    }

    /// Stores the items of one batch, all of them or none, and waits until they would outlive a loss of power. `moment` is
    /// when they were handed in. Waits too while the queue is full.
    ///
    /// An item that is there with the same content, subject, sources and replaced item is accepted and changes nothing.
    ///
    /// # Errors
    /// What is wrong with which items; or why nothing can be written.
    pub fn append(&self, moment: Moment, items: Vec<NewItem>) -> Result<Vec<Accepted>, Error> {
        self.append_each(moment, vec![items])?.pop().unwrap_or(Err(Error::Stopped))
    }

    /// Stores several batches with one commit; each is accepted whole or not at all, whatever becomes of the others.
    ///
    /// # Errors
    /// Why nothing can be written; what is wrong with a batch is its own outcome.
    pub fn append_each(&self, moment: Moment, batches: Vec<Vec<NewItem>>) -> Result<Vec<Outcome>, Error> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let answer = move |outcomes| {
            // Nobody waits any more: then nobody has to be told.
            let _ = sender.send(outcomes);
        };
        let job = prepare(moment, batches, answer);
        self.queue()?.send(job).map_err(|_| Error::Stopped)?;
        receiver.recv().map_err(|_| Error::Stopped)
    }

    /// The same without waiting: `answer` is called from the writing thread with one outcome for each batch, and should
    /// only pass them on.
    ///
    /// # Errors
    /// [`Error::Busy`] if the queue is full, [`Error::Stopped`] if the store was stopped: then `answer` is not called.
    pub fn submit(
        &self,
        moment: Moment,
        batches: Vec<Vec<NewItem>>,
        answer: impl FnOnce(Vec<Outcome>) + Send + 'static,
    ) -> Result<(), Error> {
        self.queue()?.try_send(prepare(moment, batches, answer)).map_err(|error| match error {
            TrySendError::Full(_) => Error::Busy,
            TrySendError::Disconnected(_) => Error::Stopped,
        })
    }

    /// A reader of what is committed.
    ///
    /// # Errors
    /// That the backend cannot be read.
    pub fn reader(&self) -> Result<Reader, Error> {
        Ok(Reader::new(self.backend.reader()?))
    }

    /// The key that checks the signatures of the log.
    #[must_use]
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.key
    }

    /// Takes no more, answers everything that waits, and gives up the right to write. Dropping a store does the same.
    ///
    /// # Errors
    /// That the thread that writes broke down.
    pub fn stop(mut self) -> Result<(), Error> {
        self.finish()
    }

    fn queue(&self) -> Result<&SyncSender<Job>, Error> {
        self.queue.as_ref().ok_or(Error::Stopped)
    }

    fn finish(&mut self) -> Result<(), Error> {
        // The thread ends when the queue is empty and nobody can add to it.
        drop(self.queue.take());
        let broken = |_| Error::Failed(String::from("the thread that writes broke down"));
        self.thread.take().map_or(Ok(()), |thread| thread.join().map_err(broken))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // There is nobody to tell; `stop` is for those who want to know.
        let _ = self.finish();
    }
}

/// Works out on the thread of the caller what the writer need not do, and refuses what no store would take.
fn prepare(
    moment: Moment,
    batches: Vec<Vec<NewItem>>,
    answer: impl FnOnce(Vec<Outcome>) + Send + 'static,
) -> Job {
    let mut refused = Vec::new();
    let mut good = Vec::with_capacity(batches.len());
    for (place, batch) in batches.into_iter().enumerate() {
        let refusals: Vec<Refusal> = batch
            .iter()
            .enumerate()
            .filter_map(|(place, item)| {
                let problem = limit_broken(item, moment)?;
                Some(Refusal { place, kind: item.kind, id: item.id.clone(), problem })
            })
            .collect();
        if refusals.is_empty() {
            good.push(batch.into_iter().map(|item| Prepared::new(item, moment)).collect());
        } else {
            refused.push((place, Err(Error::Refused(refusals))));
        }
    }
    let answer = Box::new(move |mut outcomes: Vec<Outcome>| {
        // In ascending order, so that each goes to where it stood.
        for (place, outcome) in refused {
            outcomes.insert(place, outcome);
        }
        answer(outcomes);
    });
    Job { batches: good, answer }
}
