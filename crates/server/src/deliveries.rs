//! The state of webhooks: for each endpoint the part of the log whose events it has, and the last deliveries, in a file of the
//! server's folder.

use std::collections::VecDeque;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::MutexGuard;

use karat_store::Error;
use karat_store::secret::replace;

use crate::basics::*;

const SCHEMA: &str = "karat/deliveries/1";
/// The number of attempts that are kept.
const KEPT: usize = 200;

/// An attempt to deliver an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Delivery {
    /// The time of the attempt.
    pub moment: String,
    /// The name of the endpoint.
    pub endpoint: String,
    /// The id of the event, the same in every attempt.
    pub event: String,
    /// The type of the event, such as `score.held`.
    pub r#type: String,
    /// The position in the log of the entry that the event is of.
    pub position: u64,
    /// The number of the attempt, from 1.
    pub attempt: usize,
    /// The status that the endpoint answered; null without an answer.
    pub status: Option<u16>,
    /// The reason why it failed; null if the endpoint took the event.
    pub problem: Option<String>,
    /// The time of the next attempt; null without one.
    pub next: Option<String>,
}

/// The part of the log whose events an endpoint receives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cursor {
    /// The first entry whose events are not all delivered.
    pub start: u64,
    /// The entry after the part at work.
    pub end: u64,
    /// The event of this part that was delivered last.
    pub done: Option<String>,
}

/// An endpoint and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct EndpointState {
    /// Its name.
    pub name: String,
    /// The position in the log up to which it has all events.
    pub position: u64,
    /// The reason why it is switched off until the next start; null while it is not.
    pub off: Option<String>,
    /// The events that it took since the start.
    pub delivered: u64,
    /// The attempts that failed since the start.
    pub failed: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    schema: String,
    cursors: BTreeMap<String, Cursor>,
    deliveries: VecDeque<Delivery>,
    #[serde(skip)]
    counts: BTreeMap<String, (Option<String>, u64, u64)>,
}

/// Cursors and deliveries.
#[derive(Debug, Default)]
pub struct Deliveries {
    path: Option<PathBuf>,
    saved: Mutex<Saved>,
}

impl Deliveries {
    /// Opens the file at `path`, if there is one, for the endpoints of those names: new ones receive what comes after the
    /// first `size` entries.
    ///
    /// # Errors
    /// If the file cannot be read, or is of another log.
    pub(crate) fn open(path: Option<PathBuf>, names: &[&str], size: u64) -> Result<Self, Error> {
        let mut saved = Saved::default();
        if let Some(path) = path.as_deref().filter(|_| !names.is_empty()) {
            let wrong = |why: &dyn std::fmt::Display| {
                let path = path.display();
                Error::Failed(format!(
                    "`{path}`: {why}; if you delete it, endpoints receive events of new entries only"
                ))
            };
            match fs::read(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                read => {
                    let bytes = read.map_err(|error| wrong(&error))?;
                    saved = serde_json::from_slice(&bytes).map_err(|error| wrong(&error))?;
                }
            }
            if saved.cursors.values().any(|it| it.start > it.end || it.end > size) {
                return Err(wrong(&"it is ahead of the log, which went back or is another"));
            }
        }
        saved.schema = SCHEMA.to_owned();
        saved.cursors.retain(|name, _| names.contains(&name.as_str()));
        for name in names {
            let new = || Cursor { start: size, end: size, done: None };
            saved.cursors.entry((*name).to_owned()).or_insert_with(new);
        }
        let new = Self { path, saved: Mutex::new(saved) };
        // At once, so that a new endpoint misses nothing if there is no event before the next start.
        if let Some((name, cursor)) = names.first().map(|name| (*name, new.cursor(name))) {
            new.put(name, cursor)?;
        }
        Ok(new)
    }

    fn lock(&self) -> MutexGuard<'_, Saved> {
        self.saved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn cursor(&self, endpoint: &str) -> Cursor {
        self.lock().cursors.get(endpoint).cloned().unwrap_or_default()
    }

    /// Keeps the cursor of an endpoint, in the file, too.
    pub(crate) fn put(&self, endpoint: &str, cursor: Cursor) -> Result<(), Error> {
        let mut saved = self.lock();
        saved.cursors.insert(endpoint.to_owned(), cursor);
        let Some(path) = &self.path else { return Ok(()) };
        let text = serde_json::to_string(&*saved).map_err(|error| Error::Failed(error.to_string()))?;
        replace(path, &text, false)
    }

    /// Adds an attempt; the file has it with the next cursor.
    pub(crate) fn add(&self, delivery: Delivery) {
        let mut saved = self.lock();
        let (_, delivered, failed) = saved.counts.entry(delivery.endpoint.clone()).or_default();
        *(if delivery.problem.is_none() { delivered } else { failed }) += 1;
        saved.deliveries.push_front(delivery);
        saved.deliveries.truncate(KEPT);
    }

    pub(crate) fn switch_off(&self, endpoint: &str, reason: String) {
        self.lock().counts.entry(endpoint.to_owned()).or_default().0 = Some(reason);
    }

    /// Returns the attempts, the newest first.
    pub(crate) fn attempts(&self) -> Vec<Delivery> {
        self.lock().deliveries.iter().cloned().collect()
    }

    pub(crate) fn endpoints(&self) -> Vec<EndpointState> {
        let saved = self.lock();
        let state = |(name, cursor): (&String, &Cursor)| {
            let (off, delivered, failed) = saved.counts.get(name).cloned().unwrap_or_default();
            EndpointState { name: name.clone(), position: cursor.start, off, delivered, failed }
        };
        saved.cursors.iter().map(state).collect()
    }
}
