//! Graders of agents: evaluations, juries, estimators.

pub mod estimators;
