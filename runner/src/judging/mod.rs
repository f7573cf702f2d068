//! `karat judge`: runs what was submitted to a challenge, and shows each case; checks the cases of a challenge.

mod args;
mod check;
mod doctor;
mod submission;

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _, stderr};
use std::process::ExitCode;
use std::sync::Arc;

use args::{JudgeArgs, JudgeVerb, Program, Verb};
use clap::Parser as _;
use karat::card::CompiledCard;
use karat::document;
use karat::engine::{Engine, Options, Scored};
use karat::error::Error;
use karat_core::explain::nearest_change;
use karat_graders::execution::Judge;
use karat_process::{Judges, Options as JudgeOptions};
use karat_terminal::cards;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::{self, Chosen};
use karat_terminal::output::{Color, Screen, lines};
use serde_json::Value;
use submission::Submissions;

/// Carries out `karat judge` with these arguments, and returns its exit status.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    karat_terminal::report_defects();
    // The name of the program comes first.
    let ended = match Program::try_parse_from(std::iter::once(OsString::from("karat")).chain(arguments)) {
        Ok(Program { color, verb: Verb::Judge(args) }) => karat_terminal::ended(run(&args, color), color),
        Err(answer) => karat_terminal::unparsed(&answer),
    };
    ExitCode::from(ended)
}

/// Judges one submission, or checks the challenge or this machine.
fn run(args: &JudgeArgs, color: Color) -> Result<Exit, Failure> {
    if let Some(JudgeVerb::Doctor(doctor)) = &args.verb {
        return doctor::run(doctor, color);
    }
    let challenge = args.challenge.as_deref().unwrap_or_default();
    let files = [&args.submission, &args.truth, &args.reference];
    let inputs = files.into_iter().filter_map(Option::as_deref).chain([challenge]);
    if inputs.filter(|path| *path == "-").count() > 1 {
        return Err(Failure::new("standard input can be read only once").help("give the others as files"));
    }
    let card = cards::compiled(challenge, color)?;
    let submissions = Submissions::new(&card, args.truth.as_deref())?;
    let options = JudgeOptions {
        runtimes: args.runtimes.clone(),
        tells_start: stderr().is_terminal(),
        ..JudgeOptions::default()
    };
    let judges = Arc::new(Judges::found(args.judge.as_deref(), options));
    let chosen = args.format.chosen()?;
    match (&args.submission, &args.reference) {
        (_, Some(reference)) => {
            let reference = submissions.read(reference)?;
            check::run(&card, judges, (&submissions, &reference), color, chosen)
        }
        (Some(path), None) => {
            let item = submissions.item(&submissions.read(path)?);
            one(&card, &item, judges, color, chosen)
        }
        (None, None) => Err(Failure::new("nothing was submitted").help("name a file after the challenge")),
    }
}

/// Returns an engine for the matches of a challenge.
fn engine(card: &Arc<CompiledCard>, judge: Arc<dyn Judge>) -> Result<Engine, Failure> {
    let options = Options { judge: Some(judge), ..Options::default() };
    Ok(Engine::new(Arc::clone(card), options)?)
}

fn one(
    card: &Arc<CompiledCard>,
    item: &Value,
    judge: Arc<dyn Judge>,
    color: Color,
    chosen: Chosen,
) -> Result<Exit, Failure> {
    let mut engine = engine(card, judge)?;
    let judged = engine.try_visit(item.to_string().as_bytes(), |scored| -> Result<_, Error> {
        let execution = execution(scored);
        let change = nearest_change(card.scorer()?, &scored.record);
        let document = document::judgement(&scored.record, &execution, change.as_ref());
        let mut record = Vec::new();
        scored.write(&mut record);
        record.push(b'\n');
        Ok((record, document, no_verdict(&execution)))
    });
    let (record, document, no_verdict) = judged?;
    match chosen {
        Chosen::Json => {
            let mut out = lines();
            out.write_all(&record)?;
            out.flush()?;
        }
        Chosen::Form(form) => format::emit(&document, form)?,
        Chosen::Screen => format::screen(&document, (usize::MAX, ""), &mut Screen::stdout(color))?,
    }
    match no_verdict {
        None => Ok(Exit::Done),
        Some(_) if chosen == Chosen::Screen => Ok(Exit::Inconclusive),
        Some(why) => Err(Failure::with_exit(Exit::Inconclusive, format!("there is no verdict: {why}"))),
    }
}

/// Returns the account of what was executed for a match; null if nothing was.
fn execution(scored: &Scored<'_>) -> Value {
    let grading = scored.record.item.grading;
    let mut seen: Value = grading.and_then(|seen| serde_json::from_str(seen).ok()).unwrap_or_default();
    seen.get_mut("execution").map(Value::take).unwrap_or_default()
}

/// Returns the reason for which nothing was executed, if a judge should have.
fn no_verdict(execution: &Value) -> Option<String> {
    execution.get("no_verdict").and_then(Value::as_str).map(str::to_owned)
}
