//! `karat compare`: the subject that is ahead on the tasks that both have, or a tie; the tasks that got worse; the gate.

use super::{picture, question};
use crate::args::{Cli, CompareArgs, QuestionArgs};
use crate::gate;
use crate::load::load;
use karat::answers::comparison::ComparisonAnswer;
use karat::answers::trend::FILE;
use karat::ask::answer::{settings, subject};
use karat::ask::compare::{Asked, of_sides};
use karat::ask::{About, Attempts, Compare, Grid};
use karat::document::Part;
use karat::document::figure::history;
use karat::gate::{comparison_document, judge_comparison};
use karat::inputs::{Inputs, are_sides, files};
use karat::leaderboard::{By, Settings};
use karat::loaded::Source;
use karat::rows::Rows;
use karat::text::clean;
use karat::write::Form;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::{self, Chosen};
use karat_terminal::output::{page, save_page};
use std::path::Path;

/// Most tasks of a list on the screen, without `--all`.
const TASKS: usize = 10;
/// The words that say how to see the others.
pub const ALL: &str = ": --all";

/// Compares two subjects, or the subjects of two files.
pub fn run(args: &CompareArgs, cli: &Cli) -> Result<Exit, Failure> {
    if let Some(grid) = several(args)? {
        return question::run(&grid, cli);
    }
    let chosen = args.form.format.chosen()?;
    if args.ask.first == args.ask.second {
        return Err(Failure::new(format!("`{}` cannot be compared with itself", clean(&args.ask.first)))
            .help("name two subjects: karat compare A B FILE"));
    }
    let (first, second) = (args.ask.first.as_str(), args.ask.second.as_str());
    let are_sides = args.files.is_empty() && are_sides(first, second);
    let inputs = if are_sides {
        let sides =
            [&args.ask.first, &args.ask.second].map(|side| (side.as_str(), std::slice::from_ref(side)));
        Inputs::of_sides(sides)?
    } else {
        Inputs::new(&args.files)?
    };
    let kept = Attempts::kept(args.ask.attempts);
    let source = Source { kept: &kept, ..Source::new(&args.ask.items, None) };
    let rows = load(source, args.ask.card.as_deref(), &inputs, args.form.no_progress, cli)?;
    let asked = match are_sides {
        true => of_sides(&rows, first, second)?,
        false => Asked::Pair((subject(&rows, first)?, subject(&rows, second)?)),
    };
    let settings = settings(&args.ask.sure, By::Score, &rows);
    let most = if args.all { usize::MAX } else { TASKS };
    let answer = args.ask.answer(&rows, asked)?;
    let mut document = comparison_document(&answer, &rows);
    if args.form.html.is_some() || chosen == Chosen::Form(Form::Html) {
        document.parts.extend(over_time(&answer, &rows, &settings));
    }
    picture::save(&args.picture, &document, rows.newest())?;
    if let Some(path) = &args.form.html {
        save_page(path, &page(&document))?;
    }
    format::show(&answer, &document, chosen, (most, ALL), cli.color)?;
    match args.ask.fail_if_worse {
        Some(margin) => gate::tell(&judge_comparison(&answer, margin, rows.scale), cli.color),
        None => Ok(Exit::Done),
    }
}

/// Returns the question about three and more: files, which are runs then, or subjects before the first file.
fn several(args: &CompareArgs) -> Result<Option<QuestionArgs<Grid>>, Failure> {
    let Compare { first, second, card, items, sure, fail_if_worse, attempts, pass, .. } = &args.ask;
    let about = About { card: card.clone(), items: items.clone(), sure: sure.clone() };
    let (ask, files) = if are_sides(first, second) && !args.files.is_empty() {
        let sides = [first, second].into_iter().chain(&args.files).cloned().collect();
        (Grid { run: Some(String::from(FILE)), about, ..Grid::default() }, sides)
    } else {
        let at = args.files.iter().position(|name| name == "-" || files(std::slice::from_ref(name)).is_ok());
        let Some(at) = at.filter(|at| *at > 0) else { return Ok(None) };
        let (more, files) = args.files.split_at(at);
        let subject = [first, second].into_iter().chain(more).cloned().collect();
        (Grid { subject, run: None, about }, files.to_vec())
    };
    let of_two = [
        ("--fail-if-worse", fail_if_worse.is_some()),
        ("--attempts", attempts.is_some()),
        ("--pass", pass.is_some()),
        ("--all", args.all),
        ("--picture", args.picture.picture.is_some()),
    ];
    if let Some((flag, _)) = of_two.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::new(format!("{flag} is for a comparison of two, and more are named"))
            .help("leave it out, or name two"));
    }
    if let Some(folder) = files.iter().find(|path| ask.run.is_some() && Path::new(path).is_dir()) {
        return Err(Failure::new(format!(
            "`{}` is a folder, and of several runs each is a file",
            clean(folder)
        ))
        .help("name the files"));
    }
    Ok(Some(QuestionArgs { ask, form: args.form.clone(), files }))
}

/// Returns the scores of two subjects over time, for a page.
fn over_time(answer: &ComparisonAnswer, rows: &Rows, settings: &Settings) -> Vec<Part> {
    let ComparisonAnswer::Pair(answer) = answer else { return Vec::new() };
    let both = [&answer.pair.first, &answer.pair.second];
    let subjects: Vec<usize> = both.iter().filter_map(|it| rows.subject(&it.subject)).collect();
    history(rows, &subjects, settings)
}
