//! `karat import`: the logs of other tools as items of evidence, runs or traces, one on each line.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::ops::ControlFlow;

use karat_importers::{IMPORTERS, Importer, Input, Items, Options, Role, Summary, Unread, check, import};

use crate::args::{Cli, ImportArgs, ImportKind};
use crate::progress::{tell_left_out, tell_notes};
use karat::inputs::logs::{self, Log};
use karat::inputs::{Named, each_once, files};
use karat::text::clean;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::output::{Color, FAINT, Screen, lines};
use serde::Deserialize;

/// Most names of files that are listed.
const LISTED: usize = 3;

/// Imports all logs given.
pub fn run(args: &ImportArgs, cli: &Cli) -> Result<Exit, Failure> {
    let asked = args.format.as_deref().map(format).transpose()?;
    let paths = if args.files.is_empty() { vec![String::from("-")] } else { args.files.clone() };
    let items = match args.kind {
        ImportKind::Facts => Items::Runs,
        ImportKind::Trace => Items::Traces,
    };
    if let (ImportKind::Facts, Some(_)) = (args.kind, &args.domain) {
        return Err(Failure::new("`--domain` is for traces").help("add `--as trace`, or leave it out"));
    }
    let files = files(&paths)?;
    let named: Vec<String> = files.iter().filter(|it| !it.is_link).map(|file| file.path.clone()).collect();
    each_once(&named)?;
    let options = Options {
        items,
        domain: args.domain.clone(),
        subject: args.subject.clone(),
        score: args.score.clone(),
        ..Options::default()
    };
    let options = logs::together_of(&named, options)?;
    let mut out = lines();
    let imported = if args.strict {
        // Nothing is handed on before it is known whether all follows.
        let mut held = Vec::new();
        let imported = all(files, asked, &options, &mut held)?;
        if !imported.total.contradictions.is_empty() {
            let refused = Failure::new("what the files state does not follow from their items");
            return Err(imported.total.contradictions.into_iter().fold(refused, Failure::help));
        }
        out.write_all(&held).map(|()| imported).map_err(Failure::from)
    } else {
        all(files, asked, &options, &mut out)
    };
    out.flush()?;
    let Imported { mut total, empty, read, passed } = imported?;
    if read.is_empty() && empty != Summary::default() {
        return Err(logs::without_runs(String::from("no file has a run in it"), &empty).into());
    }
    if read.is_empty() {
        return Err(Failure::new("no file is of a format that karat knows")
            .help("`karat import --help` names the formats; --format takes one"));
    }
    if let Some(verdicts) = &options.verdicts {
        let used =
            verdicts.used().into_iter().map(|name| format!("whether a trajectory is solved says `{name}`"));
        used.chain(verdicts.notes()).for_each(|note| total.note(note));
    }
    if !args.quiet {
        tell(&total, items, &read, &passed, cli.color)?;
    }
    Ok(Exit::Done)
}

/// The result of an import: what was read, the files that were passed over, and what those without a run left out.
#[derive(Default)]
struct Imported {
    total: Summary,
    empty: Summary,
    read: Vec<&'static Importer>,
    passed: Vec<String>,
}

/// The runs that were written, to find those that are one.
#[derive(Default)]
struct Written {
    /// The number of the file of each, by a digest of subject and id.
    by: HashMap<u64, usize>,
    /// The first that is there again, with the number of the file that has it first.
    first: Option<(String, usize)>,
    again: u64,
}

/// The names by which runs are one.
#[derive(Deserialize)]
struct Key<'a> {
    #[serde(borrow)]
    subject: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
}

impl Written {
    fn see(&mut self, item: &[u8], file: usize) {
        let Ok(Key { subject: Some(subject), id: Some(id) }) = serde_json::from_slice(item) else { return };
        let mut hasher = DefaultHasher::new();
        (&subject, &id).hash(&mut hasher);
        let before = *self.by.entry(hasher.finish()).or_insert(file);
        if before != file {
            self.again += 1;
            self.first.get_or_insert_with(|| (clean(&id).into_owned(), before));
        }
    }

    /// Says that files have the same runs, which no leaderboard takes.
    fn told(&self, names: &[String], file: &str) -> Option<String> {
        let (id, before) = self.first.as_ref()?;
        let before = clean(names.get(*before).map_or("", String::as_str)).into_owned();
        let file = clean(file);
        let runs = if self.again == 1 { "1 run" } else { &format!("{} runs", self.again) };
        Some(format!(
            "`{file}` has {runs} that `{before}` has too, the first `{id}`: give each evaluation once"
        ))
    }
}

