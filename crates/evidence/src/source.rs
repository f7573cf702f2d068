//! Files and streams cut into evidence items, one in memory at a time.
//!
//! Understood are JSON lines, one JSON document (or several) over many lines, an array of items, and tables with a header.
//!
//! ```
//! use karat_evidence::source::{Layout, Source};
//!
//! let lines: &[u8] = b"{\"subject\": \"a\"}\n\n{\"subject\": \"b\"}\n";
//! let mut source = Source::new(lines, Layout::Auto, &[], 1 << 20);
//! let mut found = Vec::new();
//! while let Some(item) = source.next_item() {
//!     let item = item.unwrap();
//!     found.push((item.line, item.bytes.len()));
//! }
//! assert_eq!(found, [(1, 16), (3, 16)]);
//! ```

mod ahead;
mod json;
mod rows;
mod scanner;

use std::error::Error;
use std::fmt;
use std::io::{self, BufRead};
use std::path::Path;

use crate::json::problem::Problem;
use json::JsonSource;
use karat_core::scorecard::FactType;
use rows::RowSource;

/// The marks that may separate the columns of a table; the first with which a name in the header is known does.
pub const SEPARATORS: [u8; 4] = *b",\t;|";

/// Layout of items in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// JSON; the start of the text shows whether it is lines, documents or an array.
    Auto,
    /// One JSON item per line, even if the first line is broken.
    JsonLines,
    /// A table with a header, for evidence of kind `facts`; columns are separated by one of [`SEPARATORS`].
    Csv,
}

impl Layout {
    /// Returns the layout that the ending of a file name means.
    pub fn of_path(path: &Path) -> Self {
        let ending = |path: &Path| path.extension().map(|it| it.to_string_lossy().to_ascii_lowercase());
        let own = ending(path);
        // A packed file is called after what is in it.
        let own = match own.as_deref() {
            Some("gz" | "zst") => path.file_stem().and_then(|stem| ending(Path::new(stem))),
            _ => own,
        };
        match own.as_deref() {
            Some("csv" | "tsv") => Self::Csv,
            Some("jsonl" | "ndjson") => Self::JsonLines,
            _ => Self::Auto,
        }
    }
}

/// One item as written in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawItem<'a> {
    /// The line it begins in, from 1.
    pub line: u64,
    /// The item's JSON. A row of a table is given as the JSON object that says the same.
    pub bytes: &'a [u8],
}

/// A place where no item could be cut out.
#[derive(Debug)]
pub struct SourceError {
    /// The problem.
    pub problem: Box<Problem>,
    /// True if the items after it can still be read; if not, the source is at its end.
    pub resumable: bool,
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl Error for SourceError {}

impl SourceError {
    fn new(
        resumable: bool,
        line: u64,
        found: impl Into<String>,
        expected: impl Into<String>,
        hint: &str,
    ) -> Self {
        let problem = Problem { line: Some(line), ..Problem::at("$", found, expected, hint) };
        Self { problem: Box::new(problem), resumable }
    }

    fn fatal(line: u64, found: impl Into<String>, expected: impl Into<String>, hint: &str) -> Self {
        Self::new(false, line, found, expected, hint)
    }

    fn skipped(line: u64, found: impl Into<String>, expected: impl Into<String>, hint: &str) -> Self {
        Self::new(true, line, found, expected, hint)
    }

    fn unreadable(line: u64, error: &io::Error) -> Self {
        Self::fatal(line, format!("an error: {error}"), "a file that can be read", "")
    }

    fn empty(why: &str) -> Self {
        Self::fatal(1, "nothing", "at least one evidence item", why)
    }

    fn too_long(line: u64, limit: usize) -> Self {
        let found = format!("an item of more than {limit} bytes");
        Self::skipped(line, found, "a shorter item", "leave out what is not scored")
    }
}

/// The items of one file or stream.
pub struct Source<R: BufRead> {
    inner: Inner<R>,
}

enum Inner<R: BufRead> {
    Json(JsonSource<R>),
    Rows(Box<RowSource<R>>),
}

impl<R: BufRead> Source<R> {
    /// Cuts up `input`. `wanted` are the declared facts, which say how the cells of a table are read.
    pub fn new(input: R, layout: Layout, wanted: &[(String, FactType)], max_item_bytes: usize) -> Self {
        let inner = match layout {
            Layout::Auto => Inner::Json(JsonSource::new(input, false, max_item_bytes)),
            Layout::JsonLines => Inner::Json(JsonSource::new(input, true, max_item_bytes)),
            Layout::Csv => Inner::Rows(Box::new(RowSource::new(input, wanted, max_item_bytes))),
        };
        Self { inner }
    }

    /// Returns the next item, or why it cannot be read; `None` at the end.
    pub fn next_item(&mut self) -> Option<Result<RawItem<'_>, SourceError>> {
        match &mut self.inner {
            Inner::Json(source) => source.next_item(),
            Inner::Rows(source) => source.next_item(),
        }
    }
}

/// Passes over the mark that some programs put before UTF-8.
fn skip_byte_order_mark<R: BufRead>(input: &mut R) -> Result<(), SourceError> {
    for expected in [0xef, 0xbb, 0xbf] {
        match fill(input).map_err(|error| SourceError::unreadable(1, &error))?.first() {
            Some(&byte) if byte == expected => input.consume(1),
            Some(0xfe | 0xff) => {
                return Err(SourceError::fatal(1, "UTF-16", "text in UTF-8", "save the file as UTF-8"));
            }
            // A text that begins with half of the mark is not UTF-8; the reader says so of the rest.
            _ => break,
        }
    }
    Ok(())
}

/// Reads the bytes at hand, after interruptions.
fn fill<R: BufRead>(input: &mut R) -> io::Result<&[u8]> {
    loop {
        match input.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    input.fill_buf()
}

#[cfg(test)]
mod tests;
