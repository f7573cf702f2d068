//! `karat init`: a scorecard and a project file from data, with the reasons in comments.

use std::fs::{self, File};
use std::io::{BufRead as _, ErrorKind, IsTerminal as _, Write as _, stdin};
use std::path::Path;

use karat::Layout;
use karat::init::{Data, Plan, Prompt};
use karat::inputs::{Named, files, logs};
use karat::project::{NAME, Project};
use karat::text::{clean, count};
use karat_importers::{Input, Options, unpack};

use crate::args::{Cli, InitArgs};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::output::{CARE, Color, FAINT, STRONG, Screen, create, replace};

/// The scorecard to write, if no other name is given.
const CARD: &str = "scorecard.toml";
/// Ends of the names of files that may be data.
const ENDINGS: [&str; 5] = [".csv", ".tsv", ".jsonl", ".ndjson", ".json"];

/// Looks at the data, asks, and writes the files.
pub fn run(args: &InitArgs, cli: &Cli) -> Result<Exit, Failure> {
    let out = args.out.as_deref().unwrap_or(CARD);
    if !args.dry_run && !args.force {
        refuse_existing(&[out, NAME])?;
    }
    let data = read(args)?;
    let is_asking = !args.yes && !args.dry_run;
    if is_asking && !(stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Err(Failure::new("there is no terminal to ask on").help(
            "take the proposals with --yes, and change them with --success, --higher, --lower, --without",
        ));
    }
    let mut plan = Plan::new(&data, &args.question)?;
    if is_asking {
        ask(&mut plan, cli.color)?;
    }
    let (card, project) = (plan.card()?, plan.project(out));
    let mut texts = Vec::new();
    texts.extend(card.as_deref().map(|card| (out, card)));
    texts.push((NAME, &project));
    if args.dry_run {
        let mut screen = Screen::stdout(cli.color);
        for (name, text) in texts {
            writeln!(screen, "{STRONG}# {name}{STRONG:#}\n{text}")?;
        }
        screen.flush()?;
        return Ok(Exit::Done);
    }
    write(&texts, args.force)?;
    tell(&plan, &data, &texts, cli)
}

