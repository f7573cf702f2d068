//! `karat compare`: the subject that is ahead on the tasks that both have, or a tie; the tasks that got worse; the gate.

use std::io::Write as _;

use super::many;
use crate::args::{Cli, CompareArgs};
use crate::evidence::{are_sides, expanded};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::format::{self, Chosen};
use crate::load::{Request, load};
use crate::output::{Screen, save_page};
use crate::render::changes::comparisons as screen_of_several;
use crate::render::compare::compare;
use crate::render::gate;
use crate::render::page::compare::{compare as page_of, comparisons as page_of_several};
use karat::answers::comparison::{ComparedPair, ComparisonAnswer};
use karat::ask::answer::{gaps_of, settings, subject};
use karat::ask::compare::{Asked, of_sides};
use karat::gate::{failed, judge_comparison};
use karat::leaderboard::By;
use karat::report;
use karat::rows::Rows;
use karat::text::clean;

/// Most tasks of a list on the screen, without `--all`.
const TASKS: usize = 10;

/// Compares two subjects, or the subjects of two files.
pub fn run(args: &CompareArgs, cli: &Cli) -> Result<Exit, Failure> {
    let chosen = args.form.format.chosen("compare")?;
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
    let page = || match &answer {
        ComparisonAnswer::Pair(answer) => page_of(&rows, answer, &settings),
        ComparisonAnswer::Several(answer) => page_of_several(&rows, answer, &settings),
    };
    if let Some(path) = &args.form.html {
        save_page(path, &page())?;
    }
    match chosen {
        Chosen::Json => many::print(&answer)?,
        Chosen::Page => format::page(&page())?,
        Chosen::Report(document) => {
            let report = match &answer {
                ComparisonAnswer::Pair(answer) => report::comparison(answer, &failed),
                ComparisonAnswer::Several(answer) => report::comparisons(answer, &failed),
            };
            format::emit(&report, document)?;
        }
        Chosen::Screen => {
            let mut out = Screen::stdout(cli.color);
            let screen = match &answer {
                ComparisonAnswer::Pair(answer) => compare(answer, &rows.dimensions, &gaps, most, out.width),
                ComparisonAnswer::Several(answer) => {
                    screen_of_several(answer, &gaps, most, &|_| true, out.width)
                }
            };
            write!(out, "{screen}")?;
            out.flush()?;
        }
    }
    match args.ask.fail_if_worse {
        Some(margin) => gate::tell(&judge_comparison(&answer, margin, rows.scale), cli.color),
        None => Ok(Exit::Done),
    }
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
