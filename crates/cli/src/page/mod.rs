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
use crate::output::replace_own;
use model::Page;

/// How a page begins.
const MARK: &[u8] = b"<!DOCTYPE html>";

/// Writes `page` to `path`; a page that is there already is replaced, whole, or stays as it is.
///
/// # Errors
/// If the file cannot be written, or another file than a page is there.
pub fn save(path: &str, page: &Page) -> Result<(), Failure> {
    replace_own(path, document::html(page).as_bytes(), MARK, "a page")
}
