//! New records and changes of matches as server-sent events, from any place on.

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

/// The number of events that are looked up at once.
const CHUNK: usize = 64;
/// No caller has more than this share of all streams.
const STREAMS_SHARE: usize = 4;
/// The time between two keep-alive comments on a silent stream.
const ALIVE: Duration = Duration::from_secs(15);

/// The events of a stream.
pub(crate) enum Source {
    /// New records, by their position in the log.
    Records(Box<Selection>),
    /// Changes of matches, by their number.
    Matches(Watched),
}

/// The matches that are watched.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Watched {
    /// Only matches of this agent.
    pub agent: Option<String>,
    /// Only matches of this challenge.
    pub challenge: Option<String>,
}

struct State {
    app: Arc<App>,
    caller: Caller,
    source: Source,
    next: u64,
    found: VecDeque<(u64, String)>,
    size: watch::Receiver<u64>,
    stopping: watch::Receiver<Option<Instant>>,
    _turn: Turn,
    _place: Place<Who>,
}

/// Returns the place after the event that a client has last seen.
pub(crate) fn after_last(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(last) = headers.get("last-event-id") else { return Ok(None) };
    let read = last.to_str().ok().and_then(|text| text.parse::<u64>().ok()?.checked_add(1));
    let wrong = || Problem::new(Code::BadRequest, "expected the id of an event").at("last-event-id");
    read.map(Some).ok_or_else(wrong)
}

/// Streams the events from place `next` on, then new ones.
pub(crate) fn stream(
    app: Arc<App>,
    caller: Caller,
    source: Source,
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
        source,
        next,
        found: VecDeque::new(),
        size,
        stopping,
        _turn: turn,
        _place: place,
    };
    let events = unfold(state, |mut state| async move {
        let name = match &state.source {
            Source::Records(_) => "record",
            Source::Matches(_) => "match",
        };
        let (place, told) = state.next().await?;
        let event = Event::default().id(place.to_string()).event(name).data(told);
        Some((Ok(event), state))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE)))
}

impl State {
    /// Returns the next event; `None` if the server stops or cannot read its store, or if the key was revoked: then the client
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
            let size = match &self.source {
                Source::Records(_) => size,
                Source::Matches(_) => self.app.memory.arena.state().change_count() as u64,
            };
            if self.next < size {
                match &self.source {
                    Source::Records(_) => self.look(size).await.ok()?,
                    Source::Matches(watched) => {
                        self.found = changes(&self.app, watched, &mut self.next).ok()?
                    }
                }
            } else {
                tokio::select! {
                    changed = self.size.changed() => changed.ok()?,
                    _ = self.stopping.wait_for(Option::is_some) => return None,
                }
            }
        }
    }

    /// Looks up the next records.
    async fn look(&mut self, size: u64) -> Result<(), Problem> {
        let Source::Records(selection) = &self.source else { return Ok(()) };
        // Made again for each part of the log: a name has a number only after a record has it.
        let (filter, _) = Filter::new(&self.app.memory, &self.app.memory.index(), selection)?;
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

/// Looks up the next changes of matches, each with the match as it is now.
fn changes(app: &App, watched: &Watched, next: &mut u64) -> Result<VecDeque<(u64, String)>, Problem> {
    let is = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
    let state = app.memory.arena.state();
    let first = usize::try_from(*next).unwrap_or(usize::MAX);
    let mut found = VecDeque::new();
    for (number, game) in state.changed(first).take(CHUNK) {
        *next = number as u64 + 1;
        if is(&watched.agent, &game.agent_id) && is(&watched.challenge, &game.challenge) {
            let told = serde_json::to_string(&**game).map_err(|error| Problem::internal(&error))?;
            found.push_back((number as u64, told));
        }
    }
    Ok(found)
}
