//! Cases about standing: their inputs turned into calls of the core, one file per folder there.

pub mod over_time;
pub mod rating;
pub mod statistics;
