//! `karat tune`: weights that predict an outcome, and their proposal.

use std::sync::Arc;

use karat::answers;
use karat::answers::tune::{Tune, TuneProposal};
use karat::document;
use karat::ratings::{Matches, Question, SystemName};
use karat::text::{clean, list};
use karat::tune::{Settings, Target, Tuning, Win, readers};
use karat_core::scorecard::Scorecard;
use serde_json::json;

use super::rate::read as read_matches;
use crate::args::Cli;
use crate::args::tune::TuneArgs;
use crate::load::load_with;
use karat::ask::AsOf;
use karat::inputs::Inputs;
use karat::loaded::Source;
use karat_terminal::cards;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format;
use karat_terminal::output::create;

/// The field of an item that says how it ended.
const OUTCOME: &str = "outcome";
/// Fits for the intervals of the weights, unless fewer resamples or more for the level are needed.
const REFITS: f64 = 200.0;

/// Finds weights, judges them, and writes what they propose.
pub fn run(args: &TuneArgs, cli: &Cli) -> Result<Exit, Failure> {
    let chosen = args.format.chosen()?;
    let inputs = Inputs::new(&args.files)?;
    let card = cards::for_inputs(&args.card, &inputs, cli.color)?;
    check(args, card.card())?;
    let labels: Vec<String> = args.outcome.iter().cloned().collect();
    let matches = args.wins.as_ref().map(|path| wins(path, args, cli)).transpose()?;
    let source = Source { labels: &labels, ..Source::new(&args.items, None) };
    let rows = load_with(source, Some(Arc::clone(&card)), &inputs, args.no_progress, cli)?;
    let card = card.card();
    let wins: Vec<Win<'_>> = matches.iter().flat_map(pairs).collect();
    let target = if matches.is_some() { Target::Wins(&wins) } else { Target::Outcome };
    let needed = (4.0 / (1.0 - args.level)).ceil();
    let settings = Settings {
        holdout: args.holdout,
        level: args.level,
        resamples: args.resamples,
        refits: args.resamples.min(REFITS.max(needed) as u32),
        seed: args.seed,
    };
    let found = Tuning::new(&rows, target, &settings)?;
    let answer = Tune::new(&rows, card, &found, args.outcome.as_deref(), &settings);
    let written = answer.proposal.as_ref().map(|proposal| write(args, proposal)).transpose()?;
    let document = document::tune(&answer, &written.unwrap_or_default());
    format::show(&answer, &document, chosen, (usize::MAX, ""), cli.color)?;
    Ok(Exit::Done)
}

/// Refuses what cannot be answered, before anything is read.
fn check(args: &TuneArgs, card: &Scorecard) -> Result<(), Failure> {
    if let Some(field) = args.outcome.as_deref().filter(|field| *field != OUTCOME) {
        let names = || card.facts.iter().map(|fact| fact.name.as_str());
        if !names().any(|name| name == field) {
            let message = format!("`{}` has no fact `{}` to predict", card.name(), clean(field));
            return Err(Failure::new(message)
                .near(field, names())
                .help("declare the column in [facts], without a formula that reads it")
                .help("--outcome outcome is 1 for items that succeeded and 0 for those that failed"));
        }
    }
    if let Some(field) = &args.outcome {
        let readers = readers(card, field);
        if !readers.is_empty() {
            return Err(Failure::new(format!(
                "`{}` would predict itself, as dimensions read it: {}",
                clean(field),
                list(&readers)
            ))
            .help("predict a fact that no dimension reads"));
        }
    }
    if card.override_policy.is_none() && (args.override_out.is_some() || args.proposal_out.is_some()) {
        return Err(Failure::new(format!("`{}` does not accept weights from outside", card.name()))
            .help("a card accepts them with a section [override]")
            .help("leave out --override-out and --proposal-out to see what could be gained"));
    }
    if args.proposal_out.is_some() && args.items.as_of.is_none() {
        return Err(Failure::new("a proposal has a time, and --as-of is not given")
            .help("such as --as-of 2026-01-31T12:00:00Z"));
    }
    Ok(())
}

/// Reads the pairs, in any form that `karat rate` reads.
fn wins(path: &str, args: &TuneArgs, cli: &Cli) -> Result<Matches, Failure> {
    // The system is never asked: only the pairs are.
    let question = Question { rename: args.items.rename.clone(), ..Question::new(SystemName::Elo) };
    read_matches(&question, &[path.to_owned()], args.no_progress, cli)
}

fn pairs(matches: &Matches) -> impl Iterator<Item = Win<'_>> {
    matches.scores().map(|(first, second, score)| Win { first, second, score })
}

/// Writes the files that were asked for, and returns their names.
fn write(args: &TuneArgs, proposal: &TuneProposal) -> Result<Vec<String>, Failure> {
    let mut written = Vec::new();
    if let Some(path) = &args.override_out {
        create(path, format!("{}\n", answers::write(&proposal.weights)).as_bytes())?;
        written.push(path.clone());
    }
    if let (Some(path), Some(as_of)) = (&args.proposal_out, args.items.as_of.as_ref().map(AsOf::written)) {
        let event = json!({
            "event": "weights-proposed",
            "time": as_of.text,
            "id": proposal.id,
            "proposer": args.proposer,
            "reason": proposal.reason,
            "weights": proposal.weights,
        });
        create(path, format!("{}\n", answers::write(&event)).as_bytes())?;
        written.push(path.clone());
    }
    Ok(written)
}
