//! Inputs: evidence and records in tables, in JSON and in the logs of other tools, found by their paths, recognised by their
//! content, and cut into items one at a time. Each table and each file of JSON is opened once.

pub mod frames;
pub mod logs;
mod open;
mod paths;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use karat_core::facts::Digest;
use karat_evidence::source::Layout;
use karat_importers::{Importer, Input, Items, Options, Role, Summary, import, recognise};
use karat_reader::Kind;

use self::frames::FrameFormat;
use self::logs::Log;
pub(crate) use self::open::stream;
use self::open::{Digests, Looked, look};
use self::paths::{refused, size};
use crate::bulk::Intake;
use crate::engine::{Wanted, each_item};
use crate::error::{Error, Place, STANDARD_INPUT};
use crate::text::clean;

pub use self::paths::{Named, are_sides, each_once, files};
pub(crate) use self::paths::{expanded, is_pattern};

/// Bytes read at once.
const BUFFER: usize = 1 << 16;
/// Most files that are kept open until they are read.
const HELD: usize = 64;

/// The function that takes each item, or the error found in its place, until it breaks.
type Visit<'v> = dyn FnMut(&Place, Result<&[u8], Error>) -> ControlFlow<()> + 'v;
/// The function that hands on what is read.
type Watch<'w> = dyn Fn(Box<dyn Read>) -> Box<dyn Read + 'w> + 'w;

/// The side of a person or program for which inputs are read.
pub trait Door {
    /// Hears which inputs are read now.
    fn begin(&self, _inputs: &Inputs) {}
    /// Hands on what is read, and may count it.
    fn watch<'w>(&'w self, input: Box<dyn Read>) -> Box<dyn Read + 'w> {
        input
    }
    /// Hears what there is to know of inputs as a whole.
    fn note(&self, _note: &str) {}
    /// Hears what the logs among them have that no item has.
    ///
    /// # Errors
    /// If that cannot be said.
    fn end(&self, _logs: &Summary) -> io::Result<()> {
        Ok(())
    }
    /// Returns the words of a refusal, which may name flags.
    fn words(&self, error: Error) -> String {
        error.to_string()
    }
}

/// A door that hears nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Door for Silent {}

/// Files of evidence or records; `-` is standard input.
#[derive(Default)]
pub struct Inputs {
    paths: Vec<String>,
    passed: Vec<String>,
    bytes: Option<u64>,
    /// The side of each file, where each side has reports that are about its trajectories alone.
    sides: Vec<(String, String)>,
    /// The digests of the files that were read to their end, if they are asked for.
    digests: Option<Digests>,
    /// The files that were looked at.
    looked: Mutex<BTreeMap<String, Looked>>,
    /// True while the items come out of a log that is read here, so that their sources are known.
    is_log: AtomicBool,
}

/// A record of what some files had.
#[derive(Default)]
struct Taken {
    /// The summary of the logs.
    logs: Summary,
    /// The words about the first log without a run, or the first file of columns without a row.
    empty: Option<String>,
    /// True if a file without a run is not a log.
    has_items: bool,
    /// Reports whose verdicts trajectories take, which are read after these; none once they are.
    reports: Option<Vec<String>>,
}

impl Taken {
    fn add(&mut self, log: Summary, name: &str, flow: ControlFlow<()>) {
        // A report that is read after the trajectories may have nothing more.
        if flow.is_continue() && log.items == 0 && log.elsewhere == 0 && self.reports.is_some() {
            self.logs.note(logs::empty(name));
            self.empty.get_or_insert_with(|| logs::empty(name));
        } else {
            self.has_items = true;
        }
        self.logs.add(log);
    }

