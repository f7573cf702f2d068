//! The files of evidence on the command line, cut into items one at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, metadata};
use std::io::{self, BufRead, BufReader, Cursor, IsTerminal as _, Read, Write as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::failure::Failure;
use crate::logs::{self, Log, Together};
use crate::output::{Color, FAINT, Screen};
use crate::progress::Progress;
use karat::bulk::Intake;
use karat::engine::{Wanted, each_item};
use karat::error::{Error, Place, STANDARD_INPUT};
use karat::text::clean;
use karat_core::facts::{Digest, Digester};
use karat_evidence::source::Layout;
use karat_importers::{Importer, Items, Options, Role, Summary, import, recognise, unpack};
use karat_reader::Kind;

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

/// A record of what some files had.
#[derive(Default)]
struct Taken {
    /// The summary of the logs.
    logs: Summary,
    /// The first log without a run.
    empty: Option<String>,
    /// True if a file holds anything but a log without a run.
    has_items: bool,
}

impl Taken {
    fn add(&mut self, log: Summary, name: &str, flow: Flow) {
        if flow == Flow::Continue && log.items == 0 && log.elsewhere == 0 {
            self.logs.note(logs::empty(name));
            self.empty.get_or_insert_with(|| name.to_owned());
        } else {
            self.has_items = true;
        }
        self.logs.add(log);
    }
}

/// Files of evidence; `-` is standard input.
pub struct Files {
    paths: Vec<String>,
    bytes: Option<u64>,
    color: Color,
    /// The record of what they had.
    taken: Mutex<Taken>,
    /// True while the items come out of a log that is read here, so that their sources are known.
    is_log: AtomicBool,
    /// True once the summary was shown: files may be read more than once.
    is_told: AtomicBool,
    /// The sides of files, where each side has reports that are about its trajectories alone.
    sides: BTreeMap<String, String>,
    /// The digests of the files that were read to their end, if they are asked for.
    digests: Option<Digests>,
}

/// The digests of files by their paths, taken as they are read.
pub type Digests = Arc<Mutex<BTreeMap<String, Digest>>>;

impl Files {
    /// Returns the files named, or standard input if none is. Fails before anything is scored if a file does not exist.
    pub fn new(paths: &[String], color: Color) -> Result<Self, Failure> {
        let paths = if paths.is_empty() { vec![String::from("-")] } else { paths.to_vec() };
        let paths = expanded(&paths, color)?;
        each_once(&paths)?;
        let mut bytes = Some(0u64);
        for path in &paths {
            let size = if path == "-" { None } else { size(path)? };
            bytes = bytes.zip(size).map(|(sum, size)| sum.saturating_add(size));
        }
        Ok(Self {
            paths,
            bytes,
            color,
            taken: Mutex::default(),
            is_log: AtomicBool::new(false),
            is_told: AtomicBool::new(false),
            sides: BTreeMap::new(),
            digests: None,
        })
    }

    /// Returns the same, which notes the digests of files as it reads them.
    #[must_use]
    pub fn digested(self, digests: Option<Digests>) -> Self {
        Self { digests, ..self }
    }

    /// Returns the same with the side of each file.
    #[must_use]
    pub fn of_sides(self, sides: &[(String, String)]) -> Self {
        Self { sides: sides.iter().cloned().collect(), ..self }
    }

    /// Returns the same without notes on what the logs have and the items lack.
    #[must_use]
    pub fn quiet(self) -> Self {
        Self { is_told: AtomicBool::new(true), ..self }
    }

    /// Returns the number of bytes, if it is known.
    pub fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// Hands every item to `visit`, file by file, with one item at a time in memory.
    pub fn each(&self, wanted: &Wanted, progress: &Progress, visit: &mut Visit<'_>) -> Result<(), Failure> {
        self.go(wanted, progress, &|input| Box::new(progress.count(input)), visit)
    }

    /// Puts every item into `intake`, until it wants no more.
    pub fn put(&self, wanted: &Wanted, progress: &Progress, intake: &Intake<'_>) -> Result<(), Failure> {
        self.go(
            wanted,
            progress,
            &|input| Box::new(intake.watch(progress.count(input))),
            &mut |place, item| {
                let flow = intake.push(place, item);
                Ok(if flow.is_continue() { Flow::Continue } else { Flow::Stop })
            },
        )
    }

    /// Returns whether the item that is visited was made from a log just now: of other items, the source that they name is
    /// a claim.
    pub fn is_from_log(&self) -> bool {
        self.is_log.load(Ordering::Relaxed)
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn go<'w>(
        &self,
        wanted: &Wanted,
        progress: &Progress,
        watch: &dyn Fn(Box<dyn Read>) -> Box<dyn Read + 'w>,
        visit: &mut Visit<'_>,
    ) -> Result<(), Failure> {
        *self.taken() = Taken::default();
        let mut by_side: BTreeMap<Option<&String>, Vec<String>> = BTreeMap::new();
        for path in &self.paths {
            by_side.entry(self.sides.get(path)).or_default().push(path.clone());
        }
        let mut together = BTreeMap::new();
        for (side, paths) in &by_side {
            together.insert(*side, logs::together(paths)?);
        }
        for path in &self.paths {
            let options = together.get(&self.sides.get(path)).map(Together::options).unwrap_or_default();
            if path == "-" {
                let mut input = BufReader::with_capacity(BUFFER, watch(open(path, self.color)?));
                if let Some(format) = recognise(input.fill_buf()?).filter(|it| wanted.is_for(it)) {
                    let options = Options::default();
                    self.is_log.store(true, Ordering::Relaxed);
                    let (flow, left_out) =
                        log(&Log::stream(input)?, STANDARD_INPUT, format, options, wanted, visit)?;
                    self.taken().add(left_out, STANDARD_INPUT, flow);
                    if flow == Flow::Stop {
                        return self.tell(progress);
                    }
                    continue;
                }
                self.taken().has_items = true;
                self.is_log.store(false, Ordering::Relaxed);
                let layout = wanted.layout_of_stream(&mut input)?;
                if items(STANDARD_INPUT, input, layout, wanted, visit)? == Flow::Stop {
                    return self.tell(progress);
                }
                continue;
            }
            let Looked { format, file } = look(path, self.digests.as_ref())?;
            let flow = if let Some(format) = format.filter(|it| wanted.is_for(it)) {
                if matches!(format.role, Role::Report) && options.verdicts.is_some() {
                    continue;
                }
                self.is_log.store(true, Ordering::Relaxed);
                let (flow, left_out) = log(&Log::file(path), path, format, options, wanted, visit)?;
                self.taken().add(left_out, path, flow);
                flow
            } else {
                self.taken().has_items = true;
                self.is_log.store(false, Ordering::Relaxed);
                let layout = wanted.layout_of_file(path)?;
                let file = match file {
                    Some(file) => file,
                    None => open(path, self.color).map_err(|error| Failure::reading(path, &error))?,
                };
                let input = BufReader::with_capacity(BUFFER, watch(file));
                items(path, input, layout, wanted, visit)?
            };
            if flow == Flow::Stop {
                return self.tell(progress);
            }
        }
        let mut taken = self.taken();
        let verdicts = together.values().filter_map(|it| it.verdicts.as_ref());
        verdicts.flat_map(|it| it.notes()).for_each(|note| taken.logs.note(note));
        if let Some(name) = taken.empty.as_ref().filter(|_| !taken.has_items) {
            // A gate must not pass because a harness that failed wrote an empty report.
            return Err(logs::without_runs(logs::empty(name), &taken.logs));
        }
        drop(taken);
        self.tell(progress)
    }

    /// Says once what is in the logs and in no item, as `karat import` does.
    fn tell(&self, progress: &Progress) -> Result<(), Failure> {
        let left_out = &self.taken().logs;
        if (left_out.left_out.is_empty() && left_out.notes.is_empty())
            || self.is_told.swap(true, Ordering::Relaxed)
        {
            return Ok(());
        }
        progress.end();
        let mut screen = Screen::stderr(self.color);
        logs::tell_left_out(left_out, &mut screen)?;
        logs::tell_notes(&left_out.notes, &mut screen)?;
        screen.flush()?;
        Ok(())
    }
}

/// The notes on files that were passed over.
static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// A file that [`first_item`] opened, with what it read put back. A pipe can be opened only once.
static BEGUN: Mutex<Option<(String, Box<dyn Read + Send>)>> = Mutex::new(None);

/// Opens a file, or standard input and says that it is read where a person must type it.
fn open(path: &str, color: Color) -> io::Result<Box<dyn Read + Send>> {
    let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, begun)) = begun.take_if(|(begun, _)| begun == path) {
        return Ok(begun);
    }
    if path != "-" {
        return unpack(File::open(path)?);
    }
    if io::stdin().is_terminal() {
        writeln!(Screen::stderr(color), "{FAINT}reading standard input; Ctrl-D ends it{FAINT:#}")?;
    }
    unpack(io::stdin())
}

