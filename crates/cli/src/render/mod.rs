//! What people see. Nothing here computes a score.

pub mod bar;
pub mod diagnostics;
pub mod grading;
pub mod interval;
pub mod number;
pub mod rating;
pub mod table;
pub mod text;
pub mod waterfall;
