//! The files of evidence on the command line, cut into items one at a time.

use std::collections::BTreeSet;
use std::fs::{self, File, metadata};
use std::io::{self, BufRead, BufReader, IsTerminal as _, Read, Write as _};
use std::ops::ControlFlow;

use crate::failure::Failure;
use crate::output::{Color, FAINT, Screen};
use crate::progress::Progress;
use karat::bulk::Intake;
use karat::engine::{Wanted, each_item};
use karat::error::{Error, Place, STANDARD_INPUT};

/// Bytes read at once.
const BUFFER: usize = 1 << 16;

/// The decision to go on to the next item, or to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop here.
    Stop,
}

/// The function that takes each item, or the error found in its place.
pub type Visit<'v> = dyn FnMut(&Place, Result<&[u8], Error>) -> Result<Flow, Failure> + 'v;

/// Files of evidence; `-` is standard input.
pub struct Files {
    paths: Vec<String>,
    bytes: Option<u64>,
    color: Color,
}

impl Files {
    /// Returns the files named, or standard input if none is. Fails before anything is scored if a file does not exist.
    pub fn new(paths: &[String], color: Color) -> Result<Self, Failure> {
        let paths = if paths.is_empty() { vec![String::from("-")] } else { paths.to_vec() };
        let mut bytes = Some(0u64);
        let (mut seen, mut identities) = (BTreeSet::new(), BTreeSet::new());
        for path in &paths {
            let file = fs::canonicalize(path).unwrap_or_else(|_| path.into());
            let is_new_file = identity(path).is_none_or(|identity| identities.insert(identity));
            if !seen.insert(file) || !is_new_file {
                let why = "so each of its items would count twice";
                return Err(Failure::new(format!("`{path}` is given twice, {why}")).help("give it once"));
            }
            let size = if path == "-" { None } else { size(path)? };
            bytes = bytes.zip(size).map(|(sum, size)| sum.saturating_add(size));
        }
        Ok(Self { paths, bytes, color })
    }

    /// Returns the number of bytes, if it is known.
    pub fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// Hands every item to `visit`, file by file, with one item at a time in memory.
    pub fn each(&self, wanted: &Wanted, progress: &Progress, visit: &mut Visit<'_>) -> Result<(), Failure> {
        self.go(wanted, &|input| Box::new(progress.count(input)), visit)
    }

    /// Puts every item into `intake`, until it wants no more.
    pub fn put(&self, wanted: &Wanted, progress: &Progress, intake: &Intake<'_>) -> Result<(), Failure> {
        self.go(wanted, &|input| Box::new(intake.watch(progress.count(input))), &mut |place, item| {
            let flow = intake.push(place, item);
            Ok(if flow.is_continue() { Flow::Continue } else { Flow::Stop })
        })
    }

    fn go<'w>(
        &self,
        wanted: &Wanted,
        watch: &dyn Fn(Box<dyn Read>) -> Box<dyn Read + 'w>,
        visit: &mut Visit<'_>,
    ) -> Result<(), Failure> {
        for path in &self.paths {
            let flow = if path == "-" {
                if io::stdin().is_terminal() {
                    writeln!(
                        Screen::stderr(self.color),
                        "{FAINT}reading standard input; Ctrl-D ends it{FAINT:#}"
                    )?;
                }
                let mut input = BufReader::with_capacity(BUFFER, watch(Box::new(io::stdin().lock())));
                let layout = wanted.layout_of_stream(&mut input)?;
                items(STANDARD_INPUT, input, layout, wanted, visit)?
            } else {
                let layout = wanted.layout_of_file(path)?;
                let file = File::open(path).map_err(|error| Failure::reading(path, &error))?;
                let input = BufReader::with_capacity(BUFFER, watch(Box::new(file)));
                items(path, input, layout, wanted, visit)?
            };
            if flow == Flow::Stop {
                break;
            }
        }
        Ok(())
    }
}

/// Returns the device and number of a regular file, which it has under every name, also as standard input.
#[cfg(unix)]
fn identity(path: &str) -> Option<(u64, u64)> {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::MetadataExt as _;
    let about = match path {
        "-" => File::from(io::stdin().as_fd().try_clone_to_owned().ok()?).metadata(),
        path => metadata(path),
    };
    about.ok().filter(fs::Metadata::is_file).map(|about| (about.dev(), about.ino()))
}

#[cfg(not(unix))]
fn identity(_: &str) -> Option<(u64, u64)> {
    None
}

/// Returns the size of a regular file; `None` for a pipe.
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
    layout: karat_evidence::source::Layout,
    wanted: &Wanted,
    visit: &mut Visit<'_>,
) -> Result<Flow, Failure> {
    let ended = each_item(name, input, layout, wanted, |place, bytes| match visit(place, bytes) {
        Ok(Flow::Continue) => ControlFlow::Continue(()),
        other => ControlFlow::Break(other),
    });
    match ended {
        ControlFlow::Continue(()) => Ok(Flow::Continue),
        ControlFlow::Break(flow) => flow,
    }
}