/// Returns the first item in some files, which are read from their beginning later. `None` for no item, or for a table,
/// whose rows show no kind; what cannot be read is reported when it is read.
pub fn first_item(paths: &[String], color: Color) -> Option<Vec<u8>> {
    let path = paths.first().map_or("-", String::as_str);
    if Layout::of_path(Path::new(path)) == Layout::Csv {
        return None;
    }
    let mut input = open(path, color).ok()?;
    let mut taken = Vec::new();
    let reader = BufReader::with_capacity(BUFFER, Kept { input: &mut input, taken: &mut taken });
    let found = each_item(path, reader, Layout::Auto, &Wanted::nothing(), |_, item| {
        ControlFlow::Break(item.ok().map(<[u8]>::to_vec))
    });
    *BEGUN.lock().unwrap_or_else(PoisonError::into_inner) =
        Some((path.to_owned(), Box::new(Cursor::new(taken).chain(input))));
    found.break_value().flatten()
}

/// Keeps a copy of what is read.
struct Kept<'t, R> {
    input: R,
    taken: &'t mut Vec<u8>,
}

impl<R: Read> Read for Kept<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(into)?;
        self.taken.extend_from_slice(into.get(..count).unwrap_or_default());
        Ok(count)
    }
}

/// Returns whether two names are files or folders, and not subjects. One file and one name of no file: the other file, misspelt;
/// reading it reports that.
pub fn are_sides(first: &str, second: &str) -> bool {
    let is = |is: fn(&Path) -> bool| [first, second].map(|name| is(Path::new(name)));
    is(Path::is_file).contains(&true) || !is(Path::is_dir).contains(&false)
}

