//! Many items on several threads: one cuts the input into blocks, others work on them, and the caller takes the results in
//! the order of the input. A result follows from its block alone, so the number of threads reaches none.

use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder};

use karat_evidence::UnknownFields;

use crate::error::{Error, Place};
use crate::rows::Fields;

/// Bytes of items after which a block is handed over, even if more can be read at once.
const FULL_BYTES: usize = 1 << 17;
/// Blocks for each worker that are cut and not yet taken.
const AHEAD: usize = 3;

/// The line and number of a [`Place`].
type Spot = (Option<u64>, u64);

/// Items of one file, copied from the input, each with its place.
#[derive(Debug, Default)]
pub struct Block {
    /// The place of the last item.
    place: Option<Place>,
    bytes: Vec<u8>,
    /// The spot of each item, and where it ends in `bytes` or why it could not be cut out.
    items: Vec<(Spot, Result<usize, Error>)>,
}

impl Block {
    /// Hands each item to `visit`, as [`each_item`](crate::engine::each_item) does.
    pub fn each<B>(
        &self,
        mut visit: impl FnMut(&Place, Result<&[u8], Error>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let Some(mut place) = self.place.clone() else { return ControlFlow::Continue(()) };
        let mut start = 0;
        for (spot, item) in &self.items {
            (place.line, place.nth) = *spot;
            match item {
                Ok(end) => {
                    let bytes = self.bytes.get(start..*end).unwrap_or_default();
                    start = *end;
                    visit(&place, Ok(bytes))?;
                }
                Err(error) => visit(&place, Err(error.clone()))?,
            }
        }
        ControlFlow::Continue(())
    }

    fn is_of(&self, place: &Place) -> bool {
        self.place.as_ref().is_none_or(|own| (&own.file, own.is_row) == (&place.file, place.is_row))
    }

    fn push(&mut self, place: &Place, item: Result<&[u8], Error>) {
        if self.place.is_none() {
            self.place = Some(place.clone());
        }
        let item = item.map(|bytes| {
            self.bytes.extend_from_slice(bytes);
            self.bytes.len()
        });
        self.items.push(((place.line, place.nth), item));
    }
}

/// The findings of an engine about the items of a block besides their scores: the fields that nothing reads, the facts that are given.
#[derive(Debug, Default)]
pub struct Noticed {
    pub(crate) unknown: UnknownFields,
    pub(crate) given: Vec<bool>,
    pub(crate) fields: Fields,
    pub(crate) has_items: bool,
}

impl Noticed {
    /// Adds what was noticed of items that come after these.
    pub fn add(&mut self, later: Self) {
        self.unknown.add(later.unknown);
        self.given.resize(later.given.len(), false);
        self.given.iter_mut().zip(later.given).for_each(|(given, more)| *given |= more);
        self.fields.add(later.fields);
        self.has_items |= later.has_items;
    }
}

/// The place where the one who reads an input puts its items.
pub struct Intake<'h> {
    block: RefCell<Block>,
    hand_over: RefCell<&'h mut dyn FnMut(Block) -> ControlFlow<()>>,
    is_over: Cell<bool>,
}

impl<'h> Intake<'h> {
    fn new(hand_over: &'h mut dyn FnMut(Block) -> ControlFlow<()>) -> Self {
        Self { block: RefCell::default(), hand_over: RefCell::new(hand_over), is_over: Cell::new(false) }
    }

    /// Takes an item; breaks if no more are wanted.
    pub fn push(&self, place: &Place, item: Result<&[u8], Error>) -> ControlFlow<()> {
        if !self.block.borrow().is_of(place) || self.block.borrow().bytes.len() >= FULL_BYTES {
            self.hand_over();
        }
        if self.is_over.get() {
            return ControlFlow::Break(());
        }
        self.block.borrow_mut().push(place, item);
        ControlFlow::Continue(())
    }

    /// Returns the same input. Before each of its reads, which may have to wait, the items at hand go on their way: of an
    /// input that comes slowly, each result is there at once.
    pub fn watch<R: Read>(&self, input: R) -> impl Read {
        Watched { input, intake: self }
    }

    fn hand_over(&self) {
        let block = self.block.take();
        if !block.items.is_empty() && !self.is_over.get() {
            self.is_over.set((self.hand_over.borrow_mut())(block).is_break());
        }
    }
}

struct Watched<'i, 'h, R> {
    input: R,
    intake: &'i Intake<'h>,
}

impl<R: Read> Read for Watched<'_, '_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.intake.hand_over();
        if self.intake.is_over.get() { Ok(0) } else { self.input.read(buffer) }
    }
}

/// A block on its way to a worker, and the way back.
type Task<T> = (Block, SyncSender<Done<T>>);
/// A block with its result; none if it depends on blocks before it.
type Done<T> = (Block, thread::Result<Option<T>>);

