//! The traces of one scorecard, scored one after the other and stored in that order, so that the cache of vectors follows the
//! log.
//!
//! Traces that arrive while others are being stored make the next group. A group is stored together or not at all: what was
//! scored against a trace that is not in the log must not be in it either. If that happens, the cache is computed from the
//! log again.

use karat::engine::{Engine, Options};
use karat_graders::trace::novelty::VectorCache;
use karat_store::Error;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::basics::*;
use crate::cards::ScorerPool;
use crate::keys::Key;
use crate::memory::Memory;
use crate::params::written_timestamp;
use crate::problem::{Code, Problem};
use crate::scoring::{Holder, How, Refused, ScoredItem, Sent};
use crate::sending::{correction, submission};
use crate::state::{App, Submission};
use crate::traces::queue::{Job, Line, Queue, State};
use crate::traces::{Traces, corrected};

/// The size in bytes from which a group is scored on a separate thread, so that other requests do not wait for it.
const LARGE_BYTES: usize = 32 << 10;
/// The number of traces after which the cache is saved.
const SAVED_EVERY: usize = 256;

/// A trace of a group, with its request and its result.
struct Member {
    job: usize,
    key: Arc<Key>,
    as_of: Option<String>,
    line: Line,
    /// True if it is known or refused in the store, and leaves nothing in the cache.
    is_apart: bool,
    result: Option<Result<Sent, Problem>>,
}

/// The scored members of a group, with their places in it.
#[derive(Default)]
struct Batches {
    /// Those that count for the novelty of the next ones: stored together or not at all.
    together: Vec<(usize, Scored)>,
    /// The others.
    apart: Vec<(usize, Scored)>,
}

impl Queue {
    /// Queues traces, to be scored and stored after those that came before; the receiver gets the result of each. It gets none
    /// if the server is stopping.
    pub fn push(
        self: &Arc<Self>,
        app: &Arc<App>,
        pool: &Arc<ScorerPool>,
        key: Arc<Key>,
        as_of: Option<String>,
        lines: Vec<Line>,
    ) -> oneshot::Receiver<Vec<Result<Sent, Problem>>> {
        let (answer, receiver) = oneshot::channel();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.jobs.push_back(Job { key, as_of, lines, answer });
        let has_died = waiting.is_running && waiting.task.as_ref().is_some_and(JoinHandle::is_finished);
        if has_died {
            // It panicked, and may have left anything in the cache.
            self.forget();
        }
        if !waiting.is_running || has_died {
            waiting.is_running = true;
            let (queue, app, pool) = (Arc::clone(self), Arc::clone(app), Arc::clone(pool));
            // Not part of the request: a client that goes away must not stop the others.
            waiting.task = Some(tokio::spawn(async move { queue.work(&app, &pool).await }));
        }
        receiver
    }

    async fn work(self: &Arc<Self>, app: &Arc<App>, pool: &Arc<ScorerPool>) {
        while let Some(jobs) = self.take() {
            let mut members = Vec::new();
            let mut answers: Vec<_> = Vec::new();
            for (place, Job { key, as_of, lines, answer }) in jobs.into_iter().enumerate() {
                answers.push((answer, Vec::with_capacity(lines.len())));
                members.extend(lines.into_iter().map(|line| Member {
                    job: place,
                    key: Arc::clone(&key),
                    as_of: as_of.clone(),
                    line,
                    is_apart: false,
                    result: None,
                }));
            }
            for Member { job, result, .. } in self.settle(app, pool, members).await {
                let result = result.unwrap_or_else(|| Err(Error::Stopped.into()));
                if let Some((_, results)) = answers.get_mut(job) {
                    results.push(result);
                }
            }
            for (answer, results) in answers {
                // A caller may have disconnected: the items stay stored.
                let _ = answer.send(results);
            }
        }
    }

    /// Scores and stores the members of a group until each has a result.
    async fn settle(
        self: &Arc<Self>,
        app: &Arc<App>,
        pool: &Arc<ScorerPool>,
        mut members: Vec<Member>,
    ) -> Vec<Member> {
        while members.iter().any(|member| member.result.is_none()) {
            let left = || members.iter().filter(|member| member.result.is_none());
            let is_large = left().map(|member| member.line.bytes.len()).sum::<usize>() >= LARGE_BYTES;
            let is_ready = self.state.lock().unwrap_or_else(PoisonError::into_inner).is_some();
            let batches = if is_large || !is_ready || app.traces.embedder.is_some() {
                let (queue, app, pool) = (Arc::clone(self), Arc::clone(app), Arc::clone(pool));
                let scored = tokio::task::spawn_blocking(move || {
                    let batches = queue.group(&app, &pool, &mut members);
                    (members, batches)
                });
                match scored.await {
                    Ok((back, batches)) => {
                        members = back;
                        batches
                    }
                    Err(error) => {
                        self.forget();
                        tracing::error!(%error, "traces could not be scored");
                        return Vec::new();
                    }
                }
            } else {
                self.group(app, pool, &mut members)
            };
            let stored = match batches {
                Ok(batches) => self.store(app, batches, &mut members).await,
                Err(problem) => Err(problem),
            };
            if let Err(problem) = stored {
                self.forget();
                for member in members.iter_mut().filter(|member| member.result.is_none()) {
                    member.result = Some(Err(problem.clone()));
                }
            }
        }
        members
    }

