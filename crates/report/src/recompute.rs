//! Records read back and computed again from their own facts: a record counts only if it follows from them.

use std::borrow::Cow;

use karat_core::evaluate::{Context, Scorer, Workspace};
use karat_core::facts::Item;
use karat_core::record::Record;

use crate::cards;
use crate::claim::Claim;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::clean;

/// The record in `bytes`, if it is one. Fails for a record of another version of the schema.
pub fn claim(bytes: &[u8]) -> Result<Option<Claim>, Failure> {
    std::str::from_utf8(bytes).map_or(Ok(None), Claim::parse)
}

/// The card that a record was made with: the one given, or the released one that it names.
///
/// Fails where there is none, or the digest in the record is that of another.
pub fn base<'s>(claim: &Claim, given: Option<&'s Scorer>) -> Result<Cow<'s, Scorer>, Failure> {
    let named = claim.card()?;
    let base = match given {
        Some(scorer) => Cow::Borrowed(scorer),
        None if cards::released(&named).is_some() => Cow::Owned(cards::released_scorer(&named)?),
        None => {
            return Err(Failure::new(format!(
                "the record names `{}`, which does not come with karat",
                clean(&named)
            ))
            .help("give the scorecard it was made with: --card FILE"));
        }
    };
    let (digest, own) = (claim.text("/scorecard/digest")?, base.card().digest.to_string());
    if digest != own || base.card().name() != named {
        let message =
            format!("the record was made with another scorecard than this `{}`", base.card().name());
        return Err(Failure::with_exit(Exit::VerificationFailed, message)
            .help(format!("it names {}, {}", clean(&named), clean(digest)))
            .help(format!("this is {}, {own}", base.card().name()))
            .help("give the very scorecard it was made with: --card FILE"));
    }
    Ok(base)
}

/// The scorer of a record: its card, with the weights from outside that the record says it was given.
pub fn scorer<'s>(claim: &Claim, base: Cow<'s, Scorer>) -> Result<Cow<'s, Scorer>, Failure> {
    match claim.override_weights()? {
        None => Ok(base),
        Some(weights) => base.with_override(&weights).map(Cow::Owned).map_err(|refusal| {
            let message = format!("the record has weights from outside: {refusal}");
            Failure::with_exit(Exit::VerificationFailed, message)
        }),
    }
}

/// Computes the record again and hands it to `visit`, or says what differs from the claim.
pub fn record<T>(
    claim: &Claim,
    scorer: &Scorer,
    workspace: &mut Workspace,
    visit: impl FnOnce(&Record<'_>) -> T,
) -> Result<T, Failure> {
    scored(claim, scorer, workspace, |record| {
        let mut bytes = Vec::new();
        record.write(&mut bytes);
        match claim.differences(&bytes) {
            None => Ok(visit(record)),
            Some(differences) => {
                let message =
                    format!("the record of `{}` is not what its own facts give", clean(record.item.subject));
                let failure = Failure::with_exit(Exit::VerificationFailed, message);
                Err(differences.into_iter().fold(failure, Failure::help))
            }
        }
    })?
}

/// What `scorer` makes of the facts of a record, whatever the record itself says of the score.
pub fn scored<T>(
    claim: &Claim,
    scorer: &Scorer,
    workspace: &mut Workspace,
    visit: impl FnOnce(&Record<'_>) -> T,
) -> Result<T, Failure> {
    let facts = claim.facts(scorer.card())?;
    let grading = claim.grading()?;
    let item = Item {
        subject: claim.text("/subject")?,
        id: claim.text("/evidence/id")?,
        context: claim.occasion()?,
        digest: claim.evidence_digest()?,
        facts: &facts,
        grading: grading.as_deref(),
    };
    let record = scorer.score(workspace, &item, &Context { as_of: claim.as_of()? }).map_err(|errors| {
        let failure =
            Failure::with_exit(Exit::VerificationFailed, "the scorecard refuses the facts of the record");
        errors.iter().fold(failure, |failure, error| failure.help(error.to_string()))
    })?;
    Ok(visit(&record))
}
