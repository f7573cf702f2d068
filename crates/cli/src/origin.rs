//! Whose facts a record holds: its evidence, scored again by the same card, and what differs.

use karat_core::evaluate::Scorer;
use karat_core::facts::Digest;
use karat_core::record::Record;

use crate::args::{Cli, GraderArgs};
use crate::evidence::{Files, Flow};
use crate::graders;
use crate::progress::Progress;
use karat_report::claim::Claim;
use karat_report::failure::Failure;
use karat_report::session::Session;

/// How much says that an item of evidence is the one that a record is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// It is about somebody else.
    None,
    /// It is about the same subject.
    Subject,
    /// It has the same subject and id.
    Name,
    /// It is the very item.
    Digest,
}

/// The item that is most like the one of the record.
struct Origin {
    likeness: Likeness,
    /// Where it stands.
    place: String,
    /// Whether another item is as much like it.
    others: bool,
    /// Its record, as canonical JSON.
    record: Vec<u8>,
}

/// Where evidence is looked for, and how it is read.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The file.
    pub path: &'a str,
    /// The field of an item of facts that says who is scored.
    pub subject_field: Option<&'a str>,
    /// What graders need.
    pub graders: &'a GraderArgs,
}

/// What a record is beside its evidence.
#[derive(Debug)]
pub enum Comparison {
    /// What the item at that place gives.
    Same(String),
    /// Not what the item at `place` gives.
    Different {
        /// Where the item stands.
        place: String,
        /// Whether it is another item than the record names, or another version of it.
        is_other: bool,
        /// What differs, a line each.
        lines: Vec<String>,
    },
    /// There is no item that it could be of: why.
    Absent(Vec<String>),
}

/// Compares the record `claim`, which `scorer` has verified, with its evidence: who is scored, digest, facts and score.
///
/// The item is found by its digest; else by subject and id, then by its subject; else it must be the only one.
pub fn compare(
    claim: &Claim,
    scorer: &Scorer,
    request: &Request<'_>,
    cli: &Cli,
) -> Result<Comparison, Failure> {
    let (subject, id, digest) =
        (claim.text("/subject")?, claim.text("/evidence/id")?, claim.evidence_digest()?);
    let as_of = claim.as_of()?;
    let graders =
        graders::of_card(scorer.card(), request.graders, as_of.map(|as_of| as_of.at), cli.portable)?;
    let mut session = Session::new(scorer, request.subject_field, graders, cli.portable)?;
    let mut best: Option<Origin> = None;
    let files = Files::new(&[request.path.to_owned()], cli.color)?;
    files.each(&session.wanted(), &Progress::hidden(), &mut |place, bytes| {
        let scored = session.score(&place, bytes, as_of, |record, _| {
            let likeness = likeness(record, subject, id, digest);
            match &mut best {
                Some(best) if best.likeness > likeness => {}
                Some(best) if best.likeness == likeness => best.others = true,
                _ => {
                    let mut bytes = Vec::new();
                    record.write(&mut bytes);
                    best = Some(Origin { likeness, place: place.to_string(), others: false, record: bytes });
                }
            }
            if likeness == Likeness::Digest { Flow::Stop } else { Flow::Continue }
        });
        scored.map_err(|refusal| Failure::new(refusal.to_string()))
    })?;
    let Some(origin) = best.filter(|origin| !origin.others) else {
        return Ok(Comparison::Absent(vec![
            format!("of several items none has its digest, {digest}"),
            String::from("give the item alone to see what differs"),
        ]));
    };
    Ok(match claim.differences_from_evidence(&origin.record) {
        None => Comparison::Same(origin.place),
        Some(lines) => {
            let is_other = origin.likeness != Likeness::Digest;
            Comparison::Different { place: origin.place, is_other, lines }
        }
    })
}

fn likeness(record: &Record<'_>, subject: &str, id: &str, digest: Digest) -> Likeness {
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
