//! Graders of matches of the arena: primitives, submissions, trajectories.
