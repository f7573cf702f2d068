//! `karat compare`: the subject that is ahead on the tasks that both have, or a tie; the tasks that got worse; the gate.

use crate::args::{Cli, CompareArgs};
use crate::evidence::{are_sides, expanded};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::format::{self, Chosen};
use crate::load::{Request, load};
use crate::output::save_page;
use crate::render::gate;
use karat::answers::comparison::{ComparedPair, ComparisonAnswer};
use karat::ask::answer::{gaps_of, settings, subject};
use karat::ask::compare::{Asked, of_sides};
use karat::document::{ComparisonView, Part, comparison as document_of};
use karat::gate::{failed, judge_comparison};
use karat::leaderboard::{By, Settings};
use karat::page::model::Figure;
use karat::pages::history;
use karat::rows::Rows;
use karat::text::clean;
use karat::write::{Form, html};

/// Most tasks of a list on the screen, without `--all`.
const TASKS: usize = 10;
/// The words that say how to see the others.
pub const ALL: &str = ": --all";

/// Compares two subjects, or the subjects of two files.
pub fn run(args: &CompareArgs, cli: &Cli) -> Result<Exit, Failure> {
    let chosen = args.form.format.chosen()?;
    if args.ask.first == args.ask.second {
        return Err(Failure::new(format!("`{}` cannot be compared with itself", clean(&args.ask.first)))
            .help("name two subjects: karat compare A B FILE"));
    }
    let (rows, asked) = if args.files.is_empty() && are_sides(&args.ask.first, &args.ask.second) {
        of_files(args, cli)?
    } else {
        let asked =
            Request::new(&args.ask.items, args.ask.card.as_deref(), &args.files, args.form.no_progress);
        let rows = load(&asked, cli)?;
        let pair = (subject(&rows, &args.ask.first)?, subject(&rows, &args.ask.second)?);
        (rows, Asked::Pair(pair))
    };
    let settings = settings(&args.ask.sure, By::Score, &rows);
    let most = if args.all { usize::MAX } else { TASKS };
    let gaps = gaps_of(&rows, By::Score);
    let failed = |pair: &ComparedPair| failed(pair, rows.scale.max);
    let answer = args.ask.answer(&rows, asked)?;
    let view =
        ComparisonView { dimensions: &rows.dimensions, gaps: &gaps, failed: &failed, is_listed: &|_| true };
    let mut document = document_of(&answer, &view);
    if args.form.html.is_some() || chosen == Chosen::Form(Form::Html) {
        document.parts.extend(over_time(&answer, &rows, &settings));
    }
    if let Some(path) = &args.form.html {
        save_page(path, &html::document(&document))?;
    }
    format::show(&answer, &document, chosen, (most, ALL), cli.color)?;
    match args.ask.fail_if_worse {
        Some(margin) => gate::tell(&judge_comparison(&answer, margin, rows.scale), cli.color),
        None => Ok(Exit::Done),
    }
}

/// Returns the scores of two subjects over time, for a page.
fn over_time(answer: &ComparisonAnswer, rows: &Rows, settings: &Settings) -> Vec<Part> {
    let ComparisonAnswer::Pair(answer) = answer else { return Vec::new() };
    let both = [&answer.pair.first, &answer.pair.second];
    let subjects: Vec<usize> = both.iter().filter_map(|it| rows.subject(&it.subject)).collect();
    let Some(section) = history(rows, &subjects, settings) else { return Vec::new() };
    let figures = section.figures.into_iter().map(|it: Figure| Part::Figure(Box::new(it)));
    std::iter::once(Part::Heading(section.heading)).chain(figures).collect()
}

/// Reads the two files, or the logs in two folders: as two subjects if each has one, else each subject that both have.
fn of_files(args: &CompareArgs, cli: &Cli) -> Result<(Rows, Asked), Failure> {
    let (mut paths, mut sides) = (Vec::new(), Vec::new());
    for side in [&args.ask.first, &args.ask.second] {
        let files = expanded(std::slice::from_ref(side), cli.color)?;
        paths.extend(files.iter().cloned());
        sides.extend(files.into_iter().map(|file| (file, side.clone())));
    }
    let asked = Request::new(&args.ask.items, args.ask.card.as_deref(), &paths, args.form.no_progress);
    let rows = load(&Request { sides: &sides, ..asked }, cli)?;
    let asked = of_sides(&rows, &args.ask.first, &args.ask.second)?;
    Ok((rows, asked))
}
