//! karat as a service: evidence in over HTTP, scored by the same code as on the command line, kept in a log that nobody can
//! change unnoticed, and read back as records, standings and leaderboards.
//!
//! [`Server::bind`] opens a folder and an address, [`Server::run`] serves until it is told to stop. [`router`] is the same
//! without a socket.
//!
//! * [`state`]: the [`App`] that every request works with; [`memory`] is what it keeps of the log, with the [`index`] of
//!   records, the [`cards`] and the [`keys`].
//! * [`api`]: one file for each resource; [`openapi`] describes them, [`problem`] is every error.
//! * [`arena`]: challenges, agents, matches and what they do to ratings.
//! * [`select`], [`rows`], [`quick`], [`standing`]: which records an answer is about, and what is made of them; [`answers`] keeps
//!   what took work.
//! * [`scoring`]: an item of evidence on its way into the store; [`stored`]: a record on its way out.
//! * [`guard`], [`limits`], [`body`], [`listen`]: who may ask, how often, how much, how slowly.
//! * [`web`]: the pages for people.
//! * [`clock`]: the only place with a clock and random numbers.

#![expect(unused_qualifications, reason = "the macros of utoipa write them")]

pub mod answers;
pub mod api;
pub mod arena;
pub mod body;
pub mod cards;
pub mod clock;
pub mod events;
pub mod folder;
pub mod guard;
pub mod ids;
pub mod index;
mod index_cache;
pub mod keys;
pub mod limits;
pub mod listen;
pub mod logging;
pub mod memory;
pub mod metrics;
pub mod openapi;
pub mod params;
pub mod problem;
pub mod readers;
pub mod rows;
pub mod scoring;
pub mod select;
pub mod standing;
pub mod state;
pub mod stored;
pub mod web;

use std::future::Future;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use axum::Router;
use karat_store::Error;

use crate::clock::Clock;
use crate::limits::RateOptions;
pub use crate::state::App;

/// What may be set about a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Whether only programs of this machine can ask: then reading needs no key, and names of other hosts are refused.
    /// [`Server::bind`] sets it from the address.
    pub is_loopback: bool,
    /// Whether reading needs no key wherever the server listens.
    pub is_public: bool,
    /// Names besides `localhost` under which a server on loopback may be asked, and the only ones elsewhere if there are any.
    pub hosts: Vec<String>,
    /// How much may wait for the writer, and how much it commits together.
    pub store: karat_store::Limits,
    /// How often keys and addresses may ask.
    pub rates: RateOptions,
    /// Connections that may be open at once; further ones wait.
    pub connections_max: usize,
    /// Requests that may be at work at once; further ones are turned away.
    pub requests_max: usize,
    /// Streams of events that may be open at once.
    pub streams_max: usize,
    /// The largest body, and the longest line of a batch, in bytes.
    pub body_bytes_max: usize,
    /// The largest batch, in bytes.
    pub batch_bytes_max: usize,
    /// The most lines of a batch.
    pub batch_lines_max: u64,
    /// How long the head of a request may take.
    pub head_timeout: Duration,
    /// How long a body may take; of a batch each MiB.
    pub body_timeout: Duration,
    /// How long requests may go on when the server stops.
    pub stop_timeout: Duration,
}

impl Default for Options {
    /// For teams: bodies of 1 MiB, batches of 64 MiB and 100,000 lines, 30 seconds for either.
    fn default() -> Self {
        Self {
            is_loopback: true,
            is_public: false,
            hosts: Vec::new(),
            store: karat_store::Limits::default(),
            rates: RateOptions::default(),
            connections_max: 1024,
            requests_max: 256,
            streams_max: 64,
            body_bytes_max: 1 << 20,
            batch_bytes_max: 64 << 20,
            batch_lines_max: 100_000,
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            stop_timeout: Duration::from_secs(30),
        }
    }
}

/// A server that listens and does not answer yet.
#[derive(Debug)]
pub struct Server {
    /// Its state.
    pub app: Arc<App>,
    /// Where it listens.
    pub address: SocketAddr,
    /// The secret of the first key, if it was made just now: to be shown once.
    pub first_key: Option<String>,
    listener: TcpListener,
}

impl Server {
    /// Opens the store in `folder`, which is made if there is none, and listens at `address`. `log_name` names a log that
    /// begins here (see [`folder::open`]).
    ///
    /// # Errors
    /// That the address is taken, that it can be reached from elsewhere while there is no key, that another process has the
    /// store open, or what is wrong with it.
    pub fn bind(
        folder: &Path,
        log_name: Option<&str>,
        address: SocketAddr,
        options: Options,
    ) -> Result<Self, Error> {
        Self::bind_at(folder, log_name, address, options, Clock::system())
    }

    /// Does the same with another clock.
    ///
    /// # Errors
    /// As [`Self::bind`].
    pub fn bind_at(
        folder: &Path,
        log_name: Option<&str>,
        address: SocketAddr,
        options: Options,
        clock: Clock,
    ) -> Result<Self, Error> {
        Self::bind_watched(folder, log_name, address, options, clock, &mut |_, _| {})
    }

    /// Does the same, and reports to `watch` how many items of the log were read, and of how many.
    ///
    /// # Errors
    /// As [`Self::bind`].
    pub fn bind_watched(
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
        let address = listener.local_addr().map_err(|error| cannot("listen at", error))?;
        let (sqlite, signer) = folder::open(folder, log_name)?;
        let cache = folder.join(folder::INDEX);
        let (app, first_key) =
            App::open_watched(Arc::new(sqlite), signer, options, clock, Some(&cache), watch)?;
        Ok(Self { app, address, first_key, listener })
    }

    /// Answers until `stop` is ready, then finishes what was accepted.
    ///
    /// # Errors
    /// That the system gives no threads or no connections.
    pub fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), Error> {
        let failed = |error: std::io::Error| Error::Failed(format!("the server cannot go on: {error}"));
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(workers()).enable_all().build().map_err(failed)?;
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(self.listener).map_err(failed)?;
            serve(self.app, listener, stop).await;
            Ok(())
        })
    }
}

/// How many threads answer requests: one less than there are processors, for one is for the thread that writes.
#[must_use]
pub fn workers() -> usize {
    thread::available_parallelism().map_or(1, |processors| processors.get().saturating_sub(1).max(1))
}

/// Answers whoever connects to `listener` until `stop` is ready, then finishes what was accepted. What goes wrong with one
/// connection ends that one.
pub async fn serve(
    app: Arc<App>,
    listener: tokio::net::TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) {
    listen::serve(app, listener, stop).await;
}

/// Everything that the server answers.
pub fn router(app: Arc<App>) -> Router {
    let (router, _) = api::routes().split_for_parts();
    guard::around(router.merge(web::routes()), app)
}

/// Ready when the process is asked to stop, by a terminal or by whoever supervises it.
///
/// # Errors
/// That the system does not tell.
pub async fn interrupted() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        let mut ended = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        tokio::select! {
            pressed = tokio::signal::ctrl_c() => pressed,
            _ = ended.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
