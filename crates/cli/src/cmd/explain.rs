//! `karat explain`: a score step by step. A record is first recomputed from its own facts, and compared with its
//! evidence if that is given.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;

use karat::card::CompiledCard;
use karat::engine::{Engine, Wanted};
use karat::record::Record;
use karat_core::explain::nearest_change;
use karat_core::record::Record as Scoring;

use crate::args::{Cli, ExplainArgs};
use crate::cmd::verify::compared;
use crate::load::engine_of;
use crate::progress::Progress;
use karat::answers;
use karat::answers::explanation::Explanation;
use karat::answers::standing::Standing;
use karat::document::{self, Document, Proof};
use karat::error::Error;
use karat::inputs::Inputs;
use karat::origin::Comparison;
use karat::recompute;
use karat::text::{clean, count, is_named, named, short};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format;
use karat_terminal::output::{CARE, Screen};
use serde::Serialize;

/// Most subjects that are named when one must be chosen.
const NAMED: usize = 8;

/// The answer about one item.
#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Score(Box<Explanation>),
    Standing(Box<Standing>),
}

/// An explained item.
type Explained = (Answer, Document);

/// The items that are meant: the first of them explained, all of them counted.
#[derive(Default)]
struct Meant {
    first: Option<Explained>,
    items: u64,
    /// The number of items by subject, and the first ids.
    subjects: BTreeMap<String, u64>,
    ids: Vec<String>,
}

impl Meant {
    /// Counts an item; returns true if it is the first one.
    fn see(&mut self, subject: &str, id: &str) -> bool {
        self.items += 1;
        *self.subjects.entry(subject.to_owned()).or_default() += 1;
        if self.ids.len() <= NAMED {
            self.ids.push(id.to_owned());
        }
        self.items == 1
    }
}

