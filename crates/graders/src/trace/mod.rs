//! Graders of reasoning traces: the embedder, the novelty cache, votes; and the time that an evaluation may take.

pub mod budget;
pub mod eigentrust;
pub mod embedder;
pub mod novelty;
mod problems;
