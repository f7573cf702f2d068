//! The one thread that writes: takes the jobs that wait, decides, commits them together, answers.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, SyncSender};

use crate::error::{Error, Problem, Refusal};
use crate::item::{Entry, NewItem, Prepared, Term, limit_broken};
use crate::kind::Kind;
use crate::log::{Checkpoint, Hash, Rotation, Signer, Tree};
use crate::port::{Commit, Head, Order, Read, Row, Write};
use karat_core::facts::Digest;
use karat_core::timestamp::Timestamp;

/// Limits of what may wait, and of what is committed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The number of jobs that may wait before a further one has to wait to be queued, or is turned away.
    pub queue_jobs: usize,
    /// The number of items from which on a commit takes in no further job.
    pub commit_items: usize,
    /// The number of bytes from which on a commit takes in no further job.
    pub commit_bytes: usize,
}

impl Default for Limits {
    /// Defaults to 1,024 jobs; 4,096 items or 8 MiB a commit.
    fn default() -> Self {
        Self { queue_jobs: 1024, commit_items: 4096, commit_bytes: 8 << 20 }
    }
}

/// The answer for an item that the store keeps from now on, or had before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// Its place in the log.
    pub position: u64,
    /// The digest of its content.
    pub content: Digest,
    /// The moment at which it was first handed in.
    pub moment: Timestamp,
    /// True if the item was there before, so that nothing changed.
    pub repeated: bool,
}

/// The outcome of one batch.
pub type Outcome = Result<Vec<Accepted>, Error>;

/// The one who takes part in the turn of the writer: says what may be stored, and hears of what was.
pub trait Follow<T>: Send {
    /// Returns true if what comes with `ticket` may change what others may store, or depends on what others stored just before.
    /// It is committed by itself, so that the follower has heard of everything before it.
    fn is_alone(&self, ticket: &T) -> bool {
        let _ = ticket;
        false
    }

    /// Decides on the batch at that place of a job, with these entries.
    ///
    /// # Errors
    /// If it may not be stored, with the reasons.
    fn admit(&mut self, ticket: &T, batch: usize, entries: &[&Entry]) -> Result<(), Vec<Refusal>> {
        let _ = (ticket, batch, entries);
        Ok(())
    }

    /// Takes the outcomes of everything that was committed together or refused. The next commit waits for it.
    fn follow(&mut self, answered: Vec<(T, Vec<Outcome>)>);
}

impl<T, F: FnMut(Vec<(T, Vec<Outcome>)>) + Send> Follow<T> for F {
    fn follow(&mut self, answered: Vec<(T, Vec<Outcome>)>) {
        self(answered);
    }
}

/// Batches that are answered together; each is accepted whole or not at all.
pub(crate) struct Job<T> {
    /// Each with its place among all.
    batches: Vec<(usize, Vec<Prepared>)>,
    /// Batches that break a limit, likewise.
    refused: Vec<(usize, Outcome)>,
    answer: Answer<T>,
}

/// The receiver of the outcomes of a job.
pub(crate) enum Answer<T> {
    /// A thread that waits.
    Caller(SyncSender<Vec<Outcome>>),
    /// The follower, with a ticket.
    Follower(T),
}

impl<T> Job<T> {
    /// Works out on the thread of the caller everything that does not depend on what is stored, and refuses items that no
    /// store accepts.
    pub fn new(moment: Timestamp, all: Vec<Vec<NewItem>>, answer: Answer<T>) -> Self {
        let (mut batches, mut refused) = (Vec::with_capacity(all.len()), Vec::new());
        for (place, batch) in all.into_iter().enumerate() {
            let refusals: Vec<Refusal> = batch
                .iter()
                .enumerate()
                .filter_map(|(place, item)| {
                    let problem = limit_broken(item, moment)?;
                    Some(Refusal { place, kind: item.kind, id: item.id.clone(), problem })
                })
                .collect();
            if refusals.is_empty() {
                batches.push((place, batch.into_iter().map(|item| Prepared::new(item, moment)).collect()));
            } else {
                refused.push((place, Err(Error::Refused(refusals))));
            }
        }
        Self { batches, refused, answer }
    }

    fn items(&self) -> usize {
        self.batches.iter().map(|(_, batch)| batch.len()).sum()
    }

    fn bytes(&self) -> usize {
        let items = self.batches.iter().flat_map(|(_, batch)| batch);
        items.map(|item| item.bytes.len() + item.content.len()).sum()
    }

