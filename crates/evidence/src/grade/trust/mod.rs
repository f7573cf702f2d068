//! Graders of agents: evaluations, juries, estimators.

pub mod estimators;
pub mod jury;
mod problems;
