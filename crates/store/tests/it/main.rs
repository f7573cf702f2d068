//! Promises of a store, whatever happens to its file or its key.

mod common;
mod contract;
mod file;
mod rotation;
mod store;