/// Works on all items that `read` puts into the intake, and hands the results to `take` in the order of the input; `take`
/// gets none when no result is ready just now. A few blocks are in memory at a time.
///
/// Each of `workers` has its own thread. It returns none for a block whose result depends on items before: `in_turn` does
/// that one and all after it, one by one. It does everything if there is no worker.
///
/// When `take` breaks, this returns at once; the thread that reads ends when its read does.
pub fn in_order<T, R, B, W>(
    workers: Vec<W>,
    mut in_turn: impl FnMut(&Block) -> T,
    read: impl FnOnce(&Intake<'_>) -> R + Send + 'static,
    mut take: impl FnMut(Option<T>) -> ControlFlow<B>,
) -> ControlFlow<B, R>
where
    T: Send + 'static,
    R: Send + 'static,
    W: FnMut(&Block) -> Option<T> + Send + 'static,
{
    let is_sequential = Arc::new(AtomicBool::new(false));
    let (tasks, queue) = channel::<Task<T>>();
    let queue = Arc::new(Mutex::new(queue));
    let mut threads = 0;
    for worker in workers {
        let (queue, is_sequential) = (Arc::clone(&queue), Arc::clone(&is_sequential));
        // With fewer threads than wanted it takes longer, and nothing else.
        threads += usize::from(Builder::new().spawn(move || work(worker, &queue, &is_sequential)).is_ok());
    }
    // A thread that cannot be started must not take the input with it.
    let read = Arc::new(Mutex::new(Some(read)));
    let (ahead, order) = sync_channel(AHEAD * threads);
    let reader = (threads > 0).then(|| {
        let read = Arc::clone(&read);
        Builder::new().spawn(move || run(&read, &mut |block| send(block, &tasks, &ahead)))
    });
    let Some(Ok(reader)) = reader else {
        let mut broken = None;
        let read = run(&read, &mut |block| {
            let taken = take(Some(in_turn(&block)));
            match if taken.is_continue() { take(None) } else { taken } {
                ControlFlow::Continue(()) => ControlFlow::Continue(()),
                ControlFlow::Break(why) => {
                    broken = Some(why);
                    ControlFlow::Break(())
                }
            }
        });
        return match (broken, read) {
            (Some(why), _) => ControlFlow::Break(why),
            (None, Some(read)) => ControlFlow::Continue(read),
            (None, None) => gone(),
        };
    };
    loop {
        let next: Receiver<Done<T>> = match order.try_recv() {
            Ok(next) => next,
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {
                take(None)?;
                let Ok(next) = order.recv() else { break };
                next
            }
        };
        let done = match next.try_recv() {
            Ok(done) => done,
            Err(_) => {
                take(None)?;
                next.recv().unwrap_or_else(|_| gone())
            }
        };
        match done {
            (_, Err(panic)) => resume_unwind(panic),
            (_, Ok(Some(result))) if !is_sequential.load(Ordering::Relaxed) => take(Some(result))?,
            (block, Ok(_)) => {
                is_sequential.store(true, Ordering::Relaxed);
                take(Some(in_turn(&block)))?;
            }
        }
    }
    match reader.join() {
        Ok(Some(read)) => ControlFlow::Continue(read),
        Ok(None) => gone(),
        Err(panic) => resume_unwind(panic),
    }
}

/// Reads the whole input, if no thread has done so.
fn run<R>(
    read: &Mutex<Option<impl FnOnce(&Intake<'_>) -> R>>,
    hand_over: &mut dyn FnMut(Block) -> ControlFlow<()>,
) -> Option<R> {
    let read = read.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    let intake = Intake::new(hand_over);
    let result = read(&intake);
    intake.hand_over();
    Some(result)
}

/// Sends a block to the workers, and keeps its turn; waits while too many are on their way. Breaks if no one takes it.
fn send<T>(block: Block, tasks: &Sender<Task<T>>, order: &SyncSender<Receiver<Done<T>>>) -> ControlFlow<()> {
    let (back, result) = sync_channel(1);
    let sent = order.send(result).is_ok() && tasks.send((block, back)).is_ok();
    if sent { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

fn work<T>(
    mut worker: impl FnMut(&Block) -> Option<T>,
    queue: &Mutex<Receiver<Task<T>>>,
    is_sequential: &AtomicBool,
) {
    loop {
        let task = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((block, back)) = task else { return };
        let result = if is_sequential.load(Ordering::Relaxed) {
            Ok(None)
        } else {
            catch_unwind(AssertUnwindSafe(|| worker(&block)))
        };
        // It is not waited for if the caller has stopped.
        let _ = back.send((block, result));
    }
}

/// Ends the thread as one that panics: no result may be lost.
fn gone() -> ! {
    resume_unwind(Box::new("a thread ended before its work"))
}
