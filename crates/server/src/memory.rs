//! The memory of a server: the index of records, the scorecards, the weights in force, the keys, the arena, the
//! workflows, open traces. All of it is computed from the
//! log. A start loads it; then the writer thread applies every commit to it.

use std::num::NonZero;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};

use karat::record::{Record, RecordDocument};
use karat_store::log::{Rotation, Signer};
use karat_store::port::Order;
use karat_store::{Entry, Error, Outcome, Store, Term};
use tokio::sync::watch;

use crate::arena::{self, Arena};
use crate::authority;
use crate::backfill::Backfill;
use crate::basics::*;
use crate::cards::{Cards, ScorerPool};
use crate::clock::Clock;
use crate::content::Stored as _;
use crate::effect::{Effect, Waiting};
use crate::flows::{self, Flows};
use crate::ids;
use crate::index::{Index, NewRow};
use crate::index_cache::{IndexCache, SEGMENT_ROWS};
use crate::keys::{Key, Keys, SERVER, Withdrawal};
use crate::look_alikes::Looks;
use crate::problem::Problem;
use crate::shared::Shared;
use crate::spans::{self, Spans};
use crate::stored::{self, Trust};
use crate::weights::{Weights, WeightsItem};

/// The number of log positions that a thread handles at once when a server starts.
const CHUNK: usize = 2048;
/// The number of items read at once, for kinds that can be listed.
const LISTED: usize = 256;

/// The state in memory.
#[derive(Debug)]
pub struct Memory {
    index: Shared<Index>,
    cards: Shared<Cards>,
    keys: Shared<Keys>,
    weights: Shared<Weights>,
    pub arena: Arena,
    pub flows: Flows,
    /// The traces whose spans are still coming.
    pub spans: Spans,
    pub(crate) looks: Looks,
    size: watch::Sender<u64>,
    /// The time of the newest entry of the log, in milliseconds.
    newest: Arc<AtomicI64>,
}

impl Memory {
    /// Returns the memory of an empty log: the released scorecards.
    pub fn new() -> Result<Self, Problem> {
        Self::with(Clock::system().newest())
    }

    /// Returns the same, which tells a clock of the newest entry.
    pub(crate) fn with(newest: Arc<AtomicI64>) -> Result<Self, Problem> {
        Ok(Self {
            index: Shared::default(),
            cards: Shared::new(Cards::released()?),
            keys: Shared::default(),
            weights: Shared::default(),
            arena: Arena::default(),
            flows: Flows::default(),
            spans: Spans::default(),
            looks: Looks::default(),
            size: watch::Sender::new(0),
            newest,
        })
    }

