//! Screens and pages. Nothing here computes a score.

pub mod answer;
pub mod bar;
pub mod changes;
pub mod compare;
pub mod diagnostics;
pub mod gate;
pub mod grading;
pub mod interval;
pub mod judged;
pub mod judged_rows;
pub mod leaderboard;
pub mod page;
pub mod rating;
#[cfg(feature = "server")]
pub mod rescore;
pub mod run;
#[cfg(feature = "server")]
pub mod serve;
pub mod standing;
pub mod standing_detail;
pub mod stress;
pub mod table;
pub mod tasks;
pub mod tune;
pub mod verification;
pub mod waterfall;
