//! Graders: raw evidence to the facts that a scorecard scores, each with what was seen on the way.
//!
//! A grader is a pure function. It calls no model, no network and no clock, gives the same bits on every machine, and
//! returns beside its value a detail: which criterion failed, which tokens matched, what was not there.

pub mod arena;
pub mod execution;
mod instructions;
pub mod quality;
pub mod trace;
pub mod trust;
pub mod workflow;