    fn is_alone(&self, follower: &impl Follow<T>) -> bool {
        matches!(&self.answer, Answer::Follower(ticket) if follower.is_alone(ticket))
    }

    /// Refuses what the follower does not admit.
    fn admit(&mut self, follower: &mut impl Follow<T>) {
        let Answer::Follower(ticket) = &self.answer else { return };
        for (place, batch) in std::mem::take(&mut self.batches) {
            let entries: Vec<&Entry> = batch.iter().map(|item| &item.entry).collect();
            match follower.admit(ticket, place, &entries) {
                Ok(()) => self.batches.push((place, batch)),
                Err(refusals) => self.refused.push((place, Err(Error::Refused(refusals)))),
            }
        }
    }
}

/// Decides and commits. The decisions depend on what is stored and on the order of jobs alone.
pub(crate) struct Writer {
    backend: Box<dyn Write>,
    signer: Signer,
    /// The key that `signer` follows, while the change is written: it signs the head of the change, too.
    retiring: Option<Signer>,
    tree: Tree,
    /// The latest moment of all entries.
    known: Option<Timestamp>,
}

impl Writer {
    /// Continues from the head of the log, or begins one if there is no head.
    pub fn open(mut backend: Box<dyn Write>, signer: Signer) -> Result<Self, Error> {
        let mut opened = None;
        backend.commit(&mut |read| {
            let Some(head) = read.head()? else {
                let tree = Tree::default();
                let head = signed_head(&tree, &signer, None)?;
                opened = Some((tree, None));
                let (rows, postings, tiles) = Default::default();
                return Ok(Some(Commit { after: None, rows, postings, tiles, head }));
            };
            let checkpoint = Checkpoint::open(&head.checkpoint, signer.verifying_key())?;
            let tree = Tree::load(head.size, |tile| read.tile(tile))?;
            if checkpoint != (Checkpoint { size: tree.size(), root: tree.root() }) {
                return Err(Error::Damaged(String::from(
                    "the tiles of the log do not have the root that its checkpoint signs",
                )));
            }
            let last = read.rows(head.size.saturating_sub(1)..head.size)?.pop();
            // The head of a change of the key is signed by both keys, and goes on with the new one alone.
            let change = last.as_ref().and_then(|row| Rotation::parse(&row.content).ok().flatten());
            if let Some(change) = change.filter(|change| change.old == *signer.verifying_key()) {
                return Err(Error::KeyReplaced(change.new.to_string()));
            }
            opened = Some((tree, last.map(|row| row.known)));
            Ok(None)
        })?;
        let (tree, known) = opened.unwrap_or_default();
        Ok(Self { backend, signer, retiring: None, tree, known })
    }

    /// Writes the entry of a change of the key from that of the writer to `new`, under a head that both sign, in one
    /// commit. Returns its position. `number` counts the changes of this log, from 1.
    pub fn rotate(
        &mut self,
        new: Signer,
        number: u64,
        moment: Timestamp,
        sender: &str,
    ) -> Result<u64, Error> {
        let item = NewItem {
            kind: Kind::Key,
            id: Rotation::id(number),
            subject: None,
            sources: Vec::new(),
            replaces: None,
            sender: Some(sender.to_owned()),
            content: Rotation::state(&self.signer, &new)?,
        };
        self.retiring = Some(std::mem::replace(&mut self.signer, new));
        let outcome = self.commit_batches(vec![vec![vec![Prepared::new(item, moment)]]]).pop();
        let accepted = outcome.unwrap_or(Err(Error::Stopped))?.pop();
        accepted.map(|accepted| accepted.position).ok_or(Error::Stopped)
    }

    /// Answers jobs until no more can be handed in and all are answered. After each commit it calls `follower`.
    pub fn run<T>(mut self, jobs: &Receiver<Job<T>>, limits: Limits, mut follower: impl Follow<T>) {
        let mut next = None;
        while let Some(first) = next.take().or_else(|| jobs.recv().ok()) {
            let (mut items, mut bytes) = (first.items(), first.bytes());
            let is_alone = first.is_alone(&follower);
            let mut group = vec![first];
            // It takes the jobs that wait, and does not wait for more: giving way or sleeping here makes groups larger and,
            // where others use the processors too, costs a turn of the scheduler each time.
            while !is_alone
                && items < limits.commit_items
                && bytes < limits.commit_bytes
                && let Ok(job) = jobs.try_recv()
            {
                if job.is_alone(&follower) {
                    next = Some(job);
                    break;
                }
                items += job.items();
                bytes += job.bytes();
                group.push(job);
            }
            group.iter_mut().for_each(|job| job.admit(&mut follower));
            follower.follow(self.commit(group));
        }
    }

