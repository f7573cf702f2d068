//! Records computed again from their own facts: a record counts only if it follows from them.

use std::sync::Arc;

use karat_core::evaluate::{Context, Workspace};
use karat_core::facts::Item;
use karat_core::record::Record as Scoring;

use crate::card::CompiledCard;
use crate::cards;
use crate::error::{Code, Error};
use crate::record::Record;
use crate::record::document::Grading;
use crate::text::clean;

/// Returns the scorecard that a record was made with: the one given, or the released one that the record names.
///
/// # Errors
///
/// If it is not at hand, or the record has another digest.
pub fn base(record: &Record, given: Option<&Arc<CompiledCard>>) -> Result<Arc<CompiledCard>, Error> {
    let named = &record.document().scorecard;
    let name = named.name();
    let base = match given {
        Some(card) => Arc::clone(card),
        None if cards::released(&name).is_some() => CompiledCard::released(&name)?,
        None => {
            let message = format!("the record names `{}`, which does not come with karat", clean(&name));
            return Err(
                Error::new(Code::MissingScorecard, message).hint("give the scorecard it was made with")
            );
        }
    };
    let (digest, own) = (named.digest, base.card().digest);
    if digest != own || base.name() != name {
        let message = format!("the record was made with another scorecard than this `{}`", base.name());
        return Err(Error::new(Code::OtherScorecard, message)
            .hint(format!("it names {}, {digest}", clean(&name)))
            .hint(format!("this is {}, {own}", base.name()))
            .hint("give the very scorecard it was made with"));
    }
    Ok(base)
}

/// Returns the scorecard of a record with the override that the record says it was given.
///
/// # Errors
///
/// If the scorecard takes no such override.
pub fn overridden(record: &Record, base: Arc<CompiledCard>) -> Result<Arc<CompiledCard>, Error> {
    match record.override_weights()? {
        None => Ok(base),
        Some(weights) => base.with_override(&weights).map(Arc::new).map_err(|refusal| {
            Error::new(Code::RecordUnsound, format!("the record has an override: {}", refusal.message()))
        }),
    }
}

/// Computes the record again and hands it to `visit`.
///
/// # Errors
///
/// If what comes out is not the record: everything that differs.
pub fn recompute<T>(
    record: &Record,
    card: &CompiledCard,
    visit: impl FnOnce(&Scoring<'_>) -> T,
) -> Result<T, Error> {
    rescore(record, card, |scoring| {
        let mut bytes = Vec::new();
        scoring.write(&mut bytes);
        match record.differences(&bytes) {
            None => Ok(visit(scoring)),
            Some(differences) => {
                let message =
                    format!("the record of `{}` is not what its own facts give", clean(scoring.item.subject));
                Err(Error::new(Code::RecordUnsound, message).hints_from(differences))
            }
        }
    })?
}

/// Scores the facts of a record with `card`, whatever the record itself says of the score.
///
/// # Errors
///
/// If the scorecard refuses the facts.
pub fn rescore<T>(
    record: &Record,
    card: &CompiledCard,
    visit: impl FnOnce(&Scoring<'_>) -> T,
) -> Result<T, Error> {
    let scorer = card.scorer()?;
    let document = record.document();
    let facts = document.facts_of(scorer.card())?;
    let grading = document.grading.as_ref().map(Grading::as_str);
    let suspicions = document.suspicions();
    let item = Item {
        subject: &document.subject,
        id: &document.evidence.id,
        context: document.context(),
        digest: document.evidence.digest,
        facts: &facts,
        grading,
        suspicions: &suspicions,
    };
    let context = Context { as_of: document.as_of() };
    let scored = scorer.score(&mut Workspace::new(scorer), &item, &context).map_err(|errors| {
        Error::new(Code::RecordUnsound, "the scorecard refuses the facts of the record")
            .hints_from(errors.iter().map(ToString::to_string))
    })?;
    Ok(visit(&scored))
}
