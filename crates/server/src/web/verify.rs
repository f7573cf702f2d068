//! A record verified on demand: the same checks that `karat verify` makes elsewhere, each with what it found.

use std::str::FromStr as _;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use karat_core::evaluate::{Context, Workspace};
use karat_core::facts::Digest;
use karat_evidence::Moment;
use karat_report::recompute;
use karat_store::Receipt;
use karat_store::log::VerifyingKey;
use maud::{Markup, html};

use super::address;
use super::layout::{Sheet, heading};
use super::record::{Kept, told};
use crate::cards::Rule;
use crate::guard::Caller;
use crate::params::Named;
use crate::problem::{Code, Problem};
use crate::state::App;

/// A check: what it asks, and what it found or why it does not hold.
type Check = (&'static str, Result<String, String>);

/// The page.
pub async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(wanted): Named<String>,
) -> Result<Response<Body>, Problem> {
    caller.may_read()?;
    let key = VerifyingKey::from_str(&app.log_key()).map_err(|error| Problem::internal(&error))?;
    let (kept, receipt) = app
        .read(move |reader| {
            let kept = Kept::read(reader, &wanted)?;
            let receipt = reader.receipt(kept.item.position)?;
            Ok((kept, receipt))
        })
        .await?;
    let rule = kept.rule(&app)?;
    let position = kept.item.position;
    let checkpoint = receipt.checkpoint.clone();
    let log = key.to_string();
    let checks = app
        .checked(move || {
            let mut checks = of_receipt(&receipt, &key);
            checks.push(("the score follows from its facts", follows(&kept, &rule)));
            checks.push(("the facts follow from the evidence", from_evidence(&kept, &rule)));
            Ok(checks)
        })
        .await?;
    let failed = checks.iter().filter(|(_, found)| found.is_err()).count();
    let title = match failed {
        0 => String::from("The record holds"),
        1 => String::from("One check does not hold"),
        more => format!("{more} checks do not hold"),
    };
    let record = address::record(position);
    let content = html! {
        (heading(&[("/", "Leaderboard"), (&record, "Record")], &title, "Checked just now, from what the store has."))
        (listed(&checks))
        section aria-labelledby="signed" {
            h2 id="signed" { "What was signed" }
            p { "The head of the log, as its key signed it:" }
            pre { code { (checkpoint) } }
            p { "The key of the log. Whoever keeps it from now on notices if another history is shown later." }
            pre { code { (log) } }
        }
        p { a href=(record) { "Back to the record" } }
    };
    Ok(Sheet { title: &title, part: "/", caller: Some(&caller) }.answer(content))
}

fn listed(checks: &[Check]) -> Markup {
    html! {
        ul.checks {
            @for (asked, found) in checks {
                @match found {
                    Ok(what) => li { b { "✓" } (asked) ": " (what) },
                    Err(why) => li.bad { b { "✗" } (asked) " does not hold: " (why) },
                }
            }
        }
    }
}

fn of_receipt(receipt: &Receipt, key: &VerifyingKey) -> Vec<Check> {
    let found = receipt.verify(key);
    let path = receipt.path.len();
    vec![
        (
            "signature",
            found.checkpoint.map(|head| format!("{} signed a tree of {} entries", key.name(), head.size)),
        ),
        (
            "inclusion",
            found.inclusion.map(|()| format!("entry {} is in that tree, by {path} hashes", receipt.index)),
        ),
        (
            "content",
            found.content.map(|()| format!("the record is the one of the entry, {}", receipt.entry.content)),
        ),
        (
            "evidence named",
            found.evidence.map(|()| String::from("the record and the log name the same evidence")),
        ),
    ]
}

/// Whether the record is what its facts give under its scorecard.
fn follows(kept: &Kept, rule: &Rule) -> Result<String, String> {
    let scorer = kept.scorer(rule).map_err(|failure| told(&failure))?;
    let mut workspace = Workspace::new(&scorer);
    recompute::record(&kept.claim, &scorer, &mut workspace, |_| ()).map_err(|failure| told(&failure))?;
    Ok(format!("computed again under {}, the same to the last byte", rule.name()))
}

/// Whether the evidence, read and scored again, gives the record.
fn from_evidence(kept: &Kept, rule: &Rule) -> Result<String, String> {
    let Some(evidence) = &kept.evidence else {
        return Err(String::from("the evidence is not stored here"));
    };
    let digest = Digest::of(&evidence.content);
    if digest != evidence.entry.content {
        return Err(format!("the evidence has the digest {digest}, the log has {}", evidence.entry.content));
    }
    let scorer = kept.scorer(rule).map_err(|failure| told(&failure))?;
    let as_of = kept.claim.as_of().map_err(|failure| told(&failure))?;
    let scored = rule.with_bench(as_of.and_then(Moment::parse), |_, bench| {
        let read = bench.reader.read(&evidence.content);
        let read = read.map_err(|problems| Problem::new(Code::EvidenceRefused, problems.to_string()))?;
        let mut workspace = Workspace::new(&scorer);
        let record = scorer.score(&mut workspace, &read.item(), &Context { as_of });
        let record = record.map_err(|errors| {
            let why: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Problem::new(Code::EvidenceRefused, why.join("; "))
        })?;
        let mut scored = Vec::new();
        record.write(&mut scored);
        Ok(scored)
    });
    let scored = scored.map_err(|problem| problem.detail)?;
    match kept.claim.differences_from_evidence(&scored) {
        None => Ok(format!("read and scored again from {digest}")),
        Some(differences) => Err(differences.join("; ")),
    }
}
