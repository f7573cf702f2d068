//! New records as server-sent events, from any position of the log.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::basics::*;
use crate::guard::Caller;
use crate::limits::{Place, Turn, Who};
use crate::problem::{Code, Problem};
use crate::select::{Filter, Selection};
use crate::state::App;

/// The number of records that are looked up at once.
const CHUNK: usize = 64;
/// No caller has more than this share of all streams.
const STREAMS_SHARE: usize = 4;
/// The time between two keep-alive comments on a silent stream.
const ALIVE: Duration = Duration::from_secs(15);

struct State {
    app: Arc<App>,
    caller: Caller,
    selection: Selection,
    next: u64,
    found: VecDeque<(u64, String)>,
    size: watch::Receiver<u64>,
    stopping: watch::Receiver<Option<Instant>>,
    _turn: Turn,
    _place: Place<Who>,
}

/// Streams the records from position `next` of the log, then new ones.
pub(crate) fn stream(
    app: Arc<App>,
    caller: Caller,
    selection: Selection,
    next: u64,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let busy = || Problem::new(Code::Busy, "too many streams of events are open; try again later").retry(10);
    let most = app.options.streams_max.div_ceil(STREAMS_SHARE);
    let who = caller.who();
    let place = app.streams_of.take(who.clone(), most).ok_or_else(busy)?;
    let turn = app.streams.take(who).ok_or_else(busy)?;
    let (size, stopping) = (app.memory.size(), app.stopping.subscribe());
    let state = State {
        app,
        caller,
        selection,
        next,
        found: VecDeque::new(),
        size,
        stopping,
        _turn: turn,
        _place: place,
    };
    let events = unfold(state, |mut state| async move {
        let (position, record) = state.next().await?;
        let event = Event::default().id(position.to_string()).event("record").data(record);
        Some((Ok(event), state))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE)))
}

impl State {
    /// Returns the next record; `None` if the server stops or cannot read its store, or if the key was revoked: then the client
    /// reconnects from its last event.
    async fn next(&mut self) -> Option<(u64, String)> {
        loop {
            if !self.caller.is_in_force(&self.app) {
                return None;
            }
            if let Some(found) = self.found.pop_front() {
                return Some(found);
            }
            let size = *self.size.borrow_and_update();
            if self.next < size {
                self.look(size).await.ok()?;
            } else {
                tokio::select! {
                    changed = self.size.changed() => changed.ok()?,
                    _ = self.stopping.wait_for(Option::is_some) => return None,
                }
            }
        }
    }

    async fn look(&mut self, size: u64) -> Result<(), Problem> {
        // Made again for each part of the log: a name has a number only after a record has it.
        let (filter, _) = Filter::new(&self.app.memory, &self.app.memory.index(), &self.selection)?;
        let next = self.next;
        let positions = self.app.indexed(move |_, index| {
            let rows = index.from(next, size).filter(|row| filter.admits(row));
            Ok(rows.take(CHUNK).map(|row| row.position).collect())
        });
        let positions: Vec<u64> = positions.await?;
        self.next = match positions.last() {
            Some(last) if positions.len() == CHUNK => last + 1,
            _ => size,
        };
        let read = self.app.read(move |reader| {
            let read = |position: u64| {
                let content = reader.item(position)?.content;
                Ok((position, String::from_utf8(content).map_err(|error| Problem::internal(&error))?))
            };
            positions.into_iter().map(read).collect::<Result<_, Problem>>()
        });
        self.found = read.await?;
        Ok(())
    }
}
