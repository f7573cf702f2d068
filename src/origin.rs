//! The evidence of a record: found, scored again by the same card, and compared.

use std::ops::ControlFlow;
use std::sync::Arc;

use karat_core::facts::Digest;
use karat_core::record::Record as Scoring;
use serde_json::Value;

use crate::card::CompiledCard;
use crate::document::judge_identity;
use crate::engine::{Engine, Options, Scored, Wanted};
use crate::error::{Error, Place};
use crate::inputs::{Door, Inputs};
use crate::record::{Record, RecordDocument};

/// The strength of the match between an item of evidence and a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// It is about another subject.
    None,
    /// It is about the same subject.
    Subject,
    /// It has the same subject and id.
    Name,
    /// It is the same item.
    Digest,
}

/// The item that matches the record best.
struct Origin {
    likeness: Likeness,
    /// Its file and line.
    place: String,
    /// True if another item matches as well.
    others: bool,
    /// Its record, as canonical JSON.
    record: Vec<u8>,
}

/// The result of comparing a record with its evidence.
#[derive(Debug)]
pub enum Comparison {
    /// The item at that place gives the record.
    Same(String),
    /// The item at `place` gives another record.
    Different {
        /// The file and line of the item.
        place: String,
        /// True if it is another item than the record names, or another version of it.
        is_other: bool,
        /// The differences, a line each.
        lines: Vec<String>,
    },
    /// No item can be its evidence; the reasons.
    Absent(Vec<String>),
    /// It cannot be scored again with what is given.
    Lacking {
        /// The part of the graders' input that is lacking.
        what: String,
        /// The ways to give it.
        help: Vec<String>,
    },
}

/// Returns what the options need for the trace of a record and do not have.
pub fn lacking(claim: &Record, has_cache: bool, has_embedder: bool) -> Option<Comparison> {
    let reading = claim.document().cache_reading()?;
    let what = if !has_cache {
        "its novelty was read against a cache of vectors, which is not given"
    } else if reading.embedder.is_some() && !has_embedder {
        "a model embedded its text, which is not given"
    } else {
        return None;
    };
    let help = [
        "give --cache as it was before the record, and --embedder if a model embedded the text",
        "or score the whole log again: karat log verify --replay",
    ];
    Some(Comparison::Lacking { what: what.to_owned(), help: help.map(str::to_owned).into() })
}

/// Compares the record `claim`, which `card` has verified, with its evidence among `inputs`: subject, digest, facts and score.
///
/// The item is found by its digest; else by subject and id, then by its subject; else it must be the only one.
///
/// # Errors
/// If an input cannot be read, or an item is refused.
pub fn compare(
    claim: &Record,
    card: &Arc<CompiledCard>,
    inputs: &Inputs,
    options: Options,
    door: &dyn Door,
) -> Result<Comparison, Error> {
    compare_items(claim, card, options, |wanted, take| inputs.each(wanted, door, take).map(drop))
}

/// A taker of items, each with its place, or the error in its place; it says when it has seen enough.
pub(crate) type Take<'t> = dyn FnMut(&Place, Result<&[u8], Error>) -> Result<ControlFlow<()>, Error> + 't;

