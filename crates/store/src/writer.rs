//! The one thread that writes: takes what has been handed in meanwhile, decides, commits it together, answers.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, TryRecvError};

use crate::error::{Error, Problem, Refusal};
use crate::item::{Entry, Moment, Prepared, Term};
use crate::log::{Checkpoint, Hash, Signer, Tree};
use crate::port::{Commit, Head, Order, Row, Write};
use crate::store::{Accepted, Limits};

/// What became of one batch.
pub type Outcome = Result<Vec<Accepted>, Error>;

/// Batches that are answered together; each is accepted whole or not at all.
pub(crate) struct Job {
    pub batches: Vec<Vec<Prepared>>,
    pub answer: Box<dyn FnOnce(Vec<Outcome>) + Send>,
}

impl Job {
    fn items(&self) -> usize {
        self.batches.iter().map(Vec::len).sum()
    }

    fn bytes(&self) -> usize {
        self.batches.iter().flatten().map(|item| item.bytes.len() + item.content.len()).sum()
    }
}

/// Decides and commits. The decisions depend on what is stored and on the order of jobs alone.
pub(crate) struct Writer {
    backend: Box<dyn Write>,
    signer: Signer,
    tree: Tree,
    /// The latest moment of all entries.
    known: Option<Moment>,
}

impl Writer {
    /// Goes on from the head of `backend`, or begins a log where there is none.
    pub fn open(mut backend: Box<dyn Write>, signer: Signer) -> Result<Self, Error> {
        let head = match backend.read().head()? {
            Some(head) => head,
            None => {
                let checkpoint = Checkpoint { size: 0, root: Hash::of_empty_tree() }.sign(&signer)?;
                let head = Head { size: 0, checkpoint };
                let (rows, postings, tiles) = Default::default();
                backend.commit(&Commit { after: None, rows, postings, tiles, head: head.clone() })?;
                head
            }
        };
        let checkpoint = Checkpoint::open(&head.checkpoint, signer.verifying_key())?;
        let tree = Tree::load(head.size, |tile| backend.read().tile(tile))?;
        if checkpoint != (Checkpoint { size: tree.size(), root: tree.root() }) {
            return Err(Error::Damaged(String::from(
                "the tiles of the log do not have the root that its checkpoint signs",
            )));
        }
        let last = backend.read().rows(head.size.saturating_sub(1)..head.size)?;
        let known = last.last().map(|row| row.known);
        Ok(Self { backend, signer, tree, known })
    }

    /// Answers jobs until nobody can hand in any more and all are answered.
    pub fn run(mut self, jobs: &Receiver<Job>, limits: Limits) {
        while let Ok(first) = jobs.recv() {
            let (mut items, mut bytes) = (first.items(), first.bytes());
            let mut group = vec![first];
            // Whoever was answered last is about to hand in again: giving way once before each look lets them, and the
            // sync serves them all. Without it groups of one and of all the others take turns.
            let mut waited = false;
            while items < limits.commit_items && bytes < limits.commit_bytes {
                match jobs.try_recv() {
                    Ok(job) => {
                        items += job.items();
                        bytes += job.bytes();
                        group.push(job);
                        waited = false;
                    }
                    Err(TryRecvError::Empty) if !waited => {
                        std::thread::yield_now();
                        waited = true;
                    }
                    Err(_) => break,
                }
            }
            self.commit(group);
            // What fails here fails at the next commit again, where there is somebody to tell.
            let _ = self.backend.tidy();
        }
    }

    /// Commits what is acceptable of `group`, then answers.
    fn commit(&mut self, group: Vec<Job>) {
        let mut stage = Stage::new(self);
        let mut answers = Vec::with_capacity(group.len());
        for job in group {
            let outcomes: Vec<Outcome> = job.batches.into_iter().map(|batch| stage.admit(batch)).collect();
            answers.push((job.answer, outcomes));
        }
        let committed = stage.commit();
        for (answer, mut outcomes) in answers {
            if let Err(error) = &committed {
                // A repeated item may repeat one of this very commit, so nothing of it is certain now.
                outcomes.iter_mut().filter(|outcome| outcome.is_ok()).for_each(|it| *it = Err(error.clone()));
            }
            answer(outcomes);
        }
    }
}

