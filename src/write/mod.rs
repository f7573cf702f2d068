//! The writers of documents, one file each. They decide nothing: words, units, signs and order come from the
//! [`Document`], and each writer takes every document.
//!
//! Names come from outside and may be hostile: each file says how it writes them.

pub mod csv;
pub mod github;
pub mod html;
pub(crate) mod jsonl;
pub(crate) mod junit;
pub(crate) mod markdown;
#[cfg(feature = "picture")]
pub mod picture;
pub mod screen;

#[cfg(test)]
mod tests;

use crate::document::Document;

/// A form of a document that is one text. JSON is the answer itself, and a screen needs its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// An object for each row of the main table.
    Jsonl,
    /// The main table.
    Csv,
    /// The whole, for people who read it rendered.
    Markdown,
    /// The test cases.
    Junit,
    /// Annotations; the summary of the step is apart.
    Github,
    /// A page in one file.
    Html,
}

/// Returns a document in a form.
pub fn text(form: Form, document: &Document) -> String {
    match form {
        Form::Jsonl => jsonl::lines(&document.main()),
        Form::Csv => csv::table(&document.main()),
        Form::Markdown => markdown::document(document, usize::MAX),
        Form::Junit => junit::document(document),
        Form::Github => github::annotations(document),
        Form::Html => html::document(document),
    }
}
