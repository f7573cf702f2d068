//! The progress bar: on standard error, only for a person who watches, only when the work lasts.

use std::cell::Cell;
use std::io::{IsTerminal as _, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure::Failure;

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(800);
/// Items between two looks at the clock.
const STRIDE: u64 = 256;

/// A bar that may be hidden.
pub struct Progress {
    bar: Option<ProgressBar>,
    started: Instant,
    items: Cell<u64>,
}
