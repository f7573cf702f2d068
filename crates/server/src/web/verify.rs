//! A record verified on demand: the checks of `karat verify`, each with its finding.

use std::str::FromStr as _;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use karat::answers::{ChangedPart, CheckOutcome, VerificationStatus};
use karat::engine::{Engine, Options};
use karat::error::Error;
use karat::verification::{Check, causes, recomputed, status};
use karat_core::facts::Digest;
use karat_store::log::VerifyingKey;
use maud::{Markup, html};

use super::address;
use super::layout::{Sheet, heading, words};
use super::record::RecordData;
use crate::cards::ScorerPool;
use crate::guard::Caller;
use crate::params::Named;
use crate::problem::Problem;
use crate::state::App;
use karat::receipt;

/// Shows the page.
pub async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(wanted): Named<String>,
) -> Result<Response<Body>, Problem> {
    caller.may_read()?;
    let key = VerifyingKey::from_str(&app.log_key()).map_err(|error| Problem::internal(&error))?;
    let (kept, found) = app
        .read(move |reader| {
            let kept = RecordData::read(reader, &wanted)?;
            let receipt = reader.receipt(kept.item.position)?;
            Ok((kept, receipt))
        })
        .await?;
    let pool = kept.pool(&app)?;
    let position = kept.item.position;
    let checkpoint = found.checkpoint.clone();
    let log = key.to_string();
    let checks = app
        .checked(move || {
            let mut checks = receipt::checks(&found, Some(&key));
            let again = recomputed(&kept.claim, Some(&pool.card), false);
            checks.extend(again.checks);
            checks.push(evidence(&kept, &pool, again.card.is_some()));
            Ok(checks)
        })
        .await?;
    let changed: Vec<&str> = causes(&checks).into_iter().map(ChangedPart::name).collect();
    let title = match status(&checks) {
        VerificationStatus::Verified => "Verified",
        VerificationStatus::Consistent => "Not all could be checked",
        VerificationStatus::Failed => "Verification failed",
    };
    let record = address::record(position);
    let content = html! {
        (heading(&[("/", "Leaderboard"), (&record, "Record")], title, "Checked just now, from what the store has."))
        (listed(&checks))
        @if !changed.is_empty() { p.care { "What has changed: " (changed.join(", ")) "." } }
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

fn listed(checks: &[Check]) -> Markup {
    html! {
        ul.checks {
            @for check in checks {
                @let (mark, is_bad) = match check.shown.outcome {
                    CheckOutcome::Verified => ("✓", false),
                    CheckOutcome::Failed => ("✗", true),
                    CheckOutcome::Inconclusive | CheckOutcome::Skipped => ("–", true),
                };
                li.bad[is_bad] {
                    b { (mark) } (check.shown.name) " " (check.shown.outcome.name()) ": " (words(&check.shown.says))
                    @for line in &check.shown.details { br; (words(line)) }
                }
            }
        }
    }
}

/// Checks that the evidence, read and scored again, gives the record.
fn evidence(kept: &RecordData, pool: &ScorerPool, is_at_hand: bool) -> Check {
    let lacking = |says: &str| Check::new("evidence", CheckOutcome::Inconclusive, says);
    let Some(evidence) = &kept.evidence else { return lacking("it is not stored here") };
    if !is_at_hand {
        return lacking("without its scorecard it cannot be scored");
    }
    match scored(kept, pool, &evidence.content) {
        Ok(scored) => match kept.claim.differences_from_evidence(&scored) {
            None => {
                let says = format!("{} gives the same facts and score", Digest::of(&evidence.content));
                Check::new("evidence", CheckOutcome::Verified, says)
            }
            Some(details) => {
                let check = Check::new("evidence", CheckOutcome::Failed, "it does not give this record");
                check.details(details).because(ChangedPart::Evidence)
            }
        },
        Err(error) => Check::failed("evidence", CheckOutcome::Failed, &error),
    }
}

/// Scores the evidence now, by the scorecard of the record with its override.
fn scored(kept: &RecordData, pool: &ScorerPool, evidence: &[u8]) -> Result<Vec<u8>, Error> {
    let mut engine = Engine::new(kept.card(pool)?, Options::default())?;
    engine.set_as_of_from(&kept.claim);
    let name = Some(kept.claim.document().evidence.id.as_str());
    engine.try_visit_named(name, evidence, |scored| {
        let mut bytes = Vec::new();
        scored.write(&mut bytes);
        Ok(bytes)
    })
}
