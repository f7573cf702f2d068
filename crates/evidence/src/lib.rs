//! Texts of evidence about AI agents, below graders and readers: JSON with its checks and canonical form, names and cells,
//! sources of items, test reports, and what a judge of submitted code is asked.
//!
//! A [`source::Source`] cuts files and streams into items without holding more than one of them; [`json`] reads one, with a
//! place for everything that is wrong with it.

pub mod cells;
pub mod fact_table;
pub mod ids;
pub mod json;
pub mod names;
pub mod profile;
pub mod report;
pub mod source;

pub use json::check::UnknownFields;
pub use json::note::Note;
pub use json::problem::{Problem, Problems};
pub use json::value::canonical_json;