    /// Commits the acceptable batches of `group` and answers callers. Returns the outcomes that are for the follower.
    fn commit<T>(&mut self, group: Vec<Job<T>>) -> Vec<(T, Vec<Outcome>)> {
        let (mut answers, mut jobs) = (Vec::with_capacity(group.len()), Vec::with_capacity(group.len()));
        for Job { batches, refused, answer } in group {
            let (places, batches): (Vec<usize>, Vec<_>) = batches.into_iter().unzip();
            answers.push((places, refused, answer));
            jobs.push(batches);
        }
        let mut outcomes = self.commit_batches(jobs).into_iter();
        let mut followed = Vec::new();
        for (places, refused, answer) in answers {
            let mut all: Vec<(usize, Outcome)> = places.into_iter().zip(outcomes.by_ref()).collect();
            if !refused.is_empty() {
                all.extend(refused);
                all.sort_by_key(|(place, _)| *place);
            }
            let mine = all.into_iter().map(|(_, outcome)| outcome).collect();
            match answer {
                // A caller that is gone needs no answer.
                Answer::Caller(sender) => drop(sender.send(mine)),
                Answer::Follower(ticket) => followed.push((ticket, mine)),
            }
        }
        followed
    }

    /// Commits the acceptable batches of `jobs`. Returns the outcomes of all, in order.
    fn commit_batches(&mut self, mut jobs: Vec<Vec<Vec<Prepared>>>) -> Vec<Outcome> {
        let (signer, retiring, tree, known) = (&self.signer, self.retiring.as_ref(), &self.tree, self.known);
        let batches = jobs.iter().map(Vec::len).sum();
        let items = jobs.iter().flatten().map(Vec::len).sum();
        let (mut outcomes, mut next) = (Vec::with_capacity(batches), None);
        let committed = self.backend.commit(&mut |read| {
            let mut stage = Stage::new(read, tree.size(), known, items);
            outcomes.extend(std::mem::take(&mut jobs).into_iter().flatten().map(|batch| stage.admit(batch)));
            let Stage { known, rows, postings, leaves, .. } = stage;
            if rows.is_empty() {
                return Ok(None);
            }
            let (after, mut tree) = (Some(tree.size()), tree.clone());
            leaves.into_iter().for_each(|leaf| tree.append(leaf));
            let (head, tiles) = (signed_head(&tree, signer, retiring)?, tree.take_changed());
            next = Some((tree, known));
            Ok(Some(Commit { after, rows, postings, tiles, head }))
        });
        match (committed, next) {
            (Ok(()), Some(next)) => (self.tree, self.known) = next,
            (Ok(()), None) => {}
            (Err(error), _) => {
                // A repeated item may repeat one of this commit, so nothing that was accepted is certain now.
                outcomes.iter_mut().filter(|outcome| outcome.is_ok()).for_each(|it| *it = Err(error.clone()));
                // If the transaction did not even begin, no batch was looked at.
                outcomes.resize_with(batches, || Err(error.clone()));
            }
        }
        outcomes
    }
}

fn signed_head(tree: &Tree, signer: &Signer, retiring: Option<&Signer>) -> Result<Head, Error> {
    let note = Checkpoint { size: tree.size(), root: tree.root() }.sign(signer)?;
    let checkpoint = match retiring {
        None => note,
        Some(retiring) => retiring.sign_too(&note)?,
    };
    Ok(Head { size: tree.size(), checkpoint })
}

/// A commit in the making.
struct Stage<'a> {
    read: &'a mut dyn Read,
    /// The size of the log before.
    size: u64,
    known: Option<Timestamp>,
    rows: Vec<Row>,
    postings: Vec<(Term, u64)>,
    leaves: Vec<Hash>,
    /// Ids of this commit, new and replaced. Only looked up, never walked through.
    pending: HashMap<Term, u64>,
}

/// The decision on one item.
enum Decision {
    New,
    Repeated { position: u64, moment: Timestamp },
    Refused(Problem),
}

