//! Confinement of the program, and its end: what it gives up before its first job, and what it waits for beside its work.

use std::time::Duration;
use std::{io, process, thread};

use karat_graders::execution::Limits;
use karat_sandbox::{ConfineError, Confinement, Layers, confine_self};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::engine::THREAD_STACK;
use crate::protocol::LINE_MAX;

/// Bytes that two instances with the largest memory may take: a submission and its suite.
const INSTANCES: u64 = 2 * (*Limits::MEMORY_MIB.end() << 20);

/// Bytes that the longest line may take: as text, as JSON, as values, and on the way into instances.
const LINE: u64 = 16 * LINE_MAX;

/// Bytes that compiling the largest module may take, and everything else.
const COMPILER: u64 = 1 << 30;

/// Bytes of memory that the program keeps the right to: what the limits of jobs allow at most, so that none of them ends by it.
pub const MEMORY: u64 = INSTANCES + LINE + COMPILER + THREAD_STACK as u64;

/// Gives up everything that judging does not need: what broke out of an instance would find nothing. The runtimes must have
/// been loaded, and there must be no other thread.
///
/// # Errors
///
/// If there are other threads, or if root cannot give up its user.
pub fn confine() -> Result<Layers, ConfineError> {
    confine_self(&Confinement { memory: Some(MEMORY), ..Confinement::default() })
}

/// Ends the process once no one can read its standard output any more: a client that died wants no answer. A client that has
/// only closed the input still gets its answers.
///
/// # Errors
///
/// If no thread can be started.
pub fn end_with_reader() -> io::Result<()> {
    thread::Builder::new().name("reader".to_owned()).spawn(wait_for_end)?;
    Ok(())
}

/// Waits that long, or until no one can read the standard output any more: returns true then.
pub fn reader_has_ended(within: Duration) -> bool {
    let out = io::stdout();
    let mut asked = [PollFd::new(&out, PollFlags::empty())];
    let within_spec = rustix::event::Timespec::try_from(within).ok();
    match poll(&mut asked, within_spec.as_ref()) {
        Ok(ready) => ready > 0,
        // Without a way to see it, time passes all the same.
        Err(_) => {
            thread::sleep(within);
            false
        }
    }
}

fn wait_for_end() {
    let out = io::stdout();
    // Nothing is asked for, so only its end is reported.
    let mut asked = [PollFd::new(&out, PollFlags::empty())];
    loop {
        match poll(&mut asked, None) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => process::exit(1),
            // Without a way to see it, the judge ends when it writes.
            Err(_) => return,
        }
    }
}
