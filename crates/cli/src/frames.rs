//! Files of columns: they are read and written if the program was built with the feature `frames`.

use std::io::{self, Write};

use karat::CompiledCard;
#[cfg(not(feature = "frames"))]
use karat::error::Error;
#[cfg(not(feature = "frames"))]
use karat_core::record::Record;
use karat_terminal::failure::Failure;

#[cfg(feature = "frames")]
pub use karat_frames::files::{install, row};

#[cfg(feature = "frames")]
use karat_frames::files::{Format, Scores, is_own};

/// Scores on their way to a file of columns, which gets its name once it is whole.
#[cfg(feature = "frames")]
pub struct Columns {
    path: String,
    scores: Scores,
}

#[cfg(feature = "frames")]
impl Columns {
    /// Begins a file.
    pub fn new(path: &str, inputs: &[String], card: &CompiledCard) -> Result<Self, Failure> {
        let format = Format::of(path).ok_or_else(|| {
            Failure::new(format!("`{path}` says no format: expected a name that ends in .parquet or .arrow"))
                .help("other forms go to standard output: --format csv > FILE")
        })?;
        if inputs.iter().any(|input| input == path) || !is_own(path) {
            return Err(Failure::new(format!(
                "`{path}` exists and has no scores that karat wrote, so it is not overwritten"
            ))
            .help("name another file, or remove this one first"));
        }
        let scores = Scores::new(path, format, card).map_err(|error| Failure::writing(path, &error))?;
        Ok(Self { path: path.to_owned(), scores })
    }

    /// Ends the file.
    pub fn end(self) -> Result<(), Failure> {
        let Self { path, scores } = self;
        let mut whole = scores.end().map_err(|error| Failure::writing(&path, &error))?;
        karat_terminal::output::replace_by(&path, |file| io::copy(&mut whole, file).map(drop))
    }
}

#[cfg(feature = "frames")]
impl Write for Columns {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.scores.write(lines)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The stand-in of a program without that feature: there is no such file.
#[cfg(not(feature = "frames"))]
pub enum Columns {}

#[cfg(not(feature = "frames"))]
impl Columns {
    /// Refuses the file.
    pub fn new(path: &str, _: &[String], _: &CompiledCard) -> Result<Self, Failure> {
        Err(Failure::new(format!("`{path}` cannot be written: this program was built without `frames`"))
            .help("the released programs and the Python package write it, or build with `--features frames`"))
    }

    /// Ends no file.
    pub fn end(self) -> Result<(), Failure> {
        match self {}
    }
}

#[cfg(not(feature = "frames"))]
impl Write for Columns {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match *self {}
    }
}

/// Sets no reader.
#[cfg(not(feature = "frames"))]
pub fn install() {}

/// Writes no row.
#[cfg(not(feature = "frames"))]
pub fn row(_: Result<&Record<'_>, &Error>, _: &mut Vec<u8>) {}
