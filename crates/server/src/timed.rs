//! A stream that ends when the other side takes nothing for too long, and that reads what a client still sends before it
//! closes: to close on unread bytes would take the answer away from the client.

use std::future::Future as _;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::heads::{Announced, Heads};

/// The bytes of a refused body that are read at most before the connection is closed.
const UNREAD_BYTES_MAX: usize = 32 << 20;
/// The time for which they are read at most.
const UNREAD_TIME_MAX: Duration = Duration::from_secs(2);

/// A stream with a time limit for each write.
pub(crate) struct Timed<S> {
    stream: S,
    limit: Duration,
    /// The end of the write that waits, if one does.
    waiting: Option<Pin<Box<Sleep>>>,
    heads: Heads,
    end: End,
}

/// The end of a stream.
enum End {
    /// It was not asked for.
    None,
    /// The rest of a body is read: the number of bytes that are read at most, and the time until which.
    Reading(usize, Pin<Box<Sleep>>),
    /// It is over.
    Over,
}

impl<S> Timed<S> {
    /// Wraps `stream`; a write may wait for `limit`. The heads that it reads go to `announced`.
    pub fn new(stream: S, limit: Duration, announced: Announced) -> Self {
        Self { stream, limit, waiting: None, heads: Heads::new(announced), end: End::None }
    }

    fn watch<T>(&mut self, context: &mut Context<'_>, written: Poll<Result<T>>) -> Poll<Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(self.limit)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client takes nothing"))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> Timed<S> {
    /// Reads the rest of the body that the client sends; ready when it has ended, or is too long or too slow.
    fn poll_rest(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut bytes = [0; 16 << 10];
        while let End::Reading(left, until) = &mut self.end {
            let mut buffer = ReadBuf::new(&mut bytes);
            let read = Pin::new(&mut self.stream).poll_read(context, &mut buffer);
            if read.is_pending() && until.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            let found = buffer.filled();
            self.heads.pass(found);
            *left = left.saturating_sub(found.len());
            let is_more = matches!(read, Poll::Ready(Ok(()))) && !found.is_empty();
            if !is_more || *left == 0 || !self.heads.is_within_body() {
                self.end = End::Over;
            }
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Timed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let known = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        self.heads.pass(buffer.filled().get(known..).unwrap_or_default());
        Poll::Ready(read)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Timed<S> {
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
        if matches!(self.end, End::None) {
            let shut = Pin::new(&mut self.stream).poll_shutdown(context);
            ready!(self.watch(context, shut))?;
            self.end = match self.heads.is_within_body() {
                true => End::Reading(UNREAD_BYTES_MAX, Box::pin(sleep(UNREAD_TIME_MAX))),
                false => End::Over,
            };
        }
        self.poll_rest(context).map(Ok)
    }
}
