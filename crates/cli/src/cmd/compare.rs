//! `karat compare`: the subject that is ahead on the tasks that both have, or a tie; the tasks that got worse; the gate.

use crate::args::{Cli, CompareArgs};
use crate::gate;
use crate::load::load;
use karat::answers::comparison::ComparisonAnswer;
use karat::ask::Attempts;
use karat::ask::answer::{settings, subject};
use karat::ask::compare::{Asked, of_sides};
use karat::document::Part;
use karat::document::figure::history;
use karat::gate::{comparison_document, judge_comparison};
use karat::inputs::{Inputs, are_sides};
use karat::leaderboard::{By, Settings};
use karat::loaded::Source;
use karat::rows::Rows;
use karat::text::clean;
use karat::write::{Form, html};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::{self, Chosen};
use karat_terminal::output::save_page;

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
    history(rows, &subjects, settings)
}
