//! JSON texts of evidence: parsing, canonical form, checks of values, problems and notes with their places.
//!
//! The lowest layer of the crate: nothing here knows a grader or a kind of evidence.

pub mod canonical;
pub mod check;
pub mod document;
mod explain;
pub mod locate;
pub mod note;
pub mod parse;
pub mod problem;
pub mod toml;
pub mod value;