/// Writes the items of all files.
fn all(
    files: Vec<Named>,
    asked: Option<&'static Importer>,
    options: &Options,
    out: &mut impl io::Write,
) -> Result<Imported, Failure> {
    let mut all = Imported::default();
    let (mut written, mut names) = (Written::default(), Vec::new());
    let mut files: VecDeque<(Named, bool)> = files.into_iter().map(|file| (file, false)).collect();
    while let Some((file, is_later)) = files.pop_front() {
        if file.is_link {
            all.passed.push(file.path);
            continue;
        }
        let log = if file.path == "-" { Log::stream(io::stdin().lock())? } else { Log::any(&file.path)? };
        let found = if file.is_found { logs::recognised(&log.input) } else { logs::format_of(&log.input) };
        let format = match (asked, found) {
            (Some(format), _) => match check(&log.input, format) {
                Ok(()) => format,
                Err(_) if file.is_found => {
                    all.passed.push(file.path);
                    continue;
                }
                Err(error) => return Err(logs::not_imported(error).into()),
            },
            (None, Ok(Some(format)))
                if file.is_found && options.items == Items::Traces && !format.has_traces =>
            {
                all.passed.push(file.path);
                continue;
            }
            (None, Ok(Some(format))) => format,
            (None, Ok(None)) if file.is_found => {
                all.passed.push(file.path);
                continue;
            }
            (None, Err(error)) => return Err(error.into()),
            (None, Ok(None)) => return Err(unknown(&file.path, &log.input)),
        };
        let is_joined = matches!(format.role, Role::Report) && options.verdicts.is_some();
        if is_joined && !is_later {
            // It has what no trajectory took.
            files.push_back((file, true));
            continue;
        }
        let mut failed = None;
        let imported = import(&log.input, format, options, &mut |item| {
            written.see(item.json, names.len());
            let written = out.write_all(item.json).and_then(|()| out.write_all(b"\n"));
            match written {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        let mut summary = imported.map_err(logs::not_imported)?;
        if let Some(again) = written.told(&names, &file.path) {
            summary.note(again.clone());
            summary.contradictions.push(again);
        }
        (written.first, written.again) = (None, 0);
        names.push(file.path.clone());
        if summary.items == 0 && (summary.elsewhere > 0 || is_joined) {
            all.total.add(summary);
            continue;
        }
        if summary.items == 0 {
            if file.is_found {
                all.passed.push(file.path);
                all.empty.add(summary);
                continue;
            }
            return Err(logs::without_runs(logs::empty(&file.path), &summary).into());
        }
        all.total.add(summary);
        all.read.push(format);
    }
    Ok(all)
}

fn format(name: &str) -> Result<&'static Importer, Failure> {
    Importer::named(name).ok_or_else(|| {
        let names: Vec<&str> = IMPORTERS.iter().map(|it| it.name).collect();
        Failure::new(format!("there is no format `{}`", clean(name))).one_of(name, &names)
    })
}

fn unknown(path: &str, input: &Input) -> Failure {
    if let Some(unread) = input.head(1 << 20).ok().and_then(|head| Unread::of(&head)) {
        return logs::not_read(path, unread).into();
    }
    Failure::new(format!("`{}` is of no format that karat knows", clean(path)))
        .help("if it is of one of those in `karat import --help`, name that: --format FORMAT")
        .help("a table or JSON lines of your own need no import: karat score --card CARD FILE")
}

/// Says how many runs there are, what was left out, and why.
fn tell(
    total: &Summary,
    items: Items,
    read: &[&'static Importer],
    passed: &[String],
    color: Color,
) -> Result<(), Failure> {
    let mut screen = Screen::stderr(color);
    let mut names: Vec<&str> = read.iter().map(|format| format.name).collect();
    names.sort_unstable();
    names.dedup();
    let what = if items == Items::Traces {
        "trace"
    } else if read.iter().all(|format| format.is_matches()) {
        "match"
    } else {
        "run"
    };
    let plural = match (total.items, what) {
        (1, what) => what.to_owned(),
        (_, "match") => String::from("matches"),
        (_, what) => format!("{what}s"),
    };
    let files = if read.len() == 1 { String::from("1 file") } else { format!("{} files", read.len()) };
    writeln!(screen, "{} {plural} from {files} ({})", total.items, names.join(", "))?;
    tell_left_out(total, &mut screen)?;
    if !passed.is_empty() {
        let shown: Vec<String> = passed.iter().take(LISTED).map(|path| clean(path).into_owned()).collect();
        let more = passed.len().saturating_sub(LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        writeln!(screen, "{FAINT}no log: {}{more}{FAINT:#}", shown.join(", "))?;
    }
    tell_notes(&total.notes, &mut screen)?;
    screen.flush()?;
    Ok(())
}
