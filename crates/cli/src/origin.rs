//! Whose facts a record holds: its evidence, scored again by the same card, and what differs.

use karat_core::evaluate::Scorer;
use karat_core::facts::Digest;
use karat_core::record::Record;

use crate::args::{Cli, ExplainArgs};
use crate::evidence::{Files, Flow};
use crate::graders;
use crate::progress::Progress;
use karat_report::claim::Claim;
use karat_report::exit::Exit;
use karat_report::failure::Failure;
use karat_report::session::Session;
use karat_report::text::clean;

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

/// Compares the record `claim`, which `scorer` has verified, with the evidence in the file `path`: who is scored, digest,
/// facts and score. Gives the place of the item whose record it is.
///
/// The item is found by its digest; else by subject and id, then by its subject; else it must be the only one.
pub fn compare(
    claim: &Claim,
    scorer: &Scorer,
    path: &str,
    args: &ExplainArgs,
    cli: &Cli,
) -> Result<String, Failure> {
    let (subject, id, digest) =
        (claim.text("/subject")?, claim.text("/evidence/id")?, claim.evidence_digest()?);
    let as_of = claim.as_of()?;
    let graders = graders::of_card(scorer.card(), &args.graders, as_of, cli.portable)?;
    let mut session = Session::new(scorer, args.subject_field.as_deref(), graders, cli.portable)?;
    let mut best: Option<Origin> = None;
    let files = Files::new(&[path.to_owned()], cli.color)?;
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
        let (path, subject) = (clean(path), clean(subject));
        let message = format!("`{path}` does not have the evidence of this record of `{subject}`");
        return Err(Failure::with_exit(Exit::VerificationFailed, message)
            .help(format!("of several items none has its digest, {digest}"))
            .help("give the item alone to see what differs"));
    };
    let Some(comparison) = claim.differences_from_evidence(&origin.record) else { return Ok(origin.place) };
    let message = format!("the record of `{}` is not what {} gives", clean(subject), clean(&origin.place));
    let failure = Failure::with_exit(Exit::VerificationFailed, message);
    Err(comparison.into_iter().fold(failure, Failure::help))
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
