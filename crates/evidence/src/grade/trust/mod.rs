//! Graders of agents: evaluations, juries, estimators.
