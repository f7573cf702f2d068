//! The log of the server for whoever runs it: one line for each request, without secrets, bodies or queries.

use std::io;

use tracing::Level;

/// How lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object a line, for programs.
    Json,
}

/// Writes what happens to standard error from now on: every request, or only what went wrong. The first call counts.
pub fn start(format: Format, is_quiet: bool) {
    let level = if is_quiet { Level::WARN } else { Level::INFO };
    let builder = tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr).with_target(false);
    // A second call changes nothing, which is what is promised.
    let _ = match format {
        Format::Text => builder.try_init(),
        Format::Json => builder.json().flatten_event(true).with_current_span(false).try_init(),
    };
}
