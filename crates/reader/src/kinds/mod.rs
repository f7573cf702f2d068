//! One file per kind of evidence: its shape, its facts, its checks.

pub(crate) mod agent_dimensions;
pub(crate) mod agent_evidence;
pub(crate) mod arena_match;
mod match_claims;
mod match_execution;
pub(crate) mod played_match;
pub(crate) mod reasoning_trace;
mod trace_novelty;
mod workflow_output;
pub(crate) mod workflow_run;
mod workflow_steps;
pub(crate) mod workflow_submission;
