//! Graders of the quality of an output: code, text, checklists, data.

mod lcs;
mod rouge;
mod stem;
mod tokens;

pub use rouge::{Overlap, Reference, RougeL};
pub use tokens::Tokenizer;