/// Returns the files that are meant by folders and patterns; in a folder, those that are logs of other tools.
///
/// Other files are passed over, and named in a note: one may be a broken log.
pub fn expanded(paths: &[String], color: Color) -> Result<Vec<String>, Failure> {
    let mut files = Vec::new();
    let mut passed = Vec::new();
    for path in paths {
        let is_one = Path::new(path).exists() && !Path::new(path).is_dir() && !logs::is_pattern(path);
        if path == "-" || is_one {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        for file in logs::files(std::slice::from_ref(path))? {
            if !file.is_found || (!file.is_link && logged(&file.path)?.is_some()) {
                files.push(file.path);
            } else {
                passed.push(file.path);
            }
        }
        if files.len() == before {
            return Err(Failure::new(format!("no file in `{}` is a log that karat knows", clean(path)))
                .help("of tables and JSON lines of your own, name each, or all of them with `*`"));
        }
    }
    // The files of a project are looked up for each of its gates.
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(note) = logs::passed_over(&passed).filter(|note| told.insert(note.clone())) {
        logs::tell_notes(&[note], &mut Screen::stderr(color))?;
    }
    drop(told);
    Ok(files)
}

/// Refuses a file that is given twice, under whatever names.
pub fn each_once(paths: &[String]) -> Result<(), Failure> {
    let (mut seen, mut identities) = (BTreeSet::new(), BTreeSet::new());
    for path in paths {
        let file = fs::canonicalize(path).unwrap_or_else(|_| path.into());
        let is_new_file = identity(path).is_none_or(|identity| identities.insert(identity));
        if !seen.insert(file) || !is_new_file {
            let why = "so each of its items would count twice";
            return Err(Failure::new(format!("`{path}` is given twice, {why}")).help("give it once"));
        }
    }
    Ok(())
}

/// A file that was looked at: its format, if it is the log of another tool, else the file itself from its beginning.
#[derive(Default)]
struct Looked {
    format: Option<&'static Importer>,
    file: Option<Box<dyn Read + Send>>,
}

/// Bytes that show what a file is.
const HEAD: u64 = 1 << 20;

/// Looks at a file, which is opened once unless it is a log.
fn look(path: &str, digests: Option<&Digests>) -> Result<Looked, Failure> {
    let is_begun = || {
        let begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
        begun.as_ref().is_some_and(|(begun, _)| begun == path)
    };
    // What a pipe, an archive or a name shows takes more than a head.
    if !metadata(path).is_ok_and(|about| about.is_file()) || path.contains(".traj") || is_begun() {
        return Ok(Looked { format: logged(path)?, file: None });
    }
    let begin = || -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
        let file = File::open(path)?;
        let mut file = unpack(match digests {
            Some(digests) => Box::new(Digested::new(file, path, digests)) as Box<dyn Read + Send>,
            None => Box::new(file),
        })?;
        let mut head = Vec::new();
        file.by_ref().take(HEAD).read_to_end(&mut head)?;
        Ok((head, file))
    };
    match begin() {
        Ok((head, file)) if !OTHERWISE.iter().any(|begin| head.starts_with(begin)) => {
            Ok(match recognise(&head) {
                Some(format) => Looked { format: Some(format), file: None },
                None => Looked { format: None, file: Some(Box::new(Cursor::new(head).chain(file))) },
            })
        }
        _ => Ok(Looked { format: logged(path)?, file: None }),
    }
}

