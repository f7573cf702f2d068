//! A record verified on demand: the checks of `karat verify`, each with its finding.

use std::str::FromStr as _;

use karat::answers::{ChangedPart, CheckOutcome, VerificationStatus};
use karat::document::{self, Verified};
use karat::verification::{Check, recomputed, status};
use karat_store::log::{Keys, VerifyingKey, WitnessKey};

use super::layout::*;
use super::record::RecordData;
use crate::prelude::*;
use crate::replay::{Replay, Replayed};
use karat::receipt;

pub async fn show(Get(app, caller): Get, Named(wanted): Named<String>) -> Answer {
    let key = VerifyingKey::from_str(&app.log_key()).map_err(|error| Problem::internal(&error))?;
    let shared = Arc::clone(&app);
    let (kept, pool, (found, trust), replayed) = app
        .read(move |reader| {
            let kept = RecordData::read(&shared, reader, &wanted)?;
            let position = kept.item.position;
            // The newest head with cosignatures, once it covers the record.
            let head = shared.cosigned.heads().newest(1).filter(|head| head.size > position);
            let receipt = match head {
                Some(head) => reader.receipt_at(position, head)?,
                None => reader.receipt(position)?,
            };
            let size = reader.head()?.size;
            let keys = Keys::follow(&key, &reader.rotations(size)?).map_err(|it| Problem::internal(&it))?;
            let seen = |witness: &&WitnessKey| witness.open(&receipt.checkpoint).is_ok();
            let witnesses = shared.options.witnesses.iter().filter(seen).cloned().collect();
            let trust = receipt::TrustedKeys::of(keys).with_witnesses(witnesses);
            let pool = kept.pool(&shared)?;
            let replayed = again(&shared, reader, &kept, &pool)?;
            Ok((kept, pool, (receipt, trust), replayed))
        })
        .await?;
    let position = kept.item.position;
    let checkpoint = found.checkpoint.clone();
    let log = app.log_key();
    let checks = app
        .checked(move || {
            let mut checks = receipt::checks(&found, &trust);
            let again = recomputed(&kept.claim, Some(&pool.card));
            checks.extend(again.checks);
            checks.push(evidence(&kept, replayed, again.card.is_some()));
            Ok(checks)
        })
        .await?;
    let title = match status(&checks) {
        VerificationStatus::Verified => "Verified",
        VerificationStatus::Consistent => "Not all could be checked",
        VerificationStatus::Failed => "Verification failed",
    };
    let record = address::record(position);
    let verified = "the score follows from the evidence, and the log has the record";
    let document = document::verification(&checks, Verified { file: &record, about: None, verified });
    let content = html! {
        (heading(&[("/", "Leaderboard"), (&record, "Record")], title, "Checked just now, from what the store has."))
        (body("check", &document))
        section aria-labelledby="signed" {
            h2 id="signed" { "What was signed" }
            p { "The head of the log, as its key signed it:" }
            pre { code { (checkpoint) } }
            p { "The public key of the log. Keep it: with it you notice if you are shown another history later." }
            pre { code { (log) } }
        }
        p { a href=(record) { "Back to the record" } }
    };
    Ok(Sheet { title, part: "/", caller: Some(&caller) }.answer(content))
}

/// Scores the evidence again, a trace after those that came before it.
fn again(app: &App, reader: &mut Reader, kept: &RecordData, pool: &ScorerPool) -> Result<Replayed, Problem> {
    let reading = kept.claim.document().cache_reading();
    if reading.as_ref().is_some_and(|reading| reading.embedder.is_some()) {
        // A thousand texts may have to be embedded: too much for a page that anyone may open.
        let says = "a model embedded it and those before it; `karat log verify --replay` does so again";
        return Ok(Replayed::Unknown(says.to_owned()));
    }
    let mut replay = Replay::new(BTreeMap::from([(pool.name(), Arc::clone(&pool.card))]), None);
    if reading.is_some() {
        let before = app.memory.index().positions_of(&pool.name(), 0..kept.item.position);
        replay.skip(&pool.name(), before);
    }
    replay.next(reader, &kept.item)
}

/// Checks that the evidence, read and scored again, gives the record.
fn evidence(kept: &RecordData, replayed: Replayed, is_at_hand: bool) -> Check {
    let lacking = |says: &str| Check::new("evidence", CheckOutcome::Inconclusive, says);
    let Some(evidence) = &kept.evidence else { return lacking("it is not stored here") };
    if !is_at_hand {
        return lacking("without its scorecard it cannot be scored");
    }
    match replayed {
        Replayed::Same | Replayed::SameButEngine => {
            let says = format!("{} gives the same facts and score", Digest::of(&evidence.content));
            Check::new("evidence", CheckOutcome::Verified, says)
        }
        Replayed::Different(details) => {
            let check = Check::new("evidence", CheckOutcome::Failed, "it does not give this record");
            check.details(details).because(ChangedPart::Evidence)
        }
        Replayed::Unknown(says) => lacking(&says),
    }
}
