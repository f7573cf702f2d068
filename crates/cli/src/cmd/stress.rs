//! `karat stress`: how much a ranking depends on its scorecard, and on single tasks.

use karat::answers::leaderboard::Leaderboard;
use karat::answers::stress::Stress as StressAnswer;
use karat::ask::Draws;
use karat::ask::answer::{gaps_of, refused, settings};
use karat::document;
use karat::document::figure::profiles;
use karat::inputs::Inputs;
use karat::leaderboard::stress::Stress;
use karat::leaderboard::{By, Ranking, Settings};
use karat::loaded::Source;
use karat::write::{Form, html};

use crate::args::{Cli, StressArgs};
use crate::load::load;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::{self, Chosen};
use karat_terminal::output::save_page;

/// Tries other weights, other means, fewer dimensions and fewer tasks.
pub fn run(args: &StressArgs, cli: &Cli) -> Result<Exit, Failure> {
    let chosen = args.form.format.chosen()?;
    let (source, inputs) = (Source::new(&args.items, None), Inputs::new(&args.files)?);
    let rows = load(source, Some(&args.card), &inputs, args.form.no_progress, cli)?;
    let Draws { draws, seed } = args.weights;
    let settings = Settings { draws, seed, ..settings(&args.sure, By::Score, &rows) };
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
    let gaps = gaps_of(&rows, By::Score);
    let mut document = document::stress(&answer, &gaps);
    let is_page = chosen == Chosen::Form(Form::Html) || args.form.html.is_some();
    let board = is_page.then(|| Leaderboard::of_ranking(&rows, &ranking, &settings));
    document.parts.extend(board.iter().flat_map(|board| profiles(&rows, board)));
    if let Some(path) = &args.form.html {
        save_page(path, &html::document(&document))?;
    }
    format::show(&answer, &document, chosen, (usize::MAX, ""), cli.color)?;
    Ok(Exit::Done)
}
