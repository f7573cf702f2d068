//! Logs of other tools on the command line: folders and patterns become files, and files are recognised by their content.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use karat::text::clean;
use karat_evidence::import::{Format, ImportError, Input, Summary, Verdicts, detect};
use tempfile::NamedTempFile;

use crate::failure::Failure;
use crate::output::{CARE, Screen};

/// Most files that folders may hold, and levels of folders.
const FILES_MAX: usize = 1 << 20;
const DEPTH_MAX: usize = 32;

/// A file to read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    /// The path, `-` for standard input.
    pub path: String,
    /// True if it was found in a folder: there, what is no log is passed over.
    pub is_found: bool,
}

/// Returns the files that are meant: each path itself, those in a folder, those that a pattern matches; in order.
pub fn files(paths: &[String]) -> Result<Vec<Named>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if path == "-" || Path::new(path).exists() {
            add(path, &mut files)?;
            continue;
        }
        let found = match glob::glob(path) {
            Ok(found) if path.contains(['*', '?', '[']) => found.filter_map(Result::ok).collect(),
            _ => Vec::new(),
        };
        if found.is_empty() {
            return Err(Failure::reading(path, &io::ErrorKind::NotFound.into()));
        }
        for path in found {
            add(&path.display().to_string(), &mut files)?;
        }
    }
    Ok(files)
}

fn add(path: &str, files: &mut Vec<Named>) -> Result<(), Failure> {
    if path == "-" || !Path::new(path).is_dir() {
        files.push(Named { path: path.to_owned(), is_found: false });
        return Ok(());
    }
    let mut found = BTreeSet::new();
    walk(Path::new(path), 0, &mut found)?;
    // A trial of Harbor has its result, and beside it the trajectory of the same run.
    let trials: BTreeSet<PathBuf> = found
        .iter()
        .filter(|file| file.file_name().is_some_and(|name| name == "result.json"))
        .filter_map(|file| file.parent().map(Path::to_owned))
        .collect();
    let is_part = |file: &Path| {
        let folder = file.parent().filter(|folder| folder.file_name().is_some_and(|name| name == "agent"));
        folder.and_then(Path::parent).is_some_and(|trial| trials.contains(trial))
    };
    let whole = found.iter().filter(|file| !is_part(file));
    files.extend(whole.map(|file| Named { path: file.display().to_string(), is_found: true }));
    Ok(())
}

fn walk(folder: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) -> Result<(), Failure> {
    let name = folder.display().to_string();
    if depth > DEPTH_MAX {
        return Err(Failure::new(format!("`{name}` lies more than {DEPTH_MAX} folders deep")));
    }
    for entry in fs::read_dir(folder).map_err(|error| Failure::reading(&name, &error))? {
        let entry = entry.map_err(|error| Failure::reading(&name, &error))?;
        let kind = entry.file_type().map_err(|error| Failure::reading(&name, &error))?;
        // A link may lead anywhere, and in a circle.
        if kind.is_dir() {
            walk(&entry.path(), depth + 1, found)?;
        } else if kind.is_file() {
            found.insert(entry.path());
        }
        if found.len() > FILES_MAX {
            return Err(Failure::new(format!("`{name}` holds more than a million files")));
        }
    }
    Ok(())
}

/// A log that is at hand; that of standard input is kept in a file as long as this lives.
pub struct Log {
    /// The log.
    pub input: Input,
    _kept: Option<NamedTempFile>,
}

impl Log {
    /// Opens a file.
    pub fn file(path: &str) -> Self {
        Self { input: Input::file(path), _kept: None }
    }

    /// Opens what has this path: a file, or a pipe, which is copied; a device has no end.
    pub fn any(path: &str) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::reading(path, &error);
        let about = fs::metadata(path).map_err(failed)?;
        if about.is_file() {
            return Ok(Self::file(path));
        }
        if is_pipe(&about) {
            let log = Self::stream(fs::File::open(path).map_err(failed)?)?;
            return Ok(Self { input: log.input.named(path), ..log });
        }
        Err(Failure::new(format!("`{}` is neither a file nor a pipe", clean(path)))
            .help("name the log itself"))
    }

    /// Copies a stream, which can be read only once, into a file.
    pub fn stream(mut stream: impl Read) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::reading("-", &error);
        let mut kept = NamedTempFile::new().map_err(failed)?;
        io::copy(&mut stream, &mut kept).map_err(failed)?;
        Ok(Self { input: Input::file(kept.path()).named("-"), _kept: Some(kept) })
    }
}

#[cfg(unix)]
fn is_pipe(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    about.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: &fs::Metadata) -> bool {
    false
}

/// Returns the format of a file, none if karat does not know it.
pub fn format_of(input: &Input) -> Result<Option<Format>, Failure> {
    detect(input).map_err(refused)
}

/// Returns the format of a file among others, none if karat does not know it. What cannot be opened or unpacked may be a log.
pub fn recognised(input: &Input) -> Result<Option<Format>, Failure> {
    match format_of(input) {
        Err(failure)
            if input.is_packed() || input.path().is_some_and(|path| fs::File::open(path).is_err()) =>
        {
            Err(failure)
        }
        Err(_) => Ok(None),
        found => found,
    }
}

/// Returns the verdicts of the reports of SWE-bench among some files, if there are trajectories among them too: the reports are
/// then about these, and no runs by themselves.
pub fn verdicts(paths: &[String]) -> Result<Option<Arc<Verdicts>>, Failure> {
    let (mut reports, mut has_trajectory) = (Vec::new(), false);
    if paths.len() < 2 {
        return Ok(None);
    }
    for path in paths.iter().filter(|path| Path::new(path).is_file()) {
        let input = Input::file(path);
        match detect(&input) {
            Ok(Some(Format::SweBench)) => reports.push(input),
            Ok(Some(format)) => has_trajectory |= format.is_trajectory(),
            Ok(None) | Err(_) => {}
        }
    }
    if reports.is_empty() || !has_trajectory {
        return Ok(None);
    }
    let mut verdicts = Verdicts::default();
    reports.iter().try_for_each(|report| verdicts.add(report)).map_err(refused)?;
    Ok(Some(Arc::new(verdicts)))
}

/// Says what logs have that no item has, how often and why; nothing if that is nothing.
pub fn tell_left_out(summary: &Summary, screen: &mut Screen) -> io::Result<()> {
    if summary.left_out.is_empty() {
        return Ok(());
    }
    writeln!(screen, "left out:")?;
    let mut reasons: Vec<(&String, &u64)> = summary.left_out.iter().collect();
    reasons.sort_by(|one, other| other.1.cmp(one.1).then(one.0.cmp(other.0)));
    for (reason, count) in reasons {
        writeln!(screen, "{count:>8}  {}", clean(reason))?;
    }
    Ok(())
}

/// Says what there is to know about logs as a whole.
pub fn tell_notes(notes: &[String], screen: &mut Screen) -> io::Result<()> {
    for note in notes {
        writeln!(screen, "{CARE}note{CARE:#}: {}", clean(note))?;
    }
    Ok(())
}

/// Returns the failure to import a log.
pub fn refused(error: ImportError) -> Failure {
    let ImportError { file, place, found, expected, hint } = error;
    let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
    let failure = Failure::new(format!("{file}: {place}found {found}, expected {expected}"));
    if hint.is_empty() { failure } else { failure.help(hint) }
}
