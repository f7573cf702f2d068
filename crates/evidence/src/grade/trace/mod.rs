//! Graders of reasoning traces: the novelty cache, the embedder, votes; and the time that an evaluation may take.

pub mod budget;
pub mod eigentrust;
pub mod novelty;
mod problems;
