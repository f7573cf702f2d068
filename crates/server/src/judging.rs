//! The judges of a server: their options, and which answers are being judged.

use std::path::PathBuf;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};

use karat_graders::execution::Judge;
use karat_process::Judges;
use tokio::time::Instant;

use crate::basics::*;

/// The shortest time between two rounds over all that waits.
const PAUSE: Duration = Duration::from_secs(10);
/// The tries of a match that follow each other without a rest.
const FREE_TRIES: u32 = 3;
/// The most times that a rest is doubled: then it is 640 seconds.
const DOUBLED_MOST: u32 = 6;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeOptions {
    /// The program; if `None`, it is searched for.
    pub program: Option<PathBuf>,
    /// The folder of its runtimes; if `None`, the judge looks where it looks by itself.
    pub runtimes: Option<PathBuf>,
    /// The most processes.
    pub processes: usize,
    /// The most answers that wait for a process; a further one waits in the log.
    pub queue: usize,
    /// The longest time that an answer waits for a process.
    pub wait: Duration,
    /// The longest time that an agent waits for the verdict. Then it hears that its answer waits.
    pub answer_within: Duration,
}

impl Default for JudgeOptions {
    /// Two processes, 64 answers that wait, half a minute.
    fn default() -> Self {
        Self {
            program: None,
            runtimes: None,
            processes: 2,
            queue: 64,
            wait: Duration::from_secs(120),
            answer_within: Duration::from_secs(30),
        }
    }
}

#[derive(Debug)]
pub struct Judging {
    judges: Arc<Judges>,
    /// Answers in place of the judges, while it is set.
    instead: RwLock<Option<Arc<dyn Judge>>>,
    /// The matches that are being judged.
    under_way: Mutex<BTreeSet<String>>,
    /// The matches that were tried without a verdict: how often, and when last.
    failures: Mutex<BTreeMap<String, (u32, Instant)>>,
    is_sweeping: AtomicBool,
    last_sweep: Mutex<Option<Instant>>,
}

/// The turn of a match, over once it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    judging: &'a Judging,
    id: String,
}

/// The turn of a round over all that waits, over once it is dropped.
#[derive(Debug)]
pub(crate) struct Sweep<'a>(&'a Judging);

impl Judging {
    /// Creates the judges. No process is started before it is needed.
    pub fn new(options: &JudgeOptions) -> Self {
        let JudgeOptions { program, runtimes, processes, queue, wait, .. } = options.clone();
        let of_pool =
            karat_process::Options { runtimes, processes, queue, wait, ..karat_process::Options::default() };
        Self {
            judges: Arc::new(Judges::found(program.as_deref(), of_pool)),
            instead: RwLock::default(),
            under_way: Mutex::default(),
            failures: Mutex::default(),
            is_sweeping: AtomicBool::new(false),
            last_sweep: Mutex::default(),
        }
    }

    pub fn judges(&self) -> &Arc<Judges> {
        &self.judges
    }

    /// Returns who judges an answer now.
    pub fn judge(&self) -> Arc<dyn Judge> {
        let instead = self.instead.read().unwrap_or_else(PoisonError::into_inner);
        instead.clone().unwrap_or_else(|| Arc::<Judges>::clone(&self.judges))
    }

    /// Lets a judge answer in place of those of the server, for answers that were judged before; `None` ends that.
    pub fn answer_by(&self, instead: Option<Arc<dyn Judge>>) {
        *self.instead.write().unwrap_or_else(PoisonError::into_inner) = instead;
    }

    /// Takes the turn of a match, unless it is being judged.
    pub(crate) fn begin(&self, id: &str) -> Option<Turn<'_>> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.insert(id.to_owned()).then(|| Turn { judging: self, id: id.to_owned() })
    }

    /// Notes how a try of a match ended.
    pub(crate) fn tried(&self, id: &str, has_ended: bool) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if has_ended {
            failures.remove(id);
        } else {
            let (count, last) = failures.entry(id.to_owned()).or_insert((0, Instant::now()));
            (*count, *last) = (count.saturating_add(1), Instant::now());
        }
    }

    /// Returns whether a match may be tried now. One that got no verdict several times rests, each time for longer, so that a few
    /// that make the judge hang do not take it from all others.
    pub(crate) fn is_rested(&self, id: &str) -> bool {
        self.next_of(std::iter::once(id)).is_some()
    }

    /// Returns the match to be tried next: one that rests no more, and of those the one that was tried least.
    pub(crate) fn next_of<'a>(&self, waiting: impl Iterator<Item = &'a str>) -> Option<String> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let tries = |id: &str| failures.get(id).map_or(0, |(count, _)| *count);
        let is_rested =
            |id: &&str| failures.get(*id).is_none_or(|(count, last)| last.elapsed() >= rest(*count));
        waiting.filter(is_rested).min_by_key(|id| (tries(id), *id)).map(str::to_owned)
    }

    /// Takes the turn of a round over all that waits, unless one goes on or began a moment ago.
    pub(crate) fn sweep(&self) -> Option<Sweep<'_>> {
        let mut last = self.last_sweep.lock().unwrap_or_else(PoisonError::into_inner);
        let is_soon = last.is_some_and(|last| last.elapsed() < PAUSE);
        if is_soon || self.is_sweeping.swap(true, Ordering::AcqRel) {
            return None;
        }
        *last = Some(Instant::now());
        Some(Sweep(self))
    }
}

/// Returns how long a match rests that was tried that often without a verdict.
fn rest(failures: u32) -> Duration {
    match failures.checked_sub(FREE_TRIES) {
        None => Duration::ZERO,
        Some(over) => PAUSE * (1 << over.min(DOUBLED_MOST)),
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.judging.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl Drop for Sweep<'_> {
    fn drop(&mut self) {
        self.0.is_sweeping.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_tried_least_comes_first_and_who_fails_again_and_again_rests() {
        let judging = Judging::new(&JudgeOptions::default());
        let next = || judging.next_of(["ant.c.1", "bee.c.1", "cat.c.1"].into_iter());
        let mut order = Vec::new();
        while let Some(id) = next() {
            judging.tried(&id, false);
            order.push(id);
        }
        let round = ["ant.c.1", "bee.c.1", "cat.c.1"];
        assert_eq!(order, [round, round, round].concat(), "one after the other, and not the first alone");
        assert!(!judging.is_rested("bee.c.1") && judging.is_rested("dog.c.1"));
        judging.tried("bee.c.1", true);
        assert_eq!(next().as_deref(), Some("bee.c.1"));
    }

    #[test]
    fn rests_grow_and_have_an_end() {
        let rests = [0, 2, 3, 4, 9, 10, u32::MAX].map(|failures| rest(failures).as_secs());
        assert_eq!(rests, [0, 0, 10, 20, 640, 640, 640]);
    }
}
