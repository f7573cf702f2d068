//! Spans of OpenTelemetry that arrive over HTTP, until the trace that they are of is an item.
//!
//! What a request brings of each trace is an item of the log of the kind `spans`. A trace is *open* until no more spans of it
//! are to be expected: some time after the last of them in the log. Then its spans are put together and imported like a file,
//! the item is scored, and a closing item says what became of it. Memory has of open traces only which items they are.
//!
//! * `content`: stored items. What is made of them when their time has come is in `collect`.

mod content;

use std::collections::VecDeque;
use std::sync::MutexGuard;

pub use content::{Closed, Content, Part, Taken, Whose};

use crate::arena::Permits;
use crate::basics::*;
use crate::problem::{Code, Problem};

/// Milliseconds without further spans after which a trace is closed: exporters send every five seconds, and services do not
/// end together. Where no span is the root, one that began the trace is still to come.
const QUIET: i64 = 15_000;
const QUIET_WITHOUT_ROOT: i64 = 120_000;
/// Milliseconds after which a trace is closed in any case; items and bytes that close it at once.
const AGE_MAX: i64 = 600_000;
const PARTS_MAX: usize = 500;
const TRACE_BYTES_MAX: u64 = 8 << 20;
/// Open traces of a sender, and bytes of them; bytes of all senders.
const SENDER_TRACES_MAX: usize = 4096;
const SENDER_BYTES_MAX: u64 = 64 << 20;
const BYTES_MAX: u64 = 512 << 20;
/// Closed traces that are remembered, so that spans which come later are refused.
const CLOSED_MAX: usize = 100_000;

/// The open traces of a server.
#[derive(Debug, Default)]
pub struct Spans {
    state: Mutex<State>,
    /// Permits to change the traces of a sender.
    pub(crate) permits: Permits,
}

#[derive(Debug, Default)]
struct State {
    open: BTreeMap<Whose, Open>,
    senders: BTreeMap<String, Used>,
    bytes: u64,
    closed: BTreeSet<Whose>,
    /// The closed ones in the order of the log.
    order: VecDeque<Whose>,
}

/// A trace that is not an item yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Open {
    /// The ids of the items with its spans, in the order of the log.
    pub parts: Vec<String>,
    first: i64,
    last: i64,
    has_root: bool,
    bytes: u64,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Used {
    traces: usize,
    bytes: u64,
}

impl Open {
    /// Returns the moment from which on it is closed.
    pub fn due(&self) -> i64 {
        if self.parts.len() >= PARTS_MAX || self.bytes >= TRACE_BYTES_MAX {
            return i64::MIN;
        }
        let quiet = if self.has_root { QUIET } else { QUIET_WITHOUT_ROOT };
        self.last.saturating_add(quiet).min(self.first.saturating_add(AGE_MAX))
    }
}

impl Spans {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies an item of the log.
    pub(crate) fn apply(&self, taken: Taken) {
        self.state().apply(taken);
    }

    /// Returns the traces whose time has come, the earliest first.
    pub(crate) fn due(&self, now: Timestamp) -> Vec<Whose> {
        let state = self.state();
        let mut due: Vec<(i64, &Whose)> = state
            .open
            .iter()
            .map(|(whose, open)| (open.due(), whose))
            .filter(|(due, _)| *due <= now.milliseconds)
            .collect();
        due.sort_unstable();
        due.into_iter().map(|(_, whose)| whose.clone()).collect()
    }

    /// Returns an open trace.
    pub(crate) fn open(&self, whose: &Whose) -> Option<Open> {
        self.state().open.get(whose).cloned()
    }

    /// Returns whether a trace was closed a short time ago.
    pub(crate) fn is_closed(&self, whose: &Whose) -> bool {
        self.state().closed.contains(whose)
    }

