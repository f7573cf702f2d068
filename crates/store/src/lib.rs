//! x
pub mod error;
pub mod item;
pub mod log;
pub mod memory;
pub mod port;
mod reader;
mod receipt;
mod store;
mod writer;
