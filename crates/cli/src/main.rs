//! `karat`: scores about AI agents that anyone can check.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A server allocates on one thread and frees on another, where the allocator of the platform makes threads wait for
/// each other.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(karat_command::run(std::env::args_os()))
}
