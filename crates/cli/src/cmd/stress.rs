//! `karat stress`: how much a ranking depends on its scorecard, and on single tasks.

use karat::ask::answer::gaps_of;
use karat::document;
use karat::document::figure::profiles;
use karat::inputs::Inputs;
use karat::leaderboard::By;
use karat::loaded::Source;
use karat::write::Form;

use crate::args::{Cli, StressArgs};
use crate::load::load;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::{self, Chosen};
use karat_terminal::output::{page, save_page};

/// Tries other weights, other means, fewer dimensions and fewer tasks.
pub fn run(args: &StressArgs, cli: &Cli) -> Result<Exit, Failure> {
    let chosen = args.form.format.chosen()?;
    let (source, inputs) = (Source::new(&args.ask.items, None), Inputs::new(&args.files)?);
    let rows = load(source, args.ask.card.as_deref(), &inputs, args.form.no_progress, cli)?;
    let found = args.ask.answer(&rows)?;
    let mut document = document::stress(&found.answer, &gaps_of(&rows, By::Score));
    let is_page = chosen == Chosen::Form(Form::Html) || args.form.html.is_some();
    let board = is_page.then(|| found.leaderboard(&rows));
    document.parts.extend(board.iter().flat_map(|board| profiles(&rows, board)));
    if let Some(path) = &args.form.html {
        save_page(path, &page(&document))?;
    }
    format::show(&found.answer, &document, chosen, (usize::MAX, ""), cli.color)?;
    Ok(Exit::Done)
}
