//! karat as a service: evidence in over HTTP, scored by the same code as on the command line, kept in a log in which
//! every change is noticed, and read back as records, standings and leaderboards.
//!
//! [`Server::bind`] opens a folder and an address, [`Server::run`] serves until it is stopped. [`router`] is the same
//! without a socket.
//!
//! * [`state`]: the [`App`] that every request works with; `memory` is its in-memory state, computed from the log,
//!   with the `index` of records, the [`cards`] and the [`keys`].
//! * [`api`]: one file for each resource, and their description; [`problem`] is every error.
//! * [`arena`]: challenges, agents and matches; [`play`]: what is done with them, and its effect on ratings; [`judging`]: the
//!   processes that run submitted code.
//! * `select`, `rows`, `standing`: the records for an answer, and the answers computed from them; `decisions`: the
//!   events beside them; `subjects`: answers about all subjects, from what is `kept` of each; `answers` caches those
//!   that took work.
//! * `signers`: harnesses and recorders, whose signatures count.
//! * [`scoring`]: an item of evidence, scored; [`sending`]: on its way into the store; `in_order`: [`traces`], where each counts
//!   for the next; `stored`: a record on its way out.
//! * `record`: a stored record, with all that verifies it; [`replay`]: the records of a log, scored again; [`cosigned`]: what
//!   witnesses say of the log; [`secret`]: secret keys in files.
//! * [`authority`]: who may do what; `guard`, [`limits`], `body`, `listen`: callers, rates, sizes and timeouts.
//! * [`webhooks`]: events of the log, sent elsewhere; `deliveries`: how far they came.
//! * `web`: the pages for people; `headline`: what they open with.
//! * [`clock`]: the only place with a clock and random numbers.

#![expect(unused_qualifications, reason = "the macros of utoipa write them")]
#![expect(
    missing_docs,
    reason = "items are public for the program and for tests; where a name says it all, it stands alone"
)]

mod address;
mod answers;
pub mod api;
pub mod arena;
mod arrival;
pub mod audit;
pub mod authority;
pub mod backfill;
mod basics;
mod body;
pub mod cards;
pub mod clock;
mod collect;
pub mod content;
mod cookie;
pub mod cosigned;
mod cost;
mod decisions;
mod deliveries;
pub mod effect;
mod events;
pub mod flows;
pub mod folder;
mod guard;
mod headline;
pub mod ids;
mod in_order;
mod index;
mod index_cache;
pub mod judging;
mod kept;
pub mod keys;
pub mod limits;
mod listen;
pub mod logging;
mod look_alikes;
pub mod market;
mod memory;
mod metrics;
mod over_cases;
mod pack;
mod params;
pub mod play;
mod prelude;
pub mod problem;
mod readers;
mod record;
pub mod registry;
pub mod replay;
pub mod rescore;
mod rows;
pub mod scoring;
pub mod secret;
mod select;
pub mod sending;
mod shared;
pub mod signers;
mod spans;
mod standing;
pub mod state;
mod stored;
mod subjects;
pub mod traces;
mod turn;
mod web;
pub mod webhooks;
mod weights;

use std::future::Future;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::Path;
use std::thread;

use axum::Router;
use axum::extract::Request;
use axum::http::Uri;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use karat_store::Error;
use karat_store::log::WitnessKey;
use socket2::SockRef;

use crate::clock::Clock;
use crate::judging::JudgeOptions;
use crate::limits::RateOptions;
use crate::prelude::*;
pub use crate::state::App;
use crate::traces::TraceOptions;
use crate::webhooks::Webhooks;