    /// Hands on the rows of a file of columns.
    fn add_rows(
        &mut self,
        (file, name, format): (File, &str, FrameFormat),
        wanted: &Wanted,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>, Error> {
        let (flow, rows) = frames::each(file, name, format, wanted, visit)?;
        match rows {
            0 => _ = self.empty.get_or_insert_with(|| format!("`{}` has no row in it", clean(name))),
            _ => self.has_items = true,
        }
        Ok(flow)
    }
}

impl Inputs {
    /// Finds the files that are meant by paths, folders and patterns; without any, standard input.
    ///
    /// # Errors
    /// If a file does not exist or is given twice, before anything is read.
    pub fn new(paths: &[String]) -> Result<Self, Error> {
        let standard = [String::from("-")];
        let (paths, passed) = expanded(if paths.is_empty() { &standard } else { paths })?;
        Self { paths, passed, ..Self::default() }.measured()
    }

    /// Does the same for the two sides of a comparison, each with its name.
    ///
    /// # Errors
    /// As [`Inputs::new`].
    pub fn of_sides(sides: [(&str, &[String]); 2]) -> Result<Self, Error> {
        let mut inputs = Self::default();
        for (side, paths) in sides {
            let (paths, passed) = expanded(paths)?;
            inputs.sides.extend(paths.iter().map(|path| (path.clone(), side.to_owned())));
            inputs.paths.extend(paths);
            inputs.passed.extend(passed);
        }
        inputs.measured()
    }

    fn measured(mut self) -> Result<Self, Error> {
        each_once(&self.paths)?;
        self.bytes = Some(0);
        for path in &self.paths {
            let size = if path == "-" { None } else { size(path)? };
            self.bytes = self.bytes.zip(size).map(|(sum, size)| sum.saturating_add(size));
        }
        Ok(self)
    }

    /// Returns the same, which notes the digests of files as it reads them.
    #[must_use]
    pub fn digested(self) -> Self {
        Self { digests: Some(Digests::default()), ..self }
    }

    /// Returns the digest of a file as it is, if it was noted or can be read.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn digest(&self, path: &str) -> Result<Digest, Error> {
        let known = self.digests.as_ref().and_then(|it| it.lock().ok()?.get(path).copied());
        match known {
            Some(digest) => Ok(digest),
            // An importer reads logs as it needs them; what is refused is not read to its end.
            None => Input::file(path).digest().map_err(|error| Error::reading(path, &error)),
        }
    }

    /// Returns the paths of the files.
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// Returns the files with the side of each, if there are two sides.
    pub fn sides(&self) -> &[(String, String)] {
        &self.sides
    }

    fn looked(&self) -> MutexGuard<'_, BTreeMap<String, Looked>> {
        self.looked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the side of a file.
    fn side(&self, path: &str) -> Option<&str> {
        self.sides.iter().find(|(file, _)| file == path).map(|(_, side)| side.as_str())
    }

    /// Returns the number of bytes, if it is known.
    pub fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// Returns whether one of them is standard input.
    pub fn has_standard_input(&self) -> bool {
        self.paths.iter().any(|path| path == "-")
    }

    /// Names the files of folders that are passed over, as they are not logs.
    pub fn passed_over(&self) -> Option<String> {
        logs::passed_over(&self.passed)
    }

    /// Returns whether the item that is visited was made from a log just now: of other items, the source that they name is
    /// a claim.
    pub fn is_from_log(&self) -> bool {
        self.is_log.load(Ordering::Relaxed)
    }

    /// Returns the first item, which is read again later. `None` for no item, or for a table, whose rows show no kind; what
    /// cannot be read is reported when it is read.
    pub fn first_item(&self) -> Option<Vec<u8>> {
        let path = self.paths.first()?;
        if Layout::of_path(Path::new(path)) == Layout::Csv {
            return None;
        }
        open::first_item(path, &mut self.looked(), &Wanted::nothing())
    }

    /// Hands every item to `visit` until it breaks, file by file, with one item at a time in memory; returns what the logs
    /// among them have that no item has.
    ///
    /// # Errors
    /// If an input cannot be read, or no log has a run in it; what `visit` says.
    pub fn each<E: From<Error>>(
        &self,
        wanted: &Wanted,
        door: &(impl Door + ?Sized),
        mut visit: impl FnMut(&Place, Result<&[u8], Error>) -> Result<ControlFlow<()>, E>,
    ) -> Result<Summary, E> {
        let mut failed = None;
        door.begin(self);
        let read = self.go(wanted, &|input| door.watch(input), &mut |place, item| {
            visit(place, item).unwrap_or_else(|error| {
                failed = Some(error);
                ControlFlow::Break(())
            })
        });
        match failed {
            Some(error) => Err(error),
            None => {
                let logs = read?;
                told(door, &logs)?;
                Ok(logs)
            }
        }
    }

