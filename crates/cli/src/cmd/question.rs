//! Commands that ask one question about scored items: `karat tasks`, `karat trend` and others.

use karat::ask::answer::gaps_of;
use karat::inputs::Inputs;
use karat::leaderboard::By;
use karat::loaded::Source;
use karat::question::Question;

use crate::args::{Cli, QuestionArgs};
use crate::load::load;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format;
use karat_terminal::output::{page, save_page};

/// Loads the items and shows the answer.
pub fn run<Q: Question + clap::Args>(args: &QuestionArgs<Q>, cli: &Cli) -> Result<Exit, Failure> {
    let chosen = args.form.format.chosen()?;
    args.ask.check()?;
    let (about, kept) = (args.ask.about(), args.ask.kept());
    let inputs = Inputs::new(&args.files)?;
    let by_run = args.ask.is_by_file(inputs.paths().len());
    let source = Source { kept: &kept, by_run, ..Source::new(&about.items, None) };
    let rows = load(source, about.card.as_deref(), &inputs, args.form.no_progress, cli)?;
    let answer = args.ask.answer(&rows)?;
    let document = Q::document(&answer, &gaps_of(&rows, By::Score));
    if let Some(path) = &args.form.html {
        save_page(path, &page(&document))?;
    }
    format::show(&answer, &document, chosen, (usize::MAX, ""), cli.color)?;
    Ok(if args.ask.is_alarm(&answer) { Exit::Worse } else { Exit::Done })
}
