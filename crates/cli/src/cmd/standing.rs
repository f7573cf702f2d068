//! `karat standing`: official scores of subjects at a moment, from all their scored items; with `--tasks`, tasks.

use std::io::Write as _;

use karat::ask::standing::Stood;
use karat::gate::Verdict;
use karat::inputs::Inputs;
use karat::loaded::Source;
use karat::standing::events::{self, Events};
use karat::write::Form;

use crate::args::{Cli, StandingArgs};
use crate::gate;
use crate::load::load;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::{self, Chosen};
use karat_terminal::input::read_text;
use karat_terminal::output::{Screen, lines, page, save_page};

/// Shows the standing of subjects, or the state of tasks.
pub fn run(args: &StandingArgs, cli: &Cli) -> Result<Exit, Failure> {
    let chosen = args.form.format.chosen()?;
    let ask = &args.ask;
    ask.moment()?;
    let (source, inputs) = (Source::new(&ask.items, None), Inputs::new(&args.files)?);
    let rows = load(source, ask.card.as_deref(), &inputs, args.form.no_progress, cli)?;
    let events = events_of(ask.events.as_deref())?;
    let answer = ask.answer(&rows, &events)?;
    if let Some(path) = &args.form.html {
        save_page(path, &page(&answer.document()))?;
    }
    show(&answer, chosen, cli)?;
    let verdict = ask.fail_under.map_or_else(Verdict::default, |floor| answer.verdict(floor));
    gate::tell(&verdict, cli.color)
}

/// Writes a line of JSON for each subject or task, or their document in another form.
fn show(answer: &Stood<'_>, chosen: Chosen, cli: &Cli) -> Result<(), Failure> {
    match chosen {
        // Standings are lines of JSON in both forms.
        Chosen::Json | Chosen::Form(Form::Jsonl) => {
            let mut out = lines();
            for line in answer.lines() {
                writeln!(out, "{line}")?;
            }
            Ok(out.flush()?)
        }
        Chosen::Form(form) => format::emit(&answer.document(), form),
        Chosen::Screen => {
            format::screen(&answer.document(), (usize::MAX, ""), &mut Screen::stdout(cli.color))
        }
    }
}

/// Reads the events in a file, if one is given.
pub(super) fn events_of(path: Option<&str>) -> Result<Events, Failure> {
    let Some(path) = path else { return Ok(Events::default()) };
    Ok(events::read(path, &read_text(path, "a file of events", Exit::CouldNotRun)?)?)
}
