//! The wish of a terminal or a supervisor that this process stops.

use std::io;
use std::thread;

/// Runs `then`, once, when the process is asked to stop by a terminal or a supervisor. When this returns, no such signal is
/// missed.
///
/// # Errors
/// If the system cannot report signals, or has no thread to wait for them.
#[cfg(unix)]
pub fn on_stop(then: impl FnOnce() + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    let hung_up = hears_of_hangups().then_some(SIGHUP);
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM].into_iter().chain(hung_up))?;
    thread::Builder::new().name(String::from("karat-stop")).spawn(move || {
        signals.forever().next();
        then();
        // From here on a further signal changes nothing, but must not end the process.
        signals.forever().for_each(drop);
    })?;
    Ok(())
}

/// Runs `then`, once, when the process is asked to stop by a terminal.
///
/// # Errors
/// If the system cannot report signals, or has no thread to wait for them.
#[cfg(not(unix))]
pub fn on_stop(then: impl FnOnce() + Send + 'static) -> io::Result<()> {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    let asked = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&asked))?;
    }
    thread::Builder::new().name(String::from("karat-stop")).spawn(move || {
        while !asked.load(Ordering::SeqCst) {
            thread::sleep(std::time::Duration::from_millis(50));
        }
        then();
    })?;
    Ok(())
}

/// Returns whether the end of the terminal is to end the process. Under `nohup` it is not.
#[cfg(unix)]
fn hears_of_hangups() -> bool {
    const HANGUP: u64 = 1;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // Where the system does not say, the signal stays what it is.
    ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).is_some_and(|bits| bits & HANGUP == 0)
}