/// Explains the chosen item.
pub fn run(args: &ExplainArgs, cli: &Cli) -> Result<Exit, Failure> {
    if args.file == "-" && args.evidence.as_deref() == Some("-") {
        let failure = Failure::new("standard input cannot be both the record and its evidence");
        return Err(failure.help("give one of them as a file"));
    }
    let chosen = args.format.chosen()?;
    let file = std::slice::from_ref(&args.file);
    let (inputs, door) = (Inputs::new(file)?, Progress::new(true, cli));
    let (given, mut engine) =
        engine_of(args.card.as_deref(), &inputs, (&args.graders, &args.fields), cli)?.unzip();
    let wanted = engine.as_ref().map_or_else(Wanted::nothing, Engine::wanted);
    let mut meant = Meant::default();
    inputs.each(&wanted, &door, |place, bytes| {
        let bytes = bytes?;
        if let Some(standing) = answers::read::<Standing>(bytes)? {
            if args.evidence.is_some() {
                return Err(Failure::new(format!("{place}: a standing is explained as it was written"))
                    .help("leave out --evidence: `karat standing` with the same items computes it again"));
            }
            if args.item.is_none()
                && !is_other(args, &standing.subject, "")
                && meant.see(&standing.subject, "")
            {
                meant.first = Some(stood(standing));
            }
            return Ok(flow(args, &meant));
        }
        match (Record::parse(bytes)?, &mut engine, &given) {
            (Some(claim), ..) => {
                if is_other(args, &claim.document().subject, &claim.document().evidence.id) {
                    return Ok(ControlFlow::Continue(()));
                }
                let document = claim.document();
                if meant.see(&document.subject, &document.evidence.id) {
                    meant.first = Some(verified(&claim, given.as_ref(), args, cli)?);
                }
            }
            (None, ..) if args.evidence.is_some() => {
                return Err(Failure::new(format!(
                    "{place}: this is not a record, so there is nothing to compare"
                ))
                .help("--evidence goes with a record: leave it out to explain evidence"));
            }
            (None, Some(engine), Some(card)) => {
                let visited =
                    engine.try_visit_named(Some(&place.name()), bytes, |scored| -> Result<_, Error> {
                        let item = &scored.record.item;
                        if !is_other(args, item.subject, item.id) && meant.see(item.subject, item.id) {
                            let proof = Proof::Scored { is_from_log: inputs.is_from_log() };
                            meant.first = Some(explained(card, &scored.record, &proof)?);
                        }
                        Ok(())
                    });
                visited.map_err(|error| error.at(place.clone()))?;
            }
            (None, ..) => {
                if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(bytes) {
                    let (line, column) = (error.line(), error.column());
                    let message =
                        format!("{place}: this is not JSON, from its line {line}, column {column} on");
                    return Err(Failure::new(message).help("a record is one line: give all of it"));
                }
                return Err(Failure::new(format!("{place}: this is not a record, so it needs a scorecard"))
                    .help("say how to score it: --card workflow")
                    .help("`karat card list` names the scorecards that come with karat"));
            }
        }
        Ok(flow(args, &meant))
    })?;
    if flow(args, &meant).is_continue() {
        engine.as_ref().map_or(Ok(()), Engine::refuse_unfound)?;
    }
    match meant.first.take() {
        None => Err(nothing(args)),
        Some(_) if meant.subjects.len() > 1 && args.item.is_some() => Err(same_id(args, &meant)),
        Some(_) if meant.items > 1 && args.subject.is_none() && args.item.is_none() => {
            Err(ambiguous(args, &meant))
        }
        Some(only) => {
            if let (true, Some(item)) = (meant.items > 1, &args.item) {
                writeln!(
                    Screen::stderr(cli.color),
                    "{CARE}note{CARE:#}: {} are called `{}`, and the first is explained",
                    count(usize::try_from(meant.items).unwrap_or(usize::MAX), "item"),
                    short(item)
                )?;
            } else if let (true, Some(subject)) = (meant.items > 1, &args.subject) {
                let others = meant.ids.iter().skip(1).map(|id| short(id)).next().unwrap_or_default();
                writeln!(
                    Screen::stderr(cli.color),
                    "{CARE}note{CARE:#}: `{0}` has more than one item, and the first is explained; another: --subject '{0}' --item '{others}'",
                    short(subject)
                )?;
            }
            format::show(&only.0, &only.1, chosen, (usize::MAX, ""), cli.color)?;
            Ok(Exit::Done)
        }
    }
}

