//! `karat standing`: official scores of subjects at a moment, from all their scored items; with `--tasks`, tasks.

use std::io::Write as _;

use karat::answers;
use karat::answers::standing::Standing as StandingAnswer;
use karat::answers::task::Task;
use karat::ask::answer::card_of;
use karat::gate::{Verdict, judge_standings};
use karat::inputs::Inputs;
use karat::loaded::Source;
use karat::look_alikes::LookAlikes;
use karat::standing::events::{self, Events};
use karat::standing::{Answer, items, refused, several_cards, subject, tasks};
use karat_core::scorecard::Scorecard;
use karat_core::timestamp::Timestamp;
use karat_standing::stand::{SubjectStanding, stand, tasks as stand_tasks};

use crate::args::{Cli, StandingArgs};
use crate::gate;
use crate::load::load;
use karat::document::{self, Document};
use karat::rows::Rows;
use karat::write::{Form, html};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::{self, Chosen};
use karat_terminal::input::read_text;
use karat_terminal::output::{Screen, lines, save_page};
use serde::Serialize;

/// Shows the standing of subjects.
pub fn run(args: &StandingArgs, cli: &Cli) -> Result<Exit, Failure> {
    let chosen = args.form.format.chosen()?;
    let Some(as_of) = args.items.as_of.as_ref().map(|as_of| as_of.at) else {
        return Err(Failure::new("a standing needs a moment").help("--as-of 2026-01-31T12:00:00Z"));
    };
    let (source, inputs) = (Source::new(&args.items, None), Inputs::new(&args.files)?);
    let rows = load(source, args.card.as_deref(), &inputs, args.form.no_progress, cli)?;
    let card = card_of(&rows)?.ok_or_else(several_cards)?;
    if args.tasks {
        return run_tasks(args, chosen, &rows, &card, as_of, cli);
    }
    let verdict =
        with_answer(args, &rows, &card, as_of, |answer, shown| show(args, chosen, answer, shown, cli))?;
    gate::tell(&verdict, cli.color)
}

/// Computes the standings, hands those that are asked for to `show`, and asks the gate.
fn with_answer(
    args: &StandingArgs,
    rows: &Rows,
    card: &Scorecard,
    as_of: Timestamp,
    show: impl FnOnce(&Answer<'_>, &[SubjectStanding]) -> Result<(), Failure>,
) -> Result<Verdict, Failure> {
    let events = events_of(args.events.as_deref())?;
    let items = items::items(rows, card, &events)?;
    let standings =
        stand(card, &items, &events.events, as_of.seconds()).map_err(|errors| refused(&errors))?;
    let look_alikes = LookAlikes::among(rows.subjects.iter().map(String::as_str));
    let answer = Answer {
        card,
        rows,
        standings: &standings,
        as_of,
        level: args.sure.level,
        events: &events,
        look_alikes: &look_alikes,
    };
    let shown = match &args.subject {
        Some(name) => std::slice::from_ref(subject(&standings, name)?),
        None => standings.subjects.as_slice(),
    };
    show(&answer, shown)?;
    Ok(args.fail_under.map_or_else(Verdict::default, |floor| judge_standings(floor, &answer, shown)))
}

/// Writes the answer.
fn show(
    args: &StandingArgs,
    chosen: Chosen,
    answer: &Answer<'_>,
    shown: &[SubjectStanding],
    cli: &Cli,
) -> Result<(), Failure> {
    let document = || document::standing(answer, shown, args.subject.is_some());
    if let Some(path) = &args.form.html {
        save_page(path, &html::document(&document()))?;
    }
    let all = || shown.iter().map(|it| StandingAnswer::new(answer, it));
    write_each(all, document, chosen, cli)
}

/// Writes a line of JSON for each answer, or their document in another form.
fn write_each<T: Serialize, I: Iterator<Item = T>>(
    all: impl FnOnce() -> I,
    document: impl FnOnce() -> Document,
    chosen: Chosen,
    cli: &Cli,
) -> Result<(), Failure> {
    match chosen {
        // Standings are lines of JSON in both forms.
        Chosen::Json | Chosen::Form(Form::Jsonl) => {
            let mut out = lines();
            for answer in all() {
                writeln!(out, "{}", answers::write(&answer))?;
            }
            Ok(out.flush()?)
        }
        Chosen::Form(form) => format::emit(&document(), form),
        Chosen::Screen => format::screen(&document(), (usize::MAX, ""), &mut Screen::stdout(cli.color)),
    }
}

/// Reads the events in a file, if one is given.
pub(super) fn events_of(path: Option<&str>) -> Result<Events, Failure> {
    let Some(path) = path else { return Ok(Events::default()) };
    Ok(events::read(path, &read_text(path, "a file of events", Exit::CouldNotRun)?)?)
}

/// Shows the state of tasks.
fn run_tasks(
    args: &StandingArgs,
    chosen: Chosen,
    rows: &Rows,
    card: &Scorecard,
    as_of: Timestamp,
    cli: &Cli,
) -> Result<Exit, Failure> {
    let events = Events::default();
    let items = items::items(rows, card, &events)?;
    let standings =
        stand_tasks(card, &items, as_of.seconds(), args.sure.level).map_err(|errors| refused(&errors))?;
    let Some(rules) = &card.standing else { return Err(refused::<String>(&[]).into()) };
    let answer = tasks::Answer { card, rules, rows, standings: &standings, as_of, level: args.sure.level };
    let all: Vec<Task> = standings.tasks.iter().map(|it| Task::new(&answer, it)).collect();
    write_each(|| all.iter(), || document::tasks(&answer, &all), chosen, cli)?;
    Ok(Exit::Done)
}
