//! A record verified on demand: the checks of `karat verify`, each with what it found.

use std::str::FromStr as _;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use karat_core::evaluate::{Context, Scorer, Workspace};
use karat_core::facts::Digest;
use karat_evidence::Moment;
use karat_report::answers::{ChangedPart, CheckOutcome, VerificationStatus};
use karat_report::verification::{Check, causes, recomputed, status};
use karat_store::log::VerifyingKey;
use maud::{Markup, html};

use super::address;
use super::layout::{Sheet, heading, words};
use super::record::RecordData;
use crate::cards::Rule;
use crate::guard::Caller;
use crate::params::Named;
use crate::problem::{Code, Problem};
use crate::receipt;
use crate::state::App;

/// The page.
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
    let rule = kept.rule(&app)?;
    let position = kept.item.position;
    let checkpoint = found.checkpoint.clone();
    let log = key.to_string();
    let checks = app
        .checked(move || {
            let mut checks = receipt::checks(&found, Some(&key));
            let again = recomputed(&kept.claim, rule.scorer.as_ref(), false);
            checks.extend(again.checks);
            checks.push(evidence(&kept, &rule, again.scorer.as_ref()));
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
            p { "The key of the log. Whoever keeps it from now on notices if another history is shown later." }
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

/// Whether the evidence, read and scored again, gives the record.
fn evidence(kept: &RecordData, rule: &Rule, scorer: Option<&Scorer>) -> Check {
    let lacking = |says: &str| Check::new("evidence", CheckOutcome::Inconclusive, says);
    let Some(evidence) = &kept.evidence else { return lacking("it is not stored here") };
    let Some(scorer) = scorer else { return lacking("without its scorecard it cannot be scored") };
    match scored(kept, rule, scorer, &evidence.content) {
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
        Err(why) => Check::new("evidence", CheckOutcome::Failed, why),
    }
}

/// The record that the evidence gives now.
fn scored(kept: &RecordData, rule: &Rule, scorer: &Scorer, evidence: &[u8]) -> Result<Vec<u8>, String> {
    let as_of = kept.claim.as_of().map_err(|failure| super::record::told(&failure))?;
    let scored = rule.with_bench(as_of.and_then(Moment::parse), |_, bench| {
        let read = bench.reader.read(evidence);
        let read = read.map_err(|problems| Problem::new(Code::EvidenceRefused, problems.to_string()))?;
        let mut workspace = Workspace::new(scorer);
        let record = scorer.score(&mut workspace, &read.item(), &Context { as_of });
        let record = record.map_err(|errors| {
            let why: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Problem::new(Code::EvidenceRefused, why.join("; "))
        })?;
        let mut scored = Vec::new();
        record.write(&mut scored);
        Ok(scored)
    });
    scored.map_err(|problem| problem.detail)
}
