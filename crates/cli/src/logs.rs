//! Logs of other tools on the command line: folders and patterns become files, and files are recognised by their content.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use karat::text::{clean, named};
use karat_importers::{
    ImportError, Importer, Input, Options, Retries, Role, Samples, Summary, Verdicts, detect,
};
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
    /// True if it was found in a folder, where files other than logs are passed over.
    pub is_found: bool,
    /// True if it was found in a folder and is a link, which may lead anywhere: it is passed over.
    pub is_link: bool,
}

/// Returns whether a path has signs of a pattern in it.
pub fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// Returns the files that are meant: each path itself, those in a folder, those that a pattern matches; in order.
pub fn files(paths: &[String]) -> Result<Vec<Named>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let found = matched(path)?;
        if path == "-" || Path::new(path).exists() {
            // A file of that name must not stand for all that the pattern matches.
            if found.iter().any(|other| other != Path::new(path)) {
                return Err(Failure::new(format!("`{}` is a file, and a pattern for others", clean(path)))
                    .help("rename the file, or name each file"));
            }
            add(path, &mut files)?;
            continue;
        }
        if found.is_empty() {
            return Err(Failure::reading(path, &io::ErrorKind::NotFound.into()));
        }
        if found.len() > FILES_MAX {
            return Err(Failure::new(format!("`{path}` matches more than a million files")));
        }
        let mut own = Vec::new();
        for path in once(found) {
            add(&path.display().to_string(), &mut own)?;
        }
        // A pattern may match a folder and what lies in it.
        let kept: BTreeSet<PathBuf> =
            once(own.iter().map(|file| PathBuf::from(&file.path)).collect()).into_iter().collect();
        let mut seen = BTreeSet::new();
        own.retain(|file: &Named| kept.contains(Path::new(&file.path)) && seen.insert(file.path.clone()));
        files.append(&mut own);
    }
    Ok(files)
}

/// Returns the files that a pattern matches; none for a path without signs of one.
fn matched(path: &str) -> Result<Vec<PathBuf>, Failure> {
    let found = match glob::glob(path) {
        Ok(found) if is_pattern(path) => found,
        _ => return Ok(Vec::new()),
    };
    let failed = |error: glob::GlobError| {
        let name = error.path().display().to_string();
        Failure::reading(&name, &io::Error::from(error))
    };
    found.take(FILES_MAX + 1).map(|found| found.map_err(failed)).collect()
}

/// Returns each file once, under its shortest path: a link to a folder above gives all files in it many names.
fn once(found: Vec<PathBuf>) -> Vec<PathBuf> {
    let is_shorter =
        |one: &Path, other: &Path| (one.components().count(), one) < (other.components().count(), other);
    // A path that goes round so often that the system gives up.
    let is_round = |path: &Path| {
        let mut seen = BTreeSet::new();
        path.ancestors().skip(1).filter_map(|it| fs::canonicalize(it).ok()).any(|it| !seen.insert(it))
    };
    let mut shortest: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for path in &found {
        let own = match fs::canonicalize(path) {
            Err(_) if is_round(path) => continue,
            own => own.unwrap_or_else(|_| path.clone()),
        };
        let best = shortest.entry(own).or_insert_with(|| path.clone());
        if is_shorter(path, best) {
            best.clone_from(path);
        }
    }
    let kept: BTreeSet<&PathBuf> = shortest.values().collect();
    found.iter().filter(|path| kept.contains(path)).cloned().collect()
}

fn add(path: &str, files: &mut Vec<Named>) -> Result<(), Failure> {
    if path == "-" || !Path::new(path).is_dir() {
        files.push(Named { path: path.to_owned(), is_found: false, is_link: false });
        return Ok(());
    }
    let mut found = BTreeSet::new();
    walk(Path::new(path), 0, &mut found)?;
    let trials: BTreeSet<PathBuf> = found
        .iter()
        .filter(|file| file.file_name().is_some_and(|name| name == "result.json"))
        .filter(|file| is_trial(file))
        .filter_map(|file| file.parent().map(Path::to_owned))
        .collect();
    let is_part = |file: &Path| {
        let folder = file.parent().filter(|folder| folder.file_name().is_some_and(|name| name == "agent"));
        folder.and_then(Path::parent).is_some_and(|trial| trials.contains(trial))
    };
    let whole = found.iter().filter(|file| !is_part(file));
    let named = |file: &PathBuf| Named {
        path: file.display().to_string(),
        is_found: true,
        is_link: file.is_symlink(),
    };
    files.extend(whole.map(named));
    Ok(())
}

