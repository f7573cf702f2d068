//! Verification of receipts, check by check: the same words on a page and on the command line.

use crate::answers::{ChangedPart, CheckOutcome};
use crate::text::clean;
use crate::verification::Check;
use karat_store::log::{Checkpoint, VerifyingKey};
use karat_store::{Kind, Receipt};

/// Returns the name of the log that claims to have signed the head in a receipt, and the head.
#[must_use]
pub fn claimed(receipt: &Receipt) -> Option<(&str, Checkpoint)> {
    Checkpoint::claimed(&receipt.checkpoint).ok()
}

/// Checks a receipt: the signature, that the entry is in the log, the content, and for a record its sources. Without a key the
/// signature is not checked.
#[must_use]
pub fn checks(receipt: &Receipt, key: Option<&VerifyingKey>) -> Vec<Check> {
    let verification = match key {
        Some(key) => receipt.verify(key),
        None => receipt.verify_unsigned(),
    };
    let signature = match (key, &verification.checkpoint) {
        (Some(key), Ok(Checkpoint { size, .. })) => {
            let says = format!("`{}` signed the head of a log of {size}", clean(key.name()));
            Check::new("signature", CheckOutcome::Verified, says)
        }
        (None, Ok(_)) => {
            let name = claimed(receipt).map_or("", |(name, _)| name);
            let says = format!("not checked: without its key, anyone may have signed for `{}`", clean(name));
            Check::new("signature", CheckOutcome::Inconclusive, says)
                .details(vec![String::from("give the public key of the log with --key")])
        }
        (_, Err(problem)) => Check::new("signature", CheckOutcome::Failed, problem.as_str()),
    };
    let index = receipt.index;
    let inclusion = of("inclusion", &verification.inclusion, || format!("it is entry {index} of that log"));
    let content = of("content", &verification.content, || {
        format!("the {} is the one that was kept", receipt.entry.kind.name())
    });
    let content = match content.shown.outcome {
        CheckOutcome::Failed => content.because(ChangedPart::Text),
        _ => content,
    };
    let mut checks = vec![signature, inclusion, content];
    if receipt.entry.kind == Kind::Record {
        let says = || String::from("its evidence is the one that was kept with it");
        checks.push(of("sources", &verification.evidence, says));
    }
    checks
}

fn of(name: &'static str, found: &Result<(), String>, says: impl FnOnce() -> String) -> Check {
    match found {
        Ok(()) => Check::new(name, CheckOutcome::Verified, says()),
        Err(problem) => Check::new(name, CheckOutcome::Failed, problem.as_str()),
    }
}
