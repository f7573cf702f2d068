//! Connections: their number, their timeouts, and their end when the server stops.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use socket2::SockRef;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tower_service::Service as _;

use crate::collect::close_on_time;
use crate::guard::{Ambiguous, Peer};
use crate::heads::Announced;
use crate::limits::Places;
use crate::market;
use crate::state::App;
use crate::timed::Timed;

/// The longest head of a request, in bytes.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// The divisor for scarce connections: if less than this part of all is left, an address has at most this part of its limit.
const SCARCE: usize = 8;
/// The time that clients have to take their answers after the last request at work, when the server stops.
const LAST: Duration = Duration::from_secs(2);
/// The bytes of answers that the system keeps for a client that does not take them; Linux takes twice as many.
const UNTAKEN_BYTES_MAX: usize = 256 << 10;
/// The time to wait when the system has no connection to give, for example when it is out of file handles, and between two
/// looks at the requests at work.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers connections until `stop` is ready, then finishes the accepted requests. An error on one connection ends only
/// that one.
pub(crate) async fn serve(
    app: Arc<App>,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) {
    let router = crate::router(Arc::clone(&app));
    let permits = Arc::new(Semaphore::new(app.options.connections_max));
    let addresses = Arc::new(Places::default());
    let graceful = GracefulShutdown::new();
    let verdicts = tokio::spawn(market::settle_on_time(Arc::clone(&app)));
    let traces = tokio::spawn(close_on_time(Arc::clone(&app)));
    let mut stop = std::pin::pin!(stop);
    loop {
        // A connection that is not accepted waits in the queue of the system at no cost.
        let accepted = tokio::select! {
            // First, so that a signal to stop is waited for before anything is answered.
            biased;
            () = &mut stop => break,
            accepted = accept(&permits, &listener) => accepted,
        };
        let (permit, stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "no connection was accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let ip = peer.ip();
        let is_proxy = app.options.proxies.contains(&ip);
        let is_scarce = permits.available_permits() < app.options.connections_max / SCARCE;
        let most = match (is_proxy, app.options.connections_per_address_max) {
            (true, _) => usize::MAX,
            (false, most) if is_scarce => most.div_ceil(SCARCE),
            (false, most) => most,
        };
        let Some(place) = addresses.take(ip, most) else {
            tracing::debug!(%peer, "a connection too many of one address was closed");
            continue;
        };
        // Answers are small and complete: waiting for more to send only costs time.
        let _ = stream.set_nodelay(true);
        // Nor does the system keep megabytes for each client that takes nothing.
        let _ = SockRef::from(&stream).set_send_buffer_size(UNTAKEN_BYTES_MAX);
        let router = router.clone();
        let announced = Announced::default();
        let stream = Timed::new(stream, app.options.write_timeout, announced.clone());
        let answer = service_fn(move |request: hyper::Request<Incoming>| {
            let mut router = router.clone();
            let is_ambiguous = announced.next_is_ambiguous();
            async move {
                let mut request: Request = request.map(Body::new);
                request.extensions_mut().insert(Peer(peer));
                if is_ambiguous {
                    request.extensions_mut().insert(Ambiguous);
                }
                router.call(request).await.map_err(|never: Infallible| never)
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(app.options.head_timeout)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), answer);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, %peer, "a connection ended");
            }
            drop((permit, place));
        });
    }
    drop(listener);
    verdicts.abort();
    traces.abort();
    app.stop();
    // Clients that keep a connection busy without a request at work: they take nothing, or send nothing more.
    let without_work = async {
        let mut quiet_since = Instant::now();
        while quiet_since.elapsed() < LAST {
            tokio::time::sleep(PAUSE).await;
            if app.at_work.load(Ordering::Relaxed) > 0 {
                quiet_since = Instant::now();
            }
        }
    };
    tokio::select! {
        () = graceful.shutdown() => {}
        () = without_work => tracing::info!("clients that did not take their answers were left"),
        () = tokio::time::sleep(app.options.stop_timeout) => tracing::warn!(
            "some requests were cut off: they took longer than the server waits for when it stops"
        ),
    }
}

type Accepted = (tokio::sync::OwnedSemaphorePermit, tokio::net::TcpStream, std::net::SocketAddr);

async fn accept(permits: &Arc<Semaphore>, listener: &TcpListener) -> std::io::Result<Accepted> {
    let permit = Arc::clone(permits).acquire_owned().await.map_err(std::io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    Ok((permit, stream, peer))
}
