//! Verification of receipts and records, check by check: the same words on every page, in every package and on the command
//! line.

use std::sync::Arc;

use crate::answers::verification::{Verification, VerificationSchema, VerifiedEntry, VerifiedLog};
use crate::answers::{ChangedPart, CheckOutcome};
use crate::card::CompiledCard;
use crate::origin::Comparison;
use crate::record::Record;
use crate::text::{clean, count, short};
use crate::verification::{Check, causes, recomputed, status};
use karat_core::record::ENGINE_VERSION;
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

/// A receipt or a record with its checks.
#[derive(Debug, Clone)]
pub struct Verified {
    /// The receipt, if it is one.
    pub receipt: Option<Receipt>,
    /// The record, if it is one or the receipt of one.
    pub claim: Option<Record>,
    /// The checks, in the order in which they were made.
    pub checks: Vec<Check>,
}

impl Verified {
    /// Checks the text of a receipt; `record` checks the record in it.
    pub fn of_receipt(text: &[u8], trust: &TrustedKeys, record: impl FnOnce(&Record) -> Vec<Check>) -> Self {
        let receipt = match Receipt::parse(text) {
            Ok(receipt) => receipt,
            Err(problem) => {
                let help = format!("expected `karat/receipt/1`; karat {ENGINE_VERSION} reads no other");
                let check = Check::new("receipt", CheckOutcome::Failed, clean(&problem).into_owned());
                return Self::unread(check.details(vec![help]));
            }
        };
        let (mut checks, mut claim) = (checks(&receipt, trust), None);
        if receipt.entry.kind == Kind::Record {
            match Record::parse(receipt.content.as_bytes()) {
                Ok(Some(found)) => {
                    checks.extend(record(&found));
                    claim = Some(found);
                }
                Ok(None) => {
                    let says = "its content is not a record of karat";
                    checks.push(Check::new("score", CheckOutcome::Failed, says));
                }
                Err(error) => checks.push(Check::failed("score", CheckOutcome::Failed, &error)),
            }
        }
        Self { receipt: Some(receipt), claim, checks }
    }

    /// Returns the result for what could not be read.
    pub fn unread(check: Check) -> Self {
        Self::of_record(None, vec![check])
    }

    /// Returns the result of checks of a record.
    pub fn of_record(claim: Option<Record>, checks: Vec<Check>) -> Self {
        Self { receipt: None, claim, checks }
    }

    /// Returns the answer about it, under the name `file`.
    pub fn answer(&self, file: &str) -> Verification {
        let log = self.receipt.as_ref().and_then(claimed);
        Verification {
            schema: VerificationSchema::V1,
            file: file.to_owned(),
            status: status(&self.checks),
            checks: self.checks.iter().map(|check| check.shown.clone()).collect(),
            changed: causes(&self.checks),
            entry: self.receipt.as_ref().map(|receipt| VerifiedEntry {
                id: receipt.entry.id.clone(),
                index: receipt.index,
                kind: receipt.entry.kind,
                moment: receipt.entry.moment.to_string(),
                sender: receipt.entry.sender.clone(),
                subject: receipt.entry.subject.clone(),
            }),
            log: log.map(|(name, head)| VerifiedLog {
                name: name.to_owned(),
                root: head.root.to_string(),
                size: head.size,
            }),
        }
    }

    /// Returns the words for the result if all checks pass.
    pub fn words(&self) -> &'static str {
        let is_verified = |check: &Check| check.shown.outcome == CheckOutcome::Verified;
        let has = |name| self.checks.iter().any(|check| check.shown.name == name && is_verified(check));
        match (has("score"), has("evidence")) {
            (false, _) => "it was kept as given here",
            (true, false) => "it was kept as given here, and the score follows from the facts in the record",
            (true, true) => "it was kept as given here, and the score follows from the evidence",
        }
    }

    /// Returns the item of the receipt and its log, for people: two lines.
    pub fn about(&self) -> Option<(String, String)> {
        let receipt = self.receipt.as_ref()?;
        let entry = &receipt.entry;
        let mut what = format!("{} `{}`", entry.kind.name(), short(&entry.id));
        let card = self.claim.as_ref().map(|claim| claim.document().scorecard.name());
        if let (Some(subject), Some(card)) = (&entry.subject, card) {
            what = format!("record of {} by {}", short(subject), short(&card));
        }
        let moment = entry.moment;
        let log = match claimed(receipt) {
            Some((name, head)) => {
                format!("entry {} of {} in the log {}", receipt.index, head.size, short(name))
            }
            None => format!("entry {} of a log", receipt.index),
        };
        let sender = match &entry.sender {
            Some(sender) => format!(" by {}", short(sender)),
            None => String::from(", sender not recorded"),
        };
        Some((what, format!("{log}, handed in {moment}{sender}")))
    }
}

/// Checks a record: its scorecard, the one `given` or the released one that it names; its score; and its evidence, which
/// `compared` compares with it, if there is any.
pub fn record_checks(
    claim: &Record,
    given: Option<&Arc<CompiledCard>>,
    compared: Option<impl FnOnce(&Arc<CompiledCard>) -> Result<Comparison, String>>,
) -> Vec<Check> {
    let found = recomputed(claim, given);
    let mut checks = found.checks;
    checks.push(match (compared, &found.card) {
        (None, _) => {
            let says = "not compared: whose facts they are, only the evidence shows";
            Check::new("evidence", CheckOutcome::Skipped, says)
        }
        (Some(_), None) => {
            let says = "without its scorecard it cannot be scored";
            Check::new("evidence", CheckOutcome::Inconclusive, says)
        }
        (Some(compared), Some(card)) => match compared(card) {
            Ok(comparison) => evidence(claim, comparison),
            Err(problem) => Check::of_lines("evidence", CheckOutcome::Failed, &problem),
        },
    });
    checks
}

/// Returns the check for the comparison of a record with its evidence.
fn evidence(claim: &Record, comparison: Comparison) -> Check {
    match comparison {
        Comparison::Same(place) => {
            let says = format!("{} gives the same digest, facts and score", clean(&place));
            Check::new("evidence", CheckOutcome::Verified, says)
        }
        Comparison::Different { place, is_other, lines } => {
            // The same item by another engine: its graders may find other facts.
            let is_engine = !is_other && claim.document().engine != ENGINE_VERSION;
            let changed = if is_engine { ChangedPart::Engine } else { ChangedPart::Evidence };
            let says = format!("{} does not give this record", clean(&place));
            Check::new("evidence", CheckOutcome::Failed, says).details(lines).because(changed)
        }
        Comparison::Absent(lines) => {
            let check =
                Check::new("evidence", CheckOutcome::Failed, "the evidence of this record is missing");
            check.details(lines).because(ChangedPart::Evidence)
        }
        Comparison::Lacking { what, help } => {
            Check::new("evidence", CheckOutcome::Inconclusive, what).details(help)
        }
    }
}