/// A commit in the making.
struct Stage<'a> {
    writer: &'a mut Writer,
    known: Option<Moment>,
    rows: Vec<Row>,
    postings: Vec<(Term, u64)>,
    leaves: Vec<Hash>,
    /// Ids of this commit, new and replaced. Only looked up, never walked through.
    pending: HashMap<Term, u64>,
}

/// What is to become of one item.
enum Decision {
    New,
    Repeated { position: u64, moment: Moment },
    Refused(Problem),
}

impl<'a> Stage<'a> {
    fn new(writer: &'a mut Writer) -> Self {
        let (rows, postings, leaves, pending) = Default::default();
        Self { known: writer.known, writer, rows, postings, leaves, pending }
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
            match self.decide(&item.entry)? {
                Decision::New => {
                    let moment = item.entry.moment;
                    accepted.push(Accepted { position: self.take(item), content, moment, repeated: false });
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

    fn decide(&mut self, entry: &Entry) -> Result<Decision, Error> {
        if let Some((position, stored)) = self.find(Term::id(entry.kind, &entry.id))? {
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
            Some((_, by)) => {
                Decision::Refused(Problem::ReplacedBefore { old: old.clone(), by: by.id })
            }
        })
    }

    /// The entry that `term` finds, stored or in this commit. Only for terms of ids, which find one at most.
    fn find(&mut self, term: Term) -> Result<Option<(u64, Entry)>, Error> {
        let size = self.writer.tree.size();
        let (position, row) = match self.pending.get(&term) {
            Some(&position) => {
                let row = position.checked_sub(size).and_then(|at| usize::try_from(at).ok());
                (position, row.and_then(|at| self.rows.get(at)).cloned())
            }
            None => {
                let read = self.writer.backend.read();
                let found = read.positions(term, 0..size, Order::Oldest, 1)?;
                let Some(&position) = found.first() else { return Ok(None) };
                (position, read.rows(position..position + 1)?.pop())
            }
        };
        let row = row.ok_or_else(|| Error::Damaged(format!("the entry {position} is not there")))?;
        let entry = Entry::parse(&row.entry)
            .map_err(|problem| Error::Damaged(format!("the entry {position}: {problem}")))?;
        Ok(Some((position, entry)))
    }

    fn take(&mut self, item: Prepared) -> u64 {
        let Prepared { entry, bytes, leaf, terms, content } = item;
        let position = self.writer.tree.size() + self.rows.len() as u64;
        let known = self.known.map_or(entry.moment, |known| known.max(entry.moment));
        self.known = Some(known);
        self.postings.extend(terms.into_iter().map(|term| (term, position)));
        self.pending.insert(Term::id(entry.kind, &entry.id), position);
        if let Some(old) = &entry.replaces {
            self.pending.insert(Term::replaced(entry.kind, old), position);
        }
        self.rows.push(Row { position, known, entry: bytes, content });
        self.leaves.push(leaf);
        position
    }

    /// Writes what was taken in, with the head of the log that it makes.
    fn commit(self) -> Result<(), Error> {
        let Self { writer, known, rows, postings, leaves, .. } = self;
        if rows.is_empty() {
            return Ok(());
        }
        let mut tree = writer.tree.clone();
        leaves.into_iter().for_each(|leaf| tree.append(leaf));
        let checkpoint = Checkpoint { size: tree.size(), root: tree.root() }.sign(&writer.signer)?;
        let head = Head { size: tree.size(), checkpoint };
        let (after, tiles) = (Some(writer.tree.size()), tree.take_changed());
        writer.backend.commit(&Commit { after, rows, postings, tiles, head })?;
        writer.tree = tree;
        writer.known = known;
        Ok(())
    }
}
