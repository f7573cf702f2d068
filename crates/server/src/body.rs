//! Request bodies, within limits of size and time.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::body::{Bytes, HttpBody};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};
use karat_evidence::json::parse::Limits;
use karat_evidence::json::value;
use karat_evidence::{Problem as Wrong, Problems};
use karat_store::Error;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout_at};

use crate::basics::*;
use crate::limits::{Turn, Who};
use crate::problem::{Code, Problem, busy};
use crate::state::App;

/// The bytes of a slow batch that must arrive within each timeout.
const PACE_BYTES: usize = 1 << 20;

/// Returns the media type of a body in lower case, without its parameters.
pub(crate) fn media_type(headers: &HeaderMap) -> String {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Refuses every other media type.
pub(crate) fn expect_media(headers: &HeaderMap, expected: &[&str]) -> Result<(), Problem> {
    let found = media_type(headers);
    if expected.contains(&found.as_str()) {
        return Ok(());
    }
    let found = if found.is_empty() { String::from("none") } else { format!("`{}`", found.escape_debug()) };
    let detail = format!("found {found}, expected {}", expected.join(" or "));
    Err(Problem::new(Code::UnsupportedMediaType, detail).at("content-type"))
}

/// Refuses a body that is packed in a way other than these.
pub(crate) fn expect_encoding(headers: &HeaderMap, expected: &[&str]) -> Result<(), Problem> {
    for given in headers.get_all(CONTENT_ENCODING) {
        let found = given.to_str().unwrap_or_default().trim().to_ascii_lowercase();
        if !matches!(found.as_str(), "" | "identity") && !expected.contains(&found.as_str()) {
            let others: String = expected.iter().map(|name| format!("{name} or ")).collect();
            let detail = format!("found `{}`, expected {others}none", found.escape_debug());
            return Err(Problem::new(Code::UnsupportedMediaType, detail).at("content-encoding"));
        }
    }
    Ok(())
}

/// Reason for which a body is not read to its end.
#[derive(Debug, Clone, Copy)]
enum Unread {
    /// All turns are taken when its rest arrives.
    Busy,
    Stopping,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Busy => "all turns are taken",
            Self::Stopping => "the server stops",
        })
    }
}

impl std::error::Error for Unread {}

/// The turn of a request; none while a caller without a key lets the server wait for the body.
pub(crate) type HeldTurn = Arc<Mutex<Option<Turn>>>;