    /// Puts every item into `intake`, until it wants no more.
    ///
    /// # Errors
    /// If an input cannot be read, or no log has a run in it.
    pub fn put(&self, wanted: &Wanted, door: &impl Door, intake: &Intake<'_>) -> Result<(), Error> {
        door.begin(self);
        let read = self.go(wanted, &|input| Box::new(intake.watch(door.watch(input))), &mut |place, item| {
            intake.push(place, item)
        });
        told(door, &read?)
    }

    fn go(&self, wanted: &Wanted, watch: &Watch<'_>, visit: &mut Visit<'_>) -> Result<Summary, Error> {
        let mut taken = Taken { reports: Some(Vec::new()), ..Taken::default() };
        let together = self.together()?;
        let mut one = |path: &str, taken: &mut Taken| {
            if path == "-" {
                return self.standard_input(wanted, watch, taken, visit);
            }
            let options = together.get(&self.side(path)).cloned().unwrap_or_default();
            self.file(path, wanted, options, watch, taken, visit)
        };
        for path in &self.paths {
            if one(path, &mut taken)?.is_break() {
                return Ok(taken.logs);
            }
        }
        for report in taken.reports.take().unwrap_or_default() {
            if one(&report, &mut taken)?.is_break() {
                return Ok(taken.logs);
            }
        }
        let verdicts = together.values().filter_map(|it| it.verdicts.as_ref());
        verdicts.flat_map(|it| it.notes()).for_each(|note| taken.logs.note(note));
        match taken.empty.as_ref().filter(|_| !taken.has_items) {
            // A gate must not pass because a harness that failed wrote an empty report.
            Some(empty) => Err(logs::without_runs(empty.clone(), &taken.logs)),
            None => Ok(taken.logs),
        }
    }

    /// Returns what the logs of each side say of each other.
    fn together(&self) -> Result<BTreeMap<Option<&str>, Options>, Error> {
        let mut by_side: BTreeMap<Option<&str>, Vec<&String>> = BTreeMap::new();
        for path in &self.paths {
            by_side.entry(self.side(path)).or_default().push(path);
        }
        let mut together = BTreeMap::new();
        for (side, paths) in by_side {
            let mut logs = Vec::new();
            for path in paths.iter().filter(|path| paths.len() > 1 && Path::new(path).is_file()) {
                let mut looked = self.looked();
                if looked.len() < HELD || looked.contains_key(*path) {
                    // What cannot be read is reported when it is read.
                    let Ok(found) = look(path, &mut looked) else { continue };
                    logs.extend(found.map(|format| (Input::file(path), format)));
                } else {
                    logs.extend(logs::logged(path).ok().flatten().map(|format| (Input::file(path), format)));
                }
            }
            together.insert(side, logs::together(&logs, Options::default())?);
        }
        Ok(together)
    }

