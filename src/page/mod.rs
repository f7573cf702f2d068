//! One self-contained page: what a verb found, for a browser without network; and its figures, style and script one by one,
//! for a server that puts pages together from them. `model` says what a page holds, `document`
//! lays it out, `table`, `profiles`, `history`, `ranks` and `waterfall` draw its figures, `spark` a trend in a cell,
//! `scale` places values on axes. Why it is made
//! this way stands in docs/decisions/0011-page.md.

mod document;
mod history;
pub mod model;
mod profiles;
mod ranks;
pub mod scale;
mod spark;
mod table;
mod waterfall;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

pub use document::{SCRIPT, STYLE, compact, figure, html, without_control};
pub use table::scrolling;
