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

use crate::failure::Failure;
use crate::output::replace;
use model::Page;

/// Writes `page` to `path`; a file that is there already is replaced, whole, or stays as it is.
///
/// # Errors
/// If the file cannot be written.
pub fn save(path: &str, page: &Page) -> Result<(), Failure> {
    replace(path, document::html(page).as_bytes())
}
