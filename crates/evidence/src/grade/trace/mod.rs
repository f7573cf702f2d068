//! Graders of reasoning traces: the novelty cache, the embedder, votes.

pub mod embedder;
