//! Paths, folders and patterns become files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, metadata};
use std::io;
use std::path::{Path, PathBuf};

use karat_importers::{Input, Role, detect};

use super::frames::has_columns;
use super::logs::logged;
use crate::error::{Code, Error};
use crate::text::clean;

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
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// Returns the files that are meant: each path itself, those in a folder, those that a pattern matches; in order.
///
/// # Errors
/// If nothing has the path, or a folder cannot be read.
pub fn files(paths: &[String]) -> Result<Vec<Named>, Error> {
    let mut files = Vec::new();
    for path in paths {
        let found = matched(path)?;
        if path == "-" || Path::new(path).exists() {
            // A file of that name must not stand for all that the pattern matches.
            if found.iter().any(|other| other != Path::new(path)) {
                return Err(refused(format!("`{}` is a file, and a pattern for others", clean(path)))
                    .hint("rename the file, or name each file"));
            }
            add(path, &mut files)?;
            continue;
        }
        if found.is_empty() {
            return Err(Error::reading(path, &io::ErrorKind::NotFound.into()));
        }
        if found.len() > FILES_MAX {
            return Err(refused(format!("`{path}` matches more than a million files")));
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
fn matched(path: &str) -> Result<Vec<PathBuf>, Error> {
    let found = match glob::glob(path) {
        Ok(found) if is_pattern(path) => found,
        _ => return Ok(Vec::new()),
    };
    let failed = |error: glob::GlobError| {
        let name = error.path().display().to_string();
        Error::reading(&name, &io::Error::from(error))
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

fn add(path: &str, files: &mut Vec<Named>) -> Result<(), Error> {
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

fn walk(folder: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) -> Result<(), Error> {
    let name = folder.display().to_string();
    if depth > DEPTH_MAX {
        return Err(refused(format!("`{name}` lies more than {DEPTH_MAX} folders deep")));
    }
    let failed = |error: io::Error| Error::reading(&name, &error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type().map_err(failed)?;
        // A link may lead anywhere, and in a circle.
        if kind.is_dir() {
            walk(&entry.path(), depth + 1, found)?;
        } else if kind.is_file() || kind.is_symlink() {
            found.insert(entry.path());
        }
        if found.len() > FILES_MAX {
            return Err(refused(format!("`{name}` holds more than a million files")));
        }
    }
    Ok(())
}

/// Returns the files that are meant by folders and patterns, and those that are passed over: in a folder, what is not the log
/// of another tool, or in one without logs what has no columns. One of these may be a log that is broken.
///
/// # Errors
/// If nothing has the path, or no file of a folder is a log.
pub(crate) fn expanded(paths: &[String]) -> Result<(Vec<String>, Vec<String>), Error> {
    let (mut files, mut passed) = (Vec::new(), Vec::new());
    for path in paths {
        let is_one = Path::new(path).exists() && !Path::new(path).is_dir() && !is_pattern(path);
        if path == "-" || is_one {
            files.push(path.clone());
            continue;
        }
        let (before, before_passed) = (files.len(), passed.len());
        for file in self::files(std::slice::from_ref(path))? {
            if !file.is_found || (!file.is_link && logged(&file.path)?.is_some()) {
                files.push(file.path);
            } else {
                passed.push(file.path);
            }
        }
        if files.len() == before {
            let own = passed.split_off(before_passed);
            let (found, others): (Vec<String>, Vec<String>) =
                own.into_iter().partition(|file| has_columns(Path::new(path), Path::new(file)));
            files.extend(found);
            passed.extend(others);
        }
        if files.len() == before {
            return Err(refused(format!("no file in `{}` is a log that karat knows", clean(path)))
                .hint("of tables and JSON lines of your own, name each, or all of them with `*`"));
        }
    }
    Ok((files, passed))
}

/// Refuses a file that is given twice, under whatever names.
///
/// # Errors
/// If one is.
pub fn each_once(paths: &[String]) -> Result<(), Error> {
    let (mut seen, mut identities) = (BTreeSet::new(), BTreeSet::new());
    for path in paths {
        let file = fs::canonicalize(path).unwrap_or_else(|_| path.into());
        let is_new_file = identity(path).is_none_or(|identity| identities.insert(identity));
        if !seen.insert(file) || !is_new_file {
            let why = "so each of its items would count twice";
            return Err(refused(format!("`{path}` is given twice, {why}")).hint("give it once"));
        }
    }
    Ok(())
}

/// Returns whether two names are files or folders, and not subjects. One file and one name of no file: the other file, misspelt;
/// reading it reports that.
pub fn are_sides(first: &str, second: &str) -> bool {
    let is = |is: fn(&Path) -> bool| [first, second].map(|name| is(Path::new(name)));
    is(Path::is_file).contains(&true) || !is(Path::is_dir).contains(&false)
}

/// Returns the device and number of a regular file, which it has under every name, also as standard input.
#[cfg(unix)]
fn identity(path: &str) -> Option<(u64, u64)> {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::MetadataExt as _;
    let about = match path {
        "-" => fs::File::from(io::stdin().as_fd().try_clone_to_owned().ok()?).metadata(),
        path => metadata(path),
    };
    about.ok().filter(fs::Metadata::is_file).map(|about| (about.dev(), about.ino()))
}

#[cfg(not(unix))]
fn identity(_: &str) -> Option<(u64, u64)> {
    None
}

/// Returns the size of a regular file; `None` for a pipe.
pub(super) fn size(path: &str) -> Result<Option<u64>, Error> {
    let about = metadata(path).map_err(|error| Error::reading(path, &error))?;
    if about.is_dir() {
        return Err(Error::reading(path, &io::ErrorKind::IsADirectory.into()));
    }
    Ok(about.is_file().then_some(about.len()))
}

/// Returns whether it is a device: neither a file nor a folder, a pipe or a socket.
#[cfg(unix)]
pub(super) fn is_endless(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    about.file_type().is_char_device() || about.file_type().is_block_device()
}

#[cfg(not(unix))]
pub(super) fn is_endless(_: &fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
pub(super) fn is_pipe(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    about.file_type().is_fifo()
}

#[cfg(not(unix))]
pub(super) fn is_pipe(_: &fs::Metadata) -> bool {
    false
}

/// Returns the refusal of paths.
pub(super) fn refused(message: impl Into<String>) -> Error {
    Error::new(Code::Unreadable, message)
}
