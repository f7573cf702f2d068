//! Parts of a project file that commands take: scorecard and files that the command line does not name.

use std::io;

use clap::CommandFactory as _;
use clap::error::ErrorKind;
use karat::record::Record;

use crate::args::{Cli, QuestionArgs, Verb};
use crate::project::{open, tell};
use karat::ask::{Fields, Items, Tasks, Trend};
use karat::inputs::{Inputs, are_sides};
use karat::project::{NAME, Project, find};
use karat::question::Question;
use karat_terminal::failure::Failure;
use karat_terminal::output::Color;

/// Fills in what commands about items were not told and the project file knows. Where something is
/// piped in, that is read; records name their own scorecard.
pub fn take(verb: &mut Verb, trusts: bool, color: Color) -> Result<(), Failure> {
    match verb {
        Verb::Score(args) if args.card.is_none() => {
            let project = match find() {
                Some(path) => open(&path, trusts, color)?,
                None => without_card(),
            };
            let what = inputs(&project, &mut args.files);
            set(&mut args.card, Some(&project.card));
            set_fields(&mut args.fields, &project);
            tell(&project, what, color)
        }
        Verb::Leaderboard(args) if args.ask.card.is_none() => {
            from_project(&mut args.ask.card, &mut args.ask.items, &mut args.files, &[], trusts, color)
                .map(drop)
        }
        Verb::Site(args) if args.ask.card.is_none() && args.from.is_none() => {
            from_project(&mut args.ask.card, &mut args.ask.items, &mut args.files, &[], trusts, color)
                .map(drop)
        }
        Verb::Standing(args) if args.ask.card.is_none() => {
            from_project(&mut args.ask.card, &mut args.ask.items, &mut args.files, &[], trusts, color)
                .map(drop)
        }
        Verb::Judges(args) => of_question(args, trusts, color, |_, _| {}),
        Verb::Grid(args) => of_question(args, trusts, color, |_, _| {}),
        Verb::Tasks(args) => of_question(args, trusts, color, |ask, project| {
            let given = project.gate.tasks.clone();
            *ask = Tasks {
                pass: ask.pass.or(given.pass),
                version: ask.version.take().or(given.version),
                ..ask.clone()
            };
        }),
        Verb::Trend(args) => of_question(args, trusts, color, |ask, project| {
            let Some(given) = project.gate.trend.clone() else { return };
            // A flag that has its usual value cannot be distinguished from one that is not given.
            let is_usual = Trend { about: ask.about.clone(), ..Trend::default() } == *ask;
            if is_usual {
                *ask = Trend { about: ask.about.clone(), ..given };
            }
        }),
        Verb::Compare(args) if args.ask.card.is_none() => {
            let named = [args.ask.first.clone(), args.ask.second.clone()];
            let are_files = args.files.is_empty() && are_sides(&args.ask.first, &args.ask.second);
            let named = if are_files { &named[..] } else { &[] };
            from_project(&mut args.ask.card, &mut args.ask.items, &mut args.files, named, trusts, color)
                .map(drop)
        }
        _ => Ok(()),
    }
}

/// Does the same for a question about items, which also reads the history; `more` fills in its other settings.
fn of_question<Q: Question + clap::Args>(
    args: &mut QuestionArgs<Q>,
    trusts: bool,
    color: Color,
    more: impl FnOnce(&mut Q, &Project),
) -> Result<(), Failure> {
    if args.ask.about().card.is_some() {
        return Ok(());
    }
    let about = args.ask.about_mut();
    let project = from_project(&mut about.card, &mut about.items, &mut args.files, &[], trusts, color)?;
    // Only with the files of the project are its settings about them.
    if let Some(project) = project.filter(|project| args.files == project.inputs) {
        args.files = project.all_files()?;
        more(&mut args.ask, &project);
    }
    Ok(())
}

/// Fills in the card, and the files where none is named; `named` are files that stand elsewhere.
fn from_project(
    card: &mut Option<String>,
    items: &mut Items,
    files: &mut Vec<String>,
    named: &[String],
    trusts: bool,
    color: Color,
) -> Result<Option<Project>, Failure> {
    let given = if named.is_empty() { files.clone() } else { named.to_vec() };
    // Records name their own scorecard, and what is piped in is most often records.
    if given.is_empty() && is_piped() || given.iter().any(|file| file == "-") {
        return Ok(None);
    }
    let Some(path) = find() else { return Ok(None) };
    if !given.is_empty() && is_of_records(&given) {
        return Ok(None);
    }
    let project = open(&path, trusts, color)?;
    let what = if given.is_empty() { inputs(&project, files) } else { "card" };
    set(card, Some(&project.card));
    set_fields(&mut items.fields, &project);
    if given.is_empty() {
        items.filters.extend(project.items.filters.iter().cloned());
        items.rename.extend(project.items.rename.iter().cloned());
    }
    tell(&project, what, color)?;
    Ok(Some(project))
}

fn set_fields(into: &mut Fields, project: &Project) {
    set(&mut into.subject_field, project.items.fields.subject_field.as_ref());
    set(&mut into.task_field, project.items.fields.task_field.as_ref());
}

fn set(into: &mut Option<String>, value: Option<&String>) {
    if into.is_none() {
        *into = value.cloned();
    }
}

/// Fills in the files, and returns what was taken.
fn inputs(project: &Project, files: &mut Vec<String>) -> &'static str {
    if !files.is_empty() || is_piped() {
        return "card";
    }
    files.clone_from(&project.inputs);
    "card and inputs"
}

/// Returns whether the first item is a record.
fn is_of_records(files: &[String]) -> bool {
    // What cannot be read is reported when it is read.
    let first = Inputs::new(files).ok().and_then(|inputs| inputs.first_item());
    first.is_some_and(|item| matches!(Record::parse(&item), Ok(Some(_))))
}

/// Returns whether standard input is a file or a pipe, and no terminal or nothing.
#[cfg(unix)]
fn is_piped() -> bool {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::FileTypeExt as _;
    let stdin = io::stdin().as_fd().try_clone_to_owned();
    let about = stdin.and_then(|stdin| std::fs::File::from(stdin).metadata());
    about.is_ok_and(|about| !about.file_type().is_char_device())
}

#[cfg(not(unix))]
fn is_piped() -> bool {
    use std::io::IsTerminal as _;
    !io::stdin().is_terminal()
}

/// Ends the program as the parser of the command line does where something is missing.
fn without_card() -> ! {
    let message = format!(
        "no scorecard is named: --card ID|FILE\n  `karat card list` has those that come with karat\n  `karat init FILE` \
         writes one, and a `{NAME}`, from your data\n"
    );
    Cli::command().error(ErrorKind::MissingRequiredArgument, message).exit()
}
