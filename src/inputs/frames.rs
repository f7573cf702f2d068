//! Files of columns, of Parquet and Arrow: recognised here, and read by a program that was built with a reader for them.

use std::cell::Cell;
use std::fs::File;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;

use super::Visit;
use super::paths::refused;
use crate::engine::Wanted;
use crate::error::Error;
use crate::text::clean;

/// The reader of the program, if it has one.
static READER: OnceLock<&'static dyn FrameReader> = OnceLock::new();

/// A reader of files of columns.
pub trait FrameReader: Sync {
    /// Hands each row of a file to `visit` as an item, or the error in its place, until it breaks; a part of the file is in memory
    /// at a time.
    ///
    /// # Errors
    /// If it cannot be read.
    fn each(
        &self,
        file: File,
        about: &FrameFile<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>, Error>;
}

/// A file of columns.
#[derive(Debug, Clone, Copy)]
pub struct FrameFile<'a> {
    /// The name in errors and ids.
    pub name: &'a str,
    /// The format.
    pub format: FrameFormat,
    /// The columns that the folders around it give; none for a value that is missing.
    pub folders: &'a [(String, Option<String>)],
    /// The facts that the scorecard reads.
    pub wanted: &'a Wanted,
}

/// The format of a file of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameFormat {
    /// Parquet.
    Parquet,
    /// The file of Arrow, which Feather is too.
    Arrow,
    /// The stream of Arrow.
    ArrowStream,
}

impl FrameFormat {
    /// Returns the format of a file by its first bytes, if it has columns.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            // An encrypted file ends in `PARE` too.
            [b'P', b'A', b'R', b'1' | b'E', ..] => Some(Self::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some(Self::Arrow),
            // What marks the length of a message; no text begins so.
            [0xff, 0xff, 0xff, 0xff, ..] => Some(Self::ArrowStream),
            _ => None,
        }
    }

    /// Returns what a file of this format is.
    pub fn words(self) -> &'static str {
        match self {
            Self::Parquet => "a file of Parquet",
            Self::Arrow => "a file of Arrow",
            Self::ArrowStream => "a stream of Arrow",
        }
    }
}

/// Sets the reader of the program.
pub fn set_reader(reader: &'static dyn FrameReader) {
    READER.get_or_init(|| reader);
}

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of others on bytes of others, whose panic says that the bytes are damaged: returns none then.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = IS_GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(before);
    done.ok()
}

/// Returns whether this thread runs such code, so that its panic is not a defect of karat.
pub fn is_guarded() -> bool {
    IS_GUARDED.get()
}

/// Returns whether a file in a folder has columns. What a writer keeps beside its files begins with `_` or a point.
pub(super) fn has_columns(folder: &Path, file: &Path) -> bool {
    let mut inner = file.strip_prefix(folder).unwrap_or(file).iter().filter_map(|part| part.to_str());
    if file.is_symlink() || inner.any(|part| part.starts_with(['_', '.']) && !part.contains('=')) {
        return false;
    }
    let mut head = [0; 8];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && FrameFormat::of(&head).is_some()
}

/// Hands each row of a file to `visit`; returns the number of rows, too.
pub(super) fn each(
    file: File,
    name: &str,
    format: FrameFormat,
    wanted: &Wanted,
    visit: &mut Visit<'_>,
) -> Result<(ControlFlow<()>, u64), Error> {
    let Some(reader) = READER.get() else {
        let words = format.words();
        let message = format!("`{}` is {words}, and this program was built without `frames`", clean(name));
        return Err(refused(message).hint(
            "the released programs and the Python package read it, or build with `--features frames`",
        ));
    };
    let folders: Vec<_> = Path::new(name)
        .parent()
        .into_iter()
        .flat_map(|folder| folder.iter().filter_map(|part| column(part.to_str()?)))
        .collect();
    let about = FrameFile { name, format, folders: &folders, wanted };
    let mut rows = 0;
    let flow = reader.each(file, &about, &mut |place, item| {
        rows += 1;
        visit(place, item)
    })?;
    Ok((flow, rows))
}

/// Returns the column that a folder gives to the files in it: `agent=a`.
fn column(folder: &str) -> Option<(String, Option<String>)> {
    let (name, value) = folder.split_once('=').filter(|(name, _)| !name.is_empty())?;
    let value = (value != "__HIVE_DEFAULT_PARTITION__").then(|| decoded(value));
    Some((decoded(name), value))
}

/// Replaces what a writer of folders escapes: `%2F`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|it| *first == b'%' && it.iter().all(u8::is_ascii_hexdigit));
        let byte = digits.and_then(|it| u8::from_str_radix(std::str::from_utf8(it).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = after.get(if byte.is_some() { 2 } else { 0 }..).unwrap_or_default();
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}
