//! `karat judge`: runs what was submitted to a challenge, and shows each case; checks the cases of a challenge.

mod check;
mod doctor;
mod submission;

use std::io::Write as _;
use std::sync::Arc;

use karat::card::CompiledCard;
use karat::engine::{Engine, Options, Scored};
use karat::error::{Code, Error};
use karat_core::explain::nearest_change;
use karat_graders::execution::Judge;
use serde_json::Value;

use crate::args::{Cli, JudgeArgs, JudgeVerb};
use crate::cards;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::format::{self, Chosen};
use crate::graders;
use crate::output::{Screen, lines};
use crate::render::waterfall::{nearest, waterfall};
use crate::render::{judged, judged_rows};
use submission::Submissions;

/// Judges one submission, or checks the challenge.
pub fn run(args: &JudgeArgs, cli: &Cli) -> Result<Exit, Failure> {
    if let Some(JudgeVerb::Doctor(args)) = &args.verb {
        return doctor::run(args, cli);
    }
    let challenge = args.challenge.as_deref().unwrap_or_default();
    let files = [&args.submission, &args.truth, &args.reference];
    let inputs = files.into_iter().filter_map(Option::as_deref).chain([challenge]);
    if inputs.filter(|path| *path == "-").count() > 1 {
        return Err(Failure::new("standard input can be read only once").help("give the others as files"));
    }
    let card = cards::compiled(challenge, cli.color)?;
    let submissions = Submissions::new(&card, args.truth.as_deref())?;
    let judges = graders::judges(args.judge.as_deref(), args.runtimes.clone());
    let chosen = args.format.chosen()?;
    match (&args.submission, &args.reference) {
        (_, Some(_)) if matches!(chosen, Chosen::Form(_)) => {
            Err(Failure::new("--self-check is a table or JSON").help("--format table, --format json"))
        }
        (_, Some(reference)) => {
            let reference = submissions.read(reference)?;
            check::run(&card, judges, (&submissions, &reference), cli, chosen == Chosen::Json)
        }
        (Some(path), None) => {
            let item = submissions.item(&submissions.read(path)?);
            one(&card, &item, judges, cli, chosen)
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
    cli: &Cli,
    chosen: Chosen,
) -> Result<Exit, Failure> {
    let as_json = chosen != Chosen::Screen;
    let mut engine = engine(card, judge)?;
    let mut screen = Screen::stdout(cli.color);
    let width = screen.width;
    let judged = engine.try_visit(item.to_string().as_bytes(), |scored| -> Result<_, Error> {
        let execution = execution(scored);
        let mut text = Vec::new();
        let mut document = None;
        if let Chosen::Form(form) = chosen {
            document = Some((judged_rows::document(card, &scored.record, &execution), form));
        } else if as_json {
            scored.write(&mut text);
            text.push(b'\n');
        } else {
            let change = nearest_change(card.scorer()?, &scored.record);
            let tables = judged::tables(card, &execution, width);
            let account = waterfall(&scored.record, width);
            let change = nearest(&scored.record, change.as_ref(), width);
            text.extend(format!("{tables}\n{account}{change}").into_bytes());
        }
        Ok((text, document, no_verdict(&execution)))
    });
    let (text, document, no_verdict) = judged.map_err(refused)?;
    if let Some((document, form)) = document {
        format::emit(&document, form)?;
    } else if as_json {
        let mut out = lines();
        out.write_all(&text)?;
        out.flush()?;
    } else {
        screen.write_all(&text)?;
        screen.flush()?;
    }
    match no_verdict {
        None => Ok(Exit::Done),
        Some(why) if as_json => {
            Err(Failure::with_exit(Exit::Inconclusive, format!("there is no verdict: {why}")))
        }
        Some(_) => Ok(Exit::Inconclusive),
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

/// Returns the failure of a match that is refused. Where no file was given, its paths mean parts of the answer.
fn refused(error: Error) -> Failure {
    match error.code() {
        Code::ScorecardRefused => {
            Failure::from(error).help("`karat card check` says what is wrong with the challenge")
        }
        _ => error.into(),
    }
}
