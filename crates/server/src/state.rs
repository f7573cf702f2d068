//! The state of a server: what every request works with.

use std::path::Path;
use std::sync::atomic::AtomicUsize;

use karat_store::log::Signer;
use karat_store::port::Backend;
use karat_store::{Error, Outcome, Store};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until};

use crate::Options;
use crate::answers::Answers;
use crate::basics::*;
use crate::cards::ScorerPool;
use crate::clock::{Clock, random};
use crate::cosigned::{Cosigned, WitnessedHead};
use crate::cost;
use crate::deliveries::Deliveries;
use crate::effect::{Effect, IntoEffect, Waiting};
use crate::folder;
use crate::index::Index;
use crate::judging::Judging;
use crate::kept::Keeper;
use crate::keys::{Key, KeyRequest, SERVER};
use crate::limits::{Places, Rates, Turns, Who};
use crate::memory::{Follower, Memory};
use crate::metrics::{Boards, Metrics};
use crate::problem::{Problem, conflict};
use crate::readers::Readers;
use crate::traces::Traces;
use crate::turn::Gate;

/// The state of a server.
pub struct App {
    pub options: Options,
    pub clock: Clock,
    /// The index, the scorecards, the keys and the arena.
    pub memory: Arc<Memory>,
    pub traces: Traces,
    pub metrics: Metrics,
    /// Cached leaderboards.
    pub answers: Answers,
    pub(crate) keeper: Keeper,
    pub(crate) cosigned: Cosigned,
    pub judging: Judging,
    pub(crate) deliveries: Deliveries,
    pub(crate) boards: Boards,
    pub rates: Rates,
    pub(crate) permits: Turns,
    /// Permits for open event streams.
    pub(crate) streams: Turns,
    pub(crate) streams_of: Arc<Places<Who>>,
    pub(crate) at_work: AtomicUsize,
    /// The time from which on the server is stopping.
    pub(crate) stopping: watch::Sender<Option<Instant>>,
    /// Held while an event about weights is checked and stored, so that none comes between.
    pub(crate) weights_turn: tokio::sync::Mutex<()>,
    /// Likewise of a decision of a reviewer.
    pub(crate) reviews_turn: tokio::sync::Mutex<()>,
    store: Arc<Store<Waiting>>,
    readers: Arc<Readers>,
    /// Dropped last, after the last commit.
    _cache_follower: Option<Follower>,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The result of an action: something that was stored now or before.
#[derive(Debug, Clone, PartialEq)]
pub struct Done<T> {
    pub value: T,
    /// True if it was already stored, so that nothing changed.
    pub repeated: bool,
}

/// Items that are stored together or not at all, with their effects in memory.
#[derive(Debug)]
pub struct Submission {
    /// The id of the key whose request this comes with, or [`SERVER`].
    sender: String,
    pub items: Vec<NewItem>,
    /// The effects, each with the index of its item.
    pub effects: Vec<(usize, Effect)>,
}

impl Submission {
    /// Creates an empty submission, sent by that key.
    pub fn by(key: &Key) -> Self {
        Self::from_sender(&key.id)
    }

    /// Creates an empty submission of the server itself.
    pub fn of_server() -> Self {
        Self::from_sender(SERVER)
    }

    /// Creates an empty submission, sent by the key with that id, or by [`SERVER`].
    pub fn from_sender(sender: &str) -> Self {
        Self { sender: sender.to_owned(), items: Vec::new(), effects: Vec::new() }
    }

    /// Adds everything of another submission, which keeps its sender.
    pub fn add(&mut self, other: Self) {
        let place = self.items.len();
        self.items.extend(other.items);
        self.effects.extend(other.effects.into_iter().map(|(at, effect)| (place + at, effect)));
    }

    pub(crate) fn with_all<C: IntoEffect>(
        self,
        contents: impl IntoIterator<Item = C>,
    ) -> Result<Self, Problem> {
        contents.into_iter().try_fold(self, |batch, content| {
            let item = content.item().map_err(|error| Problem::internal(&error))?;
            let effect = content.effect(&item);
            Ok(batch.with(item, Some(effect)))
        })
    }

