//! The log of the server for its operator: one line per request, without secrets, bodies or queries. Nothing that becomes of
//! it stops the server: lines that cannot be written are dropped and counted.

use std::io::{self, IsTerminal as _, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tracing::Level;

/// The format of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object per line, for programs.
    Json,
}

/// The number of lines that wait for a slow reader; more are dropped.
const WAITING: usize = 4096;
static TAKEN: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);
static DROPPED: AtomicU64 = AtomicU64::new(0);
static PANICS: AtomicU64 = AtomicU64::new(0);

/// Starts to log to standard error: every request, or only errors. Only the first call has an effect.
pub fn start(format: Format, is_quiet: bool) {
    let level = if is_quiet { Level::WARN } else { Level::INFO };
    let (lines, waiting) = sync_channel::<Vec<u8>>(WAITING);
    let write = move || {
        for line in waiting {
            DROPPED.fetch_add(u64::from(io::stderr().write_all(&line).is_err()), Ordering::Relaxed);
            DONE.fetch_add(1, Ordering::Release);
        }
    };
    if thread::Builder::new().name(String::from("karat-log")).spawn(write).is_err() {
        return;
    }
    let builder = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(move || Sink(lines.clone()))
        .with_target(false)
        // They would go to standard error, and end the task if that is gone.
        .log_internal_errors(false);
    // A second call changes nothing, as documented.
    let _ = match format {
        Format::Text => builder.try_init(),
        Format::Json => builder.json().flatten_event(true).with_current_span(false).try_init(),
    };
}

/// Waits, for a second at most, until the lines so far are written.
pub fn finish() {
    const PAUSE: Duration = Duration::from_millis(10);
    let taken = TAKEN.load(Ordering::Acquire);
    let is_written = |_: &u8| DONE.load(Ordering::Acquire) >= taken;
    let _ = (0..100u8).inspect(|_| thread::sleep(PAUSE)).find(is_written);
}

/// From now on a defect ends the task that it is in, and not the server; it is logged and counted. The main thread still ends
/// with everything.
pub fn survive_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if thread::current().name() == Some("main") {
            return before(panic);
        }
        PANICS.fetch_add(1, Ordering::Relaxed);
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, "a task ended because of a bug in karat; please report it");
    }));
}

/// Returns the number of lines that could not be written.
pub(crate) fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// Returns the number of tasks that ended because of a defect.
pub(crate) fn panics() -> u64 {
    PANICS.load(Ordering::Relaxed)
}

/// A writer of lines that never fails and never waits.
struct Sink(SyncSender<Vec<u8>>);

impl Write for Sink {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match self.0.try_send(line.to_vec()) {
            Ok(()) => TAKEN.fetch_add(1, Ordering::Release),
            Err(_) => DROPPED.fetch_add(1, Ordering::Relaxed),
        };
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