/// A body that records whether it was read to its end. While it does not arrive, it holds no turn of callers without a key,
/// and it does not hold up a server that stops.
pub(crate) struct Watched {
    body: Body,
    app: Arc<App>,
    /// The turn that is given up while nothing arrives, and whose it is.
    turn: Option<(Who, HeldTurn)>,
    is_read: Arc<AtomicBool>,
    /// The end of waiting for bodies.
    end: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Watched {
    /// Wraps a body; the flag is set once it was read to its end.
    pub fn new(body: Body, app: Arc<App>, turn: Option<(Who, HeldTurn)>) -> (Self, Arc<AtomicBool>) {
        let is_read = Arc::new(AtomicBool::new(body.is_end_stream()));
        (Self { body, app, turn, is_read: Arc::clone(&is_read), end: None }, is_read)
    }

    /// Takes the turn again that was given up; false if all are taken.
    fn has_turn(&self) -> bool {
        let Some((who, turn)) = &self.turn else { return true };
        let mut turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        if turn.is_none() {
            *turn = self.app.permits.take(who.clone());
        }
        turn.is_some()
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if frame.is_pending() {
            if let Some((_, turn)) = &self.turn {
                drop(turn.lock().unwrap_or_else(PoisonError::into_inner).take());
            }
            let Self { end, app, .. } = &mut *self;
            let end = end.get_or_insert_with(|| Box::pin(app.end_of_bodies()));
            let stopping = |()| Some(Err(axum::Error::new(Unread::Stopping)));
            return end.as_mut().poll(context).map(stopping);
        }
        if !self.has_turn() {
            return Poll::Ready(Some(Err(axum::Error::new(Unread::Busy))));
        }
        if matches!(frame, Poll::Ready(None)) || self.body.is_end_stream() {
            self.is_read.store(true, Ordering::Relaxed);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body that is still to be read, with the headers that describe it.
pub(crate) struct Arrived {
    pub headers: HeaderMap,
    pub body: Body,
}

impl Arrived {
    pub(crate) fn media_type(&self) -> String {
        media_type(&self.headers)
    }

    /// Returns the whole body, which has one of these media types and at most `bytes_max` bytes.
    pub async fn whole(self, app: &App, media: &[&str], bytes_max: usize) -> Result<Vec<u8>, Problem> {
        expect_media(&self.headers, media)?;
        let bytes = self.incoming(app, bytes_max)?.whole().await?;
        app.metrics.received(bytes.len() as u64);
        Ok(bytes)
    }

    pub async fn json<T: DeserializeOwned>(self, app: &App) -> Result<T, Problem> {
        json(&self.whole(app, &["application/json"], app.options.body_bytes_max).await?)
    }

    pub async fn text(self, app: &App, media: &[&str], bytes_max: usize) -> Result<String, Problem> {
        let bytes = self.whole(app, media, bytes_max).await?;
        String::from_utf8(bytes)
            .map_err(|_| Problem::new(Code::BadRequest, "the body is not text (UTF-8)").at("$"))
    }

    /// Returns it as it arrives.
    pub fn incoming(self, app: &App, bytes_max: usize) -> Result<Incoming, Problem> {
        expect_encoding(&self.headers, &[])?;
        Incoming::new(&self.headers, self.body, bytes_max, app.options.body_timeout)
    }
}

/// A body as it arrives.
#[derive(Debug)]
pub struct Incoming {
    body: Body,
    /// Bytes that have arrived and were not taken yet.
    held: Vec<u8>,
    received: usize,
    bytes_max: usize,
    timeout: Duration,
    deadline: Instant,
    paced: usize,
    is_over: bool,
}

impl Incoming {
    /// Takes the body of a request, of at most `bytes_max` bytes; each MiB may take `timeout`.
    pub fn new(
        headers: &HeaderMap,
        body: Body,
        bytes_max: usize,
        timeout: Duration,
    ) -> Result<Self, Problem> {
        let announced =
            headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if announced.is_some_and(|bytes| usize::try_from(bytes).map_or(true, |bytes| bytes > bytes_max)) {
            return Err(too_large(bytes_max));
        }
        let deadline = Instant::now() + timeout;
        let held = Vec::new();
        Ok(Self { body, held, received: 0, bytes_max, timeout, deadline, paced: 0, is_over: false })
    }

    /// Returns the number of bytes that have arrived.
    pub(crate) fn received(&self) -> usize {
        self.received
    }

    pub async fn whole(mut self) -> Result<Vec<u8>, Problem> {
        while self.more().await? {}
        Ok(self.held)
    }

    /// Returns the lines that have arrived, once they have `bytes` bytes or the body has ended; empty at the end. Only
    /// the last line of the body may lack an end of line.
    pub async fn lines(&mut self, bytes: usize, line_max: usize) -> Result<Vec<u8>, Problem> {
        let mut end = None;
        loop {
            if self.is_over {
                return Ok(std::mem::take(&mut self.held));
            }
            let seen = end.unwrap_or(0);
            end = self
                .held
                .get(seen..)
                .and_then(|new| new.iter().rposition(|it| *it == b'\n'))
                .map(|at| seen + at + 1)
                .or(end);
            match end {
                Some(end) if end >= bytes => {
                    let rest = self.held.split_off(end);
                    return Ok(std::mem::replace(&mut self.held, rest));
                }
                _ if self.held.len() - end.unwrap_or(0) > line_max => return Err(line_too_long(line_max)),
                _ => {
                    self.more().await?;
                }
            }
        }
    }

    /// Waits for more bytes; returns false at the end of the body.
    async fn more(&mut self) -> Result<bool, Problem> {
        let late = |_| {
            let seconds = self.timeout.as_secs_f64();
            Problem::new(Code::Timeout, format!("the body did not arrive within {seconds} seconds"))
        };
        let frame = timeout_at(self.deadline, self.body.frame()).await.map_err(late)?;
        let Some(frame) = frame else {
            self.is_over = true;
            return Ok(false);
        };
        let data = frame.map_err(|error| broken(&error))?.into_data().unwrap_or_else(|_| Bytes::new());
        self.received += data.len();
        if self.received > self.bytes_max {
            return Err(too_large(self.bytes_max));
        }
        if self.received - self.paced >= PACE_BYTES {
            self.paced = self.received;
            self.deadline = Instant::now() + self.timeout;
        }
        self.held.extend_from_slice(&data);
        Ok(true)
    }
}

/// Reads JSON, in which no object has a member twice and every whole number is one that a double holds; an error names the
/// JSON path.
pub fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let limits = Limits { max_depth: Limits::DEEPEST, max_bytes: usize::MAX };
    let wrong = |problems: Problems| {
        let words = |it: &Wrong| (it.path.clone(), format!("found {}, expected {}", it.found, it.expected));
        let (path, words) = problems.iter().next().map(words).unwrap_or_default();
        Problem::new(Code::BadRequest, words).at(path)
    };
    value::read(bytes, &limits).map_err(wrong)?;
    serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_slice(bytes)).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." { String::from("$") } else { format!("$.{path}") };
        Problem::new(Code::BadRequest, error.into_inner().to_string()).at(field)
    })
}

/// Returns why a body ended before its end.
fn broken(error: &axum::Error) -> Problem {
    let first: &(dyn std::error::Error + 'static) = error;
    let mut causes = std::iter::successors(Some(first), |error| error.source());
    match causes.find_map(|error| error.downcast_ref::<Unread>()) {
        Some(Unread::Busy) => busy(),
        Some(Unread::Stopping) => Error::Stopped.into(),
        None => Problem::new(Code::BadRequest, "the connection broke before the body was complete"),
    }
}

/// Returns the problem of a body that is too large, as it came or unpacked.
pub(crate) fn too_large(bytes_max: usize) -> Problem {
    Problem::new(Code::TooLarge, format!("the body is larger than {bytes_max} bytes; send it in parts"))
}

pub(crate) fn line_too_long(line_max: usize) -> Problem {
    Problem::new(
        Code::TooLarge,
        format!("a line is longer than {line_max} bytes; leave out what is not scored"),
    )
}
