//! Machines that lack something, simulated by a filter that answers system calls as they do: each layer that is missing is
//! named, a strict sandbox refuses, and what is left holds. Also the end of the process that runs a sandbox, at any of them.
//! Filters stay for good, so each machine is this test, started again.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of a test may stop it")]

#[cfg(target_os = "linux")]
mod machines;

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("machine") => machines::look(&arguments[2], arguments[3].as_ref()),
        Some("killed") => machines::wait_to_be_killed(&arguments[2], arguments[3].as_ref()),
        _ => machines::main(),
    }
}
