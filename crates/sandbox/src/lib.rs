//! Runs programs of others within limits, and confines the process itself.

mod confine;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod landlocked;
mod layer;
#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
mod slot;

pub use confine::{ConfineError, Confinement, confine_self};
pub use layer::{Layer, Layers, State};