    /// Scores all members without a result, in order.
    fn group(&self, app: &App, pool: &Arc<ScorerPool>, members: &mut [Member]) -> Result<Batches, Problem> {
        let pool = &app.memory.weights().scorer(pool);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = match &mut *state {
            Some(state) => state,
            none => none.insert(State::open(app, pool)?),
        };
        if !Arc::ptr_eq(state.engine.card(), &pool.card) {
            // Other weights are in force since; what was seen before stays.
            let cache = state.engine.replace_cache(None);
            state.engine = engine(&app.traces, pool, cache)?;
        }
        let mut batches = Batches::default();
        let size = state.reader.head()?.size;
        let mut group = Group { app, pool, state, size, ids: BTreeSet::new() };
        for (place, member) in members.iter_mut().enumerate().filter(|(_, member)| member.result.is_none()) {
            match group.member(member) {
                Ok(None) => {}
                Ok(Some(scored)) => {
                    let list = if scored.counts { &mut batches.together } else { &mut batches.apart };
                    list.push((place, scored));
                }
                Err(problem) => member.result = Some(Err(problem)),
            }
        }
        group.state.is_ahead |= !batches.together.is_empty();
        Ok(batches)
    }

    /// Stores what was scored, and gives the members their results.
    async fn store(
        self: &Arc<Self>,
        app: &Arc<App>,
        batches: Batches,
        members: &mut [Member],
    ) -> Result<(), Problem> {
        let Batches { together, apart } = batches;
        let mut all = Submission::of_server();
        let mut sent = Vec::with_capacity(together.len());
        for (place, Scored { sent: own, submission, .. }) in together {
            sent.push((place, own));
            all.add(submission);
        }
        let has_group = !sent.is_empty();
        let mut submissions: Vec<Submission> = has_group.then_some(all).into_iter().collect();
        let mut places = Vec::with_capacity(apart.len());
        for (place, Scored { sent: own, submission, .. }) in apart {
            places.push((place, own));
            submissions.push(submission);
        }
        if submissions.is_empty() {
            return Ok(());
        }
        let mut outcomes = app.append(submissions).await?.into_iter();
        let mut settle = |place: usize, sent: Sent, outcome| {
            if let Some(member) = members.get_mut(place) {
                member.result = Some(Ok(sent.with(outcome)));
            }
        };
        let group = has_group.then(|| outcomes.next().unwrap_or(Err(Error::Stopped)));
        for ((place, sent), outcome) in places.into_iter().zip(outcomes) {
            settle(place, sent, outcome);
        }
        match group {
            None => {}
            Some(Ok(accepted)) => {
                let end = accepted.iter().map(|it| it.position + 1).max().unwrap_or_default();
                let count = sent.len();
                for ((place, sent), own) in sent.into_iter().zip(accepted.chunks_exact(2)) {
                    settle(place, sent, Ok(own.to_vec()));
                }
                self.stored(app, end, count).await;
            }
            Some(Err(Error::Refused(refusals))) => {
                // Those that are refused go apart the next time, and the others against the cache without them.
                self.forget();
                let refused: BTreeSet<usize> = refusals.iter().map(|refusal| refusal.place / 2).collect();
                for (_, (place, _)) in sent.iter().enumerate().filter(|(at, _)| refused.contains(at)) {
                    if let Some(member) = members.get_mut(*place) {
                        member.is_apart = true;
                    }
                }
                if refused.is_empty() {
                    return Err(Problem::internal(&"the store refused a group for no reason"));
                }
            }
            Some(Err(error)) => return Err(error.into()),
        }
        Ok(())
    }

    /// Notes that the log has `count` traces more and ends at `end`, and saves the cache if much of it is new.
    async fn stored(self: &Arc<Self>, app: &Arc<App>, end: u64, count: usize) {
        let is_due = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.as_mut().is_some_and(|state| {
                (state.end, state.unsaved, state.is_ahead) = (end, state.unsaved + count, false);
                state.unsaved >= SAVED_EVERY
            })
        };
        if is_due {
            let (queue, app) = (Arc::clone(self), Arc::clone(app));
            // The next group waits for it; the file is as large as the cache.
            let _ = tokio::task::spawn_blocking(move || queue.save(&app.traces)).await;
        }
    }
}