    /// Checks that a sender may add that many bytes, of that many traces.
    pub(crate) fn room(&self, sender: &str, traces: usize, bytes: u64) -> Result<(), Problem> {
        const SECONDS: u32 = 15;
        let state = self.state();
        let used = state.senders.get(sender).copied().unwrap_or_default();
        if used.traces.saturating_add(traces) > SENDER_TRACES_MAX
            || used.bytes.saturating_add(bytes) > SENDER_BYTES_MAX
        {
            let detail = format!(
                "{} traces of this key are open, with {} bytes; at most {SENDER_TRACES_MAX} and {SENDER_BYTES_MAX} may be",
                used.traces, used.bytes
            );
            return Err(Problem::new(Code::TooManyRequests, detail).retry(SECONDS));
        }
        if state.bytes.saturating_add(bytes) > BYTES_MAX {
            let detail = "too many traces of all senders are open at the moment; try again later";
            return Err(Problem::new(Code::Busy, detail).retry(SECONDS));
        }
        Ok(())
    }
}

impl State {
    fn apply(&mut self, taken: Taken) {
        let Taken { id, content, bytes, moment } = taken;
        match content {
            Content::Part(part) => {
                let at = moment.milliseconds;
                let used = self.senders.entry(part.whose.sender.clone()).or_default();
                let open = self.open.entry(part.whose).or_insert_with(|| {
                    used.traces += 1;
                    Open { parts: Vec::new(), first: at, last: at, has_root: false, bytes: 0 }
                });
                used.bytes += bytes;
                self.bytes += bytes;
                open.bytes += bytes;
                open.last = open.last.max(at);
                open.has_root |= part.has_root;
                open.parts.push(id);
            }
            Content::Closed(closed) => {
                if let Some(open) = self.open.remove(&closed.whose) {
                    self.bytes = self.bytes.saturating_sub(open.bytes);
                    if let Some(used) = self.senders.get_mut(&closed.whose.sender) {
                        used.traces = used.traces.saturating_sub(1);
                        used.bytes = used.bytes.saturating_sub(open.bytes);
                        if used.traces == 0 {
                            self.senders.remove(&closed.whose.sender);
                        }
                    }
                }
                if self.closed.insert(closed.whose.clone()) {
                    self.order.push_back(closed.whose);
                }
                if self.order.len() > CLOSED_MAX
                    && let Some(oldest) = self.order.pop_front()
                {
                    self.closed.remove(&oldest);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use karat_core::timestamp::Timestamp;
    use serde_json::Value;

    use super::*;

    fn part(spans: &Spans, sender: &str, trace: &str, bytes: u64) -> Whose {
        let (sender, trace) = (sender.to_owned(), trace.to_owned());
        let whose = Whose { sender, card: String::from("trace@1.0.0"), subject: None, trace };
        let content = Content::Part(Part { whose: whose.clone(), has_root: true, request: Value::Null });
        let id = format!("{} {bytes}", whose.trace);
        spans.apply(Taken { id, content, bytes, moment: Timestamp::from_seconds(0) });
        whose
    }

    #[test]
    fn room_is_bounded_for_each_and_for_all() {
        let spans = Spans::default();
        let refused = |sender: &str, traces: usize, bytes: u64| {
            spans.room(sender, traces, bytes).err().map(|problem| (problem.code, problem.retry_after_seconds))
        };
        let (for_one, for_all) = (Some((Code::TooManyRequests, Some(15))), Some((Code::Busy, Some(15))));
        assert_eq!(refused("a", 4096, 64 << 20), None);
        assert_eq!((refused("a", 4097, 1), refused("a", 1, (64 << 20) + 1)), (for_one, for_one));
        let whose = part(&spans, "a", "1", 64 << 20);
        assert_eq!((refused("a", 1, 1), refused("b", 1, 1)), (for_one, None));
        for number in 1..8 {
            part(&spans, &format!("sender {number}"), "1", 64 << 20);
        }
        // 512 MiB are open.
        assert_eq!((refused("b", 1, 1), refused("b", 1, 0)), (for_all, None));
        let closed = Closed { whose: whose.clone(), parts: Vec::new(), evidence: None, reason: None };
        let content = Content::Closed(closed);
        spans.apply(Taken { id: String::from("c"), content, bytes: 1, moment: Timestamp::from_seconds(0) });
        assert_eq!((refused("a", 4096, 64 << 20), refused("b", 1, 1)), (None, None));
        assert!(spans.is_closed(&whose));
    }
}
