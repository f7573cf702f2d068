//! Any request is answered, never with an error of the server; and what a program is refused, the answer says as a problem.
//!
//! An input is written like HTTP: a line with method and target, lines of headers, a blank line, the body. In a header the
//! word `ADMIN` stands for the key of an administrator, which is another one in every run.

use std::cell::RefCell;
use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, header};
use futures_util::stream;
use karat_demo as demo;
use karat_server::clock::Clock;
use karat_server::limits::{Rate, RateOptions};
use karat_server::{App, Options, router};
use karat_store::log::Signer;
use karat_store::memory::Memory;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tower_service::Service as _;

/// From this many items on the log is given up for a new one, so that a long run does not fill the memory.
const ITEMS_MAX: u64 = 20_000;

thread_local! {
    static SERVER: RefCell<Option<Server>> = const { RefCell::new(None) };
}

/// Panics if an input breaks the promise.
pub fn check(bytes: &[u8]) {
    SERVER.with_borrow_mut(|kept| {
        let server = kept.get_or_insert_with(Server::new);
        server.ask(bytes);
        let size = *server.app.memory.size().borrow();
        if size > ITEMS_MAX {
            *kept = None;
        }
    });
}

/// A server in memory with all that the demo has.
struct Server {
    app: Arc<App>,
    key: String,
    router: Router,
    runtime: Runtime,
}

impl Server {
    fn new() -> Self {
        let signer = Signer::new("karat.example/fuzz", &[7; 32]).expect("a name and a key");
        let unlimited = Rate { per_second: 1e9, burst: 1e9 };
        let rates = RateOptions { key: unlimited, address: unlimited, guess: unlimited };
        let options = Options { rates, ..Options::default() };
        let clock = Clock::fixed(demo::BEGINNING);
        let opened = App::open(Arc::new(Memory::new()), signer, options, clock, None, &mut |_, _| {});
        let (app, key) = opened.expect("a store in memory opens");
        demo::fill(&app).expect("the demo fits into memory");
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let key = key.expect("a new store has a first key");
        Self { router: router(Arc::clone(&app)), app, key, runtime }
    }

    /// Sends the request in `bytes`, if they are one that a connection would let through.
    fn ask(&mut self, bytes: &[u8]) {
        let Some(request) = self.request(bytes) else { return };
        let asked = format!("{} {}", request.method(), request.uri());
        let is_program = request.uri().path().starts_with("/v1/");
        let answering = self.router.call(request);
        self.runtime.block_on(async {
            let response = answering.await.unwrap_or_else(|never: Infallible| match never {});
            let status = response.status();
            assert!(!status.is_server_error(), "{asked}: {status}");
            let media = response.headers().get(header::CONTENT_TYPE).cloned();
            let media = media.as_ref().and_then(|media| media.to_str().ok()).unwrap_or_default();
            // Events come as long as someone listens.
            if media == "text/event-stream" {
                return;
            }
            let body = to_bytes(response.into_body(), usize::MAX).await.expect("a whole answer");
            // A request in protobuf is refused in protobuf, with a code and words.
            if media == "application/x-protobuf" {
                assert!(!status.is_client_error() || body.len() > 4, "{asked}: refused without a word");
                return;
            }
            if is_program && status.is_client_error() && !body.is_empty() {
                assert_eq!(media, "application/problem+json", "{asked}: {status}");
                let problem: Value = serde_json::from_slice(&body).expect("a problem in JSON");
                assert_eq!(problem["status"], status.as_u16(), "{asked}: {problem}");
                let is_told = |member: &str| problem[member].as_str().is_some_and(|text| !text.is_empty());
                assert!(is_told("code") && is_told("detail"), "{asked}: refused without a word: {problem}");
            }
        });
    }

    fn request(&self, bytes: &[u8]) -> Option<Request<Body>> {
        let end = bytes.windows(2).position(|pair| pair == b"\n\n").unwrap_or(bytes.len());
        let (head, body) = bytes.split_at(end);
        let body = body.get(2..).unwrap_or_default();
        let mut lines = head.split(|byte| *byte == b'\n');
        let first = lines.next()?;
        let blank = first.iter().position(|byte| *byte == b' ')?;
        let (method, target) = first.split_at(blank);
        let mut request = Request::builder().method(method).uri(target.get(1..)?);
        let mut has_host = false;
        for line in lines {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let (name, value) = line.split_at(colon);
            let value = value.get(1..)?.trim_ascii();
            has_host |= name.eq_ignore_ascii_case(b"host");
            request = match std::str::from_utf8(value) {
                Ok(text) => request.header(name, text.replace("ADMIN", &self.key)),
                Err(_) => request.header(name, value),
            };
        }
        if !has_host {
            request = request.header(header::HOST, "localhost");
        }
        // In pieces, as a network delivers them; their borders are not line ends.
        let pieces: Vec<Result<Bytes, Infallible>> =
            body.chunks(509).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        request.body(Body::from_stream(stream::iter(pieces))).ok()
    }
}