/// Does the same with items that `each` hands over.
///
/// # Errors
/// If an item is refused; what `each` says.
pub(crate) fn compare_items(
    claim: &Record,
    card: &Arc<CompiledCard>,
    options: Options,
    each: impl FnOnce(&Wanted, &mut Take<'_>) -> Result<(), Error>,
) -> Result<Comparison, Error> {
    let document = claim.document();
    let (subject, id, digest) =
        (document.subject.as_str(), document.evidence.id.as_str(), document.evidence.digest);
    let mut engine = Engine::new(Arc::clone(card), options)?;
    engine.set_circumstances_of(claim);
    let mut best: Option<Origin> = None;
    let wanted = engine.wanted();
    each(&wanted, &mut |place, bytes| {
        let (bytes, own) = (bytes?, place.name());
        let mut look = |name: &str, scored: &Scored<'_>| {
            let item = &scored.record.item;
            let likeness = likeness(&scored.record, subject, id, digest);
            // An item without an id is called by its place, which may be another one where the record was made.
            if likeness == Likeness::Digest && item.id == own && name != id {
                return Err(Again::Named);
            }
            match &mut best {
                Some(best) if best.likeness > likeness => {}
                Some(best) if best.likeness == likeness => best.others = true,
                _ => {
                    let mut bytes = Vec::new();
                    scored.write(&mut bytes);
                    best = Some(Origin { likeness, place: place.to_string(), others: false, record: bytes });
                }
            }
            Ok(match likeness {
                Likeness::Digest => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            })
        };
        let flow = match engine.try_visit_named(Some(&own), bytes, |scored| look(&own, scored)) {
            Err(Again::Named) => engine.try_visit_named(Some(id), bytes, |scored| look(id, scored)),
            done => done,
        };
        match flow {
            Ok(flow) => Ok(flow),
            Err(Again::Refused(error)) => Err(error.at(place.clone())),
            // The second time, the item has the name of the record.
            Err(Again::Named) => Ok(ControlFlow::Continue(())),
        }
    })?;
    if best.is_none() {
        engine.refuse_unfound()?;
    }
    let Some(origin) = best.filter(|origin| !origin.others) else {
        return Ok(Comparison::Absent(vec![
            format!("of several items none has its digest, {digest}"),
            String::from("give the item alone to see what differs"),
        ]));
    };
    if let Some(lacking) = other_judge(document, &origin.record) {
        return Ok(lacking);
    }
    Ok(match claim.differences_from_evidence(&origin.record) {
        None => Comparison::Same(origin.place),
        Some(lines) => {
            let is_other = origin.likeness != Likeness::Digest;
            Comparison::Different { place: origin.place, is_other, lines }
        }
    })
}

/// Returns why verdicts cannot be compared, if what was submitted was run by a judge that is not the one here: fuel and so
/// verdicts belong to one engine with one runtime.
fn other_judge(document: &RecordDocument, again: &[u8]) -> Option<Comparison> {
    let execution = |mut grading: Value| grading.get_mut("execution").map(Value::take);
    let grading = document.grading.as_ref().and_then(|seen| serde_json::from_str(seen.as_str()).ok());
    let was = execution(grading?)?.get("judge").cloned()?;
    let mut again: Value = serde_json::from_slice(again).ok()?;
    let now = execution(again.get_mut("grading").map(Value::take)?)?;
    let what = match (now.get("judge"), now.get("no_verdict").and_then(Value::as_str)) {
        (Some(judge), _) if *judge == was => return None,
        (Some(judge), _) => {
            format!("it was run by {}, and here is {}", judge_identity(&was), judge_identity(judge))
        }
        (None, Some(why)) => {
            format!("it was run by {}, and there is no verdict here: {why}", judge_identity(&was))
        }
        // Nothing was run this time: that is a difference.
        (None, None) => return None,
    };
    let help = "give the judge that the record names, with its runtime: --judge PATH, or KARAT_JUDGE and KARAT_RUNTIMES";
    Some(Comparison::Lacking { what, help: vec![help.to_owned()] })
}

/// The reason why an item was not compared.
enum Again {
    /// It is the item of the record, and needs its name.
    Named,
    /// It is refused.
    Refused(Error),
}

impl From<Error> for Again {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

fn likeness(record: &Scoring<'_>, subject: &str, id: &str, digest: Digest) -> Likeness {
    let item = &record.item;
    if item.digest == digest {
        Likeness::Digest
    } else if item.subject != subject {
        Likeness::None
    } else if item.id != id {
        Likeness::Subject
    } else {
        Likeness::Name
    }
}
