//! The log of the server for its operator: one line per request, without secrets, bodies or queries.

use std::io::{self, IsTerminal as _};

use tracing::Level;

/// The format of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object per line, for programs.
    Json,
}

/// Starts to log to standard error: every request, or only errors. Only the first call has an effect.
pub fn start(format: Format, is_quiet: bool) {
    let level = if is_quiet { Level::WARN } else { Level::INFO };
    let builder = tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr).with_target(false);
    let builder = builder.with_ansi(io::stderr().is_terminal());
    // A second call changes nothing, as documented.
    let _ = match format {
        Format::Text => builder.try_init(),
        Format::Json => builder.json().flatten_event(true).with_current_span(false).try_init(),
    };
}
