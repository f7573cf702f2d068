//! Screens and pages. Nothing here computes a score.

pub mod gate;
pub mod run;
#[cfg(feature = "server")]
pub mod serve;
