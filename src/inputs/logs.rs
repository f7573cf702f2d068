//! Logs of other tools: recognised by their content, and what several of them say of each other.

use std::fs::{File, metadata};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use karat_importers::{
    Evaluations, ImportError, Importer, Input, Options, Retries, Role, Samples, Scales, Summary, Unread,
    Verdicts, detect,
};
use tempfile::NamedTempFile;

use super::paths::{is_endless, is_pipe, refused};
use crate::error::{Code, Error};
use crate::text::{clean, named};

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
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn any(path: &str) -> Result<Self, Error> {
        let failed = |error: io::Error| Error::reading(path, &error);
        let about = metadata(path).map_err(failed)?;
        if about.is_file() {
            return Ok(Self::file(path));
        }
        if is_pipe(&about) {
            let log = Self::stream(File::open(path).map_err(failed)?)?;
            return Ok(Self { input: log.input.named(path), ..log });
        }
        Err(refused(format!("`{}` is neither a file nor a pipe", clean(path))).hint("name the log itself"))
    }

    /// Copies a stream, which can be read only once, into a file.
    ///
    /// # Errors
    /// If it cannot be read, or the copy not be written.
    pub fn stream(stream: impl Read) -> Result<Self, Error> {
        let (kept, _) = kept(stream).map_err(|error| Error::reading("-", &error))?;
        Ok(Self { input: Input::file(kept.path()).named("-"), _kept: Some(kept) })
    }
}

/// Copies a stream into a file, which lives as long as the first.
pub(super) fn kept(mut stream: impl Read) -> io::Result<(NamedTempFile, File)> {
    let mut kept = NamedTempFile::new()?;
    io::copy(&mut stream, &mut kept)?;
    let file = kept.reopen()?;
    Ok((kept, file))
}

/// Returns the format of a file, none if karat does not know it.
///
/// # Errors
/// If it is a log that cannot be read.
pub fn format_of(input: &Input) -> Result<Option<&'static Importer>, Error> {
    detect(input).map_err(not_imported)
}

/// Returns the format of a file among others, none if karat does not know it.
///
/// # Errors
/// If it cannot be opened or unpacked: it may be a log.
pub fn recognised(input: &Input) -> Result<Option<&'static Importer>, Error> {
    match format_of(input) {
        Err(error) if input.is_packed() || input.path().is_some_and(|path| File::open(path).is_err()) => {
            Err(error)
        }
        Err(_) => Ok(None),
        found => found,
    }
}

/// Returns the format of a file that is the log of another tool. A pipe can be read only once, so it is not looked at.
pub(super) fn logged(path: &str) -> Result<Option<&'static Importer>, Error> {
    match metadata(path) {
        Ok(about) if about.is_file() => {}
        Ok(about) if is_endless(&about) => {
            return Err(refused(format!("`{}` is a device, which has no end", clean(path)))
                .hint("name a file or a pipe"));
        }
        _ => return Ok(None),
    }
    // What is wrong with other files, the reader of evidence says.
    recognised(&Input::file(path))
}

/// Returns the choices of an import, with those of files that say something of each other: of the verdicts of reports of SWE-bench, if there
/// are trajectories, which are then what the reports are about; of the samples, if there are means or sums too, which would
/// count them once more; of logs of one task, which may be tries at it or differ in a setting; of log records of OpenTelemetry, for the
/// traces that they judge; of the scales of the scores.
///
/// # Errors
/// If one of them cannot be read.
pub fn together(logs: &[(Input, &'static Importer)], mut options: Options) -> Result<Options, Error> {
    if logs.len() < 2 {
        return Ok(options);
    }
    let (mut reports, mut of_samples) = (Vec::new(), Vec::new());
    let (mut has_trajectory, mut has_sums, mut records) = (false, false, Vec::new());
    for (input, importer) in logs {
        match importer.role {
            Role::Report => reports.push(input),
            Role::Samples { sums, .. } if Samples::are_outside(input, sums) => has_sums = true,
            Role::Samples { .. } => of_samples.push((input, importer)),
            Role::Trajectory => has_trajectory = true,
            Role::Spans if Evaluations::are_in(input) => records.push(input),
            Role::Runs | Role::Matches | Role::Trial | Role::Spans => {}
        }
    }
    if !reports.is_empty() && has_trajectory {
        let mut verdicts = Verdicts::default();
        reports.iter().try_for_each(|report| verdicts.add(report)).map_err(not_imported)?;
        options.verdicts = Some(Arc::new(verdicts));
    }
    options.reports = Arc::new(reports.iter().map(|report| report.stem().to_owned()).collect());
    if !of_samples.is_empty() && has_sums {
        let mut samples = Samples::default();
        of_samples
            .iter()
            .try_for_each(|(file, importer)| samples.add(file, importer))
            .map_err(not_imported)?;
        options.samples = Some(Arc::new(samples));
    }
    if !records.is_empty() && records.len() < logs.len() {
        let mut evaluations = Evaluations::default();
        records.iter().try_for_each(|file| evaluations.add(file)).map_err(not_imported)?;
        options.evaluations = Some(Arc::new(evaluations));
    }
    options.retries = Some(Arc::new(Retries::new(logs)));
    let mut scales = Scales::default();
    logs.iter()
        .filter(|(_, importer)| importer.has_scores)
        .for_each(|(log, importer)| scales.add(log, importer, &options));
    options.scales = Some(Arc::new(scales));
    Ok(options)
}

/// Names the files of folders that are not logs.
pub fn passed_over(passed: &[String]) -> Option<String> {
    let names: Vec<&str> = passed.iter().map(String::as_str).collect();
    Some(format!("no log, so passed over: {}", named(&names)?))
}

/// Returns the refusal of a file of a format that is known and not read.
pub fn not_read(path: &str, unread: Unread) -> Error {
    refused(format!("`{}` is {}, which is not read", clean(path), unread.words)).hint(unread.advice)
}

/// Says that a log is empty.
pub fn empty(name: &str) -> String {
    format!("`{}` has no run in it", clean(name))
}

/// Returns the refusal of logs without an item, with the reasons.
pub fn without_runs(message: String, summary: &Summary) -> Error {
    let reasons = summary.left_out.iter().map(|(reason, count)| format!("{count} times {reason}"));
    let notes: Vec<String> = summary.notes.iter().filter(|note| **note != message).cloned().collect();
    Error::new(Code::NoItems, message).hints_from(notes.into_iter().chain(reasons))
}

/// Returns the refusal of a log.
pub fn not_imported(error: ImportError) -> Error {
    let ImportError { file, place, found, expected, hint } = error;
    let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
    let error = refused(format!("{file}: {place}found {found}, expected {expected}"));
    if hint.is_empty() { error } else { error.hint(hint) }
}

/// Does the same as [`together`] for paths, of which some may be of logs.
///
/// # Errors
/// If a log cannot be read.
pub fn together_of(paths: &[String], options: Options) -> Result<Options, Error> {
    let files = paths.iter().filter(|path| paths.len() > 1 && Path::new(path).is_file()).map(Input::file);
    let logs = files.filter_map(|input| Some((detect(&input).ok().flatten()?, input)));
    together(&logs.map(|(importer, input)| (input, importer)).collect::<Vec<_>>(), options)
}
