//! Cases about graders: their inputs to calls of `karat_graders`, one file per folder there.

pub mod arena;
pub mod quality;
pub mod trace;
pub mod trust;
pub mod workflow;