impl State {
    /// Makes an engine with the cache as the log has it.
    fn open(app: &App, pool: &ScorerPool) -> Result<Self, Problem> {
        let traces = &app.traces;
        let rebuild = traces.rebuild();
        let mut reader = app.reader()?;
        let size = *app.memory.size().borrow();
        let saved = traces.files.as_ref().and_then(|files| files.load(&pool.name(), &rebuild, &mut reader));
        let (start, before) = saved.map_or((0, None), |(end, before)| (end, Some(before)));
        let positions = app.memory.index().positions_of(&pool.name(), start..size);
        let rebuilt = rebuild.run(&mut reader, &positions, before)?;
        let latest = rebuilt.as_ref().map(|rebuilt| rebuilt.latest);
        let cache = match rebuilt {
            Some(rebuilt) => Some(rebuilt.cache),
            None if traces.embedder.is_some() => Some(rebuild.empty()?),
            None => None,
        };
        let engine = engine(traces, pool, cache)?;
        Ok(Self { engine, reader, latest, end: size, unsaved: 0, is_ahead: false })
    }
}

fn engine(traces: &Traces, pool: &ScorerPool, cache: Option<VectorCache>) -> Result<Engine, Problem> {
    let options = Options {
        embedder: traces.embedder.clone(),
        cache,
        cache_settings: Some(traces.cache),
        ..Options::default()
    };
    Engine::new(Arc::clone(&pool.card), options).map_err(|error| Problem::of_error(Code::CardRefused, &error))
}

/// A group while it is scored.
struct Group<'a> {
    app: &'a App,
    pool: &'a ScorerPool,
    state: &'a mut State,
    size: u64,
    /// The ids of the records of the group so far.
    ids: BTreeSet<String>,
}

/// A scored trace on its way to the store.
struct Scored {
    sent: Sent,
    submission: Submission,
    /// True if it counts for the novelty of the next ones.
    counts: bool,
}

/// The reason why a trace is not the next one.
enum Kept {
    /// The evidence or its record is in the store, or what it corrects was corrected before.
    Known,
    /// A trace of the same id is in this group.
    Waits,
    Refused(Refused),
}

impl From<Refused> for Kept {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<karat::error::Error> for Kept {
    fn from(error: karat::error::Error) -> Self {
        Self::Refused(error.into())
    }
}

impl From<Problem> for Kept {
    fn from(problem: Problem) -> Self {
        Self::Refused(Refused::Because(problem))
    }
}

impl Group<'_> {
    /// Scores a trace; none if it has to wait for the next group.
    fn member(&mut self, member: &Member) -> Result<Option<Scored>, Problem> {
        let given = written_timestamp("as_of", member.as_of.as_deref())?;
        if self.state.engine.cache().is_some() {
            return self.in_order(member, given);
        }
        let scored = self.alone(member, given);
        let is_first = self.state.engine.replace_cache(None).is_some();
        match scored {
            Ok(_) if is_first => {
                // The first vector of all counts from when it arrived, as all after it.
                self.state.engine.replace_cache(Some(self.app.traces.rebuild().empty()?));
                let scored = self.in_order(member, given);
                if !matches!(&scored, Ok(Some(scored)) if scored.counts) {
                    self.state.engine.replace_cache(None);
                }
                scored
            }
            scored => Ok(Some(scored?)),
        }
    }

    /// Scores a trace as the next one.
    fn in_order(
        &mut self,
        member: &Member,
        given: Option<WrittenTimestamp<'_>>,
    ) -> Result<Option<Scored>, Problem> {
        if member.is_apart {
            return self.apart(member, given).map(Some);
        }
        let now = self.app.clock.now();
        let arrived = self.state.latest.map_or(now, |latest| latest.max(now));
        let text = arrived.to_string();
        let as_of = given.unwrap_or(WrittenTimestamp { text: &text, at: arrived });
        match self.next(member, as_of, arrived) {
            Ok(scored) => Ok(Some(scored)),
            Err(Kept::Waits) => Ok(None),
            Err(Kept::Known) => self.apart(member, given).map(Some),
            // What was scored before, at another moment, is answered as it was.
            Err(Kept::Refused(refused)) => match self.apart(member, given) {
                Ok(scored) if self.find(Kind::Record, &scored.sent.record)?.is_some() => Ok(Some(scored)),
                _ => Err(refused.into()),
            },
        }
    }

