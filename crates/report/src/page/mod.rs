//! One self-contained page: what a verb found, for a browser without network. `model` says what a page holds, `document`
//! lays it out, `table`, `profiles`, `history` and `ranks` draw its figures, `scale` places values on axes. Why it is made
//! this way stands in docs/decisions/0011-page.md.

mod document;
mod history;
pub mod model;
mod profiles;
mod ranks;
pub mod scale;
mod table;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

pub use document::html;
