//! The check of who wrote what into a log: for every entry the question that the writer asked before it stored it, with the
//! memory that it had then.

use std::ops::Range;

use karat::answers::verification::CheckedSenders;
use karat::standing::events;
use karat_store::Entry;

use crate::basics::*;
use crate::keys::SERVER;
use crate::memory::Memory;
use crate::problem::Problem;
use crate::standing::{Question, refusal};
use crate::turn::Turn;

/// The number of entries that are read at once.
const CHUNK: u64 = 256;
/// The largest step back in time that may come from two threads in a log from before its time never fell.
const FALL_MILLISECONDS: i64 = 1000;

/// Findings about the senders of a log.
#[derive(Debug, Default)]
pub struct Authority {
    pub counts: CheckedSenders,
    /// Decisions that cannot be judged here, with the reason.
    pub undecided: Vec<String>,
    /// Entries that were not to be stored, each with the reason.
    pub problems: Vec<String>,
}

/// Asks for every entry of a log whether its sender was in force and allowed to send it, whether what it is about was free or
/// waited for it, and whether time went on. `open` gives further readers of the same log.
pub fn audit(
    reader: &mut Reader,
    open: &mut dyn FnMut() -> Result<Reader, Problem>,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<Authority, Problem> {
    let (memory, size) = (Memory::new()?, reader.head()?.size);
    let mut found = Authority::default();
    let mut turn = Turn::new(&memory);
    let mut last = i64::MIN;
    for start in (0..size).step_by(CHUNK as usize) {
        let Range { start, end } = start..size.min(start + CHUNK);
        for item in reader.items(start..end)? {
            let (position, entry) = (item.position, &item.entry);
            let moment = entry.moment.milliseconds;
            let fall = last.saturating_sub(moment);
            last = last.max(moment);
            found.counts.out_of_order += u64::from((1..=FALL_MILLISECONDS).contains(&fall));
            if fall > FALL_MILLISECONDS {
                found.problem(
                    position,
                    entry,
                    &format!("its moment is {fall} ms before that of an earlier one"),
                );
            }
            let effect = memory.effect(&item, reader);
            let decided = turn.check(entry, effect.as_ref(), position, open);
            match (decided, entry.sender.as_deref()) {
                (Err(problem), _) => found.problem(position, entry, &problem.detail),
                (Ok(()), None) => found.counts.without_sender += 1,
                (Ok(()), Some(SERVER)) => found.counts.of_server += 1,
                (Ok(()), Some(_)) => found.counts.allowed += 1,
            }
            if entry.kind == Kind::Review {
                match pending(&memory, reader, &item) {
                    Ok(None) => {}
                    Ok(Some(refusal)) => found.problem(position, entry, &refusal),
                    Err(problem) => found.undecided.push(format!("entry {position}: {}", problem.detail)),
                }
            }
            memory.apply(effect.map(|effect| (position, effect)));
        }
        watch(end, size);
    }
    if let Err(problem) = turn.finish() {
        found.problems.push(problem.detail);
    }
    found.counts.refused = found.problems.len() as u64;
    found.counts.undecided = found.undecided.len() as u64;
    Ok(found)
}

impl Authority {
    fn problem(&mut self, position: u64, entry: &Entry, why: &str) {
        self.problems.push(format!("entry {position}, {} `{}`: {why}", entry.kind, entry.id.escape_debug()));
    }
}

/// Returns why an event about a subject was to be refused when it came, if it was.
fn pending(memory: &Memory, reader: &mut Reader, item: &Item) -> Result<Option<String>, Problem> {
    let card = item.entry.id.split('/').next().unwrap_or_default();
    let pool = memory.cards().find(card)?;
    let subject = item.entry.subject.clone().unwrap_or_default();
    let line = String::from_utf8_lossy(&item.content).into_owned();
    // Events without a time count from when they came.
    let time = serde_json::from_str::<Value>(&line).ok();
    let time = time.as_ref().and_then(|line| line.get("time")?.as_str()).map(Timestamp::parse);
    let as_of = time.and_then(Result::ok).unwrap_or(item.entry.moment);
    events::read_stored("$", &line).map_err(|error| Problem::internal(&error))?;
    let question = Question::new(pool, vec![subject], as_of, item.position);
    let question = Question { proposed: Some(line), ..question };
    Ok(refusal(memory, reader, &question)?.0)
}
