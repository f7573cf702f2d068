//! `karat grade`: the facts of evidence, and the observations of the graders behind them. Nothing is scored.

use std::io::Write as _;
use std::ops::ControlFlow;

use karat_core::facts::Fact;
use karat_reader::{Evidence, Graders, Kind};
use serde_json::{Map, Value, json};

use crate::args::{Cli, GradeArgs};
use crate::cmd::score::report_unread;
use crate::graders;
use crate::progress::Progress;
use karat::document;
use karat::engine::{self, FactReader};
use karat::inputs::Inputs;
use karat::text::clean;
use karat::write::screen;
use karat_terminal::cards;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::{self, Chosen};
use karat_terminal::output::Screen;

/// Grades all evidence given.
pub fn run(args: &GradeArgs, cli: &Cli) -> Result<Exit, Failure> {
    let kind = kind(&args.kind)?;
    let graders = what_graders_need(args, kind, cli)?;
    let vocabulary = kind.vocabulary();
    let mut reader = FactReader::new(kind, graders)?;
    let files = Inputs::new(&args.files)?;
    let chosen = args.format.chosen()?;
    let mut screen = Screen::stdout(cli.color);
    let layout = screen::Layout { width: screen.width, most: usize::MAX, all: "" };
    let mut documents = Vec::new();
    let wanted = reader.wanted();
    let progress = Progress::new(chosen == Chosen::Screen, cli);
    files.each(&wanted, &progress, |place, bytes| {
        let evidence = reader.read(place, bytes?)?;
        let document = || document::evidence(&evidence, vocabulary, files.is_from_log());
        match chosen {
            Chosen::Screen => writeln!(screen, "{}", screen::document(&document(), layout))?,
            Chosen::Json => writeln!(screen, "{}", as_json(&evidence, kind))?,
            Chosen::Form(_) => documents.push(document()),
        }
        screen.show()?;
        Ok::<_, Failure>(ControlFlow::Continue(()))
    })?;
    drop(progress);
    screen.flush()?;
    if let Chosen::Form(form) = chosen {
        format::emit(&document::Document::joined(documents), form)?;
    }
    // Fields have other names than facts, so no fact can be suggested.
    report_unread(reader.unknown_fields(), |_| None, cli.color)?;
    Ok(Exit::Done)
}

fn kind(name: &str) -> Result<Kind, Failure> {
    let names: Vec<&str> =
        Kind::ALL.into_iter().filter(|kind| *kind != Kind::Facts).map(Kind::name).collect();
    match Kind::from_name(name) {
        Some(Kind::Facts) => Err(Failure::new("evidence of kind `facts` has its facts already")
            .help("a scorecard says which of them it reads: karat score --card CARD FILE")),
        Some(kind) => Ok(kind),
        None => {
            let failure = Failure::new(format!("there is no kind of evidence `{}` to grade", clean(name)));
            let begun = names.iter().find(|known| !name.is_empty() && known.starts_with(name)).copied();
            Err(failure.one_of(begun.unwrap_or(name), &names))
        }
    }
}

fn what_graders_need(args: &GradeArgs, kind: Kind, cli: &Cli) -> Result<Graders, Failure> {
    let as_of = args.as_of;
    let Some(wanted) = &args.card else {
        return graders::of_kind(kind, &args.graders, as_of);
    };
    let wanted = &cards::named_of_kind(wanted, kind, cli.color)?;
    let card = cards::load(wanted, cli.color)?;
    if engine::kind(&card)? != kind {
        let message =
            format!("`{}` reads evidence of kind `{}`, not `{}`", card.name(), card.evidence, kind.name());
        return Err(Failure::new(message).help("choose a card for this kind of evidence"));
    }
    let graders = graders::of_kind(kind, &args.graders, as_of)?;
    let card = cards::compiled(wanted, cli.color)?;
    Ok(Graders {
        evaluator: card.evaluator().cloned(),
        challenge: card.challenge(),
        jury: card.jury(),
        ..graders
    })
}

fn as_json(evidence: &Evidence<'_>, kind: Kind) -> Value {
    let item = evidence.item();
    let facts: Map<String, Value> = kind
        .vocabulary()
        .iter()
        .zip(item.facts)
        .map(|(spec, fact)| {
            let value = match fact {
                Fact::Missing => Value::Null,
                Fact::Number(number) => json!(number),
                Fact::Flag(flag) => json!(flag),
                Fact::Text(text) => json!(text),
            };
            (spec.name.to_owned(), value)
        })
        .collect();
    let notes: Vec<Value> =
        evidence.notes().iter().map(|note| json!({"path": note.path, "text": note.text})).collect();
    let seen: Value = item.grading.and_then(|seen| serde_json::from_str(seen).ok()).unwrap_or_default();
    json!({
        "kind": kind.name(),
        "subject": item.subject,
        "id": item.id,
        "digest": item.digest.to_string(),
        "facts": facts,
        "grading": seen,
        "notes": notes,
        "warnings": item.suspicions,
    })
}
