//! Connections: their number, their timeouts, and their end when the server stops.

use std::convert::Infallible;
use std::future::Future;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use axum::extract::Request;
use axum::http::header::HOST;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};
use tower_service::Service as _;

use crate::basics::*;
use crate::collect::close_on_time;
use crate::guard::{Peer, Unread};
use crate::limits::{Places, network};
use crate::market;
use crate::state::App;
use crate::webhooks;

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
    let hooks = tokio::spawn(webhooks::run(Arc::clone(&app)));
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
                sleep(PAUSE).await;
                continue;
            }
        };
        let is_proxy = app.options.is_proxy(peer.ip());
        let is_scarce = permits.available_permits() < app.options.connections_max / SCARCE;
        let most = match (is_proxy, app.options.connections_per_address_max) {
            (true, _) => usize::MAX,
            (false, most) if is_scarce => most.div_ceil(SCARCE),
            (false, most) => most,
        };
        let Some(place) = addresses.take(network(peer.ip()), most) else {
            tracing::debug!(%peer, "a connection too many of one address was closed");
            continue;
        };
        // Answers are small and complete: waiting for more to send only costs time.
        let _ = stream.set_nodelay(true);
        // Nor does the system keep megabytes for each client that takes nothing.
        let _ = SockRef::from(&stream).set_send_buffer_size(UNTAKEN_BYTES_MAX);
        let router = router.clone();
        let is_unread = Arc::new(AtomicBool::new(false));
        let stream = Timed::new(stream, app.options.write_timeout, Arc::clone(&is_unread));
        let answer = service_fn(move |request: hyper::Request<Incoming>| {
            let mut router = router.clone();
            let is_unread = Arc::clone(&is_unread);
            async move {
                let mut request: Request = request.map(Body::new);
                request.extensions_mut().insert(Peer(peer));
                // The host of a target in absolute form replaces the header (RFC 9112, 3.2.2).
                let target = request.uri().authority().map(|it| HeaderValue::from_str(it.as_str()));
                if let Some(Ok(host)) = target {
                    request.headers_mut().insert(HOST, host);
                }
                let response = router.call(request).await?;
                if response.extensions().get::<Unread>().is_some() {
                    is_unread.store(true, Ordering::Relaxed);
                }
                Ok::<_, Infallible>(response)
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
    hooks.abort();
    app.stop();
    // Clients that keep a connection busy without a request at work: they take nothing, or send nothing more.
    let without_work = async {
        let mut quiet_since = Instant::now();
        while quiet_since.elapsed() < LAST {
            sleep(PAUSE).await;
            if app.at_work.load(Ordering::Relaxed) > 0 {
                quiet_since = Instant::now();
            }
        }
    };
    tokio::select! {
        () = graceful.shutdown() => {}
        () = without_work => tracing::info!("clients that did not take their answers were left"),
        () = sleep(app.options.stop_timeout) => tracing::warn!(
            "some requests were cut off: they took longer than the server waits for when it stops"
        ),
    }
}

type Accepted = (OwnedSemaphorePermit, TcpStream, SocketAddr);

async fn accept(permits: &Arc<Semaphore>, listener: &TcpListener) -> Result<Accepted> {
    let permit = Arc::clone(permits).acquire_owned().await.map_err(Error::other)?;
    let (stream, peer) = listener.accept().await?;
    Ok((permit, stream, peer))
}

/// The bytes of a refused body that are read at most before the connection is closed: more than the largest batch.
const UNREAD_BYTES_MAX: usize = 65 << 20;
/// The time for which they are read at most.
const UNREAD_TIME_MAX: Duration = Duration::from_secs(10);

/// A stream that ends when the other side takes nothing for too long. Before it closes it reads what a client still sends of a
/// body that was refused: to close on unread bytes would take the answer away from the client.
struct Timed {
    stream: TcpStream,
    limit: Duration,
    /// The end of the write that waits, if one does.
    waiting: Option<Pin<Box<Sleep>>>,
    is_shut: bool,
    /// True once a request was answered before its body was read.
    is_unread: Arc<AtomicBool>,
    /// The number of bytes that are read of the rest at most, and the end of reading it.
    rest: usize,
    end: Option<Pin<Box<Sleep>>>,
}

impl Timed {
    fn new(stream: TcpStream, limit: Duration, is_unread: Arc<AtomicBool>) -> Self {
        Self { stream, limit, waiting: None, is_shut: false, is_unread, rest: UNREAD_BYTES_MAX, end: None }
    }

    /// Fails if a write has waited for too long.
    fn watch<T>(&mut self, context: &mut Context<'_>, written: Poll<Result<T>>) -> Poll<Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(self.limit)));
        let late = |()| Err(Error::new(ErrorKind::TimedOut, "the client takes nothing"));
        waiting.as_mut().poll(context).map(late)
    }
}

impl AsyncRead for Timed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Timed {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        if !self.is_shut {
            let shut = Pin::new(&mut self.stream).poll_shutdown(context);
            ready!(self.watch(context, shut))?;
            self.is_shut = true;
        }
        let mut bytes = [0; 16 << 10];
        while self.is_unread.load(Ordering::Relaxed) && self.rest > 0 {
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Pending => {
                    let end = self.end.get_or_insert_with(|| Box::pin(sleep(UNREAD_TIME_MAX)));
                    return end.as_mut().poll(context).map(Ok);
                }
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.rest = self.rest.saturating_sub(buffer.filled().len());
                }
                Poll::Ready(_) => break,
            }
        }
        Poll::Ready(Ok(()))
    }
}
