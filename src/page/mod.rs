//! A self-contained page with the answer of a command, for a browser without network; and its figures, style and script
//! one by one, for a server that builds pages from them. `document` lays out a page,
//! `table`, `profiles`, `history` and `ranks` draw its figures, `spark` a trend in a cell, `scale` places
//! values on axes. The reasons are in docs/decisions/0011-page.md.

mod document;
mod history;
mod items;
mod profiles;
mod ranks;
pub mod scale;
mod spark;
mod table;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

pub use document::{SCRIPT, STYLE, compact, figure, html, safe};
pub use table::scrolling;
