//! `karat card diff`: the same evidence under two scorecards; who moves, and why.

use std::ops::ControlFlow;
use std::sync::Arc;

use karat::answers::diff::{Diff, Side};
use karat::card::CompiledCard;
use karat::document;
use karat::engine::{Engine, Options};
use karat::error::Error;
use karat::inputs::Inputs;
use karat_terminal::cards;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::{Chosen, show};

use crate::args::{Cli, DiffArgs, GraderArgs};
use crate::graders;
use crate::progress::Progress;

/// Compares two cards on the evidence given.
pub fn run(args: &DiffArgs, cli: &Cli) -> Result<Exit, Failure> {
    let chosen = args.format.chosen_or(Chosen::Screen)?;
    let inputs = Inputs::new(&args.files)?;
    let compiled = |card: &str| cards::for_inputs(card, &inputs, cli.color);
    let (before, after) = (compiled(&args.before)?, compiled(&args.after)?);
    let (old, new) = (before.card(), after.card());
    if old.evidence != new.evidence {
        let message = format!(
            "`{}` reads evidence of kind `{}`, `{}` of kind `{}`",
            old.name(),
            old.evidence,
            new.name(),
            new.evidence
        );
        return Err(Failure::new(message).help("only cards for the same kind of evidence can be compared"));
    }
    let progress = Progress::new(false, cli);
    let engine = |card: &Arc<CompiledCard>| -> Result<Engine, Failure> {
        let options = graders::options(card.card(), &GraderArgs::default(), &args.fields)?;
        let options = Options { any_challenge: true, ..options };
        Ok(Engine::new(Arc::clone(card), options)?)
    };
    let (mut first, mut second) = (engine(&before)?, engine(&after)?);
    let mut diff = Diff::new(old.name(), new.name(), new.scale.max);
    let mut wanted = first.wanted();
    wanted.add(second.wanted());
    inputs.each(&wanted, &progress, |place, bytes| {
        let bytes = bytes?;
        let side = |engine: &mut Engine| engine.visit_at(place, bytes, |scored| Side::of(&scored.record));
        diff.see(side(&mut first)?, side(&mut second)?, args.top);
        Ok::<_, Error>(ControlFlow::Continue(()))
    })?;
    first.refuse_unfound()?;
    drop(progress);
    show(&diff.answer(), &document::diff(&diff), chosen, (usize::MAX, ""), cli.color)?;
    Ok(Exit::Done)
}
