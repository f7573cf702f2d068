//! The progress bar: on standard error, only on a terminal, only for long work; and what is said of inputs that are read.

use std::io::{self, IsTerminal as _, Read, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use karat::error::Error;
use karat::inputs::{Door, Inputs};
use karat::text::clean;
use karat_importers::Summary;

use crate::args::Cli;
use karat_terminal::failure::Failure;
use karat_terminal::output::{CARE, Color, FAINT, Screen};

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
    /// The colour of what is said.
    color: Color,
}

/// The shapes of bars.
const OF_BYTES: &str = "{bar:40} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left";
const OF_STREAM: &str = "{spinner} {binary_bytes}, {binary_bytes_per_sec}";
#[cfg(feature = "server")]
const OF_ITEMS: &str = "{bar:40} {human_pos} of {human_len} items, {per_sec}, {eta} left";

impl Progress {
    /// Returns a bar for inputs, not shown yet; never shown if `quiet` or without a terminal.
    pub fn new(quiet: bool, cli: &Cli) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let mut progress = Self::with(bar, quiet, OF_STREAM);
        progress.color = cli.color;
        progress
    }

    /// Returns a bar that counts items, not shown yet; never shown if `quiet` or without a terminal.
    #[cfg(feature = "server")]
    pub fn of_items(quiet: bool) -> Self {
        Self::with(ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden()), quiet, OF_ITEMS)
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
        let waits = AtomicBool::new(!quiet && io::stderr().is_terminal());
        let progress = Self { bar, started: Instant::now(), waits, color: Color::default() };
        progress.shape(shape);
        progress
    }

    fn shape(&self, shape: &str) {
        if let Ok(style) = ProgressStyle::with_template(shape) {
            self.bar.set_style(style);
        }
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

impl Door for Progress {
    fn begin(&self, inputs: &Inputs) {
        if let Some(bytes) = inputs.bytes() {
            self.shape(OF_BYTES);
            self.bar.set_length(bytes);
        }
        let mut screen = Screen::stderr(self.color);
        // Only for eyes: the inputs are read whether it can be shown or not.
        if inputs.has_standard_input() && io::stdin().is_terminal() {
            let _ = writeln!(screen, "{FAINT}reading standard input; Ctrl-D ends it{FAINT:#}");
        }
        let _ = tell_notes(inputs.passed_over().as_slice(), &mut screen);
    }

    fn watch<'w>(&'w self, input: Box<dyn Read>) -> Box<dyn Read + 'w> {
        Box::new(Counted { inner: input, progress: self })
    }

    fn note(&self, note: &str) {
        let _ = self.aside(|| tell_notes(&[note.to_owned()], &mut Screen::stderr(self.color)));
    }

    fn end(&self, logs: &Summary) -> io::Result<()> {
        Self::end(self);
        let mut screen = Screen::stderr(self.color);
        tell_left_out(logs, &mut screen)?;
        tell_notes(&logs.notes, &mut screen)?;
        screen.flush()
    }

    fn words(&self, error: Error) -> String {
        Failure::from(error).to_string()
    }
}

/// Says what logs have that no item has, how often and why; nothing if that is nothing.
pub fn tell_left_out(summary: &Summary, screen: &mut Screen) -> io::Result<()> {
    if summary.left_out.is_empty() {
        return Ok(());
    }
    writeln!(screen, "left out:")?;
    let mut reasons: Vec<(&String, &u64)> = summary.left_out.iter().collect();
    reasons.sort_by(|one, other| other.1.cmp(one.1).then(one.0.cmp(other.0)));
    for (reason, count) in reasons {
        writeln!(screen, "{count:>8}  {}", clean(reason))?;
    }
    Ok(())
}

/// Says what there is to know about inputs as a whole.
pub fn tell_notes(notes: &[String], screen: &mut Screen) -> io::Result<()> {
    for note in notes {
        writeln!(screen, "{CARE}note{CARE:#}: {}", clean(note))?;
    }
    Ok(())
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
