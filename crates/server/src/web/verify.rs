//! A record verified on demand: the checks of `karat verify`, each with its finding.

use std::str::FromStr as _;

use karat::document::{self, Part, Verified};
use karat::headline;
use karat::receipt;
use karat::verification::recomputed;
use karat::write::html::checker::{self, KeyOrigin};
use karat_store::log::{Keys, VerifyingKey, WitnessKey};

use super::keys::vouched;
use super::layout::*;
use crate::prelude::*;
use crate::record::RecordData;

pub async fn show(Get(app, caller): Get, Named(wanted): Named<String>) -> Answer {
    let shared = Arc::clone(&app);
    let (kept, pool, (found, trust, newest), replayed) = app
        .read(move |reader| {
            let kept = RecordData::read(&shared, reader, &wanted)?;
            let receipt = kept.receipt(&shared, reader)?;
            let keys = log_keys(&shared, reader)?;
            let seen = |witness: &&WitnessKey| witness.open(&receipt.checkpoint).is_ok();
            let witnesses = shared.options.witnesses.iter().filter(seen).cloned().collect();
            let newest = keys.newest().map(ToString::to_string).unwrap_or_default();
            let trust = receipt::TrustedKeys::of(keys).with_witnesses(witnesses);
            let pool = kept.pool(&shared)?;
            let replayed = kept.again(&shared, reader, &pool)?;
            Ok((kept, pool, (receipt, trust, newest), replayed))
        })
        .await?;
    let record = address::record(kept.item.position);
    let checkpoint = found.checkpoint.clone();
    let (subject, class) = (kept.claim.document().subject.clone(), kept.provenance.trust);
    let here = in_browser(&record, &kept, &pool, &newest);
    let checks = app
        .checked(move || {
            let mut checks = receipt::checks(&found, &trust);
            let again = recomputed(&kept.claim, Some(&pool.card));
            checks.extend(again.checks);
            checks.push(kept.evidence_check(replayed, again.card.is_some()));
            Ok(checks)
        })
        .await?;
    let told = headline::verification(&checks);
    let verified = "the score follows from the evidence, and the log has the record";
    let mut document = document::verification(&checks, Verified { file: &record, about: None, verified });
    document.parts.insert(0, Part::Heading(String::from("What was checked just now")));
    let content = html! {
        (heading(&[("/leaderboards", "Leaderboards"), (&record, &subject)], &told.text, &told.lead.join(" ")))
        (trust_strip(&[vouched(class)], &record))
        (body("check", &document))
        (here)
        (section("signed", "On your own machine", html! {
            p { a href=(format!("{record}/archive")) download { "One archive" } " has all that it takes, and the command." }
            p { "The public key of the log. Keep it: with it you notice if you are shown another history later." }
            pre { code { (app.log_key()) } }
            details { summary { "The head of the log, as its key signed it" } pre { code { (checkpoint) } } }
        }))
        p { a href=(record) { "Back to the record" } }
    };
    Ok(Sheet { title: &told.text, part: "/leaderboards", caller: Some(&caller) }.answer_computing(content))
}

/// Returns the keys of the log, from the one that is shown on.
fn log_keys(app: &App, reader: &mut Reader) -> Result<Keys, Problem> {
    let first = VerifyingKey::from_str(&app.log_key()).map_err(|error| Problem::internal(&error))?;
    let size = reader.head()?.size;
    Keys::follow(&first, &reader.rotations(size)?).map_err(|error| Problem::internal(&error))
}

/// Shows the button that checks the record in the browser of the visitor.
fn in_browser(record: &str, kept: &RecordData, pool: &ScorerPool, key: &str) -> Markup {
    let file = |name: &str| format!("{record}/files/{name}");
    let card = (!pool.card.is_released()).then(|| file("scorecard.toml"));
    let content = html! {
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
    };
    section("here", "Without trust in this server", content)
}

/// Shows the form that checks any receipt in the browser of the visitor.
pub async fn show_form(Get(app, caller): Get) -> Answer {
    let shared = Arc::clone(&app);
    let keys = app.read(move |reader| log_keys(&shared, reader)).await?;
    let newest = keys.newest().map(ToString::to_string).unwrap_or_default();
    let title = "Check any number here, without trust in this server";
    let lead = "Every record has a page with its own check. Here a receipt from a file is checked, computed in this browser: its \
                signature, inclusion, content and score. Nothing that you give leaves it.";
    let content = html! {
        (heading(&[("/", "Home")], title, lead))
        (section("what", "What to check, and with which key", checker::form(Some((&newest, KeyOrigin::Server)))))
    };
    Ok(Sheet { title, part: "/verify", caller: Some(&caller) }.answer_computing(content))
}