    pub fn with(mut self, mut item: NewItem, mut effect: Option<Effect>) -> Self {
        let place = self.items.len();
        item.sender = Some(self.sender.clone());
        if let Some(Effect::Record(row)) = &mut effect {
            row.sender.clone_from(&item.sender);
        }
        self.effects.extend(effect.map(|effect| (place, effect)));
        self.items.push(item);
        self
    }
}

impl App {
    /// Opens the store in `backend` and loads memory from it. On the first start it creates the key of an administrator
    /// and returns its secret, which cannot be read again. The rows of the index and the caches of vectors stay in files in
    /// `folder` between starts; `watch` hears of progress: items of the log read so far, and their total.
    pub fn open(
        backend: Arc<dyn Backend>,
        signer: Signer,
        options: Options,
        clock: Clock,
        folder: Option<&Path>,
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<(Arc<Self>, Option<String>), Error> {
        let failed = |problem: Problem| Error::Failed(problem.detail);
        let clock = clock.of_log();
        let memory = Arc::new(Memory::with(clock.newest()).map_err(failed)?);
        let gate = Gate { memory: Arc::clone(&memory), backend: Arc::clone(&backend) };
        let traces = Traces::open(&options.traces, folder, signer.clone())?;
        let index = folder.map(|folder| folder.join(folder::INDEX));
        let cache = index.as_deref().map(|path| (path, signer.clone()));
        let store = Arc::new(Store::open_with(backend, signer, options.store, gate)?);
        let cache = memory.load(&store, cache, watch).map_err(failed)?;
        let mut reader = store.reader()?;
        let file = folder.map(|folder| folder.join(folder::COSIGNED));
        let cosigned = Cosigned::open(file, &options.witnesses, store.verifying_key(), &mut reader)?;
        let size = reader.head()?.size;
        let names: Vec<&str> = options.webhooks.endpoints.iter().map(|it| it.name.as_str()).collect();
        let file = folder.map(|folder| folder.join(folder::DELIVERIES));
        let deliveries = Deliveries::open(file, &names, size)?;
        let cache_follower = cache.and_then(|cache| Follower::start(cache, Arc::clone(&memory), reader));
        let app = Self {
            rates: Rates::new(options.rates),
            permits: Turns::new(options.requests_max),
            streams: Turns::new(options.streams_max),
            streams_of: Arc::default(),
            at_work: AtomicUsize::new(0),
            stopping: watch::Sender::new(None),
            traces,
            metrics: Metrics::default(),
            answers: Answers::default(),
            keeper: Keeper::default(),
            cosigned,
            judging: Judging::new(&options.judge),
            deliveries,
            boards: Boards::new(size),
            weights_turn: tokio::sync::Mutex::default(),
            reviews_turn: tokio::sync::Mutex::default(),
            readers: Arc::new(Readers::new(Arc::clone(&store))),
            options,
            clock,
            memory,
            store,
            _cache_follower: cache_follower,
        };
        if !app.options.is_loopback && !app.options.keeps_first_key && app.memory.keys().is_empty() {
            return Err(Error::Failed(String::from(
                "there is no key yet, and others could reach this server; start it once on 127.0.0.1, which creates one",
            )));
        }
        app.keep_released_cards()?;
        let secret = if app.memory.keys().is_empty() { Some(app.first_key()?) } else { None };
        Ok((Arc::new(app), secret))
    }

    /// Returns the key that verifies the signatures of the log, `NAME+ID+KEY`.
    pub fn log_key(&self) -> String {
        self.store.verifying_key().to_string()
    }

    /// Returns whether entries can still be written.
    pub(crate) fn is_writing(&self) -> bool {
        self.store.is_writing()
    }

    /// Takes a head that witnesses cosigned.
    pub(crate) async fn cosign(self: &Arc<Self>, note: String) -> Result<Vec<WitnessedHead>, Problem> {
        let app = Arc::clone(self);
        self.read(move |reader| app.cosigned.take(&note, app.store.verifying_key(), reader)).await
    }

    /// Stores each of the batches completely or not at all, and returns once they would survive a power loss and are in
    /// memory. After the call the batches are stored even if the caller no longer waits.
    pub async fn append(&self, batches: Vec<Submission>) -> Result<Vec<Outcome>, Problem> {
        let receiver = self.submit(batches)?;
        receiver.await.map_err(|_| Problem::from(Error::Stopped))
    }

    /// Stores one batch.
    pub async fn append_one(&self, batch: Submission) -> Result<Vec<Accepted>, Problem> {
        match self.append(vec![batch]).await?.pop() {
            Some(Ok(accepted)) => Ok(accepted),
            Some(Err(Error::Refused(refusals))) => Err(conflict(&refusals)),
            Some(Err(error)) => Err(error.into()),
            None => Err(Error::Stopped.into()),
        }
    }

    /// Queues the batches without waiting: the receiver gets the outcomes.
    pub fn submit(&self, batches: Vec<Submission>) -> Result<oneshot::Receiver<Vec<Outcome>>, Problem> {
        let (answer, receiver) = oneshot::channel();
        let (items, effects) = batches.into_iter().map(|batch| (batch.items, batch.effects)).unzip();
        self.store.submit(self.clock.now(), items, Waiting { effects, answer }).inspect_err(|error| {
            if *error == Error::Busy {
                self.metrics.turned_away();
            }
        })?;
        Ok(receiver)
    }

    /// Returns the moment of official scores for which none is asked: the present full minute, or the newest entry of the log
    /// if that is later. So answers agree, and are not computed again every second.
    pub fn moment(&self) -> Timestamp {
        const MINUTE: i64 = 60;
        let minute = self.clock.now().seconds().div_euclid(MINUTE).saturating_mul(MINUTE);
        Timestamp::from_seconds(minute.max(self.memory.newest().seconds()))
    }

    /// Returns a reader of the store.
    pub(crate) fn reader(&self) -> Result<Reader, Error> {
        self.store.reader()
    }

    /// Reads the store on a thread that may wait for the disk.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut Reader) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.readers.run(read).await
    }