/// The beginnings of archives, and of texts in UTF-16.
const OTHERWISE: [&[u8]; 3] = [b"PK\x03\x04", &[0xff, 0xfe], &[0xfe, 0xff]];

/// A file whose digest is noted once it was read to its end.
struct Digested {
    file: File,
    path: String,
    digester: Option<Digester>,
    digests: Digests,
}

impl Digested {
    fn new(file: File, path: &str, digests: &Digests) -> Self {
        let digester = Some(Digester::default());
        Self { file, path: path.to_owned(), digester, digests: Arc::clone(digests) }
    }
}

impl Read for Digested {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(into)?;
        if count > 0 {
            self.digester.iter_mut().for_each(|it| it.add(into.get(..count).unwrap_or_default()));
        } else if let Some(digester) = self.digester.take_if(|_| !into.is_empty()) {
            let mut digests = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
            digests.insert(self.path.clone(), digester.end());
        }
        Ok(count)
    }
}

/// Returns the format of a file that is the log of another tool. A pipe can be read only once, so it is not looked at.
fn logged(path: &str) -> Result<Option<&'static Importer>, Failure> {
    match metadata(path) {
        Ok(about) if about.is_file() => {}
        Ok(about) if logs::is_endless(&about) => {
            return Err(Failure::new(format!("`{}` is a device, which has no end", clean(path)))
                .help("name a file or a pipe"));
        }
        _ => return Ok(None),
    }
    // What is wrong with other files, the reader of evidence says.
    logs::recognised(&Log::file(path).input)
}

/// Hands on the runs in the log of another tool, as the kind of evidence that is wanted; returns what was left out, too.
fn log(
    log: &Log,
    name: &str,
    format: &'static Importer,
    options: Options,
    wanted: &Wanted,
    visit: &mut Visit<'_>,
) -> Result<(Flow, Summary), Failure> {
    let items = match wanted.kind {
        Kind::Facts => Items::Runs,
        Kind::ReasoningTrace if format.has_traces => Items::Traces,
        kind => {
            let (words, kind) = (format.words, kind.name());
            return Err(Failure::new(format!(
                "`{name}` looks like {words}, not like evidence of kind `{kind}`"
            ))
            .help(format!("score it with a card for facts: karat score --card run {name}"))
            .help(format!("or look at its runs: karat import {name}")));
        }
    };
    let options = Options { items, ..options };
    let mut ended = Ok(Flow::Continue);
    let imported = import(&log.input, format, &options, &mut |item| {
        let place = Place { file: format!("{name}: {}", item.place), line: None, nth: 1, is_row: false };
        ended = visit(&place, Ok(item.json));
        match ended {
            Ok(Flow::Continue) => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    });
    ended.and_then(|flow| imported.map(|summary| (flow, summary)).map_err(logs::refused))
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
    layout: Layout,
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