    fn standard_input(
        &self,
        wanted: &Wanted,
        watch: &Watch<'_>,
        taken: &mut Taken,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>, Error> {
        let failed = |error: io::Error| Error::reading("-", &error);
        let mut input = BufReader::with_capacity(BUFFER, watch(stream("-").map_err(failed)?));
        let head = input.fill_buf().map_err(failed)?;
        if let Some(format) = recognise(head).filter(|it| wanted.is_for(it)) {
            self.is_log.store(true, Ordering::Relaxed);
            let kept = Log::stream(input)?;
            let (flow, log) = runs(&kept.input, STANDARD_INPUT, format, Options::default(), wanted, visit)?;
            taken.add(log, STANDARD_INPUT, flow);
            return Ok(flow);
        }
        self.is_log.store(false, Ordering::Relaxed);
        if let Some(format) = FrameFormat::of(head) {
            let (_kept, file) = logs::kept(input).map_err(failed)?;
            return taken.add_rows((file, STANDARD_INPUT, format), wanted, visit);
        }
        taken.has_items = true;
        let layout = wanted.layout_of_stream(&mut input).map_err(failed)?;
        Ok(each_item(STANDARD_INPUT, input, layout, wanted, visit))
    }

    fn file(
        &self,
        path: &str,
        wanted: &Wanted,
        options: Options,
        watch: &Watch<'_>,
        taken: &mut Taken,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>, Error> {
        let (format, looked) = {
            let mut looked = self.looked();
            (look(path, &mut looked)?, looked.remove(path))
        };
        if let Some(format) = format.filter(|it| wanted.is_for(it)) {
            if let Role::Report = format.role
                && options.verdicts.is_some()
                && let Some(reports) = &mut taken.reports
            {
                reports.push(path.to_owned());
                return Ok(ControlFlow::Continue(()));
            }
            self.is_log.store(true, Ordering::Relaxed);
            let (flow, log) = runs(&Input::file(path), path, format, options, wanted, visit)?;
            taken.add(log, path, flow);
            return Ok(flow);
        }
        let unread = looked.as_ref().and_then(|looked| looked.unread);
        if let Some(unread) = unread.filter(|it| !it.is_table && matches!(wanted.kind, Kind::Facts)) {
            return Err(logs::not_read(path, unread));
        }
        self.is_log.store(false, Ordering::Relaxed);
        let failed = |error: io::Error| Error::reading(path, &error);
        let (columns, file) = looked.map_or((None, None), |looked| (looked.columns, looked.file));
        let file = match (columns, file) {
            (Some(format), Some(file)) => return taken.add_rows((file, path, format), wanted, visit),
            (_, file) => file,
        };
        let is_file = file.is_some();
        let file = open::whole(path, file, self.digests.as_ref());
        let mut input = BufReader::with_capacity(BUFFER, watch(file.map_err(failed)?));
        if !is_file && let Some(format) = FrameFormat::of(input.fill_buf().map_err(failed)?) {
            let (_kept, file) = logs::kept(input).map_err(failed)?;
            return taken.add_rows((file, path, format), wanted, visit);
        }
        taken.has_items = true;
        let layout = wanted.layout_of_file(path)?;
        Ok(each_item(path, input, layout, wanted, visit))
    }
}

/// Tells the door what logs have that no item has.
fn told(door: &(impl Door + ?Sized), logs: &Summary) -> Result<(), Error> {
    door.end(logs).map_err(|error| refused(format!("cannot write to standard error: {error}")))
}

/// Hands on the runs in the log of another tool, as the kind of evidence that is wanted; returns what was left out, too.
fn runs(
    log: &Input,
    name: &str,
    format: &'static Importer,
    options: Options,
    wanted: &Wanted,
    visit: &mut Visit<'_>,
) -> Result<(ControlFlow<()>, Summary), Error> {
    let items = match wanted.kind {
        Kind::Facts => Items::Runs,
        Kind::ReasoningTrace if format.has_traces => Items::Traces,
        kind => {
            let (words, kind) = (format.words, kind.name());
            return Err(refused(format!("`{name}` looks like {words}, not like evidence of kind `{kind}`"))
                .hint(format!("score it with a card for facts: karat score --card run {name}"))
                .hint(format!("or look at its runs: karat import {name}")));
        }
    };
    let options = Options { items, ..options };
    let mut flow = ControlFlow::Continue(());
    let imported = import(log, format, &options, &mut |item| {
        let place = Place { file: format!("{name}: {}", item.place), line: None, nth: 1, is_row: false };
        flow = visit(&place, Ok(item.json));
        flow
    });
    // What was refused on the way says more than the log that was left.
    match imported {
        Err(_) if flow.is_break() => Ok((flow, Summary::default())),
        imported => Ok((flow, imported.map_err(logs::not_imported)?)),
    }
}
