//! Standard output and standard error: colour, width, terminal or pipe.

use std::borrow::Cow;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, IsTerminal as _, Read as _, Write};
use std::path::{Path, PathBuf};

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use karat::document::Document;
use karat::text::isolated;
use karat::write::html;

use crate::failure::Failure;

pub use karat::write::screen::{CARE, FAINT, GAIN, LOSS, STRONG};

karat_core::words! {
    /// The condition for colour.
    #[derive(Default, ValueEnum)]
    #[expect(missing_docs, reason = "documentation would make the help of every verb long")]
    pub enum Color {
        // On a terminal, unless `NO_COLOR` is set.
        #[default]
        Auto = "auto",
        Always = "always",
        Never = "never",
    }
}

impl Color {
    fn choice(self, auto: ColorChoice) -> ColorChoice {
        match self {
            Self::Auto => auto,
            Self::Always => ColorChoice::AlwaysAnsi,
            Self::Never => ColorChoice::Never,
        }
    }
}

/// An output for styled text, which loses its colour if colour is off.
pub struct Screen {
    out: AutoStream<Box<dyn Write>>,
    /// Columns to lay out for.
    pub width: usize,
    is_terminal: bool,
}

impl Screen {
    /// Returns standard output.
    pub fn stdout(color: Color) -> Self {
        let stdout = io::stdout();
        Self::new(&stdout, Box::new(BufWriter::new(stdout.lock())), color)
    }

    /// Returns standard error.
    pub fn stderr(color: Color) -> Self {
        Self::new(&io::stderr(), Box::new(io::stderr()), color)
    }

    fn new(stream: &impl RawStream, raw: Box<dyn Write>, color: Color) -> Self {
        let (choice, is_terminal) = (color.choice(AutoStream::choice(stream)), stream.is_terminal());
        Self { out: AutoStream::new(raw, choice), width: width(is_terminal), is_terminal }
    }

    /// Shows the text written so far, on a terminal.
    pub fn show(&mut self) -> io::Result<()> {
        if self.is_terminal { self.out.flush() } else { Ok(()) }
    }
}

impl Write for Screen {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        // For eyes alone: names from right to left must not move what is beside them. JSON is for programs.
        let is_shown = self.is_terminal && !buffer.starts_with(b"{");
        match std::str::from_utf8(buffer).map(isolated) {
            Ok(Cow::Owned(text)) if is_shown => self.out.write_all(text.as_bytes()).map(|()| buffer.len()),
            _ => self.out.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Returns the columns of the terminal within limits; 80 without a terminal.
fn width(is_terminal: bool) -> usize {
    if !is_terminal {
        return 80;
    }
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0)).clamp(60, 120)
}

/// Returns standard output for canonical lines: no colour, large writes.
pub fn lines() -> BufWriter<io::StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// Reports why the command stops, as far as standard error can be written.
pub fn tell(color: Color, failure: &Failure) {
    if let Failure::Problem(problem) = failure {
        let _ = write!(Screen::stderr(color), "{LOSS}error{LOSS:#}: {problem}");
    }
}

/// Writes a file as [`replace`] does, if it is new, empty, or begins with `mark`. Any other file is left
/// unchanged: a flag with the name of the evidence by mistake must not destroy it. `what` names what `mark` marks.
pub fn replace_own(path: &str, bytes: &[u8], mark: &[u8], what: &str) -> Result<(), Failure> {
    if path == "-" {
        return Err(Failure::new(format!("{what} is written to a file, found `-`")).help("give it a name"));
    }
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Failure::writing(path, &error)),
        Ok(found) if found.is_dir() => {
            return Err(Failure::writing(path, &io::ErrorKind::IsADirectory.into()));
        }
        Ok(found) => {
            let mut start = Vec::new();
            if found.is_file() {
                let file = fs::File::open(path).map_err(|error| Failure::writing(path, &error))?;
                let read = file.take(mark.len() as u64).read_to_end(&mut start);
                read.map_err(|error| Failure::writing(path, &error))?;
            }
            if !found.is_file() || !(start.is_empty() || start == mark) {
                return Err(Failure::new(format!(
                    "`{path}` exists and is not {what}, so it is not overwritten"
                ))
                .help("name another file, or remove this one first"));
            }
        }
    }
    replace(path, bytes)
}

/// Writes a new file; one that exists is left as it is.
pub fn create(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(bytes)).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::new(format!("`{path}` exists already")).help("remove it first, or choose another name")
        }
        _ => Failure::writing(path, &error),
    })
}

/// Writes a file; at every moment it is either the old one or the new one, complete.
pub fn replace(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    replace_by(path, |file| file.write_all(bytes))
}