impl<'a> Stage<'a> {
    /// Begins a commit of at most `items` items.
    fn new(read: &'a mut dyn Read, size: u64, known: Option<Timestamp>, items: usize) -> Self {
        let (rows, leaves) = (Vec::with_capacity(items), Vec::with_capacity(items));
        // The id for most.
        let (postings, pending) = (Vec::with_capacity(items), HashMap::with_capacity(items));
        Self { read, size, known, rows, postings, leaves, pending }
    }

    /// Takes in what is new in `batch`, unless an item of it is refused.
    fn admit(&mut self, batch: Vec<Prepared>) -> Outcome {
        let (rows, postings, known) = (self.rows.len(), self.postings.len(), self.known);
        let outcome = self.take_all(batch);
        if outcome.is_err() {
            self.known = known;
            self.rows.truncate(rows);
            self.leaves.truncate(rows);
            for (term, _) in self.postings.drain(postings..) {
                self.pending.remove(&term);
            }
        }
        outcome
    }

    fn take_all(&mut self, batch: Vec<Prepared>) -> Outcome {
        let (mut accepted, mut refused) = (Vec::with_capacity(batch.len()), Vec::new());
        for (place, item) in batch.into_iter().enumerate() {
            let content = item.entry.content;
            match self.decide(item.id, &item.entry)? {
                Decision::New => {
                    let (position, moment) = self.take(item);
                    accepted.push(Accepted { position, content, moment, repeated: false });
                }
                Decision::Repeated { position, moment } => {
                    accepted.push(Accepted { position, content, moment, repeated: true });
                }
                Decision::Refused(problem) => {
                    let Entry { kind, id, .. } = item.entry;
                    refused.push(Refusal { place, kind, id, problem });
                }
            }
        }
        if refused.is_empty() { Ok(accepted) } else { Err(Error::Refused(refused)) }
    }

    /// Decides on the item with that entry, whose id has the term `id`.
    fn decide(&mut self, id: Term, entry: &Entry) -> Result<Decision, Error> {
        if let Some((position, stored)) = self.find(id)? {
            return Ok(match stored.difference(entry) {
                None => Decision::Repeated { position, moment: stored.moment },
                Some(member) => Decision::Refused(Problem::Conflict {
                    member,
                    stored: stored.content,
                    given: entry.content,
                }),
            });
        }
        let Some(old) = &entry.replaces else { return Ok(Decision::New) };
        if self.find(Term::id(entry.kind, old))?.is_none() {
            return Ok(Decision::Refused(Problem::NothingToReplace(old.clone())));
        }
        Ok(match self.find(Term::replaced(entry.kind, old))? {
            None => Decision::New,
            Some((_, by)) => Decision::Refused(Problem::ReplacedBefore { old: old.clone(), by: by.id }),
        })
    }

    /// Finds the entry of `term`, stored or in this commit. Only for terms of ids, which find one at most.
    fn find(&mut self, term: Term) -> Result<Option<(u64, Entry)>, Error> {
        let (position, row) = match self.pending.get(&term) {
            Some(&position) => {
                let row = position.checked_sub(self.size).and_then(|at| usize::try_from(at).ok());
                (position, row.and_then(|at| self.rows.get(at)).cloned())
            }
            None => {
                let found = self.read.positions(term, 0..self.size, Order::Oldest, 1)?;
                let Some(&position) = found.first() else { return Ok(None) };
                (position, self.read.rows(position..position + 1)?.pop())
            }
        };
        let row = row.ok_or_else(|| Error::Damaged(format!("the entry {position} is not there")))?;
        let entry = Entry::parse(&row.entry)
            .map_err(|problem| Error::Damaged(format!("the entry {position}: {problem}")))?;
        Ok(Some((position, entry)))
    }

    /// Adds an item; returns its position and its moment, which is never before that of the entry before it: the clock may have
    /// gone back since, or another thread was quicker.
    fn take(&mut self, item: Prepared) -> (u64, Timestamp) {
        let known = self.known.map_or(item.entry.moment, |known| known.max(item.entry.moment));
        let Prepared { entry, bytes, leaf, id, terms, content } = item.at(known);
        let position = self.size + self.rows.len() as u64;
        self.known = Some(known);
        self.postings.extend(terms.into_iter().map(|term| (term, position)));
        self.pending.insert(id, position);
        if let Some(old) = &entry.replaces {
            self.pending.insert(Term::replaced(entry.kind, old), position);
        }
        self.rows.push(Row { position, known, entry: bytes, content });
        self.leaves.push(leaf);
        (position, known)
    }
}
