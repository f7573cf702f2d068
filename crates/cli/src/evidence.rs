//! The files of evidence on the command line, cut into items one at a time.

use std::fs::{File, metadata};
use std::io::{self, BufRead, BufReader, IsTerminal as _, Write as _};
use std::path::Path;

use karat_evidence::source::{Layout, Source};
use karat_evidence::{Kind, ReaderOptions};

use crate::output::{Color, FAINT, Screen};
use crate::progress::Progress;
use karat_report::failure::Failure;
use karat_report::session::{Place, Refusal, Wanted};

/// Bytes read at once.
const BUFFER: usize = 1 << 16;

/// Whether to go on to the next item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// That was enough.
    Stop,
}

/// What is done with each item, or with the reason why there is none in its place.
pub type Visit<'v> = dyn FnMut(Place<'_>, Result<&[u8], Refusal>) -> Result<Flow, Failure> + 'v;

/// Files of evidence; `-` is standard input.
pub struct Files {
    paths: Vec<String>,
    bytes: Option<u64>,
    color: Color,
}

impl Files {
    /// The files named, or standard input if none is. Fails before anything is scored if one of them is not there.
    pub fn new(paths: &[String], color: Color) -> Result<Self, Failure> {
        let paths = if paths.is_empty() { vec![String::from("-")] } else { paths.to_vec() };
        let mut bytes = Some(0u64);
        for path in &paths {
            let size = if path == "-" { None } else { size(path)? };
            bytes = bytes.zip(size).map(|(sum, size)| sum.saturating_add(size));
        }
        Ok(Self { paths, bytes, color })
    }

    /// How many bytes there are, if that is known.
    pub fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// Hands every item to `visit`, file by file, holding one item at a time.
    pub fn each(&self, wanted: &Wanted, progress: &Progress, visit: &mut Visit<'_>) -> Result<(), Failure> {
        for path in &self.paths {
            let flow = if path == "-" {
                if io::stdin().is_terminal() {
                    writeln!(
                        Screen::stderr(self.color),
                        "{FAINT}reading standard input; Ctrl-D ends it{FAINT:#}"
                    )?;
                }
                let mut input = BufReader::with_capacity(BUFFER, progress.count(io::stdin().lock()));
                let layout = layout_of_stream(&mut input, wanted)?;
                items("standard input", input, layout, wanted, visit)?
            } else {
                let layout = Layout::of_path(Path::new(path));
                if layout == Layout::Csv && wanted.kind != Kind::Facts {
                    let message = format!(
                        "`{path}` is a table, which evidence of kind `{}` is not",
                        wanted.kind.name()
                    );
                    return Err(
                        Failure::new(message).help("tables hold evidence of kind `facts`; give JSON instead")
                    );
                }
                let file = File::open(path).map_err(|error| Failure::reading(path, &error))?;
                let input = BufReader::with_capacity(BUFFER, progress.count(file));
                items(path, input, layout, wanted, visit)?
            };
            if flow == Flow::Stop {
                break;
            }
        }
        Ok(())
    }
}

/// A stream has no name that could end in `.csv`. For facts, what does not begin as JSON does, but with one of their names, is
/// the header of a table, whatever separates its columns: the source of rows says which must.
fn layout_of_stream(input: &mut impl BufRead, wanted: &Wanted) -> io::Result<Layout> {
    if wanted.kind != Kind::Facts {
        return Ok(Layout::Auto);
    }
    let head = input.fill_buf()?;
    let header = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let header = String::from_utf8_lossy(header.strip_prefix(b"\xef\xbb\xbf").unwrap_or(header));
    let is_name = |cell: &str| {
        let cell = cell.trim().trim_matches('"');
        cell == "subject"
            || wanted.facts.iter().any(|(name, _)| name == cell)
            || wanted.columns.iter().any(|name| name == cell)
    };
    let is_table =
        !header.trim_start().starts_with(['{', '[']) && header.split([',', ';', '\t', '|']).any(is_name);
    Ok(if is_table { Layout::Csv } else { Layout::Auto })
}

/// The size of a regular file; none for a pipe.
fn size(path: &str) -> Result<Option<u64>, Failure> {
    let about = metadata(path).map_err(|error| Failure::reading(path, &error))?;
    if about.is_dir() {
        return Err(Failure::reading(path, &io::ErrorKind::IsADirectory.into()));
    }
    Ok(about.is_file().then_some(about.len()))
}

fn items(
    name: &str,
    input: impl BufRead,
    layout: Layout,
    wanted: &Wanted,
    visit: &mut Visit<'_>,
) -> Result<Flow, Failure> {
    let limit = ReaderOptions::default().max_item_bytes;
    let is_row = layout == Layout::Csv;
    let mut source = Source::new(input, layout, &wanted.facts, limit);
    while let Some(item) = source.next_item() {
        let (flow, over) = match item {
            Ok(item) => {
                let place = Place { file: name, line: Some(item.line), is_row };
                (visit(place, Ok(item.bytes))?, false)
            }
            Err(error) => {
                let place = Place { file: name, line: error.problem.line, is_row };
                let refusal =
                    Refusal { place: place.to_string(), problems: vec![error.to_string()], help: None };
                (visit(place, Err(refusal))?, !error.resumable)
            }
        };
        if flow == Flow::Stop {
            return Ok(Flow::Stop);
        }
        if over {
            break;
        }
    }
    Ok(Flow::Continue)
}
