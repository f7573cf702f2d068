//! Verification of receipts, check by check: the same words on a page and on the command line.

use crate::answers::{ChangedPart, CheckOutcome};
use crate::text::{clean, count};
use crate::verification::Check;
use karat_core::timestamp::Timestamp;
use karat_store::log::{Checkpoint, Keys, VerifyingKey, WitnessKey};
use karat_store::{Kind, Receipt};

/// Returns the name of the log that claims to have signed the head in a receipt, and the head.
pub fn claimed(receipt: &Receipt) -> Option<(&str, Checkpoint)> {
    Checkpoint::claimed(&receipt.checkpoint).ok()
}

/// The keys that a receipt is checked with.
#[derive(Debug, Clone, Default)]
pub struct TrustedKeys {
    keys: Option<Keys>,
    rotation: Option<Check>,
    witnesses: Vec<WitnessKey>,
}

impl TrustedKeys {
    /// Trusts a key of the log, if there is one: without it the signature is not checked.
    pub fn new(key: Option<VerifyingKey>) -> Self {
        Self { keys: key.map(Keys::from), ..Self::default() }
    }

    /// Trusts these keys of a log.
    pub fn of(keys: Keys) -> Self {
        Self { keys: Some(keys), ..Self::default() }
    }

    /// Trusts the keys that changes lead to from `key`, too, given the receipts of the changes.
    #[must_use]
    pub fn with_rotations(self, key: &VerifyingKey, receipts: Result<Vec<Receipt>, String>) -> Self {
        let keys = receipts.and_then(|receipts| Receipt::keys(key, &receipts));
        let (keys, rotation) = match keys {
            Ok(keys) => {
                let newest = keys.newest().map(ToString::to_string).unwrap_or_default();
                let all = count(keys.changes(), "change");
                let says = format!("{all} of the key, the newest is `{}`", clean(&newest));
                (Some(keys), Check::new("rotation", CheckOutcome::Verified, says))
            }
            Err(problem) => {
                (self.keys, Check::new("rotation", CheckOutcome::Failed, clean(&problem).into_owned()))
            }
        };
        Self { keys, rotation: Some(rotation), ..self }
    }

    /// Demands that each of these witnesses cosigned the head.
    #[must_use]
    pub fn with_witnesses(self, witnesses: Vec<WitnessKey>) -> Self {
        Self { witnesses, ..self }
    }

    /// Checks the signatures under the head of a receipt.
    fn signatures(&self, receipt: &Receipt, found: &Result<Checkpoint, String>) -> Vec<Check> {
        let signature = match (&self.keys, found) {
            (Some(_), Ok(Checkpoint { size, .. })) => {
                let name = claimed(receipt).map_or("", |(name, _)| name);
                let says = format!("`{}` signed the head of a log of {size}", clean(name));
                Check::new("signature", CheckOutcome::Verified, says)
            }
            (None, Ok(_)) => {
                let name = claimed(receipt).map_or("", |(name, _)| name);
                let says =
                    format!("not checked: without its key, anyone may have signed for `{}`", clean(name));
                Check::new("signature", CheckOutcome::Inconclusive, says)
                    .details(vec![String::from("give the public key of the log with --key")])
            }
            (_, Err(problem)) => Check::new("signature", CheckOutcome::Failed, clean(problem).into_owned()),
        };
        let mut checks = vec![signature];
        checks.extend(self.rotation.clone());
        checks.extend(self.witnesses.iter().map(|witness| match witness.open(&receipt.checkpoint) {
            Ok(seconds) => {
                let says = format!("`{}` cosigned that head at {}", clean(witness.name()), moment(seconds));
                Check::new("witness", CheckOutcome::Verified, says)
            }
            Err(error) => Check::new("witness", CheckOutcome::Failed, clean(&error.to_string()).into_owned()),
        }));
        checks
    }
}

/// Returns the time of a cosignature as text.
fn moment(seconds: u64) -> Timestamp {
    Timestamp::from_seconds(i64::try_from(seconds).unwrap_or(i64::MAX))
}

/// Checks a receipt: the signature, changes of the key and witnesses as `trust` demands, that the entry is in the log, the
/// content, and for a record its sources.
pub fn checks(receipt: &Receipt, trust: &TrustedKeys) -> Vec<Check> {
    let verification = match &trust.keys {
        Some(keys) => receipt.verify_with(keys),
        None => receipt.verify_unsigned(),
    };
    let mut checks = trust.signatures(receipt, &verification.checkpoint);
    let index = receipt.index;
    let inclusion = of("inclusion", &verification.inclusion, || format!("it is entry {index} of that log"));
    let content = of("content", &verification.content, || {
        format!("the {} is the one that was kept", receipt.entry.kind.name())
    });
    let content = match content.shown.outcome {
        CheckOutcome::Failed => content.because(ChangedPart::Text),
        _ => content,
    };
    checks.extend([inclusion, content]);
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