/// The options of a server.
#[derive(Debug, Clone)]
pub struct Options {
    /// True if only programs on this machine can connect: then reading needs no key, and names of other hosts are
    /// refused. [`Server::bind`] sets it from the address.
    pub is_loopback: bool,
    /// True if reading needs no key, on any address.
    pub is_public: bool,
    /// True if the server shows the demo: then a page shows what pages are made of.
    pub is_demo: bool,
    /// True if the first key is written where the operator alone reads it: then a server that others reach may make one.
    pub keeps_first_key: bool,
    /// Host names besides `localhost` that a server on loopback accepts; elsewhere, if given, the only ones accepted.
    pub hosts: Vec<String>,
    /// The embedder of traces, and their cache of vectors.
    pub traces: TraceOptions,
    /// Limits of the queue of the writer, and of what it commits together.
    pub store: karat_store::Limits,
    pub rates: RateOptions,
    /// Proxies that are believed about the address of a client.
    pub proxies: Vec<IpAddr>,
    /// The header in which they say it.
    pub proxy_header: ProxyHeader,
    /// The origins whose pages may read the API; `*` for all.
    pub cors: Vec<String>,
    /// The sites whose pages may embed a leaderboard; `*` for all, which is so without any where reading needs no key.
    pub frames: Vec<String>,
    /// The witnesses whose cosignatures are taken.
    pub witnesses: Vec<WitnessKey>,
    pub judge: JudgeOptions,
    /// The receivers of events of the log.
    pub webhooks: Webhooks,
    /// The largest number of open connections; further ones wait.
    pub connections_max: usize,
    /// The largest number of them from one address other than a proxy; further ones are closed.
    pub connections_per_address_max: usize,
    /// The largest number of requests at work; further ones are turned away.
    pub requests_max: usize,
    /// The largest number of open event streams.
    pub streams_max: usize,
    /// The largest body, and the longest line of a batch, in bytes.
    pub body_bytes_max: usize,
    /// The largest batch, in bytes.
    pub batch_bytes_max: usize,
    /// The largest number of lines in a batch.
    pub batch_lines_max: u64,
    /// The time limit for the head of a request.
    pub head_timeout: Duration,
    /// The time limit for a body; of a batch, for each MiB.
    pub body_timeout: Duration,
    /// The time for which a client may take nothing of its answer.
    pub write_timeout: Duration,
    /// The time that requests at work get to finish when the server stops. Clients get less: three seconds to send the rest
    /// of a body, and two to take an answer.
    pub stop_timeout: Duration,
}

/// The header in which a proxy says who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProxyHeader {
    #[default]
    XForwardedFor,
    /// RFC 7239
    Forwarded,
}

impl ProxyHeader {
    const fn name(self) -> &'static str {
        match self {
            Self::XForwardedFor => "x-forwarded-for",
            Self::Forwarded => "forwarded",
        }
    }
}

impl Options {
    /// Returns whether a proxy that is believed has this address.
    fn is_proxy(&self, address: IpAddr) -> bool {
        self.proxies.iter().any(|proxy| proxy.to_canonical() == address.to_canonical())
    }
}

impl Default for Options {
    /// Returns options for teams: bodies of 1 MiB, batches of 64 MiB and 100,000 lines, 30 seconds for either.
    fn default() -> Self {
        Self {
            is_loopback: true,
            is_public: false,
            is_demo: false,
            keeps_first_key: false,
            hosts: Vec::new(),
            traces: TraceOptions::default(),
            store: karat_store::Limits::default(),
            rates: RateOptions::default(),
            proxies: Vec::new(),
            proxy_header: ProxyHeader::default(),
            cors: Vec::new(),
            frames: Vec::new(),
            witnesses: Vec::new(),
            judge: JudgeOptions::default(),
            webhooks: Webhooks::default(),
            connections_max: 1024,
            connections_per_address_max: 256,
            requests_max: 256,
            streams_max: 64,
            body_bytes_max: 1 << 20,
            batch_bytes_max: 64 << 20,
            batch_lines_max: 100_000,
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            stop_timeout: Duration::from_secs(30),
        }
    }
}

/// A server that listens and does not answer yet.
#[derive(Debug)]
pub struct Server {
    /// Its state.
    pub app: Arc<App>,
    /// The address on which it listens.
    pub address: SocketAddr,
    /// The secret of the first key, if it was created now: to be shown once.
    pub first_key: Option<String>,
    listener: TcpListener,
}

