//! `karat stress`: how much a ranking hangs on its rule, and on single tasks.

use std::io::Write as _;

use super::many;
use crate::args::{Cli, StressArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Screen, save_page};
use crate::render::leaderboard::{Layout, head};
use crate::render::stress::stress;
use karat_report::board::stress::Stress;
use karat_report::board::{Board, By, json};
use karat_report::pages::stress as page_of;

/// Tries other weights, other means, fewer dimensions and fewer tasks.
pub fn run(args: &StressArgs, cli: &Cli) -> Result<Exit, Failure> {
    let rows = many::rows(&args.items, Some(&args.card), &args.files, &[], cli)?;
    let settings = many::settings(&args.sure, By::Score, &rows);
    let items: Vec<usize> = (0..rows.rows.len()).collect();
    let refused = |error| many::refused(&error, &rows);
    let board = Board::new(&rows, &items, None, &settings).map_err(refused)?;
    let Some(card) = rows.only_card() else {
        return Err(Failure::new("the items are scored by several scorecards, each with its own weights")
            .help("give the records of one challenge alone"));
    };
    if board.leaderboard.rows.len() < 2 {
        return Err(Failure::new("there is one subject, and no rank that could change")
            .help("give the items of two subjects or more"));
    }
    let found = Stress::new(&rows, &items, &board, card, args.concentration, &settings).map_err(refused)?;
    if let Some(path) = &args.form.html {
        save_page(path, &page_of::stress(&rows, &board, &found, &settings))?;
    }
    if many::wants_json(&args.form) {
        let mut map = json::head("karat/stress/1", &rows, &settings);
        map.insert("concentration".to_owned(), json::share(args.concentration));
        map.insert("robustness".to_owned(), json::stress(&rows, &found));
        many::print(map)?;
    } else {
        let mut out = Screen::stdout(cli.color);
        let layout = Layout { width: out.width, top: usize::MAX };
        write!(out, "{}", head(&rows, &settings, layout))?;
        write!(out, "{}", stress(&rows, &found, &settings, out.width))?;
        out.flush()?;
    }
    Ok(Exit::Done)
}