/// Returns whether more items are to be counted: all, unless the choice is made.
fn flow(args: &ExplainArgs, meant: &Meant) -> ControlFlow<()> {
    let is_enough = match (&args.item, &args.subject) {
        (None, Some(_)) => meant.items > 1,
        // An id may be that of several items, which is then said.
        (Some(_), _) | (None, None) => false,
    };
    if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Returns the refusal of an id that items of several subjects have.
fn same_id(args: &ExplainArgs, meant: &Meant) -> Failure {
    let id = clean(args.item.as_deref().unwrap_or_default());
    let failure = Failure::new(format!("`{}` has {} items `{id}`", clean(&args.file), meant.items));
    let names: Vec<&str> = meant.subjects.keys().map(String::as_str).collect();
    failure.help(format!("choose one with --subject: {}", named(&names).unwrap_or_default()))
}

/// Returns the refusal where no choice was made, with each subject once.
fn ambiguous(args: &ExplainArgs, meant: &Meant) -> Failure {
    let mut subjects: Vec<(&String, &u64)> = meant.subjects.iter().collect();
    subjects.sort_by_key(|(_, items)| std::cmp::Reverse(**items));
    let of = |(name, items): &(&String, &u64)| {
        format!("`{}` ({})", short(name), count(usize::try_from(**items).unwrap_or(usize::MAX), "item"))
    };
    let names: Vec<String> = subjects.iter().take(NAMED).map(of).collect();
    let more = subjects.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let failure = Failure::new(format!("`{}` has {} items", clean(&args.file), meant.items))
        .help("choose one with --item ID, or with --subject NAME, whose first item is explained")
        .help(format!("there are: {}{more}", names.join(", ")));
    let ids: Vec<String> =
        meant.ids.iter().filter(|id| !id.is_empty()).take(3).map(|id| format!("`{}`", short(id))).collect();
    if ids.is_empty() { failure } else { failure.help(format!("ids are such as {}", ids.join(", "))) }
}

fn nothing(args: &ExplainArgs) -> Failure {
    match (&args.item, &args.subject) {
        (Some(item), Some(subject)) => {
            Failure::new(format!("`{}` has no item `{}` of `{}`", args.file, clean(item), clean(subject)))
                .help("leave out --subject to look for that item of every subject")
        }
        (Some(item), None) => Failure::new(format!("`{}` has no item `{}`", args.file, clean(item)))
            .help("an item is named by its id; without one, by file and line: runs.csv:17"),
        (None, Some(subject)) => {
            Failure::new(format!("`{}` has nothing about `{}`", args.file, clean(subject)))
        }
        (None, None) => Failure::new(format!("`{}` is empty", args.file)),
    }
}

/// Returns true if another subject or item is asked for.
fn is_other(args: &ExplainArgs, subject: &str, id: &str) -> bool {
    args.subject.as_ref().is_some_and(|wanted| wanted != subject)
        || args.item.as_ref().is_some_and(|wanted| !is_named(wanted, id))
}

/// Recomputes a record from its facts, compares it with its evidence if that is given, and explains it, or reports what
/// differs.
fn verified(
    claim: &Record,
    given: Option<&Arc<CompiledCard>>,
    args: &ExplainArgs,
    cli: &Cli,
) -> Result<Explained, Failure> {
    let base = recompute::base(claim, given)?;
    let card = recompute::overridden(claim, base)?;
    recompute::recompute(claim, &card, |scoring| {
        let proof = match &args.evidence {
            None => Proof::Verified,
            Some(path) => Proof::FromEvidence(from_evidence(claim, &card, path, args, cli)?),
        };
        Ok(explained(&card, scoring, &proof)?)
    })?
}

/// Returns the place of the evidence that gives the record, or the differences.
fn from_evidence(
    claim: &Record,
    card: &Arc<CompiledCard>,
    path: &str,
    args: &ExplainArgs,
    cli: &Cli,
) -> Result<String, Failure> {
    let subject = clean(&claim.document().subject);
    let (message, lines) = match compared(claim, card, path, (&args.fields, &args.graders), cli)? {
        Comparison::Same(place) => return Ok(place),
        Comparison::Different { place, lines, .. } => {
            (format!("the record of `{subject}` is not what {} gives", clean(&place)), lines)
        }
        Comparison::Lacking { what, help } => {
            let message = format!("the record of `{subject}` cannot be compared: {what}");
            let failure = Failure::with_exit(Exit::Inconclusive, message);
            return Err(help.into_iter().fold(failure, Failure::help));
        }
        Comparison::Absent(lines) => {
            (format!("`{}` does not have the evidence of this record of `{subject}`", clean(path)), lines)
        }
    };
    Err(lines.into_iter().fold(Failure::with_exit(Exit::VerificationFailed, message), Failure::help))
}

/// Returns the explanation of one record by `card`.
fn explained(card: &CompiledCard, record: &Scoring<'_>, proof: &Proof) -> Result<Explained, Error> {
    let change = nearest_change(card.scorer()?, record);
    // A failed check ends the command, so that each is true or was not made.
    let verified = (!matches!(proof, Proof::Scored { .. })).then_some(true);
    let from_evidence = matches!(proof, Proof::FromEvidence(_)).then_some(true);
    let answer = Explanation::new(record, change.as_ref(), verified, from_evidence)?;
    Ok((Answer::Score(Box::new(answer)), document::explanation(record, change.as_ref(), proof)))
}

/// Returns a standing as it was written: only all its items could prove it.
fn stood(standing: Standing) -> Explained {
    let note = "as it was written; `karat standing` with the same items computes it again";
    let document = document::in_full(&standing, &[note.to_owned()]);
    (Answer::Standing(Box::new(standing)), document)
}