    /// Loads the log of `store`, before anything is written to it, and reports the progress to `watch`. Rows of the
    /// index that are in the cache at `cache`, if there is one, are not computed again.
    pub(crate) fn load(
        &self,
        store: &Store<Waiting>,
        cache: Option<(&Path, Signer)>,
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<Option<IndexCache>, Problem> {
        let mut reader = store.reader()?;
        let size = reader.head()?.size;
        let cache = cache.and_then(|(path, signer)| {
            self.index.change(|index| IndexCache::open(path, signer, &mut reader, index))
        });
        // Records refer to these scorecards, so they come first.
        for kind in Kind::ALL.into_iter().filter(|kind| kind.is_listed()) {
            let mut start = 0;
            while let items = reader.list(Term::kind(kind), start..size, Order::Oldest, LISTED)?
                && let Some(last) = items.last()
            {
                start = last.position + 1;
                for item in &items {
                    // At once: the next item may be a scorecard that refers to this one.
                    let effect = self.effect(item, &mut reader);
                    self.apply(effect.map(|effect| (item.position, effect)));
                }
            }
        }
        self.load_records(store, cache.as_ref().map_or(0, IndexCache::end)..size, watch)?;
        // What is marked is in the rows now.
        self.index.change(Index::forget_marks);
        // The rows from the cache were not applied one by one.
        let index = self.index();
        for row in index.from(0, cache.as_ref().map_or(0, IndexCache::end)) {
            self.cards().used(index.name(row.card), 1);
        }
        if let Some(last) = size.checked_sub(1) {
            self.newest.store(reader.item(last)?.entry.moment.milliseconds, Ordering::Release);
        }
        self.size.send_replace(size);
        Ok(cache)
    }

    /// Computes the effects of evidence and records on as many threads as there are processors, and applies them in
    /// order.
    fn load_records(
        &self,
        store: &Store<Waiting>,
        range: Range<u64>,
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<(), Problem> {
        let Range { start, end } = range;
        let chunks: Vec<Range<u64>> =
            (start..end).step_by(CHUNK).map(|start| start..end.min(start + CHUNK as u64)).collect();
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(chunks.len());
        thread::scope(|scope| {
            let answers: Vec<Receiver<_>> = (0..threads)
                .map(|first| {
                    let (send, receive) = mpsc::sync_channel(2);
                    let mut reader = store.reader()?;
                    let mine = chunks.iter().skip(first).step_by(threads);
                    scope.spawn(move || {
                        for range in mine {
                            // The receiver is gone if another thread failed.
                            if send.send(self.effects(&mut reader, range.clone())).is_err() {
                                break;
                            }
                        }
                    });
                    Ok(receive)
                })
                .collect::<Result<_, Problem>>()?;
            for (answers, range) in answers.iter().cycle().zip(&chunks) {
                let broken = |_| Problem::from(Error::Stopped);
                self.apply(answers.recv().map_err(broken)??);
                watch(range.end - start, end - start);
            }
            Ok(())
        })
    }

    /// Returns the effects of the evidence and records at positions within `range`, of a log of that `size`.
    fn effects(&self, reader: &mut Reader, range: Range<u64>) -> Result<Vec<(u64, Effect)>, Problem> {
        let mut effects = Vec::new();
        for item in reader.items(range)?.iter().filter(|item| !item.entry.kind.is_listed()) {
            effects.extend(self.effect(item, reader).map(|effect| (item.position, effect)));
        }
        Ok(effects)
    }

    pub fn index(&self) -> Arc<Index> {
        self.index.now()
    }

    pub fn cards(&self) -> Arc<Cards> {
        self.cards.now()
    }

    pub fn keys(&self) -> Arc<Keys> {
        self.keys.now()
    }

    pub fn weights(&self) -> Arc<Weights> {
        self.weights.now()
    }

    /// Finds the scorecard with this name, under the weights in force now.
    pub fn scorer(&self, wanted: &str) -> Result<Arc<ScorerPool>, Problem> {
        let own = self.cards().find(wanted)?;
        Ok(self.weights().scorer(&own))
    }

    /// Returns the time of the newest entry of the log; the earliest of all times for an empty log.
    pub fn newest(&self) -> Timestamp {
        Timestamp { milliseconds: self.newest.load(Ordering::Acquire) }
    }

    /// Returns the size of the log as memory knows it, and watches it grow.
    pub fn size(&self) -> watch::Receiver<u64> {
        self.size.subscribe()
    }

    /// Applies the effects of everything that was committed together, then sends the outcomes: so a request that
    /// follows an answer sees its effects.
    pub(crate) fn take_in(&self, mut committed: Vec<(Waiting, Vec<Outcome>)>) {
        let mut effects = Vec::new();
        let mut size = *self.size.borrow();
        for (waiting, outcomes) in &mut committed {
            for (outcome, of_batch) in outcomes.iter().zip(waiting.effects.drain(..)) {
                let Ok(accepted) = outcome else { continue };
                size = accepted.iter().map(|it| it.position + 1).fold(size, u64::max);
                let newest = accepted.iter().map(|it| it.moment.milliseconds).max().unwrap_or(i64::MIN);
                self.newest.fetch_max(newest, Ordering::AcqRel);
                let new = of_batch.into_iter().filter_map(|(place, mut effect)| {
                    let accepted = accepted.get(place).filter(|it: &&Accepted| !it.repeated)?;
                    if let Effect::Record(row) = &mut effect {
                        row.time.get_or_insert(accepted.moment);
                    }
                    if let Effect::Spans(taken) = &mut effect {
                        taken.moment = accepted.moment;
                    }
                    Some((accepted.position, effect))
                });
                effects.extend(new);
            }
        }
        self.apply(effects);
        self.size.send_replace(size);
        for (waiting, outcomes) in committed {
            // A caller may have disconnected: the items stay stored.
            let _ = waiting.answer.send(outcomes);
        }
    }

    pub(crate) fn apply(&self, effects: impl IntoIterator<Item = (u64, Effect)>) {
        self.index
            .change(|index| effects.into_iter().for_each(|(at, effect)| self.apply_one(index, at, effect)));
    }

    fn apply_one(&self, index: &mut Index, position: u64, effect: Effect) {
        match effect {
            Effect::Record(row) => {
                self.cards().used(&row.card, 1);
                index.add(position, &row);
            }
            Effect::Replaced(evidence, sender, is_by_own_key) => {
                index.replace(evidence, position, sender.as_deref(), is_by_own_key);
            }
            Effect::Backfilled(it) => index.backfill(position, &it),
            Effect::Withdrawn(it) => index.withdraw(&it.key, it.from, position),
            Effect::Card(pool) => self.cards.change(|cards| cards.add(pool)),
            Effect::Weights(item) => {
                let pool = self.cards().find(&item.card);
                let added = pool
                    .map_err(|problem| problem.detail)
                    .and_then(|pool| self.weights.change(|weights| weights.add(position, *item, &pool)));
                if let Err(why) = added {
                    tracing::warn!(position, why, "an event about weights changes nothing");
                }
            }
            Effect::Arena(content) => self.arena.apply(*content),
            Effect::Workflow(content) => self.flows.apply(*content),
            Effect::Spans(taken) => self.spans.apply(*taken),
            Effect::Review(_) => {}
            Effect::Key(key, is_revoked) => self.keys.change(|keys| keys.set(key, is_revoked)),
        }
    }

    /// Returns the effect of `item` in a log of that `size`. An unreadable item is left out and reported; the log still
    /// has it.
    pub(crate) fn effect(&self, item: &Item, reader: &mut Reader) -> Option<Effect> {
        let damaged = |why: String| {
            tracing::warn!(
                position = item.position,
                id = item.entry.id,
                why,
                "an item is left out of the index"
            );
            None
        };
        match item.entry.kind {
            Kind::Record => Record::parse(&item.content)
                .map_err(|error| error.to_string())
                .and_then(|record| record.ok_or_else(|| String::from("it is not a record")))
                .and_then(|record| {
                    // What the server scored again counts as sent, and as arrived, with its evidence.
                    let is_of_server = item.entry.sender.as_deref() == Some(SERVER);
                    let source = if is_of_server { stored::source(reader, item) } else { Ok(None) };
                    let source = source.map_err(|problem| problem.detail)?;
                    self.row(item, record.document(), &source.as_ref().unwrap_or(item).entry)
                })
                .map_or_else(damaged, |row| Some(Effect::Record(Box::new(row)))),
            Kind::Evidence => item.entry.replaces.as_ref().map(|old| {
                let sender = item.entry.sender.as_deref();
                let is_by_own_key = sender.is_some_and(|sender| self.keys().is_of_subject(sender));
                Effect::Replaced(Digest::of(old.as_bytes()), item.entry.sender.clone(), is_by_own_key)
            }),
            Kind::Scorecard => match std::str::from_utf8(&item.content) {
                Err(error) => damaged(error.to_string()),
                Ok(text) => match self.cards().compile(text) {
                    Ok(card) => Some(Effect::Card(Arc::new(ScorerPool::new(card)))),
                    Err(error) => damaged(error.to_string()),
                },
            },
            Kind::Key => {
                let withdrawn = || Withdrawal::parse(&item.content).map(Effect::Withdrawn);
                let backfilled = || Backfill::parse(&item.content).map(Effect::Backfilled);
                let key = || {
                    Key::parse(&item.content)
                        .map_or_else(damaged, |(key, is_revoked)| Some(Effect::Key(key, is_revoked)))
                };
                match Rotation::parse(&item.content) {
                    Ok(Some(_)) => None,
                    Ok(None) => withdrawn().or_else(backfilled).or_else(key),
                    Err(problem) => damaged(problem),
                }
            }
            Kind::Match => arena::Content::parse(&item.content)
                .map_or_else(damaged, |content| Some(Effect::Arena(Box::new(content)))),
            Kind::Weights => WeightsItem::parse(&item.entry.id, &item.content)
                .map_or_else(damaged, |item| Some(Effect::Weights(Box::new(item)))),
            Kind::Workflow => flows::Content::parse(&item.content)
                .map_or_else(damaged, |content| Some(Effect::Workflow(Box::new(content)))),
            Kind::Spans => spans::Content::parse(&item.content).map_or_else(damaged, |content| {
                let (id, bytes) = (&item.entry.id, item.content.len());
                let taken = spans::Taken::new(id, content, bytes, item.entry.moment);
                Some(Effect::Spans(Box::new(taken)))
            }),
            Kind::Review | Kind::Recording => None,
        }
    }

    /// Returns true if the record with that entry is the one that the arena made of a match.
    fn is_graded(&self, record: &RecordDocument, entry: &Entry) -> bool {
        authority::is_match_id(&record.subject, &record.evidence.id)
            && self.arena.state().game(&record.evidence.id).is_some_and(
                |game| matches!(&game.state, arena::State::Scored(scored) if scored.record == entry.id),
            )
    }

    /// Returns the row of a record; an item that does not say when it took place counts from when it arrived, which `origin` says.
    fn row(&self, item: &Item, record: &RecordDocument, origin: &Entry) -> Result<NewRow, String> {
        let (position, entry) = (item.position, &item.entry);
        let pool = self.cards().find(&record.scorecard.name()).map_err(|problem| problem.detail)?;
        let ceiling = self.keys().ceiling(origin.sender.as_deref());
        let is_backfilled = self.index().is_backfilled(&entry.id, position);
        let trust = if self.is_graded(record, entry) {
            Trust::Graded
        } else if self.flows.state().has_record(&entry.id) {
            Trust::Measured
        } else {
            stored::trust(record, &pool.card, ceiling)
        };
        Ok(NewRow {
            id: record.evidence.id.clone(),
            stated: stored::stated(record, &pool.card).collect(),
            subject: record.subject.clone(),
            card: pool.name(),
            task: stored::task(record, &pool.card),
            time: record.time().or(Some(origin.moment)),
            outcome: record.evidence.outcome,
            score: record.score(),
            evidence: record.evidence.digest,
            item: Digest::of(ids::evidence(&record.subject, &record.evidence.id).as_bytes()),
            trust,
            is_backfilled,
            is_over_cases: record.evidence.n.is_some(),
            sender: origin.sender.clone(),
        })
    }
}

/// The time between two checks of how much the index has grown.
const PERIOD: Duration = Duration::from_secs(1);

/// The thread that adds rows to the cache. When this is dropped, the thread adds the last rows and ends.
pub(crate) struct Follower {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
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
