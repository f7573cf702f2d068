//! Screens and pages. Nothing here computes a score.

pub mod answer;
pub mod diagnostics;
pub mod gate;
pub mod grading;
pub mod judged;
pub mod judged_rows;
#[cfg(feature = "server")]
pub mod rescore;
pub mod run;
#[cfg(feature = "server")]
pub mod serve;
pub mod table;
pub mod verification;
pub mod waterfall;