    /// Scores a trace as of a moment up to `last`.
    fn next(
        &mut self,
        member: &Member,
        as_of: WrittenTimestamp<'_>,
        last: Timestamp,
    ) -> Result<Scored, Kept> {
        let refused = |says: String| Problem::parameter("as_of", format!("found {}, {says}", as_of.at));
        if as_of.at > last {
            let now = self.app.clock.now();
            return Err(refused(format!("which lies ahead of the clock of the server, {now}")).into());
        }
        if let Some(latest) = self.state.latest.filter(|latest| as_of.at < *latest) {
            let says = "traces are scored in the order of time, and the newest was scored as of";
            return Err(refused(format!("{says} {latest}")).into());
        }
        let replaced = self.replaced(member)?;
        let State { engine, reader, latest, .. } = &mut *self.state;
        engine.set_as_of_written(Some(as_of));
        engine.set_replaced(replaced);
        let (size, ids, memory) = (self.size, &mut self.ids, &self.app.memory);
        let scored =
            member.how(self.pool, memory, last, Some(as_of)).score_by(engine, &member.line.bytes, |scored| {
                if ids.contains(&scored.record.id) {
                    return Err(Kept::Waits);
                }
                let mut find = |kind, id| reader.find(kind, id, size).map_err(Problem::from);
                let evidence = find(Kind::Evidence, &scored.evidence.id)?;
                let is_other = evidence.is_some_and(|item| item.entry.content != scored.row.evidence);
                if is_other || find(Kind::Record, &scored.record.id)?.is_some() {
                    return Err(Kept::Known);
                }
                let scored = Scored::new(scored, member, memory, reader, true)?;
                if let Some(old) = scored.submission.items.first().and_then(|item| item.replaces.as_deref())
                    && reader.replacement(Kind::Evidence, old, size).map_err(Problem::from)?.is_some()
                {
                    return Err(Kept::Known);
                }
                ids.insert(scored.sent.record.clone());
                Ok(scored)
            });
        if scored.is_ok() {
            *latest = Some(as_of.at);
        }
        scored
    }

    /// Returns the ids of the items that a trace corrects; of one that is refused, none.
    fn replaced(&mut self, member: &Member) -> Result<Vec<String>, Problem> {
        let Some(old) = &member.line.replaces else { return Ok(Vec::new()) };
        // Only the item itself says of whom it is.
        let now = self.app.clock.now();
        let how = member.how(self.pool, &self.app.memory, now, None);
        let Ok(scored) = how.score(&member.line.bytes) else {
            return Ok(Vec::new());
        };
        Ok(corrected(&mut self.state.reader, &scored.row.subject, old, self.size)?)
    }

    /// Scores a trace by the engine of the queue while there is no cache.
    fn alone(&mut self, member: &Member, given: Option<WrittenTimestamp<'_>>) -> Result<Scored, Problem> {
        let State { engine, reader, .. } = &mut *self.state;
        engine.set_as_of_written(given);
        engine.set_replaced(Vec::new());
        let memory = &self.app.memory;
        let how = member.how(self.pool, memory, self.app.clock.now(), given);
        let scored = how.score_by(engine, &member.line.bytes, Ok::<_, Refused>)?;
        Scored::new(scored, member, memory, reader, false)
    }

    /// Scores a trace without the cache, as the store has or refuses it in any case.
    fn apart(&mut self, member: &Member, given: Option<WrittenTimestamp<'_>>) -> Result<Scored, Problem> {
        let memory = &self.app.memory;
        let now = self.app.clock.now();
        let scored = member.how(self.pool, memory, now, given).score(&member.line.bytes)?;
        Scored::new(scored, member, memory, &mut self.state.reader, false)
    }

    fn find(&mut self, kind: Kind, id: &str) -> Result<Option<karat_store::Item>, Problem> {
        Ok(self.state.reader.find(kind, id, self.size)?)
    }
}

impl Member {
    fn how<'a>(
        &'a self,
        pool: &'a ScorerPool,
        memory: &'a Memory,
        now: Timestamp,
        as_of: Option<WrittenTimestamp<'a>>,
    ) -> How<'a> {
        let holder = Some(Holder { key: &self.key, now, memory });
        How { pool, as_of, holder, name: self.line.name.as_deref() }
    }
}

impl Scored {
    fn new(
        mut scored: ScoredItem,
        member: &Member,
        memory: &Memory,
        reader: &mut Reader,
        counts: bool,
    ) -> Result<Self, Problem> {
        let effect = match &member.line.replaces {
            None => None,
            Some(old) => Some(correction(memory, &member.key, reader, &mut scored, old)?),
        };
        scored.evidence.sources.clone_from(&member.line.sources);
        let sent = Sent::of(&mut scored);
        Ok(Self { sent, submission: submission(&member.key.id, scored, effect), counts })
    }
}