impl Server {
    /// Opens the store in `folder`, which is created if missing, and listens at `address`. `log_name` names a new
    /// log (see [`folder::open`]).
    ///
    /// # Errors
    /// If the address is taken, other machines can reach it while there is no key, another process has the store open,
    /// or the store is damaged.
    pub fn bind(
        folder: &Path,
        log_name: Option<&str>,
        address: SocketAddr,
        options: Options,
    ) -> Result<Self, Error> {
        Self::bind_at(folder, log_name, address, options, Clock::system(), &mut |_, _| {})
    }

    /// Does the same with another clock, and reports progress to `watch`: items of the log read so far, and their total.
    ///
    /// # Errors
    /// As [`Self::bind`].
    pub fn bind_at(
        folder: &Path,
        log_name: Option<&str>,
        address: SocketAddr,
        options: Options,
        clock: Clock,
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, Error> {
        let cannot = |what: &str, error: std::io::Error| {
            Error::Failed(match error.kind() {
                ErrorKind::AddrInUse => {
                    format!("another program listens at {address} already; choose another port")
                }
                ErrorKind::AddrNotAvailable => {
                    format!("this machine has no address {}; choose another", address.ip())
                }
                ErrorKind::PermissionDenied => {
                    format!("the current user may not listen at {address}; choose a port above 1023")
                }
                _ => format!("cannot {what} {address}: {error}"),
            })
        };
        let options = Options { is_loopback: address.ip().is_loopback(), ..options };
        let listener = TcpListener::bind(address).map_err(|error| cannot("listen at", error))?;
        listener.set_nonblocking(true).map_err(|error| cannot("listen at", error))?;
        // Room for all that may connect at once: who finds none tries again after a second.
        let waiting = i32::try_from(options.connections_max).unwrap_or(i32::MAX);
        SockRef::from(&listener).listen(waiting).map_err(|error| cannot("listen at", error))?;
        let address = listener.local_addr().map_err(|error| cannot("listen at", error))?;
        let (sqlite, signer) = folder::open(folder, log_name)?;
        let (app, first_key) = App::open(Arc::new(sqlite), signer, options, clock, Some(folder), watch)?;
        Ok(Self { app, address, first_key, listener })
    }

    /// Answers until `stop` is ready, then finishes the accepted requests.
    ///
    /// # Errors
    /// If the system gives no threads or no connections.
    pub fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), Error> {
        let failed = |error: std::io::Error| Error::Failed(format!("the server cannot go on: {error}"));
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(workers()).enable_all().build().map_err(failed)?;
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(self.listener).map_err(failed)?;
            let app = Arc::clone(&self.app);
            tokio::spawn(async move { play::judge_waiting(&app).await });
            listen::serve(self.app, listener, stop).await;
            Ok(())
        })
    }
}

/// Returns the number of threads that answer requests: one less than there are processors, which is left for the
/// writer.
pub fn workers() -> usize {
    thread::available_parallelism().map_or(1, |processors| processors.get().saturating_sub(1).max(1))
}

/// Returns the routes of the server, in two layers of middleware: that for browsers, and within it the guard.
pub fn router(app: Arc<App>) -> Router {
    let (router, _) = api::routes().split_for_parts();
    router
        .merge(web::routes())
        .fallback(nothing)
        .method_not_allowed_fallback(|| async {
            Problem::new(
                Code::MethodNotAllowed,
                "the path has no such method; GET /v1/openapi.json lists all of them",
            )
        })
        .layer(from_fn_with_state(Arc::clone(&app), answer))
        .with_state(app)
}

/// Answers a path that leads nowhere.
async fn nothing(uri: Uri) -> Problem {
    let path = uri.path();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let hint = match path.contains("//") {
        true => format!("leave out the second of two slashes: `/{}`", parts.join("/").escape_debug()),
        false => String::from("GET /v1/openapi.json lists all of them"),
    };
    Problem::not_found(format!("there is no such path; {hint}"))
}

/// One layer for both: the router copies its layers for every request.
async fn answer(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (method, takes_gzip) = (request.method().clone(), pack::takes_gzip(request.headers()));
    let answer = web::browser::around(request, |request| guard::guard(app, request, next)).await;
    pack::packed(&method, takes_gzip, answer).await
}