    /// Finds the item of that kind with that id.
    pub(crate) async fn find(&self, kind: Kind, id: String) -> Result<Option<Item>, Problem> {
        self.read(move |reader| {
            let size = reader.head()?.size;
            Ok(reader.find(kind, &id, size)?)
        })
        .await
    }

    /// Does long work on a separate thread, so that other requests do not wait.
    pub async fn checked<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        cost::apart(work).await.map_err(|error| Problem::internal(&error))?
    }

    /// Reads the index on such a thread: it is as long as the log.
    pub(crate) async fn indexed<T: Send + 'static>(
        self: &Arc<Self>,
        look: impl FnOnce(&Self, &Index) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let app = Arc::clone(self);
        self.checked(move || {
            let index = app.memory.index();
            cost::rows(index.len());
            look(&app, &index)
        })
        .await
    }

    /// Ends event streams and prevents new ones, and soon ends bodies that do not arrive.
    pub fn stop(&self) {
        self.stopping.send_replace(Some(Instant::now()));
    }

    /// Waits until the server stops, and for as long as clients may then send the rest of a body.
    pub(crate) fn end_of_bodies(&self) -> impl Future<Output = ()> + Send + use<> {
        const REST: Duration = Duration::from_secs(3);
        let mut stopping = self.stopping.subscribe();
        async move {
            let began = stopping.wait_for(Option::is_some).await.ok().and_then(|at| *at);
            sleep_until(began.unwrap_or_else(Instant::now) + REST).await;
        }
    }

    /// Stores the released scorecards in the log like published ones, so that it can be read without karat.
    fn keep_released_cards(&self) -> Result<(), Error> {
        let mut reader = self.store.reader()?;
        let size = reader.head()?.size;
        let mut missing = Vec::new();
        for pool in self.memory.cards().iter().filter(|pool| pool.card.is_released()) {
            if reader.find(Kind::Scorecard, &pool.name(), size)?.is_none() {
                missing.push(scorecard_item(pool));
            }
        }
        if !missing.is_empty() {
            let batch =
                missing.into_iter().fold(Submission::of_server(), |batch, item| batch.with(item, None));
            self.write_first(batch)?;
        }
        Ok(())
    }

    fn first_key(&self) -> Result<String, Error> {
        let random = random::<32>().map_err(Error::Failed)?;
        let made =
            KeyRequest::admin("first").make(random).map_err(|problem| Error::Failed(problem.detail))?;
        let effect = Effect::Key(made.key.clone(), false);
        self.write_first(Submission::of_server().with(made.key.item(false), Some(effect)))?;
        Ok(made.secret)
    }

    /// Writes a batch before the first request.
    fn write_first(&self, batch: Submission) -> Result<(), Error> {
        let failed = |problem: Problem| Error::Failed(problem.detail);
        let receiver = self.submit(vec![batch]).map_err(failed)?;
        let outcomes = receiver.blocking_recv().map_err(|_| Error::Stopped)?;
        outcomes.into_iter().try_for_each(|outcome| outcome.map(|_| ()))
    }
}

/// Runs to the end even if the client disconnects, so that no other request gets the permit before memory is updated.
pub(crate) async fn uninterrupted<T: Send + 'static>(
    work: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> Result<T, Problem> {
    tokio::spawn(work).await.map_err(|error| Problem::internal(&error))?
}

pub fn scorecard_item(pool: &ScorerPool) -> NewItem {
    NewItem::new(Kind::Scorecard, pool.name(), pool.card.text())
}
