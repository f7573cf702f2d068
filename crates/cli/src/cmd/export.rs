//! `karat export`: scored items in the formats of other tools.

use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;

use karat::card::CompiledCard;
use karat::engine::{Engine, Wanted};
use karat::error::Error;
use karat::export::{Export, Exporter, Target};
use karat::inputs::{Door, Inputs, Silent};
use karat::recompute;
use karat::record::Record;
use karat::rows::StoredRecord;
use karat::text::clean;

use crate::args::{Cli, ExportArgs};
use crate::load::engine_of;
use crate::progress::Progress;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format;
use karat_terminal::output::{FAINT, Screen, replace_folder};

/// Exports all items given.
pub fn run(args: &ExportArgs, cli: &Cli) -> Result<Exit, Failure> {
    let target = Target::ALL.into_iter().find(|target| target.name() == args.to);
    let target = target.ok_or_else(|| Failure::new(format!("there is no format `{}`", clean(&args.to))))?;
    let exporter = read(args, cli)?;
    let export = exporter.end(target);
    if export.files.is_empty() {
        let failure = Failure::new("there is nothing to export");
        let reasons = export.left_out.iter().map(|(reason, count)| format!("{count} times {reason}"));
        return Err(reasons.fold(failure, Failure::help));
    }
    match &args.out {
        Some(folder) => save(folder, &export)?,
        None => format::text(only(target, &export)?)?,
    }
    if !args.quiet {
        tell(&export, cli)?;
    }
    Ok(Exit::Done)
}

/// Reads the records, or scores the evidence.
fn read(args: &ExportArgs, cli: &Cli) -> Result<Exporter, Failure> {
    let inputs = Inputs::new(&args.files)?;
    let progress = Progress::new(true, cli);
    let door: &dyn Door = if args.quiet { &Silent } else { &progress };
    let engine = engine_of(args.card.as_deref(), &inputs, (&args.graders, &args.fields), cli)?;
    let mut exporter = Exporter::default();
    each_record(&inputs, engine, door, |record| {
        if args.subject.as_ref().is_none_or(|wanted| *wanted == record.document().subject) {
            exporter.add(record)?;
        }
        Ok(())
    })?;
    Ok(exporter)
}

/// Visits all records of the inputs, and those of evidence that a card scores.
pub(super) fn each_record(
    inputs: &Inputs,
    engine: Option<(Arc<CompiledCard>, Engine)>,
    door: &dyn Door,
    mut visit: impl FnMut(&Record) -> Result<(), Error>,
) -> Result<(), Failure> {
    let (given, mut engine) = engine.unzip();
    let wanted = engine.as_ref().map_or_else(Wanted::nothing, Engine::wanted);
    let mut line = Vec::new();
    inputs.each(&wanted, door, |place, bytes| {
        let bytes = bytes?;
        let stored = if place.is_row { None } else { StoredRecord::parse(bytes) };
        let bytes = stored.map_or(bytes, |stored| stored.record.as_bytes());
        match (Record::parse(bytes)?, &mut engine) {
            (Some(claim), _) => {
                // Only what follows from its facts leaves the house.
                let base = recompute::base(&claim, given.as_ref())?;
                let card = recompute::overridden(&claim, base)?;
                recompute::recompute(&claim, &card, |_| ()).map_err(|error| error.at(place.clone()))?;
                visit(&claim).map_err(|error| error.at(place.clone()))?;
            }
            (None, Some(engine)) => {
                line.clear();
                engine.visit_at(place, bytes, |scored| scored.write(&mut line))?;
                if let Some(record) = Record::parse(&line)? {
                    visit(&record).map_err(|error| error.at(place.clone()))?;
                }
            }
            (None, None) => {
                return Err(Failure::new(format!("{place}: this is not a record, so it needs a scorecard"))
                    .help("say how to score it: --card run"));
            }
        }
        Ok::<_, Failure>(ControlFlow::Continue(()))
    })?;
    Ok(engine.as_ref().map_or(Ok(()), Engine::refuse_unfound)?)
}

/// Returns the one file that standard output can have.
fn only(target: Target, export: &Export) -> Result<&str, Failure> {
    let is_meant = |name: &str| target != Target::EveryEvalEver || name.ends_with("_samples.jsonl");
    let mut meant = export.files.iter().filter(|file| is_meant(&file.name));
    match (meant.next(), meant.next()) {
        (Some(only), None) => Ok(&only.text),
        _ => Err(Failure::new(format!(
            "these are {} files, and standard output holds one",
            export.files.len()
        ))
        .help("name a folder for them: --out DIR")
        .help("or choose one subject: --subject NAME")),
    }
}

/// Writes the files into a new or empty folder: a part of an export would look like a whole one.
fn save(folder: &str, export: &Export) -> Result<(), Failure> {
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::new(format!("`{}` has files in it", clean(folder)))
            .help("name a new folder, or an empty one"));
    }
    replace_folder(folder, export.files.iter().map(|file| (file.name.as_str(), file.text.as_bytes())))
}

/// Says how many items there are, and what was left out.
fn tell(export: &Export, cli: &Cli) -> Result<(), Failure> {
    let mut screen = Screen::stderr(cli.color);
    let files = if export.files.len() == 1 { "1 file" } else { &format!("{} files", export.files.len()) };
    let items = if export.items == 1 { "1 item" } else { &format!("{} items", export.items) };
    writeln!(screen, "{items} in {files}")?;
    if !export.left_out.is_empty() {
        writeln!(screen, "left out:")?;
        for (reason, count) in &export.left_out {
            writeln!(screen, "{FAINT}{count:>8}  {reason}{FAINT:#}")?;
        }
    }
    Ok(())
}
