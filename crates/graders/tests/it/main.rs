//! Graders by themselves: their facts from rows, the dimensions of a challenge, and the embedder with its model.

mod dimensions;
mod embedder;
mod graded;
