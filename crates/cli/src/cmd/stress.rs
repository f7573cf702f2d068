//! `karat stress`: how much a ranking depends on its scorecard, and on single tasks.

use std::io::Write as _;

use karat::answers::leaderboard::Leaderboard;
use karat::answers::stress::Stress as StressAnswer;
use karat::ask::answer::{gaps_of, refused, settings};
use karat::leaderboard::stress::Stress;
use karat::leaderboard::{By, Ranking};
use karat::pages::stress as page_of;
use karat::report;

use super::many;
use crate::args::{Cli, StressArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::format::{self, Chosen};
use crate::load::{Request, load};
use crate::output::{Screen, save_page};
use crate::render::leaderboard::{Layout, heading};
use crate::render::stress::stress;

/// Tries other weights, other means, fewer dimensions and fewer tasks.
pub fn run(args: &StressArgs, cli: &Cli) -> Result<Exit, Failure> {
    let chosen = args.form.format.chosen("stress")?;
    let rows = load(&Request::new(&args.items, Some(&args.card), &args.files, args.form.no_progress), cli)?;
    let settings = settings(&args.sure, By::Score, &rows);
    let items: Vec<usize> = (0..rows.rows.len()).collect();
    let refused = |error| refused(&error, &rows);
    let ranking = Ranking::new(&rows, &items, None, &settings).map_err(refused)?;
    let Some(card) = rows.only_card() else {
        return Err(Failure::new("the items are scored by several scorecards, each with its own weights")
            .help("give the records of one challenge alone"));
    };
    if ranking.leaderboard.rows.len() < 2 {
        return Err(Failure::new("there is one subject, and no rank that could change")
            .help("give the items of two subjects or more"));
    }
    let found = Stress::new(&rows, &items, &ranking, card, args.concentration, &settings).map_err(refused)?;
    let answer = StressAnswer::new(&rows, &found, args.concentration, &settings);
    let page = || {
        let board = Leaderboard::of_resamples(&rows, &ranking, &settings);
        page_of::stress(&rows, &board, &answer, &settings)
    };
    if let Some(path) = &args.form.html {
        save_page(path, &page())?;
    }
    match chosen {
        Chosen::Json => many::print(&answer)?,
        Chosen::Page => format::page(&page())?,
        Chosen::Report(document) => format::emit(&report::stress(&answer), document)?,
        Chosen::Screen => {
            let mut out = Screen::stdout(cli.color);
            let layout = Layout { width: out.width, top: usize::MAX };
            let gaps = gaps_of(&rows, By::Score);
            write!(out, "{}", heading(&answer.basis, true, "by mean of runs", &gaps, layout))?;
            write!(out, "{}", stress(&answer.basis, &answer.robustness, out.width))?;
            out.flush()?;
        }
    }
    Ok(Exit::Done)
}