/// Returns whether a file is the result of a trial, which lies in a folder with the trajectory of the same run.
fn is_trial(file: &Path) -> bool {
    let found = detect(&Input::file(file)).ok().flatten();
    found.is_some_and(|importer| matches!(importer.role, Role::Trial))
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
        } else if kind.is_file() || kind.is_symlink() {
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

/// Returns whether it is a device: neither a file nor a folder, a pipe or a socket.
#[cfg(unix)]
pub fn is_endless(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    about.file_type().is_char_device() || about.file_type().is_block_device()
}

#[cfg(not(unix))]
pub fn is_endless(_: &fs::Metadata) -> bool {
    false
}

/// Names the files of folders that are not logs.
pub fn passed_over(passed: &[String]) -> Option<String> {
    let names: Vec<&str> = passed.iter().map(String::as_str).collect();
    Some(format!("no log, so passed over: {}", named(&names)?))
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
pub fn format_of(input: &Input) -> Result<Option<&'static Importer>, Failure> {
    detect(input).map_err(refused)
}

/// Returns the format of a file among others, none if karat does not know it. What cannot be opened or unpacked may be a log.
pub fn recognised(input: &Input) -> Result<Option<&'static Importer>, Failure> {
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

/// The knowledge that files read together have of each other.
#[derive(Debug, Clone, Default)]
pub struct Together {
    /// The verdicts of reports of SWE-bench, if there are trajectories too: the reports are then about these, and no runs
    /// by themselves.
    pub verdicts: Option<Arc<Verdicts>>,
    /// The samples, if there are means or sums too, which would count them once more.
    pub samples: Option<Arc<Samples>>,
    /// The logs of Inspect, if there are several: a retry has again what was finished before.
    pub retries: Option<Arc<Retries>>,
}

impl Together {
    /// Returns the choices of an import of these files.
    pub fn options(&self) -> Options {
        Options {
            verdicts: self.verdicts.clone(),
            samples: self.samples.clone(),
            retries: self.retries.clone(),
            ..Options::default()
        }
    }
}

/// Returns what files say of each other.
pub fn together(paths: &[String]) -> Result<Together, Failure> {
    let (mut reports, mut has_trajectory) = (Vec::new(), false);
    let (mut of_samples, mut has_sums) = (Vec::new(), false);
    let mut tries = Vec::new();
    if paths.len() < 2 {
        return Ok(Together::default());
    }
    for path in paths.iter().filter(|path| Path::new(path).is_file()) {
        let input = Input::file(path);
        let Ok(Some(importer)) = detect(&input) else { continue };
        match importer.role {
            Role::Report => reports.push(input),
            Role::Samples { sums, .. } if Samples::are_outside(&input, sums) => has_sums = true,
            Role::Samples { .. } => of_samples.push((input, importer)),
            Role::Try => tries.push(input),
            Role::Trajectory => has_trajectory = true,
            Role::Runs | Role::Matches | Role::Trial => {}
        }
    }
    let mut together = Together::default();
    if !reports.is_empty() && has_trajectory {
        let mut verdicts = Verdicts::default();
        reports.iter().try_for_each(|report| verdicts.add(report)).map_err(refused)?;
        together.verdicts = Some(Arc::new(verdicts));
    }
    if !of_samples.is_empty() && has_sums {
        let mut samples = Samples::default();
        of_samples.iter().try_for_each(|(file, importer)| samples.add(file, importer)).map_err(refused)?;
        together.samples = Some(Arc::new(samples));
    }
    if tries.len() > 1 {
        let mut retries = Retries::default();
        tries.iter().for_each(|log| retries.add(log));
        together.retries = Some(Arc::new(retries));
    }
    Ok(together)
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

/// Says that a log is empty.
pub fn empty(name: &str) -> String {
    format!("`{}` has no run in it", clean(name))
}

/// Returns the failure of logs without an item, with the reasons.
pub fn without_runs(message: String, summary: &Summary) -> Failure {
    let reasons = summary.left_out.iter().map(|(reason, count)| format!("{count} times {reason}"));
    let notes: Vec<String> = summary.notes.iter().filter(|note| **note != message).cloned().collect();
    notes.into_iter().chain(reasons).fold(Failure::new(message), Failure::help)
}

/// Returns the failure to import a log.
pub fn refused(error: ImportError) -> Failure {
    let ImportError { file, place, found, expected, hint } = error;
    let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
    let failure = Failure::new(format!("{file}: {place}found {found}, expected {expected}"));
    if hint.is_empty() { failure } else { failure.help(hint) }
}
