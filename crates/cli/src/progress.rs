//! The progress bar: on standard error, only on a terminal, only for long work.

use std::io::{self, IsTerminal as _, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(800);

/// Time between two pictures of a line that moves.
const TICK: Duration = Duration::from_millis(100);

/// A bar that counts bytes read or items done, or a spinner where their number is not known.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    /// True while the bar is not shown yet but may be.
    waits: AtomicBool,
}

impl Progress {
    /// Returns a bar for `bytes` of input, not shown yet; never shown if `quiet` or without a terminal.
    pub fn new(bytes: Option<u64>, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(bytes, ProgressDrawTarget::hidden());
        Self::with(
            bar,
            quiet,
            match bytes {
                Some(_) => {
                    "{bar:40} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left"
                }
                None => "{spinner} {binary_bytes}, {binary_bytes_per_sec}",
            },
        )
    }

    /// Returns a bar that counts items, not shown yet; never shown if `quiet` or without a terminal.
    #[cfg(feature = "server")]
    pub fn of_items(quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        Self::with(bar, quiet, "{bar:40} {human_pos} of {human_len} items, {per_sec}, {eta} left")
    }

    /// Returns a line that says what is being done, shown at once: a single step may take long. Never shown if `quiet` or
    /// without a terminal.
    pub fn of_steps(quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let progress = Self::with(bar, quiet, "{spinner} {msg}, {elapsed}");
        if progress.waits.swap(false, Ordering::Relaxed) {
            progress.bar.set_draw_target(ProgressDrawTarget::stderr());
            progress.bar.enable_steady_tick(TICK);
        }
        progress
    }

    /// Shows what is being done.
    pub fn doing(&self, what: String) {
        self.bar.set_message(what);
    }

    fn with(bar: ProgressBar, quiet: bool, shape: &str) -> Self {
        if let Ok(style) = ProgressStyle::with_template(shape) {
            bar.set_style(style);
        }
        Self { bar, started: Instant::now(), waits: AtomicBool::new(!quiet && io::stderr().is_terminal()) }
    }

    /// Returns a bar that is never shown.
    pub fn hidden() -> Self {
        Self::new(None, true)
    }

    /// Counts the bytes read from `inner`.
    pub fn count<'p, R: Read + 'p>(&'p self, inner: R) -> impl Read + 'p {
        Counted { inner, progress: self }
    }

    /// Runs `say`, which writes to the terminal, with the bar hidden meanwhile.
    pub fn aside<T>(&self, say: impl FnOnce() -> T) -> T {
        self.bar.suspend(say)
    }

    /// Removes the bar.
    pub fn end(&self) {
        self.waits.store(false, Ordering::Relaxed);
        self.bar.finish_and_clear();
    }

    /// Shows that `done` of `all` items are done.
    #[cfg(feature = "server")]
    pub fn reached(&self, done: u64, all: u64) {
        self.show_if_long();
        self.bar.set_length(all);
        self.bar.set_position(done);
    }

    fn add(&self, bytes: usize) {
        self.show_if_long();
        self.bar.inc(bytes as u64);
    }

    fn show_if_long(&self) {
        if self.waits.load(Ordering::Relaxed) && self.started.elapsed() > PATIENCE {
            self.waits.store(false, Ordering::Relaxed);
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

struct Counted<'p, R> {
    inner: R,
    progress: &'p Progress,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.progress.add(read);
        Ok(read)
    }
}
