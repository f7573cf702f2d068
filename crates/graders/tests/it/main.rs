//! Graders by themselves: the dimensions of a challenge, and the embedder with its model.

mod dimensions;
mod embedder;
