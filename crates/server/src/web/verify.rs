//! A record verified on demand: the checks of `karat verify`, each with its finding.

use std::str::FromStr as _;

use karat::answers::{ChangedPart, CheckOutcome};
use karat::document::{self, Part, Verified};
use karat::headline;
use karat::verification::{Check, recomputed};
use karat::write::html::checker::{self, KeyOrigin};
use karat_store::log::{Keys, VerifyingKey, WitnessKey};

use super::layout::*;
use super::record::RecordData;
use crate::prelude::*;
use crate::replay::{Replay, Replayed};
use karat::receipt;

pub async fn show(Get(app, caller): Get, Named(wanted): Named<String>) -> Answer {
    let key = VerifyingKey::from_str(&app.log_key()).map_err(|error| Problem::internal(&error))?;
    let shared = Arc::clone(&app);
    let (kept, pool, (found, trust, newest), replayed) = app
        .read(move |reader| {
            let kept = RecordData::read(&shared, reader, &wanted)?;
            let receipt = kept.receipt(&shared, reader)?;
            let size = reader.head()?.size;
            let keys = Keys::follow(&key, &reader.rotations(size)?).map_err(|it| Problem::internal(&it))?;
            let seen = |witness: &&WitnessKey| witness.open(&receipt.checkpoint).is_ok();
            let witnesses = shared.options.witnesses.iter().filter(seen).cloned().collect();
            let newest = keys.newest().map(ToString::to_string).unwrap_or_default();
            let trust = receipt::TrustedKeys::of(keys).with_witnesses(witnesses);
            let pool = kept.pool(&shared)?;
            let replayed = again(&shared, reader, &kept, &pool)?;
            Ok((kept, pool, (receipt, trust, newest), replayed))
        })
        .await?;
    let position = kept.item.position;
    let checkpoint = found.checkpoint.clone();
    let log = app.log_key();
    let here = in_browser(position, &kept, &pool, &newest);
    let checks = app
        .checked(move || {
            let mut checks = receipt::checks(&found, &trust);
            let again = recomputed(&kept.claim, Some(&pool.card));
            checks.extend(again.checks);
            checks.push(evidence(&kept, replayed, again.card.is_some()));
            Ok(checks)
        })
        .await?;
    let told = headline::verification(&checks);
    let record = address::record(position);
    let verified = "the score follows from the evidence, and the log has the record";
    let mut document = document::verification(&checks, Verified { file: &record, about: None, verified });
    document.parts.insert(0, Part::Heading(String::from("What was checked just now")));
    let archive = format!("{record}/archive");
    let content = html! {
        (heading(&[("/leaderboards", "Leaderboards"), (&record, "Record")], &told.text, &told.lead.join(" ")))
        (body("check", &document))
        (here)
        section aria-labelledby="signed" {
            h2 id="signed" { "On your own machine" }
            p { a href=(archive) download { "One archive" } " has all that it takes, and the command." }
            p { "The public key of the log. Keep it: with it you notice if you are shown another history later." }
            pre { code { (log) } }
            details {
                summary { "The head of the log, as its key signed it" }
                pre { code { (checkpoint) } }
            }
        }
        p { a href=(record) { "Back to the record" } }
    };
    Ok(Sheet { title: &told.text, part: "/leaderboards", caller: Some(&caller) }.answer_computing(content))
}

/// Shows the button that checks the record in the browser of the visitor.
fn in_browser(position: u64, kept: &RecordData, pool: &ScorerPool, key: &str) -> Markup {
    let file = |name: &str| format!("{}/files/{name}", address::record(position));
    let card = (!pool.card.is_released()).then(|| file("scorecard.toml"));
    html! {
        section aria-labelledby="here" {
            h2 id="here" { "Without trust in this server" }
            p {
                "The checks above are the word of this server. Your browser can do them itself: it gets the receipt and the evidence, and "
                "computes the score again. Only the key is then left to trust: it comes from this server, too, and proves nothing about "
                "it. Compare it with what the operator publishes elsewhere, or " a href="/verify" { "give the key yourself" } "."
            }
            p.care data-without-script { "Without scripts this browser cannot. Download the archive: " code { "karat verify" } " checks it on your machine." }
            p.buttons {
                button.go type="button" hidden data-check=(file("receipt.json")) data-key=(key) data-card=[card]
                    data-evidence=[kept.evidence.is_some().then(|| file("evidence.json"))] { "Check in this browser" }
            }
            div id="verify-result" aria-live="polite" {}
        }
    }
}

/// Shows the form that checks any receipt in the browser of the visitor.
pub async fn show_form(Get(app, caller): Get) -> Answer {
    let key = VerifyingKey::from_str(&app.log_key()).map_err(|error| Problem::internal(&error))?;
    let keys = app
        .read(move |reader| {
            let size = reader.head()?.size;
            Keys::follow(&key, &reader.rotations(size)?).map_err(|error| Problem::internal(&error))
        })
        .await?;
    let newest = keys.newest().map(ToString::to_string).unwrap_or_default();
    let lead =
        "Signature, inclusion, content and score, computed in this browser: nothing that you give leaves it.";
    let content = html! {
        (heading(&[("/", "Home")], "Check any number here, without trust in this server", lead))
        section aria-labelledby="what" {
            h2 id="what" { "What to check, and with which key" }
            (checker::form(Some((&newest, KeyOrigin::Server))))
        }
    };
    Ok(Sheet { title: "Check a receipt", part: "/verify", caller: Some(&caller) }.answer_computing(content))
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
