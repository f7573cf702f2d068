//! Data frames of Apache Arrow at the doors of karat: a batch of columns is a table that the engine scores where it lies, or items
//! one by one; scores become columns again.
//!
//! Of Arrow only arrays, buffers and schemas are used: no kernels, which take long to compile. With the feature `files`, programs
//! read files of Parquet and Arrow wherever they read items, and write scores as such files.

mod column;
#[cfg(feature = "files")]
pub mod files;
mod items;
mod scores;

pub use column::Frame;
pub use items::Items;
pub use scores::{Answer, score};
