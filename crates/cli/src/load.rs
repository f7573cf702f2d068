//! Loading scored items from files.

use std::sync::Arc;

use karat::card::CompiledCard;
use karat::inputs::Inputs;
use karat::loaded::Source;
use karat::rows::Rows;

use crate::args::Cli;
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

/// Does the same with a card that is at hand.
pub fn load_with(
    source: Source<'_>,
    card: Option<Arc<CompiledCard>>,
    inputs: &Inputs,
    is_quiet: bool,
    cli: &Cli,
) -> Result<Rows, Failure> {
    let scored = |card: Arc<CompiledCard>| {
        let options = graders::options(card.card(), &Default::default(), &source.items.fields, cli.portable);
        options.map(|options| (card, options))
    };
    let card = card.map(scored).transpose()?;
    Ok(Source { card, ..source }.load(inputs, &Progress::new(is_quiet, cli))?.rows)
}