/// Does the same with what `write` writes.
pub fn replace_by(path: &str, write: impl FnOnce(&mut fs::File) -> io::Result<()>) -> Result<(), Failure> {
    // The number separates processes that run at the same time; an existing file is not touched.
    let fresh = format!("{path}.{}.new", std::process::id());
    let file = OpenOptions::new().write(true).create_new(true).open(&fresh);
    let mut file = file.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::new(format!("cannot write `{path}`: its folder does not exist")),
        _ => Failure::writing(&fresh, &error),
    })?;
    let written = write(&mut file).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&fresh, path));
    written.map_err(|error| {
        // The rest of the new file is useless, and harmless if it cannot be removed.
        drop(fs::remove_file(&fresh));
        Failure::writing(path, &error)
    })
}

/// Writes a folder of files, by their paths in it, in the place of one that may be there: beside it, and then under its name. If
/// this is killed, all files are there or those of before; between the two renames, under the name of this process beside it.
pub fn replace_folder<'f>(
    folder: &str,
    mut files: impl Iterator<Item = (&'f str, &'f [u8])>,
) -> Result<(), Failure> {
    let path = Path::new(folder).components().collect::<PathBuf>();
    if path.file_name().is_none() {
        return Err(Failure::new(format!("`{folder}` cannot be replaced")).help("name a new folder"));
    }
    let beside = |end: &str| PathBuf::from(format!("{}.{}.{end}", path.display(), std::process::id()));
    let (draft, old) = (beside("new"), beside("old"));
    // What a process of that number left.
    drop(fs::remove_dir_all(&draft));
    let written = files.try_for_each(|(name, bytes)| {
        let file = draft.join(name);
        fs::create_dir_all(file.parent().unwrap_or(&draft))?;
        fs::write(file, bytes)
    });
    let moved = written.and_then(|()| if path.exists() { fs::rename(&path, &old) } else { Ok(()) });
    let moved = moved.and_then(|()| fs::rename(&draft, &path));
    let is_there = path.exists() || fs::rename(&old, &path).is_ok();
    drop(fs::remove_dir_all(&draft));
    if is_there {
        drop(fs::remove_dir_all(&old));
    }
    moved.map_err(|error| Failure::writing(folder, &error))
}

/// Returns true if standard output is a terminal.
pub fn is_watched() -> bool {
    io::stdout().is_terminal()
}

/// The first bytes of a page.
const PAGE_MARK: &[u8] = b"<!DOCTYPE html>";

/// Writes a page to `path`; an existing page is replaced completely or left unchanged.
///
/// # Errors
/// If the file cannot be written, or exists and is not a page.
pub fn save_page(path: &str, page: &str) -> Result<(), Failure> {
    replace_own(path, page.as_bytes(), PAGE_MARK, "a page")
}

/// Returns a document as a page, with the command that makes it again.
pub fn page(document: &Document) -> String {
    html::document(&Document { command: command(), ..document.clone() })
}

/// Returns the command line of this process, as a shell reads it.
pub fn command() -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/:=@,+-".contains(c);
    let quoted = |word: String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    let words = std::env::args_os().skip(1).map(|word| quoted(word.to_string_lossy().into_owned()));
    std::iter::once(String::from("karat")).chain(words).collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A place for bytes that outlives the screen.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(buffer)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn names_from_right_to_left_are_isolated_on_a_terminal_alone() {
        let written = |is_terminal, text: &str| {
            let shared = Shared::default();
            let out = AutoStream::never(Box::new(shared.clone()) as Box<dyn Write>);
            write!(Screen { out, width: 80, is_terminal }, "{text}").unwrap();
            let bytes = shared.0.lock().unwrap().clone();
            String::from_utf8(bytes).unwrap()
        };
        let (line, json) = ("1  \u{5d0}\u{5d1} 5", "{\"subject\":\"\u{5d0}\"}");
        assert_eq!(written(true, line), "1  \u{2068}\u{5d0}\u{5d1}\u{2069} 5");
        assert_eq!(written(false, line), line);
        assert_eq!(written(true, json), json);
    }

    #[test]
    fn a_page_is_written_whole_and_replaces_only_a_page() {
        let folder = std::env::temp_dir().join(format!("karat-page-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        for title in ["one", "two"] {
            let document = Document { title: title.to_owned(), ..Document::default() };
            save_page(&path("page.html"), &page(&document)).unwrap();
            let text = fs::read_to_string(path("page.html")).unwrap();
            assert!(text.contains(title) && text.contains("<code>karat"), "{text}");
        }
        fs::write(path("evidence.jsonl"), "{}").unwrap();
        assert!(save_page(&path("evidence.jsonl"), "<!DOCTYPE html>").is_err());
        assert_eq!(fs::read_to_string(path("evidence.jsonl")).unwrap(), "{}");
        assert!(save_page(&path("none/page.html"), "<!DOCTYPE html>").is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(&folder).unwrap();
    }
}
