//! JSON texts of evidence: parsing, canonical form, checks of values, problems and notes with their places.
//!
//! The lowest layer of the crate: nothing here knows a grader or a kind of evidence.

pub(crate) mod canonical;
pub(crate) mod check;
pub(crate) mod document;
mod explain;
pub(crate) mod locate;
pub(crate) mod note;
pub(crate) mod parse;
pub(crate) mod problem;
pub(crate) mod toml;
pub(crate) mod value;
