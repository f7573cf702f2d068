//! Receipts and records that are checked.

use std::io::Cursor;
use std::ops::ControlFlow;
use std::sync::Arc;

use karat_evidence::source::Layout;
use karat_store::Receipt;
use karat_store::log::{VerifyingKey, WitnessKey};
use serde::Deserialize;

use super::{Answered, See, Unseen, written};
use crate::answers::CheckOutcome;
use crate::ask::answer::invalid;
use crate::card::CompiledCard;
use crate::document::{self, Verified as Words};
use crate::engine::{Options, each_item};
use crate::error::Error;
use crate::origin::{Comparison, compare_items, lacking};
use crate::receipt::{TrustedKeys, Verified, record_checks};
use crate::record::Record;
use crate::verification::Check;

/// A receipt or a record to check, as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Verifying {
    /// The text of a receipt, or of a record.
    text: String,
    /// The name that the answer has for it.
    #[serde(default)]
    name: String,
    /// The key of the log, if it is known.
    key: Option<String>,
    /// The receipts of the changes of that key.
    #[serde(default)]
    rotation: Vec<String>,
    /// The keys of the witnesses that must have cosigned.
    #[serde(default)]
    witness: Vec<String>,
    /// The item that was scored, as JSON.
    evidence: Option<String>,
    /// The text of the scorecard, if it is not a released one.
    card_text: Option<String>,
}

/// Checks a receipt or a record, computes its score again, and compares it with its evidence if that is given: the document that
/// `karat verify` prints with `--format json`.
///
/// # Errors
/// If the question has another form, or the key is not one.
pub fn verify(question: &[u8]) -> Result<Vec<u8>, Error> {
    checked(question, &mut Unseen)
}

/// Does the same with the document of the checks.
///
/// # Errors
/// As [`verify`].
pub fn verified(question: &[u8]) -> Result<Answered, Error> {
    Answered::of(|document| checked(question, document))
}

fn checked(question: &[u8], seen: &mut impl See) -> Result<Vec<u8>, Error> {
    let asked: Verifying = serde_json::from_slice(question).map_err(|error| invalid(error.to_string()))?;
    let key = asked.key.as_deref().map(|key| key.trim().parse::<VerifyingKey>()).transpose();
    let key = key.map_err(|error| invalid(format!("`key`: {error}")))?;
    let witnesses: Result<Vec<WitnessKey>, _> = asked.witness.iter().map(|key| key.trim().parse()).collect();
    let witnesses = witnesses.map_err(|error| invalid(format!("`witness`: {error}")))?;
    let trust = TrustedKeys::new(key.clone()).with_witnesses(witnesses);
    let trust = match key.filter(|_| !asked.rotation.is_empty()) {
        Some(key) => {
            let changes = asked.rotation.iter().map(|text| Receipt::parse(text.as_bytes())).collect();
            trust.with_rotations(&key, changes)
        }
        None => trust,
    };
    let card = asked.card_text.as_deref().map(CompiledCard::parse).transpose()?.map(Arc::new);
    let record = |claim: &Record| {
        let compared = asked.evidence.as_deref().map(|text| {
            move |card: &Arc<CompiledCard>| compared(claim, card, text).map_err(|error| error.to_string())
        });
        record_checks(claim, card.as_ref(), compared)
    };
    let verified = match Record::parse(asked.text.as_bytes()) {
        Ok(Some(claim)) => {
            let mut checks = record(&claim);
            if asked.evidence.is_none() {
                let says = "no log signed it, so only its evidence shows whose facts they are";
                checks.insert(0, Check::new("signature", CheckOutcome::Inconclusive, says));
            }
            Verified::of_record(Some(claim), checks)
        }
        _ => Verified::of_receipt(asked.text.as_bytes(), &trust, record),
    };
    seen.see(|| {
        let about = verified.about();
        let words = Words { file: &asked.name, about: about.as_ref(), verified: verified.words() };
        document::verification(&verified.checks, words)
    });
    Ok(written(&verified.answer(&asked.name)))
}

fn compared(claim: &Record, card: &Arc<CompiledCard>, evidence: &str) -> Result<Comparison, Error> {
    if let Some(lacking) = lacking(claim, false, false) {
        return Ok(lacking);
    }
    compare_items(claim, card, Options::default(), |wanted, take| {
        let mut end = Ok(());
        let _ =
            each_item("evidence", Cursor::new(evidence), Layout::Auto, wanted, |place, bytes| {
                match take(place, bytes) {
                    Ok(flow) => flow,
                    Err(error) => {
                        end = Err(error);
                        ControlFlow::Break(())
                    }
                }
            });
        end
    })
}