/// Looks at every item of the files, of the current folder if none is given.
fn read(args: &InitArgs) -> Result<Data, Failure> {
    let given = if args.files.is_empty() { of_folder()? } else { args.files.clone() };
    if given.iter().any(|path| path == "-") {
        return Err(
            Failure::new("a project needs files, not standard input").help("write it to a file first")
        );
    }
    let files: Vec<Named> = files(&given)?.into_iter().filter(|file| !file.is_link).collect();
    let mut data = Data::new(given, &args.question);
    let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let options = logs::together_of(&paths, Options::default())?;
    for Named { path, is_found, .. } in files {
        let input = Input::file(&path);
        match logs::format_of(&input) {
            Ok(Some(format)) if format.is_matches() => {
                let (name, words) = (clean(&path), format.words);
                return Err(Failure::new(format!("`{name}` is {words}, which are rated and not scored"))
                    .help(format!("karat rate {path}")));
            }
            Ok(Some(format)) => data.add_log(&input, format, &options).map_err(logs::not_imported)?,
            Err(error) if input.is_packed() => return Err(error.into()),
            // In a folder the other commands read logs alone.
            _ if is_found => {}
            _ => {
                let open = || File::open(&path).and_then(unpack);
                open().map_err(|error| Failure::reading(&path, &error))?;
                data.add_items(&path, Layout::of_path(Path::new(&path)), open)?;
            }
        }
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

/// Asks what the data does not say, and changes the plan. Enter takes the proposal.
fn ask(plan: &mut Plan<'_>, color: Color) -> Result<(), Failure> {
    let mut screen = Screen::stderr(color);
    for prompt in Prompt::ALL {
        let Some((question, proposal)) = plan.prompt(prompt) else { continue };
        let shown = if proposal.is_empty() { String::new() } else { format!(" [{proposal}]") };
        loop {
            write!(screen, "{STRONG}{question}{STRONG:#}{FAINT}{shown}{FAINT:#} ")?;
            screen.flush()?;
            let mut line = String::new();
            let read = stdin().lock().read_line(&mut line).map_err(|error| Failure::reading("-", &error))?;
            if read == 0 {
                return Err(Failure::new("the answers ended, and nothing was written")
                    .help("--yes takes the proposals"));
            }
            let answer = if line.trim().is_empty() { &proposal } else { line.trim() };
            match plan.take(prompt, answer) {
                Ok(()) => break,
                Err(why) => writeln!(screen, "{CARE}{why}{CARE:#}")?,
            }
        }
    }
    Ok(())
}

/// Refuses files that exist already: all of them at once.
fn refuse_existing(paths: &[&str]) -> Result<(), Failure> {
    let found = paths.iter().filter(|path| fs::symlink_metadata(path).is_ok());
    let found: Vec<String> = found.map(|path| format!("`{path}`")).collect();
    if found.is_empty() {
        return Ok(());
    }
    let (names, verb) = (found.join(" and "), if found.len() == 1 { "exists" } else { "exist" });
    Err(Failure::new(format!("{names} {verb} already"))
        .help("--force replaces, --dry-run shows what would be written; --out names another scorecard"))
}

/// Writes the files: all of them or none. If one cannot be written, those before it are put back.
fn write(texts: &[(&str, &str)], is_forced: bool) -> Result<(), Failure> {
    let mut before: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
    for (path, text) in texts {
        let old = match fs::read(path) {
            Ok(old) => Ok(Some(old)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::writing(path, &error)),
        };
        let write = if is_forced { replace } else { create };
        match old.and_then(|old| write(path, text.as_bytes()).map(|()| old)) {
            Ok(old) => before.push((path, old)),
            Err(why) => {
                for (path, old) in before.iter().rev() {
                    match old {
                        Some(old) => drop(replace(path, old)),
                        None => drop(fs::remove_file(path)),
                    }
                }
                return Err(why);
            }
        }
    }
    Ok(())
}

/// Says what was written, and which commands come next.
fn tell(plan: &Plan<'_>, data: &Data, written: &[(&str, &str)], cli: &Cli) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout(cli.color);
    let names: Vec<&str> = written.iter().map(|(name, _)| *name).collect();
    let items = count(usize::try_from(data.items()).unwrap_or(usize::MAX), "item");
    writeln!(screen, "looked at {items}; wrote {}", names.join(" and "))?;
    for line in plan.lines() {
        writeln!(screen, "  {}", clean(&line))?;
    }
    if let (more @ 1.., is_whole) = data.left_out() {
        let fields = count(more, "field");
        let fields = if is_whole { fields } else { format!("{fields} or more") };
        let why = "as there are too many; a flag that names one takes it";
        writeln!(screen, "  not looked at: {fields}, {why}")?;
    }
    writeln!(screen, "{STRONG}next{STRONG:#}")?;
    let check = format!("karat card check {}", names.first().unwrap_or(&CARD));
    let is_outside = Project::open_trusted(NAME).is_ok_and(|project| project.refuse_outside().is_err());
    let with = |command: &str| format!("{command}{}", if is_outside { " --allow-outside" } else { "" });
    let steps = [
        (plan.released().is_none(), check, "what the scorecard proves"),
        (true, with("karat score"), "each item"),
        (
            plan.has_baseline(),
            with("karat check --update-baseline"),
            "keep this run to compare later ones with",
        ),
        (true, with("karat check"), "ranks, changes, gates"),
    ];
    let steps = steps.iter().filter(|(is_next, ..)| *is_next);
    let width = steps.clone().map(|(_, step, _)| step.len()).max().unwrap_or(0);
    for (_, step, why) in steps {
        writeln!(screen, "  {step:width$}  {FAINT}{why}{FAINT:#}")?;
    }
    screen.flush()?;
    Ok(Exit::Done)
}
