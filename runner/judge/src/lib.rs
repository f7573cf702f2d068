//! Judge of submitted code: runs it in WebAssembly under exact limits and says what came out, the same on every machine.
//!
//! A [`Judge`] is built once, for one folder of runtimes and one engine, and answers
//! [`Job`](karat_graders::execution::Job)s. The expected values of a job never enter the instance of a submission.

mod answer;
mod cases;
mod compare;
pub mod confine;
mod effort;
mod engine;
mod error;
mod guest;
mod host;
mod instance;
mod javascript;
mod judge;
mod metering;
mod numbers;
mod preview1;
mod primitives;
pub mod protocol;
mod proxy;
mod runtimes;
mod script;
pub mod self_test;
mod suite;
mod wasi;
mod wasm;

pub use engine::EngineKind;
pub use error::JudgeError;
pub use judge::{Judge, Options};
