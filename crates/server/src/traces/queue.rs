//! The traces of one scorecard that wait to be scored, and the engine that scores them, with the cache of vectors.

use std::collections::VecDeque;

use karat::engine::Engine;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::Traces;
use crate::basics::*;
use crate::keys::Key;
use crate::problem::Problem;
use crate::scoring::Sent;

/// The number of traces from which on a group takes in no further job.
const GROUP_LINES: usize = 512;

/// The traces of one scorecard.
#[derive(Debug, Default)]
pub struct Queue {
    pub(crate) waiting: Mutex<Waiting>,
    pub(crate) state: Mutex<Option<State>>,
}

#[derive(Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) jobs: VecDeque<Job>,
    /// True while a task takes jobs.
    pub(crate) is_running: bool,
    pub(crate) task: Option<JoinHandle<()>>,
}

/// A trace to be scored.
#[derive(Debug)]
pub struct Line {
    /// The id if it has none.
    pub name: Option<String>,
    /// The trace.
    pub bytes: Vec<u8>,
    /// The id of the item that it corrects.
    pub replaces: Option<String>,
    /// The digests of what it was made from here.
    pub sources: Vec<Digest>,
}

#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) key: Arc<Key>,
    pub(crate) as_of: Option<String>,
    pub(crate) lines: Vec<Line>,
    pub(crate) answer: oneshot::Sender<Vec<Result<Sent, Problem>>>,
}

/// The engine of a scorecard, with the cache.
pub(crate) struct State {
    pub engine: Engine,
    pub reader: Reader,
    /// The moment of the newest verdict.
    pub latest: Option<Timestamp>,
    /// The position up to which the log is in the cache.
    pub end: u64,
    /// The number of traces that came since the cache was saved.
    pub unsaved: usize,
    /// True while the cache has traces of which it is not known whether they are stored.
    pub is_ahead: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("State")
    }
}

impl Queue {
    /// Takes the jobs of the next group; none if no job waits, and then this task ends.
    pub(crate) fn take(&self) -> Option<Vec<Job>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut jobs, mut lines) = (Vec::new(), 0);
        while lines < GROUP_LINES
            && let Some(job) = waiting.jobs.pop_front()
        {
            lines += job.lines.len();
            jobs.push(job);
        }
        waiting.is_running = !jobs.is_empty();
        waiting.is_running.then_some(jobs)
    }

    /// Forgets the cache; the next group computes it from the log.
    pub(crate) fn forget(&self) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Saves the cache, if there is anything new in it.
    pub(crate) fn save(&self, traces: &Traces) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(state) = state.as_mut().filter(|state| state.unsaved > 0 && !state.is_ahead) else { return };
        state.unsaved = 0;
        let (Some(files), Some(latest)) = (&traces.files, state.latest) else { return };
        let card = state.engine.card().name();
        let Some(cache) = state.engine.cache() else { return };
        let saved = files.save(&card, &traces.rebuild(), state.end, latest, cache, &mut state.reader);
        if let Err(error) = saved {
            // The next start computes it from the log.
            tracing::warn!(card, %error, "the cache of vectors cannot be saved");
        }
    }
}
