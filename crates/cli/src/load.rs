//! Loading scored items from files.

use std::sync::Arc;

use karat::ask::Fields;
use karat::card::CompiledCard;
use karat::engine::Engine;
use karat::inputs::Inputs;
use karat::loaded::Source;
use karat::rows::Rows;

use crate::args::{Cli, GraderArgs};
use crate::graders;
use crate::progress::Progress;
use karat_terminal::cards;
use karat_terminal::failure::Failure;

/// Loads all items of `inputs`, with `card` for evidence, or reports every problem.
pub fn load(
    source: Source<'_>,
    card: Option<&str>,
    inputs: &Inputs,
    is_quiet: bool,
    cli: &Cli,
) -> Result<Rows, Failure> {
    let card = card.map(|card| cards::for_inputs(card, inputs, cli.color)).transpose()?;
    load_with(source, card, inputs, is_quiet, cli)
}

/// Returns the scorecard that evidence is scored with and an engine for it, if one is named: records need none.
pub fn engine_of(
    card: Option<&str>,
    inputs: &Inputs,
    (graders, fields): (&GraderArgs, &Fields),
    cli: &Cli,
) -> Result<Option<(Arc<CompiledCard>, Engine)>, Failure> {
    let Some(card) = card else { return Ok(None) };
    let card = cards::for_inputs(card, inputs, cli.color)?;
    let options = graders::options(card.card(), graders, fields)?;
    let engine = Engine::new(Arc::clone(&card), options)?;
    Ok(Some((card, engine)))
}

/// Loads all items with a card that is at hand.
pub fn load_with(
    source: Source<'_>,
    card: Option<Arc<CompiledCard>>,
    inputs: &Inputs,
    is_quiet: bool,
    cli: &Cli,
) -> Result<Rows, Failure> {
    let scored = |card: Arc<CompiledCard>| {
        let options = graders::options(card.card(), &Default::default(), &source.items.fields);
        options.map(|options| (card, options))
    };
    let card = card.map(scored).transpose()?;
    Ok(Source { card, ..source }.load(inputs, &Progress::new(is_quiet, cli))?.rows)
}
