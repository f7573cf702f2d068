//! The data that `karat init` looks at: files of tables and JSON, and the logs of other tools, as one profile.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::ops::ControlFlow;
use std::path::Path;

use karat::engine::{Wanted, each_item};
use karat::record::Record;
use karat::text::clean;
use karat_core::scorecard::FactType;
use karat_evidence::profile::Profile;
use karat_evidence::source::{Layout, SEPARATORS};
use karat_importers::{Importer, Options, import, unpack};
use karat_reader::Kind;

use super::names::{SUBJECTS, SUCCESS, TASKS};
use crate::failure::Failure;
use crate::logs::{self, Log, Named};

/// Ends of the names of files that may be data.
const ENDINGS: [&str; 5] = [".csv", ".tsv", ".jsonl", ".ndjson", ".json"];
/// Bytes of a header that is looked at.
const HEAD: u64 = 1 << 16;

/// The data.
pub struct Data {
    /// The paths as they were given.
    pub given: Vec<String>,
    /// Profile of all items.
    pub profile: Profile,
    /// The formats of logs among the files.
    pub formats: Vec<&'static Importer>,
    /// True if a file is a table or JSON, and no log.
    pub has_own: bool,
}

/// Looks at every item of the files, of the current folder if none is given; `named` are fields that the flags name.
pub fn read<'a>(given: &[String], named: impl Iterator<Item = &'a str>) -> Result<Data, Failure> {
    let given = if given.is_empty() { of_folder()? } else { given.to_vec() };
    if given.iter().any(|path| path == "-") {
        return Err(
            Failure::new("a project needs files, not standard input").help("write it to a file first")
        );
    }
    let profile = Profile::wanting(SUBJECTS.into_iter().chain(TASKS).chain(SUCCESS).chain(named));
    let mut data = Data { given, profile, formats: Vec::new(), has_own: false };
    let files = logs::files(&data.given)?;
    let files: Vec<Named> = files.into_iter().filter(|file| !file.is_link).collect();
    let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let options = logs::together(&paths)?.options();
    for file in files {
        let log = Log::file(&file.path);
        match logs::format_of(&log.input) {
            Ok(Some(format)) if format.is_matches() => {
                return Err(Failure::new(format!(
                    "`{}` is {}, which are rated and not scored",
                    clean(&file.path),
                    format.words
                ))
                .help(format!("karat rate {}", file.path)));
            }
            Ok(Some(format)) => {
                add_log(&log, format, &options, &mut data)?;
            }
            Err(failure) if log.input.is_packed() => return Err(failure),
            // In a folder the other commands read logs alone.
            _ if file.is_found => {}
            _ => add_own(&file.path, &mut data)?,
        }
    }
    if data.profile.items() == 0 {
        return Err(Failure::new("there is no item in these files")
            .help("of a folder logs are read; tables and JSON in it are named by a pattern: karat init 'runs/*.jsonl'"));
    }
    Ok(data)
}

/// Returns the files of the current folder that may be data, in order.
fn of_folder() -> Result<Vec<String>, Failure> {
    let entries = fs::read_dir(".").map_err(|error| Failure::reading(".", &error))?;
    let names = entries.filter_map(|entry| {
        let entry = entry.ok().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))?;
        entry.file_name().into_string().ok().filter(|name| is_data(name) && !name.starts_with('.'))
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    if names.is_empty() {
        return Err(Failure::new("there is no table, JSON or log in this folder")
            .help("name what your runs left: karat init runs.csv")
            .help("`karat import --help` names the logs that are read"));
    }
    Ok(names)
}

fn is_data(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = [".gz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn add_log(log: &Log, format: &'static Importer, options: &Options, data: &mut Data) -> Result<(), Failure> {
    let mut wrong = None;
    import(&log.input, format, options, &mut |item| match data.profile.add(item.json, false) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            wrong = Some(error);
            ControlFlow::Break(())
        }
    })
    .map_err(logs::refused)?;
    data.formats.push(format);
    match wrong {
        Some(error) => Err(Failure::new(format!("{}: {error}", log.input.name()))),
        None => Ok(()),
    }
}

fn add_own(path: &str, data: &mut Data) -> Result<(), Failure> {
    let reading = |error: std::io::Error| Failure::reading(path, &error);
    let open = || fs::File::open(path).and_then(unpack);
    let layout = Layout::of_path(Path::new(path));
    let wanted = match layout {
        Layout::Csv => columns(open().map_err(reading)?.take(HEAD)).map_err(reading)?,
        _ => Wanted::nothing(),
    };
    let input = BufReader::with_capacity(1 << 16, open().map_err(reading)?);
    let ended = each_item(path, input, layout, &wanted, |place, item| {
        let item = match item {
            Ok(item) => item,
            Err(error) => return ControlFlow::Break(Failure::from(error)),
        };
        if matches!(Record::parse(item), Ok(Some(_))) {
            return ControlFlow::Break(
                Failure::new(format!("{place}: this is a record, which names its own scorecard"))
                    .help(format!("rank what is scored already: karat leaderboard {path}")),
            );
        }
        if let Some(kind) = Kind::of_item(item).filter(|kind| *kind != Kind::Facts) {
            return ControlFlow::Break(
                Failure::new(format!("{place}: this looks like evidence of kind `{}`", kind.name())).help(
                    format!("start from a scorecard for that: karat card new my-card --kind {}", kind.name()),
                ),
            );
        }
        match data.profile.add(item, place.is_row) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(
                Failure::new(format!("{place}: found {error}, expected an item of evidence, a JSON object"))
                    .help("a table or JSON lines: one object for each run, with its measurements"),
            ),
        }
    });
    data.has_own = true;
    match ended {
        ControlFlow::Break(failure) => Err(failure),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// Returns the columns of a table as texts: those of the mark that separates most.
fn columns(input: impl std::io::Read) -> std::io::Result<Wanted> {
    let mut head = Vec::new();
    let mut input = BufReader::new(input);
    while head.trim_ascii().is_empty() && input.read_until(b'\n', &mut head)? > 0 {}
    let head = String::from_utf8_lossy(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head)).into_owned();
    let names = |mark: u8| -> Vec<String> {
        let mut is_quoted = false;
        let cells = head.split(|c: char| {
            is_quoted ^= c == '"';
            c == char::from(mark) && !is_quoted
        });
        cells.map(|name| name.trim().trim_matches('"').replace("\"\"", "\"")).collect()
    };
    // Of several that separate as many, the first.
    let mut best = Vec::new();
    for mark in SEPARATORS {
        let found = names(mark);
        if found.len() > best.len() {
            best = found;
        }
    }
    let facts =
        best.into_iter().filter(|name| !name.starts_with('$')).map(|name| (name, FactType::Text)).collect();
    Ok(Wanted { facts, ..Wanted::nothing() })
}
