//! `karat grade`: the facts of evidence, and the observations of the graders behind them. Nothing is scored.

use std::io::{BufWriter, StdoutLock, Write};

use karat_core::facts::Fact;
use karat_reader::{Evidence, Graders, Kind};
use serde_json::{Map, Value, json};

use crate::args::{Cli, GradeArgs};
use crate::cards;
use crate::cmd::score::report_unread;
use crate::evidence::{Files, Flow};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::graders;
use crate::output::{Screen, is_watched, lines};
use crate::progress::Progress;
use karat::document;
use karat::engine::{self, FactReader};
use karat::text::clean;
use karat::write::screen;

/// Grades all evidence given.
pub fn run(args: &GradeArgs, cli: &Cli) -> Result<Exit, Failure> {
    let kind = kind(&args.kind)?;
    let graders = what_graders_need(args, kind, cli)?;
    let vocabulary = kind.vocabulary();
    let mut reader = FactReader::new(kind, graders)?;
    let files = Files::new(&args.files, cli.color)?;
    let as_table = args.table || (!args.json && is_watched());
    let mut out = if as_table { Out::Screen(Screen::stdout(cli.color)) } else { Out::Lines(lines()) };
    let wanted = reader.wanted();
    let progress = Progress::new(files.bytes(), as_table);
    files.each(&wanted, &progress, &mut |place, bytes| {
        let evidence = reader.read(place, bytes?)?;
        match &mut out {
            Out::Screen(screen) => {
                let document = document::evidence(&evidence, vocabulary, files.is_from_log());
                let layout = screen::Layout { width: screen.width, most: usize::MAX, all: "" };
                writeln!(screen, "{}", screen::document(&document, layout))?;
                screen.show()?;
            }
            Out::Lines(out) => writeln!(out, "{}", as_json(&evidence, kind))?,
        }
        Ok(Flow::Continue)
    })?;
    drop(progress);
    out.flush()?;
    // Fields have other names than facts, so no fact can be suggested.
    report_unread(reader.unknown_fields(), |_| None, cli.color)?;
    Ok(Exit::Done)
}

/// The output for the facts.
enum Out {
    Screen(Screen),
    Lines(BufWriter<StdoutLock<'static>>),
}

impl Out {
    fn flush(&mut self) -> Result<(), Failure> {
        match self {
            Self::Screen(screen) => screen.flush()?,
            Self::Lines(lines) => lines.flush()?,
        }
        Ok(())
    }
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
            let near = begun.or_else(|| karat_core::diagnostic::nearest(name, names.iter().copied()));
            let failure = match near {
                Some(near) => failure.help(format!("did you mean `{near}`?")),
                None => failure,
            };
            Err(failure.help(format!("there are: {}", names.join(", "))))
        }
    }
}

fn what_graders_need(args: &GradeArgs, kind: Kind, cli: &Cli) -> Result<Graders, Failure> {
    let as_of = args.as_of;
    let Some(wanted) = &args.card else {
        return graders::of_kind(kind, &args.graders, as_of, cli.portable);
    };
    let wanted = &cards::named_of_kind(wanted, kind, cli.color)?;
    let card = cards::load(wanted, cli.color)?;
    if engine::kind(&card)? != kind {
        let message =
            format!("`{}` reads evidence of kind `{}`, not `{}`", card.name(), card.evidence, kind.name());
        return Err(Failure::new(message).help("choose a card for this kind of evidence"));
    }
    let graders = graders::of_kind(kind, &args.graders, as_of, cli.portable)?;
    let card = cards::compiled(wanted, cli.color)?;
    Ok(Graders { evaluator: card.evaluator().cloned(), challenge: card.challenge(), ..graders })
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
